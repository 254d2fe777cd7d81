"""Batches of cells in PyTorch Geometric's loaders: seeds first, the same for any workers, cells on the batch."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.loader import LinkLoader, NodeLoader
from torch_geometric.sampler import BaseSampler, NegativeSampling, NodeSamplerInput

import cube2net as c2n
from cube2net.cube import cuboid
from cube2net.errors import CubeError, ParameterError

from toys import packed, random_cube, sent, toy_cube, two_communities


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> c2n.Cube:
    """Return a planted cube that was opened from a folder, and so can travel."""
    folder = tmp_path_factory.mktemp("sampler") / "cube"
    c2n.build_cube(c2n.make_planted(objects=300, communities=6, noise=0.2, links=4.0).corpus, out=folder)
    return c2n.open_cube(folder)


def loader(sampler: c2n.CellSampler, nodes: object = None, **options: object) -> NodeLoader:
    options = {"batch_size": 16, "transform": sampler.with_cells, **options}
    x = np.ones((len(sampler.cube.objects), 1)) if sampler.cube.items is None else None
    return NodeLoader(sampler.data(x=x), sampler, nodes, **options)


def shuffled(sampler: c2n.CellSampler, **options: object) -> list[dict[str, torch.Tensor]]:
    """Return the tensors of the batches of an epoch in a seeded order."""
    generator = torch.Generator().manual_seed(4)
    every = loader(sampler, torch.arange(100), shuffle=True, generator=generator, **options)
    return [{name: value for name, value in batch if isinstance(value, torch.Tensor)} for batch in every]


def same(ours: list[dict[str, torch.Tensor]], others: list[dict[str, torch.Tensor]]) -> bool:
    return len(ours) == len(others) and all(
        a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)
        for a, b in zip(ours, others, strict=True)
    )


def test_it_is_a_sampler_of_pytorch_geometric_and_has_all_that_one_has(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube)
    assert isinstance(sampler, BaseSampler)
    assert issubclass(c2n.CellSampler, BaseSampler)
    assert {name for name in dir(BaseSampler) if not name.startswith("_")} <= set(dir(sampler))


def test_an_epoch_covers_every_seed_once_and_batches_begin_with_their_seeds(cube: c2n.Cube) -> None:
    nodes = torch.arange(7, 110, 3)
    data = c2n.CellSampler(cube).data()
    seen = []
    for batch in loader(c2n.CellSampler(cube, 5, max_nodes=40), nodes):
        seeds = batch.n_id[: batch.batch_size]
        assert torch.equal(seeds, nodes[batch.input_id])
        assert torch.equal(batch.x, data.x[batch.n_id])
        assert len(batch.n_id.unique()) == len(batch.n_id)
        seen += seeds.tolist()
    assert seen == nodes.tolist()


@pytest.mark.parametrize("options", [{}, {"near": 10}, {"max_nodes": 60}, {"max_nodes": 60, "near": 10}, {"m": 0}])
def test_batches_are_induced_and_know_their_cells(cube: c2n.Cube, options: dict[str, int]) -> None:
    sampler = c2n.CellSampler(cube, **{"m": 6, **options})
    whole = sampler.data()
    neighbours = {row: set(cube.links.neighbours(row).tolist()) for row in range(len(cube.objects))}
    for batch in loader(sampler, torch.arange(0, 60)):
        nodes = batch.n_id.tolist()
        wanted = {(i, j) for i, a in enumerate(nodes) for j, b in enumerate(nodes) if b in neighbours[a]}
        got = list(map(tuple, batch.edge_index.T.tolist()))
        assert len(got) == len(wanted)
        assert set(got) == wanted
        assert torch.equal(whole.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        assert torch.equal(whole.edge_weight[batch.e_id], batch.edge_weight)
        cells = batch.cells.tolist()
        assert len(set(cells)) == len(cells) <= sampler.m
        members = [set(cube.cells.members[cell].tolist()) for cell in cells]
        held = {(i, j) for i, row in enumerate(nodes) for j, own in enumerate(members) if row in own}
        assert set(map(tuple, batch.cell_index.T.tolist())) == held
        assert batch.cell_index.shape == (2, len(held))
        if not options:
            assert set(nodes) == set(nodes[: batch.batch_size]).union(*members)


def test_the_cells_are_those_that_greedy_chooses_for_the_seeds(cube: c2n.Cube) -> None:
    for objective in ("cover", "jaccard", "linked"):
        batch = next(iter(loader(c2n.CellSampler(cube, 4, objective=objective), torch.arange(0, 32, 2))))
        query = c2n.Query(np.arange(0, 32, 2))
        wanted = c2n.construct(cube, query, "greedy", m=4, objective=objective, form="objects").selection.cells
        assert batch.cells.tolist() == wanted.tolist()


@pytest.mark.parametrize("options", [{}, {"near": 20}, {"max_nodes": 60}, {"m": 0, "max_nodes": 60}])
def test_what_a_view_leaves_out_is_not_brought(options: dict[str, int]) -> None:
    from cube2net.cube.views import limit_objects

    allowed = np.arange(300) % 2 == 0
    cube = limit_objects(c2n.build_cube(c2n.make_planted(objects=300, communities=6, noise=0.2).corpus), allowed)
    batch = next(iter(loader(c2n.CellSampler(cube, **options), torch.arange(0, 32))))
    brought = batch.n_id[batch.batch_size :]
    assert len(brought) > 10
    assert (brought % 2 == 0).all()


def test_an_objective_may_be_a_function(cube: c2n.Cube) -> None:
    def share(objects: np.ndarray, query: c2n.Query) -> float:
        return float(np.isin(query.objects, objects).mean())

    sampler = c2n.CellSampler(cube, 2, objective=share)
    batch = next(iter(loader(sampler, torch.arange(8))))
    assert len(batch.cells) == 2
    assert "2 cells by share" in repr(sampler)


def test_batches_have_equal_size_where_links_lead_to_so_many() -> None:
    planted = c2n.make_planted(objects=300, communities=6, noise=0.2)
    cube = c2n.build_cube(planted.corpus)
    for nodes in (20, 64, 250):
        sizes = [batch.num_nodes for batch in loader(c2n.CellSampler(cube, 3, max_nodes=nodes), torch.arange(64))]
        assert sizes == [nodes] * 4
    assert max(batch.num_nodes for batch in loader(c2n.CellSampler(cube, 3, max_nodes=40, near=9))) <= 40


def test_batches_are_the_same_for_any_number_of_workers(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, 4, max_nodes=50, seed=3)
    alone = shuffled(sampler)
    assert len(alone) == 7
    assert same(alone, shuffled(sampler, num_workers=1))
    assert same(alone, shuffled(sampler, num_workers=2))


def test_batches_are_the_same_where_workers_filter_them(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, 4, max_nodes=50)
    assert same(shuffled(sampler), shuffled(sampler, num_workers=1, filter_per_worker=True))


def test_the_same_seed_gives_the_same_batches_and_another_others(cube: c2n.Cube) -> None:
    first, again, other = (shuffled(c2n.CellSampler(cube, 4, max_nodes=50, seed=seed)) for seed in (0, 0, 1))
    assert same(first, again)
    assert not same(first, other)
    assert all(torch.equal(a["cells"], b["cells"]) for a, b in zip(first, other, strict=True))


def test_a_batch_depends_on_its_seeds_alone_and_their_order_orders_only_them(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, 4, max_nodes=50)
    state = torch.random.get_rng_state()
    ours, others = (
        next(iter(loader(sampler, nodes, batch_size=10))).n_id for nodes in (torch.arange(10), torch.arange(9, -1, -1))
    )
    assert others[:10].tolist() == list(range(9, -1, -1))
    assert torch.equal(ours[10:], others[10:])
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(5)))
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert torch.random.get_rng_state().shape == state.shape


def test_a_repeated_seed_is_a_node_each_time_and_comes_to_the_same(cube: c2n.Cube) -> None:
    from torch_geometric.nn import SAGEConv

    sampler = c2n.CellSampler(cube, 3, max_nodes=30)
    once = next(iter(loader(sampler, torch.tensor([4, 9, 2]))))
    batch = next(iter(loader(c2n.CellSampler(cube, 3, max_nodes=32), torch.tensor([4, 9, 4, 2, 4]))))
    assert batch.n_id[:5].tolist() == [4, 9, 4, 2, 4]
    assert batch.batch_size == 5
    assert batch.num_nodes == 32
    assert batch.n_id[5:].tolist() == once.n_id[3:].tolist()
    model = torch.nn.ModuleList([SAGEConv(once.num_features, 8), SAGEConv(8, 3)]).eval()
    outs = [model[1](model[0](part.x, part.edge_index).relu(), part.edge_index) for part in (once, batch)]
    for place, first in enumerate([0, 1, 0, 2, 0]):
        assert torch.allclose(outs[1][place], outs[0][first], atol=1e-5)
    assert torch.allclose(outs[1][5:], outs[0][3:], atol=1e-5)


def test_a_seed_of_no_cell_is_a_batch_with_what_is_near() -> None:
    cube = toy_cube([[0, 1]], objects=5, links=[(2, 3), (3, 4)])
    batch = next(iter(loader(c2n.CellSampler(cube, 3, max_nodes=3), torch.tensor([2]))))
    assert batch.n_id.tolist() == [2, 3, 4]
    assert batch.cells.tolist() == []
    assert batch.cell_index.shape == (2, 0)
    alone = next(iter(loader(c2n.CellSampler(cube, 3), torch.tensor([2]))))
    assert alone.n_id.tolist() == [2]
    assert alone.edge_index.shape == (2, 0)


def test_labels_become_y_and_a_mask_of_them_gives_the_seeds() -> None:
    cube, query = two_communities(20)
    sampler = c2n.CellSampler(cube, 4, max_nodes=60)
    data = sampler.data(query)
    assert (data.y >= 0).nonzero().view(-1).tolist() == query.objects.tolist()
    assert [data.label_names[code] for code in data.y[query.objects.copy()].tolist()] == list(query.labels)
    for batch in NodeLoader(data, sampler, data.y >= 0, batch_size=8):
        assert int(batch.y[: batch.batch_size].min()) >= 0


def test_the_data_of_a_cube_are_those_of_the_network_of_all_its_objects(cube: c2n.Cube) -> None:
    data = c2n.CellSampler(cube).data()
    network = c2n.to_pyg(c2n.construct(cube, c2n.Query(np.arange(len(cube.objects))), "none"))
    assert list(data.x_names) == network.x_names
    assert torch.equal(data.x, network.x)
    ours, others = (
        sorted(zip(*part.edge_index.tolist(), part.edge_weight.tolist(), strict=True)) for part in (data, network)
    )
    assert ours == others
    assert "y" not in data


def test_as_many_columns_as_nodes_do_not_trouble_a_loader() -> None:
    cube = random_cube(0, objects=10)
    sampler = c2n.CellSampler(cube, 2)
    data = sampler.data({f"o{row}": f"label {row}" for row in range(10)}, np.eye(10))
    assert len(data.label_names) == data.num_nodes == data.num_features
    assert next(iter(NodeLoader(data, sampler, [3], batch_size=1))).y[0] == 3


def test_the_loader_of_links_has_both_ends_first_and_draws_negatives_by_the_seed(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, 3, max_nodes=60, seed=1)
    data = sampler.data()
    links = data.edge_index[:, :64]

    def epoch(neg: NegativeSampling | None, workers: int = 0) -> list:
        options = {"batch_size": 8, "num_workers": workers, "transform": sampler.with_cells}
        return list(LinkLoader(data, sampler, links, neg_sampling=neg, **options))

    for place, batch in enumerate(epoch(None)):
        assert torch.equal(batch.n_id[batch.edge_label_index], links[:, 8 * place : 8 * place + 8])
        assert batch.num_nodes == 60
        assert len(batch.cells) == 3
        assert getattr(batch, "edge_label_time", None) is None
    binary, workers = (epoch(NegativeSampling("binary", 2), number) for number in (0, 2))
    for place, (batch, other) in enumerate(zip(binary, workers, strict=True)):
        assert batch.edge_label.tolist() == [1] * 8 + [0] * 16
        assert torch.equal(batch.n_id[batch.edge_label_index[:, :8]], links[:, 8 * place : 8 * place + 8])
        assert torch.equal(batch.n_id[batch.edge_label_index], other.n_id[other.edge_label_index])
    weight = torch.zeros(len(cube.objects))
    weight[7] = 1.0
    for batch in epoch(NegativeSampling("triplet", 3, dst_weight=weight)):
        ends = torch.stack([batch.n_id[batch.src_index], batch.n_id[batch.dst_pos_index]])
        assert torch.equal(ends, links[:, batch.input_id])
        assert batch.dst_neg_index.shape == (8, 3)
        assert (batch.n_id[batch.dst_neg_index] == 7).all()
        assert getattr(batch, "seed_time", None) is None
        assert len(batch.cells) == 3


def test_a_cube_in_memory_samples_here_and_says_why_it_does_not_travel() -> None:
    sampler = c2n.CellSampler(random_cube(2), 3)
    assert len(list(loader(sampler))) == 3
    with pytest.raises(CubeError, match="a cube in memory does not travel between processes: save it, open its folder"):
        packed(sampler)


def test_a_sampler_travels_by_its_folder_and_is_the_same(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, 5, objective="jaccard", near=3, max_nodes=40, seed=9)
    there = sent(sampler)
    assert repr(there) == repr(sampler)
    assert same(shuffled(there), shuffled(sampler))


def test_a_sampler_says_what_it_is(cube: c2n.Cube) -> None:
    text = repr(c2n.CellSampler(cube, 5, near=3, max_nodes=4000, seed=9))
    assert re.fullmatch(r"CellSampler\(Cube\(.*\), 5 cells by cover, 3 near, at most 4,000 nodes, seed 9\)", text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"m": -1}, "m is -1, expected 0 or more cells"),
        ({"near": -1}, "near is -1, expected 0 or more objects, or None"),
        ({"max_nodes": 0}, "max_nodes is 0, expected 1 or more nodes, or None"),
        ({"seed": -1}, "seed is -1, expected a whole number of 0 or more"),
        ({"objective": "jacard"}, r"unknown objective 'jacard': .* \(did you mean 'jaccard'\?\)"),
    ],
)
def test_what_a_sampler_cannot_be_is_said_when_it_is_made(cube: c2n.Cube, options: dict, said: str) -> None:
    with pytest.raises(ParameterError, match=f"^{said}$"):
        c2n.CellSampler(cube, **options)


def test_a_sampler_needs_a_cube(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the cube is 'cubes/papers', expected a Cube: open_cube opens the folder"):
        c2n.CellSampler("cubes/papers")  # type: ignore[arg-type]


def test_wrong_seeds_are_said(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube, max_nodes=4)
    for nodes, got in (([300], "300"), ([5, -1], "-1"), ([], r"\[\]"), ([[1]], r"\[\[1\]\]")):
        with pytest.raises(ParameterError, match=f"^seeds are rows of the cube's objects, 0 to 299, got {got}$"):
            sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor(nodes)))
    with pytest.raises(ParameterError, match="^max_nodes is 4, and a batch has 5 seeds: raise max_nodes, or give the"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(5)))
    with pytest.raises(ParameterError, match="^a CellSampler knows no times of seeds: leave input_time"):
        next(iter(NodeLoader(sampler.data(), sampler, [1], torch.tensor([3]))))
    with pytest.raises(ParameterError, match="^the seeds are of the type 'author', and a CellSampler has one type"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.arange(2), input_type="author"))


def test_wrong_data_are_said(cube: c2n.Cube) -> None:
    sampler = c2n.CellSampler(cube)
    with pytest.raises(ParameterError, match="^x has the shape 4 × 2, expected a row for each of 300 objects$"):
        sampler.data(x=np.ones((4, 2)))
    with pytest.raises(ParameterError, match="^x is 'words', expected a row of numbers for each of 300 objects$"):
        sampler.data(x="words")
    with pytest.raises(ParameterError, match="^the batch has no cells: with_cells is the transform of a loader whose"):
        sampler.with_cells(sampler.data())
    weights = NegativeSampling("binary", 1, dst_weight=torch.ones(3))
    links = sampler.data().edge_index[:, :4]
    with pytest.raises(ParameterError, match="^weights of negative links are for 3 nodes, and the cube has 300"):
        next(iter(LinkLoader(sampler.data(), sampler, links, neg_sampling=weights)))


def test_where_nothing_is_known_of_objects_x_has_to_be_given(cube: c2n.Cube) -> None:
    bare = random_cube(0, objects=10)
    with pytest.raises(
        ParameterError, match=r"could be x, for it does not keep its items: give x=…, .* of 10 objects$"
    ):
        c2n.CellSampler(bare).data()
    assert c2n.CellSampler(bare).data(x=np.eye(10)).num_features == 10
    view = cuboid(cube, "one")
    with pytest.raises(ParameterError, match=r"could be x, for this is a view of other cuboids, which has no items: "):
        c2n.CellSampler(view).data()
    assert c2n.CellSampler(view).data(x=np.ones((300, 2))).num_features == 2
