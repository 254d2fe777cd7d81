"""Whatever links weigh, a network's weights are finite numbers, and so is all that is written of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cube2net as c2n
from cube2net._util.arrays import HEAVIEST, Links, links_from_pairs
from cube2net.errors import Cube2netError, CubeError, InputError
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.network.assembly import induce_links
from cube2net.network.export.graphs import to_scipy
from cube2net.network.export.registry import EXPORTS, export_network
from cube2net.options import FORMS, MEMBERSHIP_WEIGHTS

from toys import random_cube, toy_cube
from workbook_sheets import parts

CHEAP = ["none", "hops", "pagerank", "steiner", "maxdisc", "random", "greedy"]
EXTREME = [0.0, 1e-45, 1e-38, 1e-30, 1e-7, 1.0, 1e7, 1e30, HEAVIEST]
WEIGHT = st.one_of(st.sampled_from(EXTREME), st.floats(0, HEAVIEST, width=32))
NO_NUMBER = re.compile(rb"\b(nan|[+-]?inf(inity)?)\b", re.IGNORECASE)


def weighed(cube: Cube, weights: list[float]) -> Cube:
    """Return a cube whose links weigh these, in turn, the same on both ends."""
    rows = np.repeat(np.arange(len(cube.links)), cube.links.degrees)
    low, high = np.minimum(rows, cube.links.indices), np.maximum(rows, cube.links.indices)
    which = np.unique(low * len(cube.links) + high, return_inverse=True)[1]
    values = np.array(weights, np.float32)[which % len(weights)]
    return replace(cube, links=Links(cube.links.indptr, cube.links.indices, values))


def is_finite(network: Network) -> bool:
    return bool((np.isfinite(network.weight) & (network.weight >= 0)).all())


@given(
    weights=st.lists(WEIGHT, min_size=1, max_size=6),
    seed=st.integers(0, 20),
    query=st.sets(st.integers(0, 39), min_size=1, max_size=12),
    method=st.sampled_from(CHEAP),
    form=st.sampled_from(FORMS),
    membership_weights=st.sampled_from(MEMBERSHIP_WEIGHTS),
    n_neighbors=st.one_of(st.none(), st.integers(0, 9)),
    neighbor_weight=st.one_of(st.none(), st.floats(1e-9, 1)),
)
def test_whatever_links_weigh_no_weight_of_a_network_is_no_number(
    weights: list[float],
    seed: int,
    query: set[int],
    method: str,
    form: str,
    membership_weights: str,
    n_neighbors: int | None,
    neighbor_weight: float | None,
) -> None:
    cube = weighed(random_cube(seed), weights)
    options: dict[str, Any] = {} if form == "objects" else {"membership_weights": membership_weights}
    if form == "hybrid":
        options |= {"n_neighbors": n_neighbors, "neighbor_weight": neighbor_weight}
    try:
        network = c2n.api.construct_by_name(cube, sorted(query), method, form=form, n_cells=3, **options)
    except Cube2netError as error:
        assert form != "objects" and "needs a method that chooses cells" in str(error)
        return
    assert is_finite(network)
    json.dumps(network.summary(), allow_nan=False)
    assert np.isfinite(to_scipy(network).data).all()


@pytest.mark.parametrize("cost", ["unit", "weight"])
@pytest.mark.parametrize("weights", [[0.0], [1e-45], [HEAVIEST], EXTREME])
def test_steiner_takes_links_of_any_weight(cost: str, weights: list[float]) -> None:
    cube = weighed(random_cube(3), weights)
    assert is_finite(c2n.construct(cube, range(8), c2n.methods.METHODS["steiner"](cost=cost), form="objects"))  # type: ignore[call-arg]


@pytest.mark.parametrize("suffix", EXPORTS)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights=st.lists(WEIGHT, min_size=1, max_size=4), membership_weights=st.sampled_from(MEMBERSHIP_WEIGHTS))
def test_no_export_holds_what_is_no_number(
    suffix: str, weights: list[float], membership_weights: str, tmp_path: Path
) -> None:
    network = c2n.construct(
        weighed(random_cube(1), weights),
        range(6),
        "greedy",
        n_cells=3,
        options=c2n.NetworkOptions(membership_weights=membership_weights),
    )
    for path in export_network(network, tmp_path / f"net{suffix}"):
        assert_numbers(path)


def assert_numbers(path: Path) -> None:
    if path.suffix == ".parquet":
        for column in pq.read_table(path).columns:
            if column.type == "float":
                assert np.isfinite(column.drop_null().to_numpy()).all()
    elif path.suffix == ".npz":
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        assert all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f")
    else:
        assert not NO_NUMBER.search(parts(path) if path.suffix == ".xlsx" else path.read_bytes())
        if path.suffix == ".json":
            json.loads(path.read_bytes(), parse_constant=pytest.fail)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0])
def test_a_network_whose_weights_are_no_numbers_cannot_be_made(weight: float) -> None:
    network = c2n.construct(random_cube(1), range(6), "greedy", n_cells=3)
    wrong = network.weight.copy()
    wrong[:2] = weight
    with pytest.raises(InputError, match="2 links of a network have a weight that is negative or no finite number"):
        replace(network, weight=wrong)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0])
@pytest.mark.parametrize("form", FORMS)
def test_a_cube_whose_weights_are_no_numbers_is_damaged(weight: float, form: str) -> None:
    cube = weighed(toy_cube([[0, 1], [2, 3]], objects=4, links=[(0, 1), (1, 2), (2, 3)]), [weight])
    text = "the cube is damaged: 3 weights of its links here are negative or no finite numbers"
    with pytest.raises(CubeError, match=text):
        induce_links(cube.links, np.arange(4))
    with pytest.raises(CubeError, match="the cube is damaged"):
        c2n.construct(cube, range(4), "greedy", form=form, n_cells=1)


def test_sums_of_weights_stay_below_the_highest_there_is() -> None:
    links = links_from_pairs(np.array([0, 1]), np.array([1, 0]), np.array([HEAVIEST, HEAVIEST]), 2)
    assert links.weights.tolist() == [HEAVIEST, HEAVIEST]
