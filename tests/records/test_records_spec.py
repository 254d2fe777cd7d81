import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import ParameterError
from cube2net.records import DimensionSpec

TEXT = st.one_of(st.text(min_size=1), st.text(alphabet='ab=@/":\n ', min_size=1))


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


@pytest.mark.parametrize("spec", ["venue", "decade=year@decades", "venue/kind", "x@edges:0,10,100/quantiles:4"])
def test_a_plain_dimension_is_written_without_quotes(spec: str) -> None:
    assert str(DimensionSpec.parse(spec)) == spec


@pytest.mark.parametrize(
    "text", ["", "=year", "@decades", "/state", "city/state/country", '"km/h', 'speed="km/h', '"km"h', '""', '="a"']
)
def test_a_dimension_that_cannot_be_read_is_refused_with_how_to_write_it(text: str) -> None:
    with pytest.raises(
        ParameterError, match=r"cannot read the dimension .*: write name\[=attribute\]\[@bins\]\[/parent"
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
