"""Batches for PyTorch Geometric: around the seeds of every batch the cells and near objects of a cube."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cube2net import network as networks
from cube2net.arguments import expect
from cube2net.array_types import Array
from cube2net.errors import ParameterError, quoted, whole_number
from cube2net.extras import require
from cube2net.network_options import NetworkOptions
from cube2net.pipeline.construct import choose
from cube2net.pipeline.planning import plan_network
from cube2net.pipeline.queries import Asked, query_of
from cube2net.pipeline.worths import Valued, objective_name, objective_of
from cube2net.records import Cube, Query
from cube2net.records.budget import PAPER_CELLS
from cube2net.records.pickling import travel_by_fields
from cube2net.seeding import stream

if TYPE_CHECKING:
    from torch_geometric.data import Data
    from torch_geometric.sampler import EdgeSamplerInput, NegativeSampling, NodeSamplerInput, SamplerOutput

TIME_SLOTS = ("seed_time", "edge_label_time")
"""Where loaders put the times of seeds, which cells have none of: so the cells of a batch travel there."""


class BatchCells(NamedTuple):
    """The cells chosen for a batch, and pairs of a node and the place of a cell that holds it."""

    cells: Any
    cell_index: Any


@dataclass(frozen=True, eq=False, repr=False)
class CellSampler:
    """Samples a batch around its seeds: the objects of the cells that greedy chooses for them, and near objects.

    It is a ``torch_geometric.sampler.BaseSampler`` for ``torch_geometric.loader.NodeLoader`` and ``LinkLoader``, which
    needs none of PyTorch Geometric's compiled extras. Nodes are rows of the cube's objects: the seeds first, in their
    order, then what is brought, with every link among them in both directions. A batch depends on its seeds and on
    ``seed`` alone, so that batches are the same for any number of workers.

    Parameters
    ----------
    cube
        The cube, or a view of it: what this leaves out is not brought. To workers that are not forked it travels as its
        folder: save it and open it first.
    m
        The most cells that are chosen for a batch; with 0 only near objects come.
    objective
        What a choice of cells is worth, as for :func:`construct`. ``"cover"`` chooses until every seed is in three
        cells.
    near
        How many objects come first that a walk from the seeds comes to most (:class:`PageRank`). Without a number these
        fill what the cells leave of ``max_nodes``, and without that none come.
    max_nodes
        The most nodes of a batch, seeds included. Where the cells hold more, objects with most links to the seeds come
        in, then those that most of the cells hold, and else chance decides. With ``near=None`` every batch has exactly
        so many, wherever links lead to so many. None is no limit.
    seed
        Of what chance decides: the last of equal objects, and negative links.

    See Also
    --------
    to_pyg : One network instead of batches.

    Notes
    -----
    A seed that is repeated in a batch is a node each time, so that the first nodes are the seeds. Its repeats are
    reached by all links that reach the first, and none starts at them: they come to the same, and nothing else changes.

    A loader hands what a sampler says besides nodes and links on as times of the seeds (``seed_time``). There are none
    here, and the cells travel in their place: ``transform=sampler.with_cells`` puts them on the batch.

    Examples
    --------
    >>> from torch_geometric.loader import NodeLoader
    >>> import cube2net as c2n
    >>> planted = c2n.make_planted(objects=200, communities=4, noise=0)
    >>> cube = c2n.build_cube(planted.corpus)
    >>> sampler = c2n.CellSampler(cube, m=4, max_nodes=40)
    >>> data = sampler.data({name: "first" for name in planted.query(0)})
    >>> loader = NodeLoader(data, sampler, data.y >= 0, batch_size=10, transform=sampler.with_cells)
    >>> batch = next(iter(loader))
    >>> batch.batch_size, batch.num_nodes, cube.cell(batch.cells[0])
    (10, 40, ('198X', 'venue 0', 'topic 2'))
    """

    cube: Cube
    m: int = PAPER_CELLS
    _: KW_ONLY
    objective: Valued = "cover"
    near: int | None = None
    max_nodes: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require("a sampler for PyTorch Geometric", "torch", "torch_geometric")
        expect(Cube, self.cube, "cube")
        object.__setattr__(self, "m", whole_number("m", self.m, 0, what="cells"))
        for name, least, what in (("near", 0, "objects, or None"), ("max_nodes", 1, "nodes, or None")):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), least, or_none=True, what=what))
        object.__setattr__(self, "seed", whole_number("seed", self.seed, 0, None))
        objective_of(self.objective)
        networks.geometric()
        from torch_geometric.sampler import BaseSampler

        BaseSampler.register(CellSampler)

    __reduce__ = travel_by_fields

    def __repr__(self) -> str:
        size = "" if self.max_nodes is None else f", at most {self.max_nodes:,} nodes"
        near = "" if self.near is None else f", {self.near:,} near"
        named = objective_name(objective_of(self.objective))
        return f"CellSampler({self.cube!r}, {self.m:,} cells by {named}{near}{size}, seed {self.seed})"

    @property
    def edge_permutation(self) -> None:
        """None: edges are numbered as in :meth:`data`."""
        return None

    def data(self, labels: Asked | None = None, x: Any = None) -> Data:
        """Return the ``Data`` that a loader cuts batches from: row i is object i of the cube.

        Parameters
        ----------
        labels
            The objects that have labels and these, as :func:`construct` takes a query. They become ``y`` (into
            ``label_names``), -1 where there is none.
        x
            A row of numbers for every object. Without it, what is known of objects as :func:`to_pyg` has it, named by
            ``x_names``; that may tell the labels. Where nothing is known of them (a cube that does not keep its items,
            a view of other cuboids) it has to be given.

        Returns
        -------
        torch_geometric.data.Data
            Tensors ``x``, ``y`` where there are labels, ``edge_index`` with every link in both directions, and
            ``edge_weight``. A ``Data`` of one's own has to have the same nodes and, where something is said of edges,
            the same edges.
        """
        return networks.cube_data(self.cube, None if labels is None else query_of(self.cube, labels), x)

    def with_cells(self, batch: Data) -> Data:
        """Return a batch with its cells on it: a transform for a loader.

        ``batch.cells`` are the numbers of the cells in the cube, in the order chosen; ``batch.cell_index`` has a column
        for every node and cell that holds it: the number of the node, and the place of the cell in ``batch.cells``.
        """
        for name in TIME_SLOTS:
            held = getattr(batch, name, None)
            if isinstance(held, BatchCells):
                batch[name] = None
                batch.cells, batch.cell_index = held
                return batch
        raise ParameterError(
            "the batch has no cells: with_cells is the transform of a loader whose sampler is a CellSampler"
        )

    def sample_from_nodes(self, index: NodeSamplerInput, **_: Any) -> SamplerOutput:
        """Return the nodes and links of a batch of seeds, as ``NodeLoader`` asks for them."""
        _check_plain(index)
        out, cells = self._around(self._rows(index.node))
        out.metadata = (index.input_id, cells)
        return out

    def sample_from_edges(self, index: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None) -> SamplerOutput:
        """Return the nodes and links of a batch around the ends of links, as ``LinkLoader`` asks for them.

        Negative links are drawn by ``seed`` and by the links of the batch.
        """
        import torch

        _check_plain(index)
        source, target = self._rows(index.row), self._rows(index.col)
        label, count = index.label, len(source)
        triplet = neg_sampling is not None and neg_sampling.is_triplet()
        if neg_sampling is not None:
            rng = stream(self.seed, "pipeline", "negatives", *source.tolist(), *target.tolist())
            more = math.ceil(count * neg_sampling.amount)
            if not triplet:
                source = np.concatenate([source, self._drawn(rng, neg_sampling.src_weight, more)])
                label = torch.ones(count) if label is None else label
                label = torch.cat([label, label.new_zeros((more, *label.shape[1:]))])
            target = np.concatenate([target, self._drawn(rng, neg_sampling.dst_weight, more)])
        seeds, place = np.unique(np.concatenate([source, target]), return_inverse=True)
        out, cells = self._around(seeds)
        ends = torch.from_numpy(place)
        if triplet:
            wrong = ends[2 * count :].view(count, -1).squeeze(-1)
            out.metadata = (index.input_id, ends[:count], ends[count : 2 * count], wrong, cells)
        else:
            out.metadata = (index.input_id, ends.view(2, -1), label, cells)
        return out

    def _around(self, seeds: Array) -> tuple[SamplerOutput, BatchCells]:
        """Return the output of a batch around seeds, without what a loader is told besides, and its cells."""
        import torch
        from torch_geometric.sampler import SamplerOutput

        if self.max_nodes is not None and len(seeds) > self.max_nodes:
            raise ParameterError(
                f"max_nodes is {self.max_nodes:,}, and a batch has {len(seeds):,} seeds: raise max_nodes, or give the "
                "loader a smaller batch_size"
            )
        query = Query(np.unique(seeds))
        options = NetworkOptions(m=self.m, objective=self.objective, form="objects")
        asked = plan_network(self.cube, query, options)
        cells = choose(asked).selection.cells if self.m else np.empty(0, dtype=np.int32)
        room = None if self.max_nodes is None else self.max_nodes - len(seeds)
        rng = stream(self.seed, "pipeline", "batches", *query.objects.tolist())
        brought = networks.bring(self.cube, query, cells, self.near, room, rng, asked.budget.scope)
        nodes = np.concatenate([seeds, brought])
        row, col, entry = networks.link_entries(self.cube.links, nodes)
        held = np.stack(networks.memberships(self.cube, nodes, cells))
        tensors = (torch.from_numpy(np.ascontiguousarray(part, dtype=np.int64)) for part in (nodes, row, col, entry))
        found = BatchCells(*(torch.from_numpy(part.astype(np.int64)) for part in (cells, held)))
        return SamplerOutput(*tensors), found

    def _rows(self, given: Any) -> Array:
        """Return seeds as row numbers; raise where there are none, or where the cube has no such object."""
        rows, count = np.asarray(given, dtype=np.int64), len(self.cube.objects)
        if rows.ndim != 1 or len(rows) == 0 or rows.min() < 0 or rows.max() >= count:
            wrong = rows[(rows < 0) | (rows >= count)] if rows.ndim == 1 else rows
            got = quoted(int(wrong[0]) if wrong.ndim == 1 and len(wrong) else rows.tolist())
            raise ParameterError(f"seeds are rows of the cube's objects, 0 to {count - 1:,}, got {got}")
        return rows

    def _drawn(self, rng: np.random.Generator, weight: Any, count: int) -> Array:
        """Return rows drawn with repeats, each as likely or by a weight."""
        every = len(self.cube.objects)
        if weight is None:
            return rng.integers(0, every, count)
        if len(weight) != every:
            raise ParameterError(
                f"weights of negative links are for {len(weight):,} nodes, and the cube has {every:,} objects"
            )
        chance = np.asarray(weight, dtype=np.float64)
        return rng.choice(every, size=count, p=chance / chance.sum())


def _check_plain(index: Any) -> None:
    """Raise where a loader gives seeds a time or a type: objects of a cube have neither here."""
    if index.time is not None:
        raise ParameterError("a CellSampler knows no times of seeds: leave input_time and edge_label_time out")
    if index.input_type is not None:
        raise ParameterError(
            f"the seeds are of the type {quoted(index.input_type)}, and a CellSampler has one type of nodes: give the "
            "loader the data of CellSampler.data"
        )
