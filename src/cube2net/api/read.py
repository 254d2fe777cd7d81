"""Read files, tables, SQL queries and graphs into a corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from cube2net._util.progress import Progress, ProgressOption, report_compiling, resolve_progress
from cube2net.errors import ParameterError, SourceError, quote, unknown_name
from cube2net.io import graphs
from cube2net.io.bibliography.references import OBJECT_KINDS, References, is_reference_file
from cube2net.io.graphs import from_igraph, is_graph_file, is_igraph, is_networkx
from cube2net.io.reviews.link_tasks import Task
from cube2net.io.reviews.movies import Movies
from cube2net.io.reviews.yelp import Yelp
from cube2net.io.sources import SOURCES
from cube2net.io.tables import table_source
from cube2net.io.tables.frames import is_frame
from cube2net.model.corpus import Corpus
from cube2net.model.interfaces import (
    ReadsMore,
    Source,
    check_call,
    check_options,
    check_path,
    list_options,
    make_object,
)
from cube2net.model.objects import Objects

SQL = "sql"
UNSAID = ("columns", "usual", "sheet", "strict", "max_ratio", "max_unpacked", "attach")
"""What a corpus says otherwise of how it was read, or what is of one reading only; an address may hold a password."""
EXPECTED = "a corpus, a frame, a path, a list or mapping of frames or paths, or a graph"


@check_call
@report_compiling
def read_source(source: str | Source, *paths: str | Path, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Read files of one kind into a corpus; ``options`` are the parameters of the source.

    Parameters
    ----------
    source
        ``"tables"``, ``"sql"``, ``"graph"``, ``"references"``, ``"openalex"``, ``"acl"``, ``"aminer"``, ``"dblp"``,
        ``"yelp"`` or ``"movies"``, or an object of your own with ``read``.
    paths
        The files or their folder, as the source expects them; for ``"sql"`` the queries.
    progress
        A callback that receives the progress; True shows a progress bar.
    options
        Parameters of a source given by name, such as ``strict=True``, which raises an error for unusable values.

    Returns
    -------
    Corpus
        ``dropped`` counts what was left out, by reason.

    Raises
    ------
    SourceError
        If a file is missing or invalid; the message names the file and the line.

    See Also
    --------
    build : Read and build in one call.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "nodes.csv").write_text("id,city\\nada,Rome\\nbob,Oslo\\neve,Oslo\\n")
    ...     _ = Path(folder, "links.csv").write_text("from,to\\nada,bob\\nbob,eve\\n")
    ...     c2n.read_source("tables", folder)
    Corpus(3 objects, 3 items, 2 links)
    """
    reader, places = find_reader(source, paths, options)
    return remembering(reader.read(places, progress=resolve_progress(progress)), reader)


def check_there(paths: Sequence[Path]) -> None:
    """Raise where a file that is to be read is not there."""
    for path in paths:
        if not path.exists():
            raise SourceError(f"there is no file {str(path)!r}: check the path")


def remembering(corpus: Corpus, source: Any) -> Corpus:
    """Return a corpus that says which source of ours read it, and by which switches, numbers and names by name."""
    name = next((name for name, kind in SOURCES.items() if type(source) is kind), None)
    if name is None or not is_dataclass(source):
        return corpus
    told = {part.name: getattr(source, part.name) for part in fields(source)}
    usual = {part.name: part.default for part in fields(source)}
    said = {
        key: dict(value) if isinstance(value, Mapping) else value
        for key, value in told.items()
        if value and ((isinstance(value, bool | int) and value != usual[key]) or isinstance(value, Mapping))
        if key not in (*UNSAID, *corpus.source)
    }
    return replace(corpus, source={"name": name} | {k: v for k, v in corpus.source.items() if k != "name"} | said)


def read_more(
    known: Objects, source: str | Source, *paths: str | Path, progress: ProgressOption = None, **options: Any
) -> Corpus:
    """Return the corpus of files that are to be added to a cube: they may name its objects without listing them."""
    reader, places = find_reader(source, paths, options)
    if isinstance(reader, ReadsMore):
        return reader.read_more(places, known=known, progress=resolve_progress(progress))
    return reader.read(places, progress=resolve_progress(progress))


@check_call
@report_compiling
def read_tables(*tables: Any, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Read tables from files or memory into a corpus: nodes and links, items and mentions, or records.

    Tables of labels and of terms are optional.

    Parameters
    ----------
    tables
        Paths (CSV, TSV, JSON lines, Parquet), data frames of pandas or Polars, Arrow tables, DuckDB relations, objects
        with ``__arrow_c_stream__``, or lists of dictionaries. Tables are identified by their file names, or otherwise
        by their order: nodes and links; or objects, items, mentions and links. A folder with files of these names, or a
        mapping from names to tables, ``{"nodes": frame, "links": edges}``, also works. A single table contains records:
        one row per mention, or several objects in one column.
    progress
        A callback that receives the progress and the role of each column; True shows a progress bar.
    options
        Tables by name (``nodes``, ``links``, ``objects``, ``items``, ``mentions``, ``labels``, ``terms``). In a table
        of records, ``item`` and ``objects`` are the columns with the ids of the records and of the objects they
        mention. ``columns`` assigns columns, ``{"source": "from"}``; the roles of other columns are inferred.
        ``separators`` split a string into several labels, ``{"genres": "|"}``; ``delimiter`` separates columns. With
        ``strict``, an unusable row raises an error; otherwise it is counted. ``max_ratio`` and ``max_unpacked`` (bytes,
        or a string such as ``"4GB"``) limit the unpacked size.

    Returns
    -------
    Corpus
        With nodes and links, each node is an object and its own item.

    See Also
    --------
    read_sql : The same for SQL queries.

    Examples
    --------
    >>> import pandas as pd
    >>> import cube2net as c2n
    >>> people = pd.DataFrame({"id": ["ada", "bob", "eve"], "city": ["Rome", "Oslo", "Oslo"]})
    >>> edges = pd.DataFrame({"from": ["ada", "bob"], "to": ["bob", "eve"], "weight": [2, 1]})
    >>> corpus = c2n.read_tables(nodes=people, links=edges)
    >>> corpus, corpus.links["weight"].to_pylist()
    (Corpus(3 objects, 3 items, 2 links), [2.0, 1.0])
    >>> papers = pd.DataFrame({"paper": [1, 1, 2], "author": ["ada", "bob", "ada"], "year": [2001, 2001, 2004]})
    >>> c2n.read_tables(papers, item="paper", objects="author")
    Corpus(2 objects, 2 items, links by co-mention)
    """
    return table_source.read_tables(tables, options, resolve_progress(progress))


@check_call
@report_compiling
def read_sql(*queries: str, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Read the results of SQL queries over files or databases into a corpus.

    DuckDB runs the queries. A query can read CSV, JSON and Parquet files, ``FROM 'papers.parquet'``, on this machine or
    from an address ``https://…`` or ``s3://…``. Statements that write are refused.

    Parameters
    ----------
    queries
        One query for a table of records or, with ``links``, of nodes; two for nodes and links; three for objects, items
        and mentions.
    progress
        A callback that receives the progress and the role of each column; True shows a progress bar.
    options
        Queries by the name of their table (``nodes``, ``links``, ``objects``, ``items``, ``mentions``, ``labels``,
        ``terms``). ``attach`` names databases for ``FROM db.papers``: ``{"db": "library.sqlite"}``, a DuckDB file,
        ``"postgresql://ada@host/library"`` or ``"mysql://…"``; a password in it is neither shown nor saved. ``item``
        and ``objects`` may be columns of a table of records. ``memory``, such as ``"4GB"``, limits DuckDB. ``columns``,
        ``separators`` and ``strict`` are the same as for :func:`read_tables`.

    Returns
    -------
    Corpus
        As for :func:`read_tables`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     papers = Path(folder, "papers.csv")
    ...     _ = papers.write_text("paper,author,year\\np1,ada,1999\\np1,bob,1999\\np2,ada,2004\\n")
    ...     c2n.read_sql(f"SELECT * FROM '{papers}' WHERE year < 2000", objects="author")
    Corpus(2 objects, 1 item, links by co-mention)
    """
    return read_source("sql", *queries, progress=progress, **options)


@check_call
@report_compiling
def read_graph(path: str | Path, *, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Read a graph from a GraphML, GEXF or JSON file into a corpus; each node is an object and its own item.

    Parameters
    ----------
    path
        A ``.graphml``, ``.gexf`` or ``.json`` file, optionally gzipped. JSON files contain ``nodes`` and ``links``, as
        written by NetworkX and d3, or Cytoscape's ``elements``.
    progress
        A callback that receives the progress; True shows a progress bar.
    options
        ``name``, ``kind``, ``text``, ``weight`` and ``time`` are the attributes of nodes and links to read these from.
        ``separators`` split a text into several labels, ``{"genres": "|"}``. With ``strict``, unusable values are an
        error; otherwise they are counted in ``dropped``. ``max_ratio`` and ``max_unpacked`` limit the unpacked size.

    Returns
    -------
    Corpus
        Attributes have the types that the file declares, and links of a directed graph keep their direction.

    See Also
    --------
    Network.save : Write such files.

    Examples
    --------
    >>> import tempfile
    >>> import networkx as nx
    >>> import cube2net as c2n
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nx.write_graphml(nx.karate_club_graph(), f"{folder}/karate.graphml")
    ...     c2n.read_graph(f"{folder}/karate.graphml")
    Corpus(34 objects, 34 items, 78 links)
    """
    return read_source("graph", path, progress=progress, **options)


@check_call
@report_compiling
def read_references(*paths: str | Path, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Read citation exports into a corpus; several formats can be mixed.

    Formats are recognised by content: RIS, BibTeX, PubMed (nbib, XML, CSV), Web of Science (tagged, tab-delimited),
    EndNote (XML, tagged), Zotero (RDF, CSV), and tables of Scopus, Dimensions, Lens, IEEE, Cochrane, Embase, OpenAlex
    and others (CSV, TSV, Excel).

    Parameters
    ----------
    paths
        Export files, or folders or archives of them.
    progress
        A callback that receives the progress and what was merged; True shows a progress bar.
    options
        ``objects`` are ``"authors"`` (default), ``"keywords"``, ``"institutions"``, ``"countries"``, ``"sources"``,
        ``"works"`` (linked by citation) or ``"references"`` (linked by co-citation). ``keep_duplicates`` does not merge
        records of the same work; ``list_duplicates`` is a CSV file to list them in. With ``strict``, a damaged record
        is an error; otherwise it is counted in ``dropped``. ``max_ratio`` and ``max_unpacked`` limit the unpacked size.

    Returns
    -------
    Corpus
        The items are the records, with year, source, type, language, keyword, institution, country, title and text.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import cube2net as c2n
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ris = Path(folder, "library.ris")
    ...     _ = ris.write_text("TY  - JOUR\\nAU  - Li, J.\\nAU  - Wu, X.\\nTI  - On cubes\\nPY  - 2020\\nER  - \\n")
    ...     c2n.read_references(ris)
    Corpus(2 objects, 1 item, links by co-mention)
    """
    return read_source("references", *paths, progress=progress, **options)


def read_acl(path: str | Path, *, progress: ProgressOption = None, **options: Any) -> Corpus:
    """Return the corpus of the ACL Anthology, from its folder or its archive."""
    return read_source("acl", path, progress=progress, **options)


def read_task(
    source: str, *paths: str | Path, name: str, seed: int = 0, progress: ProgressOption = None, **options: Any
) -> Task:
    """Return a link-prediction task of the paper's kind: a corpus, a query, and the latest links hidden.

    ``source`` is ``"yelp"`` (tasks ``ilkid`` and ``nvout``) or ``"movies"`` (``scifi00`` and ``drama10``).
    """
    tasks = {"yelp": Yelp, "movies": Movies}
    if source not in tasks:
        raise unknown_name("source of tasks", source, tasks)
    reader: Yelp | Movies = make_object(source, tasks, Source, "source", options)
    return reader.read_task(
        [check_path(path, "a path to read") for path in paths], name, seed=seed, progress=resolve_progress(progress)
    )


@check_call
def from_networkx(graph: Any, **options: Any) -> Corpus:
    """Convert a NetworkX graph to a corpus; each node is an object and its own item.

    Links are undirected; the weights of several links between two nodes are added. Self-loops are left out.

    Parameters
    ----------
    graph
        A NetworkX graph of any kind. Attributes of nodes become attributes; a list or set gives several labels.
    options
        ``weight``, ``name``, ``kind`` and ``text`` name the attributes that contain these values, by default those with
        the same names; the weight defaults to 1. ``separators`` split a text into several labels, ``{"genres": "|"}``.
        With ``strict``, unusable values raise an error; otherwise they are counted in ``dropped``. ``progress`` is a
        callback that receives the progress.

    Returns
    -------
    Corpus
        For :func:`build`, with its attributes as dimensions.

    Examples
    --------
    >>> import networkx as nx
    >>> import cube2net as c2n
    >>> graph = nx.Graph([("ada", "bob"), ("bob", "eve")])
    >>> graph.add_node("ada", city="Rome")
    >>> c2n.from_networkx(graph)
    Corpus(3 objects, 3 items, 2 links)
    """
    return graphs.from_networkx(graph, **options)


def resolve_corpus(
    data: Any,
    options: Mapping[str, Any],
    progress: Progress,
    function: Callable[..., Any],
    known: Objects | None = None,
) -> Corpus:
    """Return the corpus of the data and reading options that were passed to a function.

    Tables may name ``known`` objects, those of a cube to be updated, without listing them.
    """
    if isinstance(data, Corpus):
        check_options(options, "a corpus that is made already", (), function)
        return data
    if is_networkx(data) or is_igraph(data):
        read = graphs.from_networkx if is_networkx(data) else from_igraph
        allowed = [name for name in list_options(read) if name not in ("graph", "progress")]
        check_options(options, "a graph", allowed, function)
        return read(data, progress=progress, **options)
    if isinstance(data, str | os.PathLike) and is_reference_file(data) and _are_of_references(options):
        return read_references(os.fspath(data), progress=progress, **options)
    if isinstance(data, str | os.PathLike) and is_graph_file(data):
        check_options(options, "a graph", list_options(SOURCES["graph"]), function)
        return read_graph(os.fspath(data), progress=progress, **options)
    check_options(options, "tables", [*list_options(SOURCES["tables"]), "records"], function)
    if data is None and not options:
        raise ParameterError(f"{function.__name__} is given nothing to read, expected {EXPECTED}")
    tables = () if data is None else (data,)
    if isinstance(data, list | tuple) and not is_frame(data):
        tables = tuple(data)
    if data is not None and not (tables and all(map(_is_readable, tables))):
        raise ParameterError(f"the data is {quote(data)}, expected {EXPECTED}")
    if (links := _tabulate_links(options.get("links"))) is not None:
        options = {**options, "links": links}
    return table_source.read_tables(tables, options, progress, known)


def _tabulate_links(links: Any) -> pa.Table | None:
    """Return the table of the edges of a NetworkX graph or of pairs, with weights if given; None for anything else."""
    if is_networkx(links):
        links = list(links.edges(data="weight", default=1.0))
    elif isinstance(links, Set) or not (isinstance(links, str | os.PathLike | Mapping) or is_frame(links)):
        links = links.tolist() if hasattr(links, "tolist") else list(links) if isinstance(links, Iterable) else links
    if not (isinstance(links, list | tuple) and links and all(isinstance(link, list | tuple) for link in links)):
        return None
    links = [
        (*link[:2], link[2].get("weight", 1.0)) if len(link) == 3 and isinstance(link[2], Mapping) else link
        for link in links
    ]
    if {len(link) for link in links} not in ({2}, {3}):
        raise ParameterError(f"links are {quote(links)}, expected pairs, or triples with a weight", parameter="links")
    return pa.table(dict(zip(("source", "target", "weight"), map(list, zip(*links, strict=True)), strict=False)))


def find_reader(source: str | Source, given: Sequence[Any], options: Mapping[str, Any]) -> tuple[Source, list[Path]]:
    """Return what reads a source, and the paths that it is to read; what is given to SQL are queries."""
    if isinstance(source, str) and source == SQL:
        options, given = {"queries": tuple(given), **options}, ()
    reader: Source = make_object(source, SOURCES, Source, "source", options)
    return reader, [check_path(path, "a path to read") for path in given]


def _are_of_references(options: Mapping[str, Any]) -> bool:
    """Return whether options may be those of references; ``objects`` of tables is a column."""
    return set(options) <= set(list_options(References)) and options.get("objects", "authors") in OBJECT_KINDS


def _is_readable(data: object) -> bool:
    return is_frame(data) or isinstance(data, str | os.PathLike | Mapping)
