"""Records show themselves in notebooks: what is said, that it is kept where a notebook is not trusted, and no harm."""

import base64
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util import display as showing
from cube2net.apps.notebook import html as html_pages
from cube2net.apps.notebook.html import escape
from cube2net.errors import ParameterError
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.query import Query
from cube2net.model.selection import Selection

from comparisons import PEER, in_one_cluster
from hostile import LONG, NAMES, World
from notebook_runs import Kept
from toys import toy_cube, two_communities

DATA = "data:image/svg+xml;base64,"


def html(record: Any) -> str:
    shown = record._repr_html_()
    assert isinstance(shown, str)
    return shown


def svg_in(shown: str) -> str:
    (source,) = Kept(shown).sources
    assert source.startswith(DATA)
    return base64.b64decode(source.removeprefix(DATA)).decode()


@pytest.fixture(scope="module")
def asked() -> tuple[Cube, Query, Network]:
    cube, query = two_communities(12)
    return cube, query, c2n.construct(cube, query)


def scored() -> Comparison:
    none, greedy = Configuration(method="none"), Configuration(method="greedy", objective="cover", form="hybrid")
    truth = ("a", "b") * 6
    trials = [
        Trial(config, "deepwalk", seed, {"F1": score + seed / 100}, np.array([0, 1] * 6), nodes=nodes)
        for config, score, nodes in ((none, 0.5, 12), (greedy, 0.8, 30))
        for seed in range(3)
    ]
    return Comparison("clustering", ("F1",), tuple(trials), truth)


def test_a_cube_says_its_dimensions_and_how_large_it_is(asked: tuple[Cube, Query, Network]) -> None:
    cube = asked[0]
    said = Kept(html(cube)).text
    assert f"Cube {len(cube.objects):,} objects in {len(cube.cells):,} cells of 3 objects or more" in said
    assert f"{cube.links.count:,} links" in said
    for dimension in cube.dimensions:
        assert f"{dimension.name} ({len(dimension.labels):,})" in said


def test_a_cube_says_whose_data_it_has_and_which_view_it_is() -> None:
    cube = c2n.build(c2n.make_planted(objects=200, communities=4, noise=0).corpus)
    object.__setattr__(cube, "settings", {**cube.settings, "attribution": "Us & them", "views": ["only venue 0"]})
    said = Kept(html(cube)).text
    assert "data: Us & them" in said
    assert "a view: only venue 0" in said


def test_a_query_counts_its_labels_and_names_what_is_missing() -> None:
    said = Kept(html(Query(np.array([1, 4, 9]), ("KDD", "ACL", "ACL"), missing=("A. Turing",)))).text
    assert said.startswith("Query 3 objects, 2 labels")
    assert "ACL 2 KDD 1" in said
    assert "1 not found: A. Turing" in said


def test_of_many_labels_and_missing_names_the_first_are_shown() -> None:
    query = Query(np.arange(12), tuple(f"l{i:02}" for i in range(12)), missing=tuple(f"m{i}" for i in range(14)))
    said = Kept(html(query)).text
    assert "and 2 more labels" in said
    assert "m9 … and 4 more names" in said
    assert "m10" not in said


def test_a_selection_says_what_each_cell_added_and_how_good_it_is() -> None:
    cells, values = np.array([7, 3], np.int32), np.array([0.25, 0.375])
    said = Kept(html(Selection(np.array([1, 2], np.int32), 0.375, cells, values, bound=0.375))).text
    assert "Selection 2 cells, 2 objects, value 0.3750" in said
    assert "1 7 0.25 0.25 2 3 0.125 0.375" in said
    assert "cube.cell(number)" in said
    assert "proven best" in said


def test_a_networks_selection_names_its_cells_by_their_labels(asked: tuple[Cube, Query, Network]) -> None:
    cube, query, network = asked
    first = network.selection.cells[0]
    assert network.selection.labels == network.labels
    assert network.context is not None and network.selection.labels[0] == network.context.cube.cell(int(first))
    said = Kept(html(network.selection)).text
    assert f"1 {' · '.join(network.labels[0])}" in said
    assert "cube.cell(number)" not in said
    assert c2n.construct(cube, query, c2n.methods.Hops(hops=1)).selection.labels == ()


def test_a_network_has_a_picture_its_first_cells_and_ways_to_go_on(asked: tuple[Cube, Query, Network]) -> None:
    _, query, network = asked
    shown = html(network)
    said = Kept(shown).text
    assert str(network).partition("(")[2].rstrip(")") in said
    first = network.labels[0]
    assert f"1 {' '.join(first)}" in said
    assert "c2n.explain(network)" in said
    picture = svg_in(shown)
    assert "group 0 (12)" in picture
    assert f"cells ({len(network.cells)})" in picture
    assert 'alt="a network of' in shown
    assert query.labels is not None


def test_a_network_without_cells_or_settings_is_shown_too() -> None:
    cube = toy_cube([[0, 1]], objects=3, links=[(0, 1)])
    hops = c2n.construct(cube, ["o0"], "hops")
    assert "of the query" not in Kept(html(hops)).text
    bare = Network(
        *(hops.query, hops.selection, hops.objects, hops.cells, hops.source, hops.target, hops.weight),
        *(hops.brought_by, hops.query_links, hops.names),
    )
    assert Kept(html(bare)).text.startswith("Network")


def test_a_large_network_is_drawn_when_asked_for(
    asked: tuple[Cube, Query, Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_pages, "MAX_DRAWN_NODES", 10)
    shown = html(asked[2])
    assert Kept(shown).sources == []
    assert "drawn when asked for, by network.plot()" in Kept(shown).text


def test_a_comparison_has_scores_with_intervals_the_query_alone_first() -> None:
    said = Kept(html(scored())).text
    assert "Comparison clustering: 2 configurations × 1 model × 3 seeds" in said
    assert said.index("none 12 0.510 [") < said.index("greedy · cover · hybrid 30 0.810 [")
    assert scored().verdict().sentence in said


def test_a_comparison_says_which_network_has_one_cluster() -> None:
    comparison = in_one_cluster(PEER)
    said = Kept(html(comparison)).text
    assert " F1 JC NMI " in said and next(iter(comparison.verdict().notes.values())) in said


def test_a_verdict_is_its_sentence() -> None:
    verdict = scored().verdict()
    assert Kept(html(verdict)).text == f"Verdict not significantly better {verdict.sentence}"


def test_a_notebook_that_is_not_trusted_keeps_every_page_whole(asked: tuple[Cube, Query, Network]) -> None:
    cube, query, network = asked
    comparison = scored()
    for record in (cube, query, network, network.selection, comparison, comparison.verdict(), network.plot()):
        assert Kept(html(record)).lost == []


def test_pages_are_small(asked: tuple[Cube, Query, Network]) -> None:
    cube, query, network = asked
    assert max(len(html(record)) for record in (cube, query, network.selection, scored())) < 6_000
    shown = html(network)
    assert len(shown) - len(Kept(shown).sources[0]) < 4_000 + 300 * min(10, len(network.cells))
    assert len(svg_in(shown)) < 60 * len(network) + 30 * len(network.source) + 8_000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cube, Query, Network]]:
    world = World.make(tmp_path_factory.mktemp("hostile"))
    cube = c2n.open(world.cube)
    query = c2n.read_query(cube, world.query)
    yield cube, query, c2n.construct(cube, query)


def test_hostile_names_are_text_and_nothing_else(hostile: tuple[Cube, Query, Network]) -> None:
    cube, query, network = hostile
    missing = Query(query.objects, query.labels, missing=(*NAMES, LONG))
    for record in (cube, query, missing, network, network.plot(title="".join(NAMES)), network.selection):
        shown = html(record)
        assert Kept(shown).lost == []
        assert len(shown) < 400_000
        assert not any(sign < " " for sign in shown)


def test_hostile_names_in_a_picture_are_text_and_nothing_else(hostile: tuple[Cube, Query, Network]) -> None:
    network = hostile[2]
    picture = network.plot(title="".join(NAMES)).svg
    tree = ElementTree.fromstring(picture)
    tags = {each.tag.removeprefix("{http://www.w3.org/2000/svg}") for each in tree.iter()}
    assert tags <= {"svg", "title", "style", "rect", "path", "text", "tspan"}
    assert not [name for each in tree.iter() for name in each.attrib if name.startswith("on") or "href" in name]
    assert picture.count("http") == 1  # the name of SVG itself


def test_a_picture_names_cells_and_query_and_draws_every_node(asked: tuple[Cube, Query, Network]) -> None:
    network = asked[2]
    picture = network.plot(title="Two groups").svg
    tree = ElementTree.fromstring(picture)
    texts = ["".join(each.itertext()) for each in tree.iter() if each.tag.endswith("text")]
    assert texts[0] == "Two groups"
    assert f"group 1 ({12})" in texts
    marks = sum(
        len(each.attrib["d"].split("h0")) - 1 for each in tree.iter() if each.attrib.get("d", "").endswith("h0")
    )
    circles = len(network.objects) + 3  # and those of the legend
    assert marks == 2 * circles  # each a rim and what is inside
    assert tree.attrib["width"] == "760"


def test_of_very_many_links_the_heaviest_are_drawn_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from cube2net.network.drawing import svg

    monkeypatch.setattr(svg, "MAX_LINKS", 5)
    cube, query = two_communities(6)
    network = c2n.construct(cube, query)
    picture = network.plot().svg
    assert f"5 of {len(network.source):,} links are drawn" in picture
    ends = sum(each.attrib["d"].count("L") for each in ElementTree.fromstring(picture).iter() if "d" in each.attrib)
    assert ends == 5


def test_above_two_thousand_nodes_a_picture_is_simpler(
    asked: tuple[Cube, Query, Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    from cube2net.apps.notebook import html
    from cube2net.network.drawing import svg

    full = c2n.construct(*asked[:2]).plot().svg
    html._picture_cache.clear()
    monkeypatch.setattr(svg, "MAX_DETAILED_NODES", 10)
    simple = c2n.construct(*asked[:2]).plot().svg
    assert len(simple) < len(full)
    ElementTree.fromstring(simple)


def test_the_same_network_has_the_same_picture(asked: tuple[Cube, Query, Network]) -> None:
    cube, query, network = asked
    assert network.plot() is network.plot()
    assert network.plot().svg == c2n.construct(cube, query).plot().svg
    assert network.plot(width=400).svg != network.plot().svg


def test_a_picture_is_saved_as_svg_and_as_nothing_else(asked: tuple[Cube, Query, Network], tmp_path: Path) -> None:
    picture = asked[2].plot()
    path = picture.save(tmp_path / "network.svg")
    assert path.read_text(encoding="utf-8") == picture.svg
    with pytest.raises(ParameterError, match=r"written as \.svg, got 'network\.png' \(network.plot\(path\) writes"):
        picture.save(tmp_path / "network.png")
    assert [each.name for each in tmp_path.iterdir()] == ["network.svg"]


@pytest.mark.parametrize("width", [0, 199, 10_001, "wide", 2.5])
def test_a_picture_has_a_width_that_can_be_seen(asked: tuple[Cube, Query, Network], width: Any) -> None:
    with pytest.raises(ParameterError, match="width is .*, expected a whole number of 200 to 10,000"):
        asked[2].plot(width=width)


def test_where_nobody_shows_records_a_notebook_shows_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(showing, "_displays", [])
    query = Query(np.array([1]))
    assert query._repr_html_() is None
    assert showing.get_display() is None


def test_what_shows_records_is_loaded_when_something_is_shown() -> None:
    program = (
        "import sys, cube2net as c2n, numpy as np\n"
        "query = c2n.Query(np.array([1]))\n"
        "before = 'cube2net.apps.notebook' in sys.modules\n"
        "assert 'Query' in query._repr_html_()\n"
        "heavy = {'matplotlib', 'anywidget', 'IPython', 'torch', 'pandas'} & set(sys.modules)\n"
        "print(before, 'cube2net.apps.notebook' in sys.modules, sorted(heavy))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False True []\n"


def test_records_of_tables_that_were_sent_are_shown(asked: tuple[Cube, Query, Network]) -> None:
    from toys import sent

    assert Kept(html(sent(asked[2]))).lost == []


def test_names_that_are_numbers_are_shown() -> None:
    nodes = pa.table({"id": list(range(40)), "town": ["a", "b"] * 20})
    links = pa.table({"source": list(range(39)), "target": list(range(1, 40))})
    cube = c2n.build(nodes=nodes, links=links)
    assert Kept(html(c2n.construct(cube, [1, 2, 3]))).lost == []


def test_a_suggestion_says_what_every_attribute_would_become_and_why() -> None:
    cities = ["Rome", "Oslo", "Ghent", "Bonn"] * 50
    people = pa.table({"id": list(range(200)), "city": cities, "note": [f"a <b> {at}" for at in range(200)]})
    links = pa.table({"source": list(range(199)), "target": list(range(1, 200))})
    found = c2n.suggest(people, links=links)
    shown = found._repr_html_()
    assert "<b>Suggestion</b> city: about 4 cells" in shown
    for each in found.attributes:
        assert each.name in shown and escape(each.reason) in shown
    assert "c2n.build(…, dimensions=[" in shown
    long = replace(found, attributes=(replace(found.attributes[0], reason="because " * 30 + "so"),))
    assert "because " * 30 + "so" in Kept(html(long)).text
    nothing = c2n.suggest(people.select(["id", "note"]), links=links)
    assert "no dimensions" in nothing._repr_html_() and "c2n.build" not in nothing._repr_html_()


def test_explanations_changes_drills_and_contrasts_say_their_sentences() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    cube = c2n.build(planted.corpus)
    network = c2n.construct(cube, planted.query(0)[:10])
    other = planted.query(2)[0]
    sides = cube.query({name: f"group {side}" for side in (0, 1) for name in planted.query(side)[:20]})
    drilled, contrast = c2n.drill(cube, sides), c2n.contrast(cube, planted.query(0), planted.query(1))
    records: list[Any] = [
        c2n.explain(network, other),
        c2n.explain(network, network.labels[0]),
        c2n.explain(network),
        network.without(network.labels[0]),
        drilled,
        contrast,
    ]
    for record in records:
        kept = Kept(html(record))
        assert kept.lost == [] and " ".join(record.sentence.split()) in kept.text, record
    assert drilled.cells and drilled.cells[0].labels[0] in Kept(html(drilled)).text
    assert contrast.sentences and all(said in Kept(html(contrast)).text for said in contrast.sentences[:10])
    described = c2n.api.describe_clusters(cube, sides)
    kept = Kept(html(described))
    assert kept.lost == [] and all(" ".join(each.sentence.split()) in kept.text for each in described)
