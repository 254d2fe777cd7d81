"""Tables with planted answers: the right dimensions are proposed, and no others."""

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cube2net.cube.building.build import build
from cube2net.cube.building.labels import parse_bins
from cube2net.cube.engines.duckdb import DuckDB
from cube2net.design.propose import add_text, find_text_attribute, propose
from cube2net.errors import ParameterError
from cube2net.model.corpus import LABELS, LINKS, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.dimension import DimensionSpec
from cube2net.model.suggestion import Suggestion

WORDS = [f"word{number}" for number in range(60)]


def nodes(links: tuple[np.ndarray, np.ndarray] | None = None, **columns: object) -> Corpus:
    """Return a corpus whose nodes are their own items."""
    count = len(next(iter(columns.values())))
    ids = [f"n{row}" for row in range(count)]
    ends = None
    if links is not None:
        weight = np.ones(len(links[0]), np.float32)
        ends = table(LINKS, source=links[0].astype(np.int32), target=links[1].astype(np.int32), weight=weight)
    every = np.arange(count, dtype=np.int32)
    return Corpus(
        table(OBJECTS, object=ids, name=ids, kind=["node"] * count),
        pa.table({"item": pa.array(ids, pa.string()), **columns}),
        table(MENTIONS, item=every, object=every),
        links=ends,
    )


def proposed(corpus: Corpus, **options: object) -> Suggestion:
    return propose(corpus, parse_bins, **options)


def named(suggestion: Suggestion) -> list[str]:
    return [str(spec) for spec in suggestion.dimensions]


def places(rng: np.random.Generator, count: int) -> dict[str, list[str]]:
    city = rng.integers(40, size=count)
    state = np.where(rng.random(count) < 0.01, 3, city // 4)
    return {
        "city": [f"city {number}" for number in city],
        "state": [f"state {number}" for number in state],
    }


def texts(rng: np.random.Generator, count: int) -> list[str]:
    return [" ".join(rng.choice(WORDS, 12)) for _ in range(count)]


def test_planted_levels_bins_ids_and_constants_are_told():
    rng = np.random.default_rng(0)
    count = 4_000
    corpus = nodes(
        **places(rng, count),
        year=1950 + rng.integers(70, size=count),
        serial=[f"S-{row}" for row in range(count)],
        same=["x"] * count,
    )
    found = proposed(corpus)
    kinds = {each.name: each.kind for each in found.attributes}
    assert kinds == {"city": "labels", "state": "labels", "year": "years", "serial": "id", "same": "constant"}
    assert [(each.child, each.parent) for each in found.dependencies] == [("city", "state")]
    pairs = zip(corpus.items["city"].to_pylist(), corpus.items["state"].to_pylist(), strict=True)
    strays = sum(state != f"state {int(city.split()[1]) // 4}" for city, state in pairs)
    assert found.dependencies[0].strays == strays
    assert named(found) == ["city/state", "decade=year@decades"]
    assert found.best.counts.share > 0.8


def test_a_chain_of_levels_becomes_one_dimension_that_builds():
    rng = np.random.default_rng(9)
    topic = rng.integers(48, size=6_000)
    columns = {"domain": topic // 24, "topic": topic, "subfield": topic // 4, "field": topic // 12}
    corpus = nodes(**{name: [f"{name} {code}" for code in codes] for name, codes in columns.items()})
    found = proposed(corpus)
    assert named(found) == ["topic/subfield/field/domain"]
    cube = build(corpus, found.dimensions, DuckDB())
    assert [(level.name, len(level.labels)) for level in cube.dimensions[0].levels] == [
        ("topic", 48),
        ("subfield", 12),
        ("field", 4),
        ("domain", 2),
    ]


def test_a_level_that_some_labels_lack_is_told_and_not_proposed():
    rng = np.random.default_rng(11)
    place = places(rng, 3_000)
    place["state"] = [None if city == "city 7" else state for city, state in zip(*place.values(), strict=True)]
    found = proposed(nodes(**place))
    assert all("/" not in str(spec) for spec in found.dimensions)
    assert str(found.dependencies[0]).endswith("items differ; no level, for 1 labels have no state)")
    build(nodes(**place), found.dimensions, DuckDB())


def test_dates_of_few_years_are_told_by_months_and_two_times_do_not_share_a_level():
    rng = np.random.default_rng(10)
    start = np.datetime64("2022-01-05")
    short = (start + rng.integers(800, size=3_000)).astype("M8[D]")
    kinds = {each.name: each for each in proposed(nodes(on=pa.array(short))).attributes}
    assert str(kinds["on"].dimension) == "on@months/years"
    year, other = (1960 + rng.integers(60, size=20_000) for _ in range(2))
    found = proposed(nodes(year=year, founded=other))
    assert len(found.dimensions) == 2
    cube = build(nodes(year=year, founded=other), found.dimensions, DuckDB())
    assert len(cube.cells) == found.best.counts.cells
    one_day = nodes(on=pa.array(np.repeat(start, 50)), city=["a", "b"] * 25)
    assert [each.kind for each in proposed(one_day).attributes] == ["constant", "labels"]


def test_what_is_proposed_has_the_cells_that_its_cube_has():
    rng = np.random.default_rng(1)
    count = 3_000
    corpus = nodes(
        **places(rng, count),
        year=1950 + rng.integers(70, size=count),
        tags=[["a", "b"][: 1 + row % 2] for row in range(count)],
    )
    found = proposed(corpus)
    for each in (*found.proposals, *found.alone):
        cube = build(corpus, each.dimensions, DuckDB(), min_objects=10)
        counts = each.counts
        assert (counts.cells, counts.dead) == (len(cube.cells), len(cube.small))
        assert counts.share == pytest.approx(float((cube.object_cells.sizes > 0).mean()))


def test_labels_by_chance_give_way_to_labels_that_links_follow():
    rng = np.random.default_rng(2)
    count = 2_000
    team, shirt, noise = (rng.integers(high, size=count) for high in (20, 20, 8))
    order = np.argsort(team, kind="stable")
    links = order[:-3], order[3:]
    corpus = nodes(links, shirt=[f"s{x}" for x in shirt], team=[f"t{x}" for x in team], noise=[f"n{x}" for x in noise])
    found = proposed(corpus)
    assert "team" in named(found)
    assert str(found.alone[0].dimensions[0]) == "team"
    by = {str(each.dimensions[0]): each.counts.together for each in found.alone}
    assert by["team"] > 0.9 and by["shirt"] < 0.1 and by["noise"] < 0.1


def test_labels_that_objects_keep_go_before_those_they_change():
    rng = np.random.default_rng(3)
    objects, each = 600, 4
    home = rng.integers(12, size=objects)
    items = objects * each
    owner = np.repeat(np.arange(objects), each)
    corpus = Corpus(
        table(OBJECTS, object=[str(x) for x in range(objects)], name=["x"] * objects, kind=["x"] * objects),
        pa.table(
            {
                "item": [str(x) for x in range(items)],
                "weekday": [f"day {x}" for x in rng.integers(12, size=items)],
                "field": [f"field {home[x]}" for x in owner],
            }
        ),
        table(MENTIONS, item=np.arange(items, dtype=np.int32), object=owner.astype(np.int32)),
    )
    assert str(proposed(corpus).alone[0].dimensions[0]) == "field"


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_independent_columns_have_no_levels(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(50, 3_000))
    columns = {f"c{n}": [f"v{x}" for x in rng.integers(rng.integers(2, 60), size=count)] for n in range(5)}
    found = proposed(nodes(**columns))
    assert found.dependencies == ()
    assert all(spec.parent is None for spec in found.dimensions)


def test_texts_make_topics_and_a_text_under_another_name_is_found():
    rng = np.random.default_rng(4)
    count = 1_200
    kind = [f"kind {x}" for x in rng.integers(4, size=count)]
    with_column = nodes(kind=kind, text=texts(rng, count))
    found = proposed(with_column)
    assert named(found) == ["kind", "topic"] and found.needs_topics
    assert (found.topics, found.text) == (20, "")
    other = nodes(kind=kind, description=texts(rng, count), note=["short words only"] * count)
    found = proposed(other)
    assert named(found) == ["kind", "topic"]
    assert (found.topics, found.text, find_text_attribute(other)) == (20, "description", "description")
    assert add_text(other, "description").items["text"].to_pylist()[:3] == other.items["description"].to_pylist()[:3]


def test_topics_that_are_there_are_labels_and_few_texts_make_none():
    rng = np.random.default_rng(5)
    count = 600
    topic = [f"topic {x}" for x in rng.integers(6, size=count)]
    found = proposed(nodes(topic=topic, text=texts(rng, count)))
    assert named(found) == ["topic"] and not found.needs_topics and found.topics is None
    some = [f"kind {x % 2}" for x in range(40)]
    assert named(proposed(nodes(kind=some, text=[*texts(rng, 20), *[None] * 20]))) == ["kind"]


def test_what_the_corpus_says_of_labels_is_a_level():
    rng = np.random.default_rng(6)
    venue = [f"v{x}" for x in rng.integers(8, size=800)]
    corpus = nodes(venue=venue)
    known = table(
        LABELS,
        attribute=["venue"] * 8,
        label=[f"v{x}" for x in range(8)],
        full_name=[None] * 8,
        parent=[f"g{x % 2}" for x in range(8)],
    )
    corpus = Corpus(corpus.objects, corpus.items, corpus.mentions, labels=known)
    assert named(proposed(corpus)) == ["venue/venue group"]
    cube = build(corpus, proposed(corpus).dimensions, DuckDB())
    assert cube.dimensions[0].levels[1].labels == ("g0", "g1")


def test_a_level_is_no_dimension_of_its_own_and_names_with_signs_are_quoted():
    rng = np.random.default_rng(7)
    place = places(rng, 3_000)
    corpus = nodes(**{"km/h @ = city": place["city"], 'the "state"': place["state"]})
    found = proposed(corpus)
    assert named(found) == ['"km/h @ = city"/"the ""state"""']
    assert [type(found.dimensions[0]).parse(text) for text in named(found)] == list(found.dimensions)


def test_nothing_is_proposed_where_no_cells_would_be_and_the_reasons_are_said():
    corpus = nodes(city=["Rome", "Oslo", "Rome", "Oslo"], same=["x"] * 4)
    found = proposed(corpus, min_objects=10)
    assert found.dimensions == () and found.best is None and found.proposals == ()
    assert found.reason == "no attribute makes two cells of 10 objects: with 2 in a cell city would (min_objects=2)"
    assert repr(found).startswith("Suggestion(nothing: no attribute makes two cells")
    assert [each.reason for each in found.attributes] == [
        "has 2 labels: nearly no label has 10 objects",
        "has one value only: it tells no groups apart",
    ]
    assert found.why_not() == (
        "city has 2 labels: nearly no label has 10 objects; same has one value only: it tells no groups apart"
    )
    assert named(proposed(corpus)) == named(proposed(corpus, min_objects=2)) == ["city"]


def test_nothing_can_be_proposed_without_attributes_that_tell_apart():
    for corpus in (nodes(same=["x"] * 30), nodes(x=np.zeros(0)), nodes(name=[f"n {x}" for x in range(50)])):
        found = proposed(corpus)
        assert found.dimensions == ()
        assert found.reason == (
            "no attribute tells groups of objects apart: give the items one that does, such as a city or a year"
        )


def test_a_dimension_whose_cells_hold_single_records_is_not_proposed():
    rng = np.random.default_rng(2)
    cast = [rng.choice(900, 12, replace=False) for _ in range(300)]
    items = pa.table(
        {
            "item": [f"film {row}" for row in range(300)],
            "day": [f"day {day}" for day in rng.choice(280, 300)],
            "genre": rng.choice(["Drama", "War", "Noir", "Comedy"], 300).tolist(),
        }
    )
    names = [f"o{row}" for row in range(900)]
    mentions = [(film, person) for film, people in enumerate(cast) for person in sorted(people.tolist())]
    films = Corpus(
        table(OBJECTS, object=names, name=names, kind=["actor"] * 900),
        items,
        table(MENTIONS, item=[film for film, _ in mentions], object=[person for _, person in mentions]),
    )
    found = proposed(films)
    assert named(found) == ["genre"]
    assert re.search(r"\d+ of \d+ cells would hold a single record|values on 300 items", found.attributes[0].reason)


def test_every_dimension_is_explained_with_numbers_and_its_largest_cells():
    found = proposed(nodes(city=["Rome"] * 40 + ["Oslo"] * 30 + ["Bonn"] * 20 + ["Ulm"] * 10), min_objects=10)
    assert found.explanations == (
        "city: 4 labels on 100% of the items; 4 cells of 10 objects or more hold 100% of the objects; for example "
        "Rome (40 objects, 40 items), Oslo (30 objects, 30 items), Bonn (20 objects, 20 items)",
    )
    year = proposed(nodes(year=[1990 + row % 20 for row in range(400)]))
    assert [cell.label for cell in year.sample_cells["year"]] == ["1990", "1991", "1992"]


def test_the_same_seed_proposes_the_same():
    rng = np.random.default_rng(8)
    corpus = nodes(**places(rng, 2_000), year=1990 + rng.integers(30, size=2_000))
    assert proposed(corpus, seed=3).record() == proposed(corpus, seed=3).record()


def test_a_bad_number_of_objects_is_refused():
    with pytest.raises(ParameterError, match="min_objects is 0, expected 1 or more objects"):
        proposed(nodes(city=["a", "b"]), min_objects=0)


def test_the_table_has_every_attribute_in_a_row():
    found = proposed(nodes(city=["Rome", "Oslo"] * 40, same=["x"] * 80))
    assert found.table.select(["attribute", "kind", "dimension"]).to_pylist() == [
        {"attribute": "city", "kind": "labels", "dimension": "city"},
        {"attribute": "same", "kind": "constant", "dimension": None},
    ]
    assert repr(found) == "Suggestion(city: about 2 cells, 100% of objects in them)"


def test_years_and_counts_make_no_cube_where_labels_do_and_years_join_them():
    rng = np.random.default_rng(12)
    count = 2_000
    field = rng.integers(8, size=count)
    columns = {
        "field": [f"field {x}" for x in field],
        "year": 1990 + rng.integers(30, size=count),
        "cited_by_count": rng.geometric(0.02, size=count),
    }
    found = proposed(nodes(**columns))
    assert named(found) == ["field", "decade=year@decades"]
    assert all(each.dimensions[0].attribute == "field" for each in found.proposals)
    reason = next(each.reason for each in found.attributes if each.name == "cited_by_count")
    assert reason.endswith(": labels make the dimensions, and numbers none beside them")
    assert named(proposed(nodes(year=columns["year"]))) == ["year@years/decades"]


def test_numbers_join_labels_that_tell_little():
    rng = np.random.default_rng(13)
    sex = ["f" if row % 2 else "m" for row in range(1_000)]
    found = proposed(nodes(sex=sex, age=rng.integers(18, 66, size=1_000)))
    assert named(found) == ["sex", "age@width:5"]


def fine_and_coarse(fine: int, **columns: object) -> Corpus:
    """Return nodes of which ``fine`` have a label each of their own, whose source prefers that attribute."""
    count = 1_000
    code = [f"code {row}" if row < fine else f"code of many {row % 5}" for row in range(count)]
    return replace(nodes(code=code, **columns), dimensions=(DimensionSpec("mine", "code"),))


def test_the_design_of_a_source_stays_unless_it_leaves_many_objects_out_and_others_do_not():
    area = [f"area {row % 20}" for row in range(1_000)]
    assert named(proposed(fine_and_coarse(200, area=area))) == ["mine=code"]
    assert named(proposed(fine_and_coarse(300, area=area))) == ["area"]
    some = [name if row % 5 else None for row, name in enumerate(area)]
    assert named(proposed(fine_and_coarse(300, area=some))) == ["mine=code"], "200 of 300 is not half"
    assert named(proposed(fine_and_coarse(1_000))) == ["mine=code"], "nothing else was found"


def test_a_design_of_topics_is_judged_before_they_are_found():
    rng = np.random.default_rng(14)
    kind = [f"kind {x}" for x in rng.integers(4, size=1_200)]
    corpus = replace(nodes(kind=kind, text=texts(rng, 1_200)), dimensions=(DimensionSpec("topic", "topic"),))
    assert named(proposed(corpus)) == ["topic"]
