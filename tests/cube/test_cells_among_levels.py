"""Cells put into a table of two levels, levels below others, and the times of a cube, by hand."""

import cube2net as c2n
from cube2net.cube.pivot import count_cells
from cube2net.cube.window import find_time_dimensions, list_window_labels
from cube2net.model.names import mixed_cell_of


def small_cube() -> c2n.Cube:
    corpus = c2n.make_planted(objects=200, communities=4, noise=0.2, seed=1).corpus
    return c2n.build(corpus, ["year@years/decades", "venue", "topic"], min_objects=3)


def test_a_cell_lies_where_its_labels_are_or_are_part_of_those_shown() -> None:
    cube = small_cube()
    sides, shown = [cube.level("decades"), cube.level("topic")], [("199X", "200X"), ("topic 1", "topic 0")]
    year = next(label for label in cube.dimensions[0].labels if label.startswith("199"))
    named = [(year, "venue 0", "topic 0"), ("199X", "∗", "topic 0"), ("∗", "∗", "topic 1"), ("200X", "∗", "topic 2")]
    table = count_cells(cube, [mixed_cell_of(cube, each) for each in named], sides, shown)
    assert table.tolist() == [[0, 2], [0, 0]]
    years = [cube.level("year"), cube.level("topic")]
    coarse = count_cells(cube, [mixed_cell_of(cube, ("199X", "∗", "topic 0"))], years, [(year,), ("topic 0",)])
    assert coarse.tolist() == [[0]]


def test_the_finest_level_that_cells_have_has_none_below() -> None:
    cube = small_cube()
    year = cube.dimensions[0]
    assert [year.finer(at) for at in (0, 1)] == [None, 0]
    rolled = c2n.api.view_cube(cube, roll_up=[("year", "decades")])
    assert rolled.dimensions[0].finer(1) is None


def test_times_are_known_by_the_dimension_that_is_made_of_them() -> None:
    cube = small_cube()
    labels = list_window_labels(cube)
    assert find_time_dimensions(cube) == {0}
    assert labels == sorted(cube.dimensions[0].labels)
