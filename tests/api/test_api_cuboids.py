"""A view of other cuboids goes wherever a cube goes: methods, vectors, drawings, exports and tables of cells."""

from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx
import pytest
from matplotlib.font_manager import findfont, get_font

import cube2net as c2n
from cube2net.errors import ParameterError
from cube2net.evaluation.report.tables import cell_table
from cube2net.model.cube import Cube
from cube2net.model.dimension import STAR
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.selection.rl.cube2net import Cube2net


@pytest.fixture(scope="module")
def asked() -> tuple[Cube, Query]:
    planted = c2n.make_planted(seed=0)
    cube = c2n.build(planted.corpus)
    return cube, cube.query(planted.query(0))


@pytest.fixture(scope="module")
def network(asked: tuple[Cube, Query]) -> Network:
    cube, query = asked
    return c2n.construct(c2n.cube.cuboid(cube, "one"), query, "greedy", 4, "coverage", form="cells+objects")


@pytest.mark.parametrize(
    "method", ["random", "greedy", "anneal", "exact", Cube2net(updates=2, trajectories=8)], ids=str
)
@pytest.mark.parametrize("levels", ["one", ["full", "venue,topic"]])
def test_every_method_chooses_among_cells_of_any_levels(
    asked: tuple[Cube, Query], method: object, levels: str | list[str]
) -> None:
    cube, query = asked
    view = c2n.cube.cuboid(cube, levels)
    made = c2n.construct(view, query, method, 3, "coverage", form="cells")  # type: ignore[arg-type]
    assert 1 <= len(made.cells) <= 3
    assert made.labels == tuple(view.cell(int(cell)) for cell in made.cells)
    stars = {labels.count(STAR) for labels in made.labels}
    assert stars == {2} if levels == "one" else stars <= {0, 1}


def test_cells_near_one_label_are_found_by_words_and_by_members(asked: tuple[Cube, Query]) -> None:
    view = c2n.cube.cuboid(asked[0], "one")
    for vectors in ("words", "members"):
        found = c2n.api.near_cells(view, ["∗", "venue 0", "∗"], 5, c2n.api.embed_cells(view, vectors))
        assert len(set(found)) == 5 and ("∗", "venue 0", "∗") not in found
    decades = [cell for cell in c2n.api.near_cells(view, ["198X", "∗", "∗"], 2) if cell[0] != STAR]
    assert decades, "a decade is nearer to other decades than to what has no year"


def test_a_label_of_all_is_written_as_a_star_in_exports_tables_and_drawings(network: Network, tmp_path: Path) -> None:
    titles = [" · ".join(labels) for labels in network.labels]
    assert all(title.count("∗") == 2 for title in titles)
    graph = nx.read_graphml(network.save(tmp_path / "network.graphml")[0])
    assert {f"cell:{title}" for title in titles} <= set(graph)
    assert graph.graph["selected"].splitlines() == titles
    rows = list(csv.reader(cell_table(network).csv().splitlines()))
    assert [tuple(row[1:4]) for row in rows[1:]] == list(network.labels)
    network.plot(tmp_path / "network.png")
    assert (tmp_path / "network.png").exists()
    assert ord(STAR) in get_font(findfont("DejaVu Sans")).get_charmap()


def test_a_view_is_not_saved(asked: tuple[Cube, Query], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"a view .cells of decade; venue; topic. cannot be saved"):
        c2n.cube.cuboid(asked[0], "one").save(tmp_path / "cube")
    assert not (tmp_path / "cube").exists()
