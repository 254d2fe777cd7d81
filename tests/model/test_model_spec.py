from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.model.dimension import DimensionSpec, LevelSpec, join_specs

TEXT = st.one_of(st.text(min_size=1), st.text(alphabet='ab=@/|":\n ', min_size=1))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("venue", DimensionSpec("venue", "venue")),
        ("decade=year@decades", DimensionSpec("decade", "year", "decades")),
        ("year@years/decades", DimensionSpec("year", "year", "years", "decades")),
        ('speed="km/h"@width:10', DimensionSpec("speed", "km/h", "width:10")),
        ('"km/h"', DimensionSpec("km/h", "km/h")),
        ('"a=b"="x@y"/"p/q"', DimensionSpec("a=b", "x@y", None, "p/q")),
        ('size="5"" disk"', DimensionSpec("size", '5" disk')),
        ('size=5" disk', DimensionSpec("size", '5" disk')),
        ('city/"state/country"', DimensionSpec("city", "city", None, "state/country")),
    ],
)
def test_a_dimension_is_read_as_it_is_written(text: str, spec: DimensionSpec) -> None:
    assert DimensionSpec.parse(text) == spec


@given(TEXT, TEXT, st.none() | TEXT, st.none() | TEXT)
def test_a_dimension_written_down_is_read_back(name: str, attribute: str, bins: str | None, parent: str | None) -> None:
    spec = DimensionSpec(name, attribute, bins, parent)
    assert DimensionSpec.parse(str(spec)) == spec


@pytest.mark.parametrize(
    "spec", ["venue", "decade=year@decades", "venue/kind", "age@width:5/width:10", "x@edges:0,10,100/quantiles:4"]
)
def test_a_plain_dimension_is_written_without_quotes(spec: str) -> None:
    assert str(DimensionSpec.parse(spec)) == spec


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=year",
        "@decades",
        "/state",
        "city//country",
        "city/a/",
        "city/a|",
        "city/|a",
        "city/=a",
        '"km/h',
        'speed="km/h',
        '"km"h',
        '""',
        '="a"',
    ],
)
def test_a_dimension_that_cannot_be_read_is_refused_with_how_to_write_it(text: str) -> None:
    with pytest.raises(
        ParameterError, match=r"cannot read the (dimension|levels) .*: write name\[=attribute\]\[@bins\]\[/parent"
    ):
        DimensionSpec.parse(text)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (("", "year"), "a dimension needs a name and an attribute, got '' and 'year'"),
        (("year", ""), "a dimension needs a name and an attribute, got 'year' and ''"),
        (("year", "year", ""), "the bins of dimension 'year' are empty: give None for none"),
        (("year", "year", None, ""), "the parent of dimension 'year' is empty: give None for none"),
    ],
)
def test_a_dimension_with_an_empty_part_is_refused(parts: tuple, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        DimensionSpec(*parts)


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("topic/subfield/field", [("subfield", "topic", None, None), ("field", "subfield", None, None)]),
        ("venue/kind|publisher", [("kind", "venue", None, None), ("publisher", "venue", None, None)]),
        ("a/b/c|b/d", [("b", "a", None, None), ("c", "b", None, None), ("d", "b", None, None)]),
        ("day=date@days/month@months", [("month", "day", None, "months")]),
        ("a/b/c|b@years/d", [("b", "a", None, "years"), ("c", "b", None, None), ("d", "b", None, None)]),
        ("a/b@years/c|b/d", [("b", "a", None, "years"), ("c", "b", None, None), ("d", "b", None, None)]),
        ('city/"s|t"="x/y"@"width:2"', [("s|t", "city", "x/y", "width:2")]),
    ],
)
def test_levels_are_read_with_what_they_stand_above(text: str, levels: list[tuple]) -> None:
    spec = DimensionSpec.parse(text)
    assert [(level.name, level.below, level.attribute, level.bins) for level in spec.levels] == levels
    assert spec.parent == levels[0][0]
    assert DimensionSpec.parse(str(spec)) == spec


LEVEL = st.builds(LevelSpec, TEXT, st.just(""), st.none() | TEXT, st.none() | TEXT)


@given(TEXT, st.lists(st.lists(LEVEL, min_size=1, max_size=3), min_size=1, max_size=3))
def test_levels_written_down_are_read_back(name: str, paths: list[list[LevelSpec]]) -> None:
    names = [name, *(level.name for path in paths for level in path)]
    assume(len(set(names)) == len(names))
    spec = DimensionSpec(name, name, above="|".join("/".join(map(str, path)) for path in paths))
    assert DimensionSpec.parse(str(spec)) == spec
    assert [[replace(level, below="") for level in path] for path in spec.paths] == paths
    assert [level.name for level in spec.levels] == names[1:]


def test_two_of_one_name_become_one_with_the_paths_of_both() -> None:
    texts = ["venue/kind", "year", "venue/publisher/country", "venue/publisher/size"]
    joined = join_specs([DimensionSpec.parse(text) for text in texts])
    assert [str(spec) for spec in joined] == ["venue/kind|publisher/country|publisher/size", "year"]
    assert [(level.name, level.below) for level in joined[0].levels] == [
        ("kind", "venue"),
        ("publisher", "venue"),
        ("country", "publisher"),
        ("size", "publisher"),
    ]


@pytest.mark.parametrize("texts", [["venue", "venue"], ["venue/kind", "venue=place/publisher"], ["a@years", "a/b"]])
def test_two_of_one_name_that_do_not_go_together_are_refused(texts: list[str]) -> None:
    with pytest.raises(ParameterError, match="two dimensions have the same name: .* only paths of levels of one"):
        join_specs([DimensionSpec.parse(text) for text in texts])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"above": "a/c|b/c"}, "has the level 'c' above 'a' and above 'b': a level stands above one other"),
        ({"above": "a@years|a@decades"}, "has the level 'a' as 'a@years' and as 'a@decades'"),
        ({"above": ""}, "what is above dimension 'x' is empty: give None for none"),
        ({"parent": "a", "above": "b/a"}, "has the parent 'a' and 'b/a' above: give one of them"),
    ],
)
def test_levels_that_cannot_be_are_refused_in_one_sentence(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        DimensionSpec("x", "x", **given)
