"""Drilling into cells of whole cubes."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.cube.cuboids import cuboid
from cube2net.cube.views import roll_up
from cube2net.errors import ParameterError, QueryError
from cube2net.model.contrast import Drilled
from cube2net.model.cube import Cube
from cube2net.model.node_names import MixedCell, resolve_cell
from levels_by_hand import by_hand, every_cell, is_below, levelled_cube


@pytest.fixture(scope="module")
def cube() -> Cube:
    return c2n.build(c2n.load_bundled(), ["year@years/decades", "venue/kind"])


@pytest.fixture(scope="module")
def labs() -> list[str]:
    return list(c2n.load_labs())


@given(seed=st.integers(0, 10_000), start=st.integers(0, 10_000), k=st.integers(1, 4))
def test_every_line_is_what_brute_force_counts(seed: int, start: int, k: int) -> None:
    cube = levelled_cube(seed)
    every = every_cell(cube)
    top = every[start % len(every)]
    rows = set(np.unique(np.random.default_rng(seed).integers(0, len(cube.objects), 8)).tolist())
    found = c2n.drill(cube, sorted(rows), top, k)
    inside = by_hand(cube, top)
    assert (found.objects, found.query_objects, found.query) == (len(inside), len(rows & inside), len(rows))
    allowed = {cell for cell in every if is_below(cube, cell, top) and len(by_hand(cube, cell)) >= 2}
    taken: set[int] = set()
    saved = dict.fromkeys(rows & inside, 0.0)
    for line in found.cells:
        cell = resolve_cell(cube, line.labels)
        members = by_hand(cube, cell)
        assert cell in allowed and str(line) in cell.title(cube)
        assert (line.objects, line.query_objects) == (len(members), len(rows & members))
        assert line.new == len(rows & members - taken)
        assert line.share == pytest.approx(len(rows & members) / len(members))
        assert line.lift == pytest.approx(line.share / (len(rows & inside) / len(inside)))
        adds = {other: _adds(by_hand(cube, other), len(inside), saved) for other in allowed}
        assert line.bits == pytest.approx(adds[cell]) == pytest.approx(max(adds.values()))
        taken |= rows & members
        saved |= {row: max(saved[row], math.log2(len(inside) / len(members))) for row in rows & members}
    assert found.left == tuple(f"o{row}" for row in sorted((rows & inside) - taken))
    assert found.bits == pytest.approx(sum(saved.values())) and found.bits <= found.bound + 1e-9
    if len(found.cells) < k:
        assert not any(_adds(by_hand(cube, other), len(inside), saved) > 1e-9 for other in allowed)


def _adds(members: set[int], whole: int, saved: dict[int, float]) -> float:
    """Return what a cell of some members saves beside others."""
    worth = math.log2(whole / len(members)) if members else 0.0
    return sum(max(0.0, worth - bits) for row, bits in saved.items() if row in members)


def test_the_cells_of_an_answer_can_be_drilled_again(cube: Cube, labs: list[str]) -> None:
    first = c2n.drill(cube, labs)
    for line, record in zip(first.cells, first.to_dict()["cells"], strict=True):
        again = [
            c2n.drill(cube, labs, cell) for cell in (line, line.labels, str(line), record["cell"], record["labels"])
        ]
        assert all(one == again[0] for one in again)
        assert (again[0].objects, again[0].query_objects) == (line.objects, line.query_objects)
    assert first == c2n.drill(cube, labs, "∗ · ∗") == c2n.drill(cube, labs, {})


def test_the_cells_of_a_contrast_can_be_drilled(cube: Cube) -> None:
    labs = c2n.load_labs()
    for line in c2n.contrast(cube, labs).contrasts[0].cells[:3]:
        assert c2n.drill(cube, list(labs), line).labels == line.labels


def test_a_query_that_is_a_cell_is_found_in_one_line(cube: Cube) -> None:
    number = cube.find_cell(["2019", "SIGDIAL"])
    members = cube.cells.members[number]
    found = c2n.drill(cube, cube.objects.ids(members).to_pylist(), k=1)
    assert found.cells[0].labels == ("2019", "SIGDIAL")
    assert (found.cells[0].new, found.cells[0].share, found.left) == (len(members), 1.0, ())
    assert repr(found) == "Drilled(1 cell below ⟨∗ · ∗⟩, 0 objects left over)"
    assert repr(replace(found, left=("x",))).endswith(", 1 object left over)")
    assert [cell.to_dict() for cell in found.cells] == found.to_dict()["cells"]
    assert found.proven and found.sentence.endswith("none is left over; no choice of as many saves more bits")


def test_what_is_left_over_is_counted_and_named(cube: Cube, labs: list[str]) -> None:
    found = c2n.drill(cube, labs, k=2)
    assert len(found.left) == len(found.left_names) == found.query_objects - found.held > 3
    assert f"{len(found.left)} are left over ('{found.left_names[0]}'" in found.sentence and "…" in found.sentence
    assert "within " in found.sentence and repr(found).startswith("Drilled(2 cells below ⟨∗ · ∗⟩, ")


def test_the_table_and_json_have_every_cell(cube: Cube, labs: list[str]) -> None:
    found = c2n.drill(cube, labs, k=3)
    assert found.table.column_names == ["year", "venue", "query_objects", "new", "objects", "share", "lift", "bits"]
    record = json.loads(json.dumps(found.to_dict()))
    assert [cell["query_objects"] for cell in record["cells"]] == found.table["query_objects"].to_pylist()
    assert record["sentence"] == str(found) and len(record["left"]) == len(found.left)
    assert c2n.drill(cube, labs, ("2019", "ACL")).table.num_rows == 0


def test_of_a_rolled_up_cube_the_levels_below_are_not_told_apart(cube: Cube, labs: list[str]) -> None:
    rolled = roll_up(cube, "year")
    assert {line.labels[0] for line in c2n.drill(rolled, labs, k=100).cells} <= {"201X", "202X", "∗"}
    top = roll_up(cube, "year", "∗")
    assert {line.labels[0] for line in c2n.drill(top, labs).cells} == {"∗"}


def said(cube: Cube, query: object, cell: object, k: int = 10) -> str:
    found = c2n.drill(cube, query, cell, k)
    assert isinstance(found, Drilled)
    return found.sentence


def test_an_empty_answer_says_why(cube: Cube, labs: list[str]) -> None:
    assert "nothing is below ⟨2019 · ACL⟩: all its labels are of the finest level; it holds 6" in said(
        cube, labs, "2019 · ACL"
    )
    nobody = c2n.drill(cube, labs, "∗ · AESPEN")
    assert (nobody.cells, nobody.query_objects, nobody.bits, nobody.bound) == ((), 0, 0.0, 0.0)
    assert nobody.sentence == "⟨∗ · AESPEN⟩ holds none of the 116 objects of the query"
    assert said(cube, labs[:1], "∗ · AESPEN") == "⟨∗ · AESPEN⟩ does not hold the object of the query"
    one_year = levelled_cube(0, cells=1, least=1)
    assert "no cell below ⟨∗ · ∗ · ∗⟩ narrows the query down: those that hold some of it have fewer than 1 " in said(
        one_year, one_year.cells.members[0].tolist(), None
    )


def test_more_cells_than_there_are_is_said(cube: Cube, labs: list[str]) -> None:
    found = c2n.drill(cube, labs, "∗ · FEVER", 50)
    assert 0 < len(found.cells) < 50 and found.proven
    assert found.sentence.startswith(f"only {len(found.cells)} cells below ⟨∗ · FEVER⟩ hold ")
    assert found.sentence.endswith("; no further one narrows them down")


def test_bad_input_is_refused_in_one_sentence(cube: Cube, labs: list[str]) -> None:
    with pytest.raises(ParameterError, match=r"unknown label of 'venue' or 'kind' 'ACLL': choose one of .* 'ACL'"):
        c2n.drill(cube, labs, "∗ · ACLL")
    with pytest.raises(ParameterError, match="k is 0, expected 1 or more cells"):
        c2n.drill(cube, labs, k=0)
    with pytest.raises(ParameterError, match="a cell has a label or ∗ for each of year, venue, got 3"):
        c2n.drill(cube, labs, 3)
    with pytest.raises(QueryError, match="nobody"):
        c2n.drill(cube, ["nobody"])
    with pytest.raises(ParameterError, match=r"a view \(cells of venue\) cannot be drilled: do it with the cube"):
        c2n.drill(cuboid(cube, "venue"), labs)
    with pytest.raises(ParameterError, match="expected a Cube"):
        c2n.drill("folder", labs)  # type: ignore[arg-type]


def test_a_cell_of_another_cube_is_refused(cube: Cube, labs: list[str]) -> None:
    with pytest.raises(ParameterError, match="is of another cube"):
        c2n.drill(cube, labs, MixedCell((None,), (-1,)))
