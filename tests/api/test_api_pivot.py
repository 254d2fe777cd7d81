"""Two levels crossed: objects are counted once, and as one would by hand."""

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net.errors import ParameterError
from cube2net.model.contrast import Pivot
from cube2net.model.node_names import MixedCell, list_levels
from levels_by_hand import by_hand, levelled_cube


def places(cube: c2n.Cube) -> dict[str, tuple[int, int]]:
    """Return every level by name: the number of its dimension, and its own there."""
    return {
        dimension.levels[at].name: (number, at)
        for number, dimension in enumerate(cube.dimensions)
        for at in list_levels(dimension)
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_pivot_counts_every_object_once_as_one_would_by_hand(seed: int) -> None:
    cube = levelled_cube(seed)
    query = np.arange(0, len(cube.objects), 3)
    asked = cube.query(cube.objects.ids(query).to_pylist())
    levels = places(cube)
    for one, (i, at) in levels.items():
        for other, (j, to) in levels.items():
            if i == j:
                continue
            table = c2n.pivot(cube, one, other, asked)
            for row, first in enumerate(table.rows):
                for column, second in enumerate(table.columns):
                    where: list[int | None] = [None] * len(cube.dimensions)
                    labels = [-1] * len(cube.dimensions)
                    where[i], where[j] = at, to
                    labels[i] = cube.dimensions[i].levels[at].labels.index(first)
                    labels[j] = cube.dimensions[j].levels[to].labels.index(second)
                    held = by_hand(cube, MixedCell(tuple(where), tuple(labels)))
                    assert table.objects[row, column] == len(held)
                    assert table.query is not None
                    assert table.query[row, column] == len(held & set(query.tolist()))
            everybody = by_hand(cube, MixedCell.top(cube))
            assert table.whole == len(everybody)
            assert table.asked == len(everybody & set(query.tolist()))


def test_the_largest_labels_are_shown_and_the_others_counted() -> None:
    cube = levelled_cube(1)
    one, other = cube.dimensions[0].name, cube.dimensions[1].name
    whole, few = c2n.pivot(cube, one, other), c2n.pivot(cube, one, other, most=2)
    assert few.rows == whole.rows[:2]
    assert few.columns == whole.columns[:2]
    assert few.more == (len(whole.rows) - 2, len(whole.columns) - 2)
    assert np.array_equal(few.objects, whole.objects[:2, :2])
    assert whole.row_objects.tolist() == sorted(whole.row_objects.tolist(), reverse=True)


def test_numbers_stand_in_their_order() -> None:
    fees = [f"{at % 12 * 100}–{at % 12 * 100 + 99}" for at in range(40)]
    people = pa.table({"id": list(range(40)), "fee": fees, "city": ["a", "b"] * 20})
    knows = pa.table({"source": [0], "target": [1]})
    cube = c2n.build(people, links=knows, dimensions=["fee", "city"], min_objects=1)
    assert list(c2n.pivot(cube, "fee", "city").rows) == [f"{at * 100}–{at * 100 + 99}" for at in range(12)]


def test_times_stand_in_their_order_and_lift_is_the_share_against_that_of_the_cube() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1)
    cube = c2n.build(planted.corpus, ["year@years/decades", "venue", "topic"])
    table = c2n.pivot(cube, "year", "topic", planted.query(0))
    assert table.rows == tuple(sorted(table.rows))
    assert table.query is not None
    lift = table.lift
    assert lift is not None
    at = np.unravel_index(int(table.query.argmax()), table.query.shape)
    expected = (table.query[at] / table.objects[at]) / (table.asked / table.whole)
    assert lift[at] == pytest.approx(expected)
    assert np.isnan(lift[table.objects == 0]).all()
    told = table.to_dict()
    assert all(value is None or value >= 0 for row in told["lift"] for value in row)


def test_views_are_respected() -> None:
    cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1).corpus)
    diced = c2n.cube.dice(cube, {"venue": ["venue 0"]})
    table, whole = c2n.pivot(diced, "venue", "topic"), c2n.pivot(cube, "venue", "topic")
    assert table.rows == ("venue 0",)
    assert dict(zip(table.columns, table.objects[0].tolist(), strict=True)) == {
        topic: count
        for topic, count in zip(whole.columns, whole.objects[whole.rows.index("venue 0")].tolist(), strict=True)
        if count
    }


def test_a_pivot_is_a_line_a_sentence_and_a_frame() -> None:
    cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1).corpus)
    table = c2n.pivot(cube, "venue", "topic")
    assert isinstance(table, Pivot)
    assert repr(table) == f"Pivot(venue × topic: {len(table.rows)} × {len(table.columns)} labels)"
    assert "most, " in str(table)
    assert table.lift is None
    frame = table.to_pandas()
    assert frame.index.name == "venue"
    assert frame.loc[table.rows[1], table.columns[0]] == table.objects[1, 0]


def test_what_cannot_be_crossed_is_refused() -> None:
    cube = c2n.build(c2n.load_bundled(), ["year@years/decades", "venue"])
    with pytest.raises(ParameterError, match=r"^unknown level of the rows 'yera': .*did you mean 'year'"):
        c2n.pivot(cube, "yera", "venue")
    with pytest.raises(ParameterError, match=r"^'year' and 'decades' are levels of one dimension: give levels of two$"):
        c2n.pivot(cube, "year", "decades")
    with pytest.raises(ParameterError, match="most is 0, expected 1 or more rows and columns"):
        c2n.pivot(cube, "year", "venue", most=0)
    with pytest.raises(ParameterError, match="unknown level of the rows 'year'"):
        c2n.pivot(c2n.cube.roll_up(cube, "year", "∗"), "year", "venue")
