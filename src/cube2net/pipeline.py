"""The only module that wires rooms: from raw data to a network, one function a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from cube2net import cube as cubes
from cube2net import network as networks
from cube2net.aside import check_path
from cube2net.cube.labels import TOPIC
from cube2net.embed import VECTORS, Nearest
from cube2net.errors import InputError, ParameterError, QueryError, unknown, whole_number
from cube2net.interfaces import (
    Embedder,
    LinkObjective,
    Method,
    NeedsVectors,
    Objective,
    Progress,
    Source,
    TellsProgress,
    TopicModel,
)
from cube2net.network.links import KEEPS
from cube2net.records import (
    Budget,
    Corpus,
    Cube,
    DimensionSpec,
    Judge,
    Network,
    Query,
    Selection,
    Topics,
    Vectors,
    Weights,
    Worth,
)
from cube2net.records.network import FORMS
from cube2net.records.ragged import Array
from cube2net.records.spec import MAX_MENTIONS, MIN_OBJECTS
from cube2net.records.weights import called
from cube2net.select import OBJECTIVES as OBJECTIVES
from cube2net.select import Anneal, Cube2net, Exact, Greedy, Random
from cube2net.select.objective import Own
from cube2net.sources import SOURCES as SOURCES
from cube2net.sources import Movies, Yelp, bundled, holdout, networkx, synthetic
from cube2net.sources.queryfile import read_query_file
from cube2net.topics import TOPIC_MODELS as TOPIC_MODELS
from cube2net.topics import model_of

METHODS: dict[str, type[Method]] = {
    "none": networks.Nothing,
    "hops": networks.Hops,
    "pagerank": networks.PageRank,
    "steiner": networks.Steiner,
    "maxdisc": networks.MaxDisc,
    "random": Random,
    "greedy": Greedy,
    "anneal": Anneal,
    "exact": Exact,
    "cube2net": Cube2net,
}

Dimensions = Sequence[DimensionSpec | str]
Valued = str | Objective | LinkObjective | Callable[[Array, Query], float]

# How far nearness by links may be off, summed over all objects. On the ACL Anthology, 1,820 authors: 58 of 97,922
# gains differ from the exact ones, each by its last digit (1/1024), for 80 ms; at 1e-4 744 do, for 66 ms.
LINK_TOLERANCE = 1e-5


def read_source(source: str | Source, *paths: str | Path, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus that files of one kind hold; ``options`` are the source's parameters."""
    reader: Source = _made(source, SOURCES, Source, "source", options)
    return reader.read([Path(path) for path in paths], progress=progress)


def read_tables(*paths: str | Path, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus of tables: nodes and links, or objects, items, mentions and links."""
    return read_source("tables", *paths, progress=progress, **options)


def read_acl(path: str | Path, *, progress: Progress | None = None, **options: Any) -> Corpus:
    """Return the corpus of the ACL Anthology, from its folder or its archive."""
    return read_source("acl", path, progress=progress, **options)


def read_task(
    source: str, *paths: str | Path, name: str, seed: int = 0, progress: Progress | None = None, **options: Any
) -> holdout.Task:
    """Return a link-prediction task of the paper's kind: a corpus, a query, and the latest links hidden.

    ``source`` is ``"yelp"`` (tasks ``ilkid`` and ``nvout``) or ``"movies"`` (``scifi00`` and ``drama10``).
    """
    tasks = {"yelp": Yelp, "movies": Movies}
    if source not in tasks:
        raise unknown("source of tasks", source, tasks)
    reader: Yelp | Movies = _made(source, tasks, Source, "source", options)
    return reader.read_task([Path(path) for path in paths], name, seed=seed, progress=progress)


def load_bundled() -> Corpus:
    """Return the slice of the ACL Anthology that comes with the package."""
    return bundled.load_bundled()


def load_labs() -> dict[str, str]:
    """Return the 116 labelled authors that come with the package, object → label."""
    return bundled.labs()


def from_networkx(graph: Any, **options: Any) -> Corpus:
    """Return the corpus of a NetworkX graph: every node is an object and its own item."""
    return networkx.from_networkx(graph, **options)


def make_planted(**options: Any) -> synthetic.Planted:
    """Return a corpus with planted communities, and which cells are the best for each."""
    return synthetic.make_planted(**options)


def find_topics(
    corpus: Corpus, model: str | TopicModel = "lda", *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Topics:
    """Return the topics of a corpus by a topic model."""
    maker: TopicModel = _made(model, TOPIC_MODELS, TopicModel, "topic model", options)
    return maker.topics(corpus, seed=seed, progress=progress)


def build_cube(
    corpus: Corpus,
    dimensions: Dimensions | None = None,
    *,
    topics: Topics | str | TopicModel = "lda",
    min_objects: int = MIN_OBJECTS,
    max_mentions: int = MAX_MENTIONS,
    out: str | Path | None = None,
    engine: str = "duckdb",
    seed: int = 0,
    progress: Progress | None = None,
) -> Cube:
    """Return the cube of a corpus; with ``out`` it is also saved there, and opened from there.

    Without ``dimensions`` the cube has those that the source proposes. When a dimension reads the attribute
    ``topic`` and the items have none, a topic model finds it in their texts.
    """
    if isinstance(dimensions, str):
        raise ParameterError(f"dimensions are a list such as ['city', 'year@decades'], got the text {dimensions!r}")
    wanted = corpus.dimensions if dimensions is None else dimensions
    specs = [DimensionSpec.parse(spec) if isinstance(spec, str) else spec for spec in wanted]
    if engine not in cubes.ENGINES:
        raise unknown("engine", engine, cubes.ENGINES)
    found = None
    if any(spec.attribute == TOPIC for spec in specs) and TOPIC not in corpus.attributes:
        found = topics if isinstance(topics, Topics) else find_topics(corpus, topics, seed=seed, progress=progress)
    cube = cubes.build(
        corpus,
        specs,
        cubes.ENGINES[engine](),
        topics=found,
        min_objects=min_objects,
        max_mentions=max_mentions,
        seed=seed,
        progress=progress,
    )
    if out is None:
        return cube
    save_cube(cube, out)
    return open_cube(out)


def save_cube(cube: Cube, folder: str | Path) -> None:
    """Write a cube to a folder, which appears whole or not at all."""
    cubes.save(cube, Path(folder))


def open_cube(folder: str | Path) -> Cube:
    """Return the cube of a folder; its arrays are memory-mapped, so this costs almost nothing."""
    return cubes.read(Path(folder))


def verify_cube(folder: str | Path) -> int:
    """Return the number of files of a cube, having checked every byte of them."""
    return cubes.verify(Path(folder))


def label_texts(cube: Cube, texts: Sequence[str | None]) -> Topics:
    """Return the topics of new texts, by the topic model that was trained for a cube."""
    if cube.topic_model is None:
        raise ParameterError("the cube has no topic model: its topics were given, or it has no dimension of topics")
    return model_of(cube.topic_model()).label_texts(list(texts))


def embed_cells(cube: Cube, vectors: str | Embedder = "words", *, seed: int = 0, **options: Any) -> Vectors:
    """Return a vector for every cell: of the words of its labels, or learned from the cells' members."""
    maker: Embedder = _made(vectors, VECTORS, Embedder, "kind of vectors", options)
    return maker.embed(cube, seed=seed)


def near_cells(
    cube: Cube, cell: int | Sequence[str], k: int = 10, vectors: Vectors | None = None
) -> list[tuple[str, ...]]:
    """Return the labels of the k cells nearest to a cell (its number or its labels), without itself."""
    cell = whole_number("cell", cell, 0, len(cube.cells) - 1) if isinstance(cell, int) else cube.find_cell(cell)
    known = embed_cells(cube) if vectors is None else vectors
    found, _ = Nearest.of(known).find(known.values[[cell]], k=k, taken=np.array([[cell]]))
    return [cube.cell(int(number)) for number in found[0] if number >= 0]


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """Return what a cube's folder says of itself: counts, settings, what was left out, files and checksums."""
    return cubes.read_manifest(Path(folder))


def view_cube(cube: Cube, *, roll_up: Sequence[str] = (), where: Mapping[str, Sequence[str]] | None = None) -> Cube:
    """Return the cube rolled up in some dimensions, and then only the cells with one of some labels."""
    for dimension in roll_up:
        cube = cubes.roll_up(cube, dimension)
    return cubes.dice(cube, where) if where else cube


def missing_names(cube: Cube, path: str | Path) -> list[str]:
    """Return the names of a query file that no object of the cube bears, or that several do."""
    found = cube.objects.find(read_query_file(Path(path))[0])
    return [*found.missing, *found.ambiguous]


def read_query(cube: Cube, path: str | Path, *, skip_missing: bool = False) -> Query:
    """Return the query that a file names: a name a line, or a table ``object[,label]``."""
    names, labels = read_query_file(Path(path))
    return cube.query(names, labels, skip_missing=skip_missing)


def weigh(cube: Cube, query: Query, objective: Valued = "jaccard") -> Worth:
    """Return what objects are worth for a query: ``weigh(…).value(rows)`` is the value of any set of them.

    It is a record of weighted counts, or the judge that a function of one's own is.
    """
    return _weighed(cube, query, _objective(objective))


def construct(
    cube: Cube,
    query: Query | Iterable[str] | Iterable[int] | Mapping[str, str],
    method: str | Method = "greedy",
    m: int = 20,
    objective: Valued = "jaccard",
    form: str = "objects",
    seed: int = 0,
    *,
    max_nodes: int | None = None,
    max_links: int | None = None,
    prefix: str = "all",
    keep: str | None = None,
    bound: bool = False,
    progress: Progress | None = None,
) -> Network:
    """Return the network of a query: what the method brings, and all links among it.

    ``method`` and ``objective`` are names or objects of your own; an objective may also be a function
    ``f(objects, query)`` of the row numbers brought. ``form`` is ``"objects"`` (the query and the objects brought),
    ``"cells"`` (the query and the chosen cells as nodes) or ``"both"``. ``max_nodes`` and ``max_links`` limit the
    form ``"objects"``; with cells as nodes ``m`` is the limit. ``keep="linked"`` leaves out objects brought that have
    no link to the network, ``"all"`` keeps them; without a word it is ``"linked"`` where the objective sees links.
    ``bound=True`` also finds an upper bound on the value of any choice of m cells, where one can be found. A method
    that takes long tells its ``progress``.

    Where no cell can help, the network is the query alone, and ``network.selection.note`` says why. The first
    answer of a process also pays for loading the compiled kernels.
    """
    if form not in FORMS:
        raise unknown("form", form, FORMS)
    if keep is not None and keep not in KEEPS:
        raise unknown("keep", keep, KEEPS)
    if form != "objects" and (max_nodes is not None or max_links is not None):
        raise ParameterError(
            f"max_nodes and max_links limit the form 'objects', got the form {form!r}: limit m instead"
        )
    asked = query if isinstance(query, Query) else cube.query(query)
    if int(asked.objects[-1]) >= len(cube.objects):
        raise QueryError(f"the query was made for another cube: it names row {int(asked.objects[-1]):,}")
    chooser: Method = _made(method, METHODS, Method, "method", {})
    worth = _objective(objective)
    whole_number("seed", seed, 0, None)
    budget = Budget(m=m, max_nodes=max_nodes, max_links=max_links, prefix=prefix)
    kept = keep or ("linked" if isinstance(worth, LinkObjective) else "all")
    for kernel in ("coverage", "induce", *(["push"] if isinstance(worth, LinkObjective) else [])):
        import_module(f"cube2net.kernels.{kernel}")
    seconds: dict[str, float] = {}
    with _timed(seconds, "weigh"):
        weights = _weighed(cube, asked, worth)
    with _timed(seconds, "vectors"):
        ready = _with_vectors(cube, chooser, seed)
    if ready is chooser:
        del seconds["vectors"]
    if progress is not None and isinstance(ready, TellsProgress):
        ready = ready.with_progress(progress)
    with _timed(seconds, "select"):
        selection = ready.select(cube, asked, weights=weights, budget=budget, seed=seed)
    seconds["select"] -= selection.train_seconds
    seconds["train"] = selection.train_seconds
    if bound:
        with _timed(seconds, "bound"):
            selection = _bounded(cube, asked, weights, budget, selection)
    with _timed(seconds, "links"):
        network = networks.assemble(cube, asked, selection, form, keep=kept)
    chosen = selection.cells
    return replace(
        network,
        settings={
            "method": _name(chooser, METHODS),
            "parameters": repr(chooser),
            "objective": _name(worth, OBJECTIVES),
            "m": m,
            "keep": kept,
            "seed": seed,
            "empty_value": weights.value(np.empty(0, dtype=np.int64)) if len(chosen) else selection.value,
            "cell_objects": cube.cells.members.sizes[chosen].tolist(),
        },
        seconds=seconds,
    )


def check_outputs(network: str | Path | None, picture: str | Path | None) -> None:
    """Raise where a network or a picture could not be written, before any work is done for it."""
    if network is not None:
        check_path(Path(network), networks.EXPORTS, "network file")
    if picture is not None:
        check_path(Path(picture), networks.PICTURES, "picture")


def write_network(network: Network, path: str | Path) -> list[Path]:
    """Write a network in the format that the path's suffix names, and return the files written."""
    return networks.write(network, Path(path))


def to_scipy(network: Network) -> Any:
    """Return the symmetric adjacency of a network as a SciPy matrix."""
    return networks.to_scipy(network)


def draw_network(network: Network, path: str | Path, *, title: str | None = None, seed: int = 0) -> None:
    """Draw a network to a PNG, SVG or PDF file."""
    networks.draw(network, Path(path), title=title, seed=seed)


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    selection, settings = network.selection, network.settings
    gains = selection.gains(settings["empty_value"]).tolist()
    of_query = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(of_query, minlength=len(selection.cells)).tolist()
    brought = np.union1d(network.query.objects, selection.objects)
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "keep": settings["keep"],
        "value": selection.value if len(selection.cells) else None,
        "bound": selection.bound,
        "gap": selection.gap,
        "proven": None if selection.bound is None else selection.proven,
        "note": selection.note or None,
        "cells": [
            {
                "labels": dict(zip(network.dimensions, labels, strict=True)),
                "gain": gain,
                "objects": size,
                "query_objects": shared,
            }
            for labels, gain, size, shared in zip(
                network.labels, gains, settings["cell_objects"], in_query, strict=True
            )
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form == "cells" else len(brought) - len(network.objects),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }


@dataclass(frozen=True)
class Compared:
    """One method beside others: its network, or the sentence that says why there is none."""

    method: str
    network: Network | None
    reason: str = ""


def compare_methods(
    cube: Cube, query: Query, methods: Mapping[str, str | Method] | None = None, **options: Any
) -> list[Compared]:
    """Return the network of every method for one query; a method that cannot answer says why."""
    compared = []
    for name, method in (methods or {name: name for name in METHODS}).items():
        try:
            compared.append(Compared(name, construct(cube, query, method, **options)))
        except (QueryError, ParameterError) as error:
            compared.append(Compared(name, None, str(error)))
    return compared


def _weighed(cube: Cube, query: Query, objective: Objective | LinkObjective) -> Worth:
    """Return the weights of an objective; whatever is wrong with them is said with the objective's name."""
    name = f"the objective {_name(objective, OBJECTIVES)!r}"
    try:
        weights: Worth
        if isinstance(objective, LinkObjective):
            affinity = networks.scores(cube.links, query.objects, objective.damping, LINK_TOLERANCE)
            weights = objective.weigh_links(query, affinity, cube.links.degrees > 0)
        else:
            weights = objective.weigh(query, len(cube.objects))
        if not isinstance(weights, Weights | Judge):
            raise InputError(f"it gave {weights!r}, expected Weights")
        if weights.count != len(cube.objects):
            raise InputError(f"the weights are for {weights.count:,} objects, and the cube has {len(cube.objects):,}")
    except (QueryError, ParameterError):
        raise
    except InputError as error:
        raise InputError(f"{name} cannot be used: {error}") from None
    return weights


def _with_vectors(cube: Cube, method: Method, seed: int) -> Method:
    """Return the method with the cell vectors that it names, or the method itself where it names none."""
    if not isinstance(method, NeedsVectors) or not isinstance(method.vectors, str):
        return method
    kinds = list(VECTORS) if method.vectors == "both" else [method.vectors]
    return method.with_vectors(*(embed_cells(cube, kind, seed=seed) for kind in kinds))


def _bounded(cube: Cube, query: Query, weights: Worth, budget: Budget, selection: Selection) -> Selection:
    """Return the selection with the best bound known, or with a note that says why there is none."""
    reason = ""
    if len(selection.cells) == 0:
        reason = "no cells were chosen"
    elif isinstance(weights, Judge):
        reason = f"{weights.name} is a function, and only its values are known"
    elif budget.max_links is not None:
        reason = "max_links cannot be taken into account"
    elif not selection.proven:
        from cube2net.select.bound import upper_bound

        found = float(upper_bound(cube, query, weights, budget, at_least=selection.value))
        return replace(selection, bound=found if selection.bound is None else min(found, selection.bound))
    if not reason:
        return selection
    return replace(selection, note="; ".join(filter(None, (selection.note, f"no bound: {reason}"))))


@contextmanager
def _timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - start


def _objective(given: Valued) -> Objective | LinkObjective:
    """Return the objective of a name, the object itself, or the objective that a function is."""
    if callable(given) and not isinstance(given, type | Objective | LinkObjective):
        return Own(given)
    made: Objective | LinkObjective = _made(given, OBJECTIVES, (Objective, LinkObjective), "objective", {})
    return made


def _made(
    given: Any,
    registry: Mapping[str, Any],
    protocol: type | tuple[type, ...],
    what: str,
    options: Mapping[str, Any],
) -> Any:
    """Return the object of a name, or the object itself where one with the right method was given."""
    if isinstance(given, str):
        if given not in registry:
            raise unknown(what, given, registry)
        try:
            return registry[given](**options)
        except TypeError as error:
            raise ParameterError(f"{what} {given!r} cannot be made so: {error}") from None
    if isinstance(given, type) or not isinstance(given, protocol):
        article = "an" if what[0] in "aeiou" else "a"
        raise ParameterError(
            f"{article} {what} is a name ({', '.join(sorted(registry))}) or an object like one, got {given!r}"
        )
    return given


def _name(thing: object, registry: Mapping[str, Any]) -> str:
    if isinstance(thing, Own):
        return called(thing.function)
    return next((name for name, kind in registry.items() if type(thing) is kind), type(thing).__name__)
