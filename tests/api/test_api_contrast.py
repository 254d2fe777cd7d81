"""Contrasts of queries, labels and clusters: sides, sentences, networks, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cube2net as c2n
from cube2net.api.query import read_clusters
from cube2net.errors import InputError, ParameterError, QueryError
from cube2net.mining.downstream import cluster_query
from cube2net.model.contrast import Contrast
from cube2net.model.cube import Cube
from cube2net.model.dimension import Dimension, Level
from cube2net.model.network import Network
from cube2net.model.query import Query

from toys import sent, toy_cube, two_communities


@pytest.fixture(scope="module")
def asked() -> tuple[Cube, Query]:
    return two_communities(30)


@pytest.fixture(scope="module")
def network(asked: tuple[Cube, Query]) -> Network:
    return c2n.construct(*asked)


def sides(asked: tuple[Cube, Query]) -> list[list[int]]:
    query = asked[1]
    return [[int(row) for row, label in zip(query.objects, query.labels or (), strict=True) if label == name]
            for name in ("group 0", "group 1")]  # fmt: skip


def by_hand() -> Cube:
    """Return a cube whose first cell holds all of one side, whose second most of the other, and a third some of all."""
    return toy_cube([[*range(10)], [*range(10, 18)], [0, 1, 10, 11, 18, 19]], objects=20)


def test_two_sides_by_hand() -> None:
    found = c2n.contrast(by_hand(), list(range(10)), list(range(10, 20)), names=("A", "B"))
    one, two = found.cells
    assert (one.labels, one.in_first, one.in_second, one.lift, one.for_first) == (("label 0",), 10, 0, np.inf, True)
    assert (two.labels, two.in_first, two.in_second, two.shares, two.for_first) == (
        ("label 1",),
        0,
        8,
        (0.0, 0.8),
        False,
    )
    assert (one.gain, two.gain, found.value) == pytest.approx((0.5, 0.4, 0.9))
    assert found.bound == pytest.approx(0.9) and found.proven
    # 2 of C(20, 10) tables are as uneven as the first, and 2 · C(10, 8) of C(20, 8) as the second. All 3 are tested.
    assert found.tested == 3
    assert one.raw_p_value == pytest.approx(2 / 184_756) and one.p_value == pytest.approx(3 * 2 / 184_756)
    assert two.raw_p_value == pytest.approx(2 * 45 / 125_970) and two.p_value == pytest.approx(2 * two.raw_p_value)
    assert str(found) == (
        "A (10 objects) differs from B (10 objects) in ⟨label 0⟩ (100 % against 0 %) and ⟨label 1⟩ (0 % against 80 %)"
    )
    assert found.sentences[1] == "⟨label 1⟩ holds 80 % of B (8 of 10) and 0 % of A (0 of 10), p = 0.001"
    assert repr(found) == "Contrast(A 10 against B 10: 2 cells, value 0.900 of 0.900)"


def test_a_label_of_two_levels_is_named_as_drill_and_explain_read_it() -> None:
    cube = by_hand()
    field = Level("field", ("label 0", "other"), ("label 0", "other"))
    venue = Level("venue", cube.dimensions[0].labels, cube.dimensions[0].labels, {"field": np.array([0, 0, 1])})
    cube = replace(cube, dimensions=(Dimension((venue, field)),))
    found = c2n.contrast(cube, list(range(10)), list(range(10, 18)))
    for cell in found.cells:
        assert c2n.drill(cube, found.query.objects.tolist(), cell.labels).labels == cell.labels
        assert c2n.drill(cube, found.query.objects.tolist(), cell.title).title == cell.title
        assert c2n.explain(found.network, cell.labels).labels == cell.labels  # type: ignore[union-attr]
    assert [cell.title for cell in found.cells] == ["⟨label 0 (venue)⟩", "⟨label 1⟩"]
    assert found.network.labels == (("label 0 (venue)",), ("label 1",))


def test_a_cluster_of_a_number_is_another_than_one_of_that_name() -> None:
    clusters = {f"o{at}": 1 if at < 10 else "cluster 1" for at in range(20)}
    found = c2n.api.describe_clusters(by_hand(), clusters)
    assert [each.names[0] for each in found] == ["cluster 1", "cluster 1 (2)"]
    assert [each.sizes for each in found] == [(10, 10), (10, 10)]
    assert found["cluster 1 (2)"].cells[0].labels == ("label 0",)


@pytest.mark.parametrize("names", [("a", "a\0"), ("both", "both (2)")])
def test_sides_keep_the_names_that_they_are_given(names: tuple[str, str]) -> None:
    found = c2n.contrast(by_hand(), list(range(10)), list(range(9, 20)), names=names)
    given = found.network.query.labels
    assert given is not None and [given.count(name) for name in names] == [9, 10] and len(set(given)) == 3


@pytest.mark.parametrize("alpha", [0.05, np.float32(0.5), np.float64(0.5), 1, np.int64(1)])
def test_p_values_are_the_same_whatever_the_limit_and_1_lets_in_all_that_were_tested(alpha: float) -> None:
    planted = c2n.make_planted(objects=60, communities=4, noise=0.6, seed=2)
    cube = c2n.build(planted.corpus, min_objects=1)
    found = c2n.contrast(cube, planted.query(0), planted.query(1), alpha=alpha)
    few = c2n.contrast(cube, planted.query(0), planted.query(1))
    assert found.tested == few.tested and few.n_significant <= found.n_significant <= found.tested
    assert all(cell.p_value <= alpha for cell in found.cells)
    p_values = {cell.labels: cell.p_value for cell in found.cells}
    assert all(p_values.get(cell.labels, cell.p_value) == cell.p_value for cell in few.cells)
    if alpha == 1:
        assert few.n_significant < found.n_significant and max(p_values.values()) == 1


def test_objects_of_both_queries_are_on_neither_side_and_that_is_said() -> None:
    found = c2n.contrast(by_hand(), [*range(10), 19], [*range(10, 20)])
    assert found.sizes == (10, 9) and found.outside == 1
    assert found.sentence.endswith("; 1 object on neither side")
    assert found.query.labels is not None and found.query.labels[19] == "both"
    assert len(found.network.query) == 20


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ([1, 2, 3], [1, 2, 3], "first and second are the same 3 objects: there is nothing to contrast"),
        ([1], [1], "first and second are the same 1 object: there is nothing to contrast"),
        ([1, 2], [1, 2, 3], "all objects of first (2) are in second too: there is nothing to contrast"),
        ([1, 2, 3], [3], "all objects of second (1) are in first too: there is nothing to contrast"),
        (
            [1],
            [12],
            "no cell separates first (1 object) from second (1 object): they are too few, or in the same cells",
        ),
    ],
)
def test_sides_that_cannot_be_told_apart_are_one_sentence(one: list[int], two: list[int], said: str) -> None:
    found = c2n.contrast(by_hand(), one, two)
    assert found.cells == () and found.sentence == said and found.value == found.bound == 0
    assert len(found.network.cells) == 0
    json.dumps(found.to_dict(), allow_nan=False)


def test_one_object_against_many_is_told_where_numbers_allow_it() -> None:
    cube = toy_cube([[0], [*range(1, 50)]], objects=50)
    found = c2n.contrast(cube, [0], list(range(1, 50)))
    assert [cell.labels for cell in found.cells] == [("label 0",), ("label 1",)]
    assert found.cells[0].raw_p_value == pytest.approx(1 / 50)


def test_planted_communities_are_told_by_their_own_cells(asked: tuple[Cube, Query]) -> None:
    found = c2n.contrast(asked[0], *sides(asked), names=("group 0", "group 1"))
    labels = c2n.contrast(*asked)
    assert found.value > 0.85 and found.bound >= found.value
    assert [each.names[0] for each in labels] == ["group 0", "group 1"]
    for each in labels:
        assert each.value > 0.85
        assert all(cell.for_first and cell.p_value <= 0.05 for cell in each.cells)
    assert len(str(labels).splitlines()) == 2
    assert labels["group 1"] is labels.contrasts[1] is labels[1]
    with pytest.raises(KeyError):
        labels["group 2"]


def test_m_limits_the_cells_and_chance_says_which_may_be_chosen(asked: tuple[Cube, Query]) -> None:
    one, two = sides(asked)
    assert [len(c2n.contrast(asked[0], one, two, m).cells) for m in (1, 2)] == [1, 2]
    strict, loose = (c2n.contrast(asked[0], one, two, 100, alpha=alpha) for alpha in (1e-6, 1.0))
    assert all(cell.p_value <= 1e-6 for cell in strict.cells)
    assert strict.n_significant < loose.n_significant and strict.tested == loose.tested


def test_the_network_of_both_has_the_cells_as_nodes_and_the_sides_as_labels(asked: tuple[Cube, Query]) -> None:
    found = c2n.contrast(asked[0], *sides(asked), names=("A", "B"))
    network = found.network
    assert network.form == "cells" and len(network.objects) == 60
    assert set(network.labels) == {cell.labels for cell in found.cells}
    assert set(network.query.labels or ()) == {"A", "B"}
    held = dict.fromkeys(network.labels, 0)
    for ranks in network.brought_by:
        for rank in ranks.tolist():
            held[network.labels[rank]] += 1
    assert held == {cell.labels: cell.in_first + cell.in_second for cell in found.cells}
    assert network.context is not None and found.network is network


def test_that_network_is_exported_drawn_and_made_again_like_every_other(
    asked: tuple[Cube, Query], tmp_path: Path
) -> None:
    cube = asked[0].save(tmp_path / "cube")
    opened = c2n.open(cube if isinstance(cube, str | Path) else tmp_path / "cube")
    found = c2n.contrast(opened, *sides(asked))
    for name in ("n.graphml", "n.csv", "n.json"):
        found.network.save(tmp_path / name)
        assert c2n.replay(tmp_path / name, opened).same, name
    found.network.plot(tmp_path / "n.svg", name_cells=True)
    assert (tmp_path / "n.svg").stat().st_size > 1000


def test_clusters_come_in_many_ways(asked: tuple[Cube, Query], network: Network) -> None:
    cube, query = asked
    numbers = [int((label or "x")[-1]) for label in query.labels or ()]
    ids = query.ids.to_pylist() if query.ids is not None else []
    everyone = [*numbers, *[None] * (len(network.objects) - len(numbers))]
    by_id = dict(zip(ids, numbers, strict=True))
    wanted = network.describe_clusters(numbers).to_dict()
    assert [group["sides"][0] for group in wanted["groups"]] == [
        {"name": "cluster 0", "objects": 30},
        {"name": "cluster 1", "objects": 30},
    ]
    for given in (
        np.array(numbers),
        [float(number) for number in numbers],
        by_id,
        pd.Series(numbers),
        pd.Series(numbers, index=ids),
        pd.DataFrame({"object": ids, "cluster": numbers}),
    ):
        assert network.describe_clusters(given).to_dict() == wanted
    loose = network.describe_clusters(everyone).to_dict()
    assert loose["outside"] == len(network.objects) - 60
    assert [group["cells"] for group in loose["groups"]] == [group["cells"] for group in wanted["groups"]]
    assert c2n.api.describe_clusters(cube, by_id).to_dict() == wanted
    assert c2n.api.describe_clusters(cube, pd.Series(numbers, index=ids)).to_dict() == wanted


def test_what_a_clustering_found_can_be_described(network: Network) -> None:
    clusters = cluster_query(network, count=2, seed=0)
    found = network.describe_clusters(clusters)
    assert sum(each.sizes[0] for each in found) == 60


def test_numbers_below_zero_and_nothing_are_no_cluster(network: Network) -> None:
    numbers: list[object] = [-1, None, float("nan"), *[0] * 27, *[1] * 30]
    found = network.describe_clusters(numbers)
    assert found.outside == 3 and [each.names[0] for each in found] == ["cluster 0", "cluster 1"]
    assert all(each.outside == 3 for each in found)


def test_one_cluster_has_no_others(network: Network) -> None:
    found = network.describe_clusters([7] * 60)
    assert str(found) == "all 60 objects are in cluster 7: there are no others"


def test_clusters_are_named_in_the_order_of_their_numbers(network: Network) -> None:
    found = network.describe_clusters([number % 12 for number in range(60)])
    assert [each.names[0] for each in found] == [f"cluster {number}" for number in range(12)]


def test_a_network_from_another_process_needs_its_cube(asked: tuple[Cube, Query], network: Network) -> None:
    travelled = sent(network)
    numbers = [number % 2 for number in range(60)]
    with pytest.raises(InputError, match=r"^the network came from another process .* give .*\(cube=…\)$"):
        travelled.describe_clusters(numbers)
    there, here = travelled.describe_clusters(numbers, cube=asked[0]), network.describe_clusters(numbers)
    assert there.to_dict() == here.to_dict()


def test_a_contrast_travels_without_its_cube(asked: tuple[Cube, Query]) -> None:
    found = c2n.contrast(asked[0], *sides(asked))
    there: Contrast = sent(found)
    assert there.to_dict() == found.to_dict()
    with pytest.raises(InputError, match="^the contrast came from another process, where its cube is"):
        there.network  # noqa: B018


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"n_cells": -1}, "n_cells is -1, expected 1 or more cells"),
        ({"n_cells": 2.5}, "n_cells is 2.5, expected a whole number of 1 or more cells"),
        ({"alpha": 0}, "alpha is 0, expected a number above 0 and up to 1"),
        ({"alpha": "1"}, "alpha is '1', expected a number above 0 and up to 1"),
        ({"names": ("A",)}, "names is ('A',), expected two different texts"),
        ({"names": ("A", "A")}, "names is ('A', 'A'), expected two different texts"),
        ({"names": "AB"}, "names is 'AB', expected two different texts"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(given: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        c2n.contrast(by_hand(), [1], [2], **given)  # type: ignore[call-overload]
    assert str(refused.value) == said


def test_a_query_without_labels_is_contrasted_with_all_other_objects() -> None:
    cube = by_hand()
    rest = np.setdiff1d(np.arange(len(cube.objects)), [1, 2]).tolist()
    alone, both = c2n.contrast(cube, [1, 2]), c2n.contrast(cube, [1, 2], rest, names=("the query", "all others"))
    assert alone.to_dict() == both.to_dict()


def test_a_query_whose_labels_are_empty_is_refused() -> None:
    with pytest.raises(QueryError, match=r"^no object of the query has a label: give some$"):
        c2n.contrast(by_hand(), {"o1": None})
    with pytest.raises(ParameterError, match=r"^names are those of two queries, and the sides are labels here"):
        c2n.contrast(by_hand(), {"o1": "a", "o2": "b"}, names=("a", "b"))  # type: ignore[call-overload]
    with pytest.raises(QueryError, match=r"^the clusters name objects only: give the cluster of each"):
        c2n.api.describe_clusters(by_hand(), ["o1", "o2"])


def test_clusters_of_another_length_are_refused(network: Network) -> None:
    objects = len(network.objects)
    with pytest.raises(ParameterError) as refused:
        network.describe_clusters([0, 1])
    assert str(refused.value) == (
        "there are 2 clusters, expected one for each of the 60 objects of the query, "
        f"or of the {objects:,} objects of the network"
    )


def test_a_view_of_other_cuboids_is_refused_and_one_rolled_up_is_not(asked: tuple[Cube, Query]) -> None:
    cube, query = asked
    with pytest.raises(ParameterError, match=r"^a view \(cells of .*\) cannot be contrasted: do it with the cube"):
        c2n.contrast(c2n.cube.cuboid(cube, "one"), query)
    rolled = c2n.contrast(c2n.cube.roll_up(cube, "venue", "∗"), query)
    assert all(cell.labels[1] == "∗" for each in rolled for cell in each.cells)


def test_labels_called_like_the_rest_stay_apart() -> None:
    query = by_hand().query(list(range(20)), ["the rest"] * 10 + ["b"] * 10)
    assert c2n.contrast(by_hand(), query)["the rest"].names == ("the rest", "the rest (2)")


def test_the_column_cluster_of_a_frame_wins_and_one_other_column_beside_ids_will_do(
    asked: tuple[Cube, Query], network: Network
) -> None:
    cube, query = asked
    ids = query.ids.to_pylist() if query.ids is not None else []
    numbers = [number % 3 for number in range(60)]
    wanted = network.describe_clusters(numbers).to_dict()
    for given in (
        pd.DataFrame({"id": ids, "label": query.labels, "cluster": numbers}),
        pd.DataFrame({"id": ids, "cluster": numbers, "label": query.labels}),
        {"id": ids, "label": list(query.labels or ()), "Cluster": numbers},
        pd.DataFrame({"id": ids, "kmeans": numbers}),
        pd.DataFrame({"kmeans": numbers}, index=pd.Index(ids, name="id")),
        pd.DataFrame({"id": ids, "label": numbers}),
        pd.DataFrame({"kmeans": numbers}, index=ids),
    ):
        assert network.describe_clusters(given).to_dict() == wanted
        assert c2n.api.describe_clusters(cube, given).to_dict() == wanted
    with pytest.raises(
        QueryError, match=r"^the table of the clusters has no column 'cluster': it has 'id', 'kmeans', 'age'$"
    ):
        network.describe_clusters(pd.DataFrame({"id": ids, "kmeans": numbers, "age": numbers}))
    with pytest.raises(QueryError, match=r"^the table of the clusters needs a column of objects and one of clusters"):
        network.describe_clusters(pd.DataFrame({"id": ids}))
    assert network.describe_clusters(pd.DataFrame({"cluster": numbers})).to_dict() == wanted


def test_whole_fractions_and_a_matrix_of_one_column_are_clusters_too(
    asked: tuple[Cube, Query], network: Network
) -> None:
    ids = asked[1].ids.to_pylist() if asked[1].ids is not None else []
    numbers: list[float] = [float("nan"), *(float(number % 2) for number in range(59))]
    frame = network.describe_clusters(pd.DataFrame({"id": ids, "cluster": numbers}))
    assert [each.names[0] for each in frame] == ["cluster 0", "cluster 1"] and frame.outside == 1
    assert network.describe_clusters(np.array(numbers)[:, None]).to_dict() == frame.to_dict()
    assert network.describe_clusters(pd.Series(numbers, index=ids)).to_dict() == frame.to_dict()


def test_only_an_unnamed_range_from_zero_is_no_ids_of_a_series() -> None:
    ids = list(range(8))
    tables = {
        "objects": pd.DataFrame({"object": ids[::-1], "name": [f"Person {at}" for at in ids]}),
        "items": pd.DataFrame({"item": range(16), "topic": ["a", "b"] * 8}),
        "mentions": pd.DataFrame({"item": range(16), "object": [*ids, *ids]}),
    }
    cube = c2n.build(**tables, dimensions=["topic"], min_objects=1)
    network = c2n.construct(cube, [7, 6, 5, 4, 3, 2, 1, 0])
    order = network.query.objects.tolist()
    numbers = [0, 0, 0, 1, 1, 1, 1, 1]

    def first(series: Any) -> list[int]:
        found = network.describe_clusters(series, alpha=1).query
        return [row for row, label in zip(found.objects.tolist(), found.labels or (), strict=True) if label[-1] == "0"]

    by_id = cube.query([0, 1, 2]).objects.tolist()
    assert by_id != order[:3] == first(pd.Series(numbers))
    assert first(pd.Series(numbers, index=pd.RangeIndex(8, name="id"))) == by_id
    assert first(pd.Series(numbers, index=pd.Index(ids))) == by_id
    assert first(pd.Series(numbers[::-1], index=ids[::-1])) == by_id


def test_clusters_of_objects_outside_the_network_are_counted_and_said(asked: tuple[Cube, Query]) -> None:
    cube, query = asked
    ids = query.ids.to_pylist() if query.ids is not None else []
    network = c2n.construct(cube, ids[:40], "none")
    found = network.describe_clusters({key: at % 2 for at, key in enumerate(ids)})
    assert found.elsewhere == 20 and found.to_dict()["elsewhere"] == 20
    assert str(found).endswith("\n20 of these 60 objects are not in the network")
    assert c2n.api.describe_clusters(cube, dict.fromkeys(ids, "a")).elsewhere == 0


def test_the_column_cluster_of_a_file_wins(asked: tuple[Cube, Query], tmp_path: Path) -> None:
    ids = asked[1].ids.to_pylist() if asked[1].ids is not None else []
    for name in ("object", "id"):
        lines = [f"{name},label,cluster", *(f"{key},x,{at % 2}" for at, key in enumerate(ids))]
        (tmp_path / "clusters.csv").write_text("\n".join(lines))
        assert set(read_clusters(asked[0], tmp_path / "clusters.csv").labels or ()) == {"0", "1"}
        assert set(c2n.read_query(asked[0], tmp_path / "clusters.csv").labels or ()) == {"x"}
