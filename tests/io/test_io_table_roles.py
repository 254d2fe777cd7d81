import pytest

from cube2net.errors import ParameterError, SourceError
from cube2net.io.tables.table_roles import ROLE_NAMES, check_required_roles, check_roles, columns_by_name


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
    guess = columns_by_name(file, names)
    assert guess.columns == columns
    assert set(guess.unused) == set(names) - set(columns.values())
    assert guess.given == ()
    assert str(guess).count("(guessed)") == len(columns)


def test_the_names_of_the_roles_are_spellings_of_themselves():
    for file, roles in ROLE_NAMES.items():
        assert columns_by_name(file, list(roles)).columns == {role: role for role in roles}


def test_a_column_that_is_not_there_is_an_error_that_says_which_are():
    with pytest.raises(SourceError) as error:
        check_required_roles(columns_by_name("links", ["one", "other"]), ["one", "other"], "links.csv")
    assert str(error.value) == (
        "links.csv has no column for the source: it has 'one', 'other' "
        "(usual names are source, from, src; name the column: columns={'links.source': 'one'})"
    )
    with pytest.raises(SourceError) as error:
        columns_by_name("links", ["a", "b"], {"source": "x"}, called="links.csv")
    assert str(error.value) == "links.csv has no column 'x' (given as source): it has 'a', 'b'"


def test_one_column_with_another_mark_inside_gets_a_hint():
    with pytest.raises(SourceError, match=r"\(is ';' the delimiter\? then use delimiter=';'\)"):
        check_required_roles(columns_by_name("nodes", ["number;city"]), ["number;city"], "nodes.csv")


def test_an_unknown_role_is_an_error_with_the_nearest_spelling():
    check_roles({"source": "x", "items.item": "y"})
    with pytest.raises(
        ParameterError, match=r"unknown column role 'links.sorce': .* \(did you mean 'links.source'\?\)"
    ):
        check_roles({"links.sorce": "x"})
