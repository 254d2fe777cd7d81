"""What can be done with a network: export it, draw it, explain it, change it.

The work is done by other packages, which load when a method is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from cube2net._util.display import Shown, get_display, load_function
from cube2net._util.progress import ProgressOption
from cube2net._util.statistics import LEVEL
from cube2net.model.interfaces import check_call, check_path

if TYPE_CHECKING:
    import igraph
    import networkx
    import scipy.sparse as sp
    from torch_geometric.data import Data, HeteroData

    from cube2net.model.change import Change
    from cube2net.model.contrast import Description
    from cube2net.model.cube import Cube
    from cube2net.model.explanation import CellExplanation, ObjectExplanation, ValueAccount
    from cube2net.model.network import Network
    from cube2net.model.selection import Price

MAX_TOKENS = 4_000
"""The default budget of a network as text."""


class NetworkActions(Shown):
    """Methods of a network that other packages implement."""

    @check_call
    def save(self, path: str | Path, *, spreadsheet_safe: bool = False) -> list[Path]:
        """Save the network in the format of the suffix.

        If this fails, existing files are unchanged.

        Parameters
        ----------
        path
            The file; ``.graphml``, ``.gexf``, ``.xlsx`` (Excel), ``.csv``, ``.parquet``, ``.npz``, ``.json``, ``.cyjs``
            (Cytoscape), ``.vosviewer.json`` or ``.neo4j.csv``.
        spreadsheet_safe
            For ``.csv`` and ``.neo4j.csv``: whether to put an apostrophe before names and ids that spreadsheets would
            run as formulas.

        Returns
        -------
        list of Path
            The files: one, or for CSV and Parquet one of nodes and one of links. CSV has a third one for the recipe,
            which other formats contain.

        Examples
        --------
        >>> import tempfile
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4)
        >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [path.name for path in network.save(f"{folder}/network.csv")]
        ['network.nodes.csv', 'network.links.csv', 'network.recipe.json']
        """
        export = load_function("network.export.registry", "export_network")
        files: list[Path] = export(self, check_path(path, "the file of the network"), spreadsheet_safe=spreadsheet_safe)
        return files

    @check_call
    def plot(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        width: int = 760,
        seed: int = 0,
        name_cells: bool = False,
    ) -> Any:
        """Return a picture for a notebook, or draw the network to a PNG, SVG or PDF file.

        It opens no window. Files need Matplotlib.

        Parameters
        ----------
        path
            The file; the suffix ``.png``, ``.svg`` or ``.pdf`` names the format. Without one, a picture is returned.
        title
            The title above the picture; none by default.
        width
            The width of the picture in pixels; files are 1,600 pixels wide.
        seed
            The seed of the layout of a file.
        name_cells
            Whether names of cells in a file may cover objects if there is no other place; by default such names are
            left out.

        Returns
        -------
        Picture or None
            Without a path, a picture whose ``svg`` is its text and whose ``save`` writes an ``.svg`` file.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> c2n.construct(c2n.build(planted.corpus), planted.query(0)).plot(title="One community")
        Picture(alt='One community: a network of 100 objects, 10 cells, 779 links, 50 in the query', width=760)
        """
        if path is not None:
            draw = load_function("network.drawing.matplotlib", "draw")
            draw(self, check_path(path, "the file of the picture"), title=title, seed=seed, name_cells=name_cells)
            return None
        display = get_display()
        return None if display is None else display.draw_picture(self, title, width)

    @check_call
    def to_text(
        self, max_tokens: int = MAX_TOKENS, counter: Callable[[str], int] | None = None, *, brief: bool = False
    ) -> str:
        """Return the network as Markdown for people and language models, within a budget of tokens.

        The sections are: the query and the value of the network; the objects by label of the query; the chosen cells
        with their gains; the objects, each with its attributes, cells and heaviest links to the query; and the links.
        With a small budget, each section has its first lines only; links are listed if everything else fits. The last
        line counts what was left out. Names are escaped and cut after 120 characters.

        Parameters
        ----------
        max_tokens
            The maximum number of tokens. If no line fits, the text is the last line alone, or empty.
        counter
            A function that counts the tokens of a text, such as ``lambda text: len(encoding.encode(text))``. It is
            called a few dozen times with complete texts. The default is an estimate of two tokens per five bytes of
            UTF-8, which is more than common tokenizers count for names and English.
        brief
            Whether to list mainly names: the objects outside the query, the likeliest members first, each with its
            numbers of chosen cells and of links to the query. Likely members are near the query by a short random walk,
            in many chosen cells, and linked to many objects of the query.

        Returns
        -------
        str
            The text; it is the same for the same network, budget and counter.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
        >>> text = network.to_text(200)
        >>> print(text.splitlines()[0], text.splitlines()[-1], sep="\\n")
        # Network around a query of 50 objects
        and 100 more objects, 2 more groups, 10 more cells, 310 more links
        >>> print(*network.to_text(200, brief=True).splitlines()[4:6], sep="\\n")
        - "Object 148" 4 2
        - "Object 162" 2 2
        """
        text: str = load_function("api.export", "format_network")(self, max_tokens, counter, brief=brief)
        return text

    def summary(self) -> dict[str, Any]:
        """Return the counts, the value, the chosen cells and the settings of the network, as values for JSON.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> summary = c2n.construct(c2n.build(planted.corpus), planted.query(0)).summary()
        >>> summary["nodes"], summary["links"], summary["value"]
        (110, 779, 324.0)
        """
        summary: dict[str, Any] = load_function("network.assembly", "summarize")(self)
        return summary

    @check_call
    def to_networkx(self) -> networkx.Graph:
        """Return a NetworkX graph whose nodes are ids, with all attributes of nodes and links.

        Returns
        -------
        networkx.Graph
            Nodes have ``name``, ``kind``, ``in_query``, ``label``, ``cells`` (the ranks of the chosen cells that
            contain them, from 1), ``query_links`` and the attributes of their objects, without missing ones. If the
            source states the direction of links it is a ``DiGraph``, with memberships from objects to cells. The graph
            has the ``recipe``.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
        >>> print(network.to_networkx())
        Graph with 110 nodes and 779 edges
        """
        return load_function("network.export.graphs", "to_networkx")(self)

    @check_call
    def to_igraph(self) -> igraph.Graph:
        """Return an igraph graph whose vertex i is node i, with all attributes of nodes and links.

        Returns
        -------
        igraph.Graph
            Attributes are the columns of ``network.nodes`` and ``network.links``, None if missing. The graph is
            undirected unless the source states the direction of links, and has the ``recipe``.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> graph = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_igraph()
        >>> graph.vcount(), graph.ecount(), graph.vs[0]["id"]
        (110, 779, 'o1')
        """
        return load_function("network.export.graphs", "to_igraph")(self)

    @check_call
    def to_scipy(self) -> sp.csr_array:
        """Return the symmetric adjacency matrix, whose row and column i are node i.

        Returns
        -------
        scipy.sparse.csr_array
            The weights of the links, as 32-bit floats.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_scipy().shape
        (110, 110)
        """
        return load_function("network.export.graphs", "to_scipy")(self)

    @check_call
    def to_pyg(self) -> Data:
        """Return ``Data`` of PyTorch Geometric: row i is node i, and links are in both directions.

        Returns
        -------
        torch_geometric.data.Data
            Tensors: ``x``, the attributes of objects as numbers, with ``x_names``: numbers as they are, dates in
            seconds since 1970, categories of up to 50 values one-hot, and the share of an object's items with each
            label of a dimension; ``edge_index``, ``edge_weight``, ``edge_kind`` (into ``edge_kind_names``),
            ``seed_mask`` (the query), ``kind`` (into ``kind_names``), ``query_links``, and ``y``, the labels of the
            query (into ``label_names``, -1 without one). If ``edge_weight`` is not the weight in the source,
            ``edge_given`` is, NaN for memberships. If links have times, ``edge_first`` and ``edge_last``, NaN if
            missing. Lists: ``ids``, ``names`` and ``cells``; and the ``recipe`` as JSON. If the source states the
            direction of links, only these directions are there, and memberships in both. Loaders and ``subgraph`` do
            not index lists: ``node`` has the position of every node of a batch, as in ``data.names[batch.node[0]]``.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> data = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_pyg()
        >>> data.num_nodes, data.num_edges, int(data.seed_mask.sum())
        (110, 1558, 50)
        """
        return load_function("network.export.graphs", "to_pyg")(self)

    @check_call
    def to_hetero(self) -> HeteroData:
        """Return ``HeteroData`` of PyTorch Geometric: a store for every kind of node and of link.

        Returns
        -------
        torch_geometric.data.HeteroData
            Stores of nodes, such as ``data["author"]`` and ``data["cell"]``, have ``x`` with ``x_names`` (of their kind
            only), ``ids``, ``names``, ``node``, ``seed_mask``, ``query_links`` and ``y``, as in :meth:`to_pyg`. Stores
            of links, such as ``data["author", "membership", "cell"]``, have ``edge_index`` and ``edge_weight``; links
            between two kinds are in two stores, one per direction.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> data = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_hetero()
        >>> data.node_types, data["cell"].num_nodes
        (['cell', 'object'], 10)
        """
        return load_function("network.export.graphs", "to_hetero")(self)

    @overload
    def explain(self, node: None = None, *, cube: Cube | None = None) -> ValueAccount: ...

    @overload
    def explain(self, node: Any, *, cube: Cube | None = None) -> ObjectExplanation | CellExplanation: ...

    @check_call
    def explain(
        self, node: Any = None, *, cube: Cube | None = None
    ) -> ObjectExplanation | CellExplanation | ValueAccount:
        """Explain why an object or a cell is in the network or not; see :func:`cube2net.explain`.

        Parameters
        ----------
        node
            An object by its id or name, or a cell by its labels. Without one, all chosen cells are explained.
        cube
            The cube of a network that came from another process.

        Returns
        -------
        ObjectExplanation, CellExplanation or ValueAccount
            ``print`` shows it as a sentence, ``to_dict`` returns all numbers.
        """
        result: ObjectExplanation | CellExplanation | ValueAccount
        result = load_function("api.explain", "explain")(self, node, cube=cube)
        return result

    @check_call
    def without(self, nodes: Any, *, cube: Cube | None = None) -> Change:
        """Return how the network changes if some cells or objects are banned.

        The same method runs again with the same seed and the other pins, bans and preferences. A banned cell is not
        chosen; a banned object is treated as if the cube did not have it; an object of the query is removed from the
        query. Banning a node outside the network can have an effect too, because its cells get smaller.

        Parameters
        ----------
        nodes
            A cell or an object, or a list of several. A cell is named by its labels, as a tuple or as
            ``"2019 · ACL · parsing"``, an object by its id or name.
        cube
            The cube of a network that came from another process.

        Returns
        -------
        Change
            Its ``network`` is what :func:`cube2net.construct` returns with these ``bans``; ``sentence`` describes the
            difference.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> network = c2n.construct(c2n.build(planted.corpus), planted.query(0))
        >>> change = network.without(network.labels[0])
        >>> print(change)
        without ⟨∗ · venue 0 · ∗⟩ the cover falls from 324 to 274: nothing takes its place; still proven best
        >>> change.before, change.value, change.merely, change.network
        (324.0, 274.0, 274.0, Network(100 objects, 9 cells, 690 links, 50 in the query))
        """
        change: Change = load_function("api.what_if", "change")(self._restore(cube), without=nodes)
        return change

    @check_call
    def including(self, nodes: Any, *, cube: Cube | None = None) -> Change:
        """Return how the network changes if some cells or objects are pinned.

        The same method runs again with the same seed. A pinned cell is chosen and counts within ``n_cells``; a pinned
        object is in the network, in the form ``hybrid`` instead of a neighbour.

        Parameters
        ----------
        nodes
            A cell or an object, or a list of several, named as for :meth:`without`.
        cube
            The cube of a network that came from another process.

        Returns
        -------
        Change
            Its ``network`` is what :func:`cube2net.construct` returns with these ``pins``; ``sentence`` describes the
            difference, and ``merely`` is the value if the cell is added to the chosen ones and nothing else changes.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> cube = c2n.build(planted.corpus)
        >>> network = c2n.construct(cube, planted.query(0), "exact", n_cells=3)
        >>> change = network.including(planted.best_cells[1][0])
        >>> print(f"{change.before:.0f} → {change.value:.0f}", *change.left)
        130 → 100 NamedNode(⟨199X · ∗ · ∗⟩)
        """
        change: Change = load_function("api.what_if", "change")(self._restore(cube), with_=nodes)
        return change

    @check_call
    def pin_costs(self, cube: Cube | None = None, *, progress: ProgressOption = None) -> tuple[Price, ...]:
        """Return the costs of the pins and bans of the network, pins first.

        The cost is the value without this pin or ban minus the value with it, by the same method and seed; computing it
        takes as long as constructing the network. Methods that follow links have no value, so only the displaced nodes
        are listed. A ban has no cost if the pins would exceed the limits without it.

        Parameters
        ----------
        cube
            The cube of a network that came from another process.
        progress
            A callback that receives the progress; True shows a progress bar.

        Returns
        -------
        tuple of Price
            Each has a ``price``, a ``sentence``, and the cells that it keeps out and adds.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> cube = c2n.build(planted.corpus)
        >>> best = c2n.construct(cube, planted.query(0), "greedy", n_cells=4, form="objects")
        >>> network = c2n.construct(cube, planted.query(0), "greedy", n_cells=4, form="objects", bans=[best.labels[0]])
        >>> print(*network.pin_costs())
        leaving out ⟨199X · venue 0 · topic 2⟩ costs 0.04
        """
        compute = load_function("api.what_if", "compute_pin_costs")
        costs: tuple[Price, ...] = compute(self._restore(cube), progress=progress)
        return costs

    def _restore(self, cube: Cube | None) -> Network:
        """Return the network with its context, from its recipe and the cube if it came from another process."""
        network: Network = load_function("api.replay", "restore_context")(self, cube)
        return network

    @check_call
    def describe_clusters(
        self, clusters: Any, n_cells: int = 10, *, cube: Cube | None = None, alpha: float = LEVEL
    ) -> Description:
        """Find a few cells that distinguish each cluster of objects from the others.

        Parameters
        ----------
        clusters
            A number or a name for each object of the query, or for each object node, in the order of the network, as a
            list, an array or the result of :func:`cube2net.api.cluster_query`. Or a mapping from objects to clusters, a
            series with objects as its index (an unnamed index from 0 is the order of the network), or a table
            ``object, cluster`` (or ``label``, or any single other column). None, nan and negative numbers mean no
            cluster.
        n_cells
            The maximum number of cells per cluster.
        cube
            The cube of a network that came from another process.
        alpha
            The significance level, as in :func:`cube2net.contrast`.

        Returns
        -------
        Description
            One contrast per cluster; ``print`` shows a sentence for each. Objects outside the network are included,
            and ``elsewhere`` is their number.

        Examples
        --------
        >>> import cube2net as c2n
        >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
        >>> clusters = {name: number for number in (0, 1) for name in planted.query(number)}
        >>> network = c2n.construct(c2n.build(planted.corpus), list(clusters))
        >>> print(network.describe_clusters(clusters, n_cells=1))
        cluster 0 (50 objects) differs from the rest (50 objects) in ⟨∗ · ∗ · topic 2⟩ (100 % against 0 %)
        cluster 1 (50 objects) differs from the rest (50 objects) in ⟨∗ · ∗ · topic 0⟩ (100 % against 0 %)
        """
        describe = load_function("api.contrast", "describe_clusters")
        description: Description = describe(self, clusters, n_cells, cube=cube, alpha=alpha)
        return description
