import pyarrow as pa
import pytest

from cube2net.errors import ParameterError, SourceError
from cube2net.sources.tables.column_types import default_dimensions
from cube2net.sources.tables.table_roles import SPELLINGS, check_roles, guess_columns


@pytest.mark.parametrize(
    ("file", "names", "columns"),
    [
        ("links", ["source", "target", "weight"], {"source": "source", "target": "target", "weight": "weight"}),
        ("links", ["From", "To"], {"source": "From", "target": "To"}),
        ("links", ["w", "dst", "src"], {"source": "src", "target": "dst", "weight": "w"}),
        ("links", [":START_ID", ":END_ID"], {"source": ":START_ID", "target": ":END_ID"}),
        ("links", ["u", "v"], {"source": "u", "target": "v"}),
        ("nodes", ["city", "node_id", "name"], {"id": "node_id", "name": "name"}),
        ("nodes", ["Id", "abstract", "type"], {"id": "Id", "kind": "type", "text": "abstract"}),
        ("nodes", ["name", "city"], {"id": "name"}),
        ("objects", ["author"], {"id": "author"}),
        ("items", ["paper", "text"], {"item": "paper", "text": "text"}),
        ("mentions", ["paper_id", "author"], {"item": "paper_id", "object": "author"}),
    ],
)
def test_usual_spellings_are_guessed(file, names, columns):
    guess = guess_columns(file, names)
    assert guess.columns == columns
    assert set(guess.left) == set(names) - set(columns.values())
    assert guess.given == ()
    assert str(guess).count("(guessed)") == len(columns)


def test_the_names_of_the_roles_are_spellings_of_themselves():
    for file, roles in SPELLINGS.items():
        assert guess_columns(file, list(roles)).columns == {role: role for role in roles}


def test_a_column_that_is_not_there_is_an_error_that_says_which_are():
    with pytest.raises(SourceError) as error:
        guess_columns("links", ["one", "other"], called="links.csv")
    assert str(error.value) == (
        "links.csv has no column for the source: it has 'one', 'other' "
        "(usual names are source, from, src; say which it is: columns={'links.source': 'one'})"
    )
    with pytest.raises(SourceError) as error:
        guess_columns("links", ["a", "b"], {"source": "x"}, called="links.csv")
    assert str(error.value) == "links.csv has no column 'x' (given as source): it has 'a', 'b'"


def test_one_column_with_another_mark_inside_gets_a_hint():
    with pytest.raises(SourceError, match=r"\(is ';' what parts its columns\? then say delimiter=';'\)"):
        guess_columns("nodes", ["number;city"])


def test_an_unknown_role_is_an_error_with_the_nearest_spelling():
    check_roles({"source": "x", "items.item": "y"})
    with pytest.raises(
        ParameterError, match=r"unknown column role 'links.sorce': .* \(did you mean 'links.source'\?\)"
    ):
        check_roles({"links.sorce": "x"})


def specs(**columns: object) -> list[str]:
    count = len(next(iter(columns.values())))
    items = pa.table({"item": [str(i) for i in range(count)], **columns, "text": ["x"] * count})
    return [str(spec) for spec in default_dimensions(items)]


def test_labels_stand_as_they_are_years_become_decades_and_numbers_quarters():
    many = list(range(40))
    assert specs(
        year=[1980 + i for i in many],
        city=[f"c{i % 3}" for i in many],
        tags=[[f"t{i % 4}"] for i in many],
        score=[i / 7 for i in many],
    ) == ["decade=year@decades", "city", "tags", "score@quantiles:4"]


def test_years_under_another_name_keep_it():
    assert specs(founded=[1990, 2001], decade=["x", "y"], year=[1990, 2001]) == [
        "founded@decades",
        "decade",
        "year@decades",
    ]


def test_years_are_told_from_other_numbers():
    assert specs(year=[1, 2, 3]) == ["year@quantiles:4"]
    assert specs(year=[0] + [1990 + i for i in range(19)]) == ["decade=year@decades"]
    assert specs(size=[0] + [1990 + i for i in range(19)]) == ["size@quantiles:4"]


def test_what_never_or_always_differs_is_left_out():
    assert specs(same=["x"] * 30, every=[f"e{i}" for i in range(30)], some=["a", "b"] * 15) == ["some"]


def test_labels_must_be_few():
    count = 3_000
    half = [f"h{i % 1_500}" for i in range(count)]
    most = [f"m{i % 1_600}" for i in range(count)]
    assert specs(half=half, most=most) == ["half"]


def test_there_are_at_most_four_dimensions():
    assert specs(**{name: ["x", "y"] for name in "abcdef"}) == ["a", "b", "c", "d"]
