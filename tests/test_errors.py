"""What the errors say: the name that was most likely meant."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cube2net._util.spelling import OTHER_NAMES, count_edits, preselect_names, suggest_name, translate_name
from cube2net.api.plan import METHODS
from cube2net.apps.cli.query import list_methods
from cube2net.cube.engines import ENGINES
from cube2net.errors import Cube2netError, join_names, quote_few, unknown_name
from cube2net.io.sources import SOURCES
from cube2net.model.dimension import Dimension, Level
from cube2net.model.objects import Objects
from cube2net.selection.objectives import OBJECTIVES
from cube2net.topics.models import TOPIC_MODELS

NAMES = {
    "method": [*list_methods()],
    "objective": [*OBJECTIVES],
    "source": [*SOURCES, "bundled"],
    "engine": [*ENGINES],
    "topic model": [*TOPIC_MODELS],
}
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_"


def typos(name: str) -> set[str]:
    """Return the name with two neighbours swapped, or one letter left out, typed twice, put in or mistyped."""
    cuts = [(name[:i], name[i:]) for i in range(len(name) + 1)]
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    missing = {head + tail[1:] for head, tail in cuts if tail}
    wrong = {head + letter + tail[1:] for head, tail in cuts if tail for letter in LETTERS}
    added = {head + letter + tail for head, tail in cuts for letter in LETTERS}
    return (swapped | missing | wrong | added) - {name}


@pytest.mark.parametrize(("what", "name"), [(what, name) for what, names in NAMES.items() for name in names])
def test_a_slip_in_any_registered_name_is_understood(what: str, name: str) -> None:
    others = [other for other in NAMES[what] if other != name]
    for typo in typos(name):
        if min(count_edits(typo, other) for other in others) < 2:
            assert name in ("dblp", "yelp", "sql", "acl")  # one slip makes them alike
            continue
        assert str(unknown_name(what, typo, NAMES[what])).endswith(f"(did you mean {name!r}?)"), typo


@pytest.mark.parametrize(
    ("text", "meant"),
    [("gredy", "greedy"), ("rgeedy", "greedy"), ("nakeal", "anneal"), ("GREEDY", "greedy"), ("page rank", "pagerank")],
)
def test_names_that_strangers_typed_are_understood(text: str, meant: str) -> None:
    assert suggest_name(text, NAMES["method"]) == meant


@pytest.mark.parametrize("text", ["", "best", "louvain", "x", "42", "shortest-path", "infomap", "metis"])
def test_a_name_that_is_like_no_other_brings_no_suggestion(text: str) -> None:
    assert "did you mean" not in str(unknown_name("method", text, NAMES["method"]))


def test_one_letter_is_never_taken_for_another() -> None:
    assert suggest_name("c", ["a", "b"]) is None
    assert suggest_name("A", ["a", "b"]) == "a"


def slow(one: str, other: str) -> int:
    """Return the slips between two texts by their definition."""
    if not one or not other:
        return len(one) + len(other)
    ways = [slow(one[1:], other) + 1, slow(one, other[1:]) + 1, slow(one[1:], other[1:]) + (one[0] != other[0])]
    if len(one) > 1 and len(other) > 1 and one[0] == other[1] and one[1] == other[0]:
        ways.append(slow(one[2:], other[2:]) + 1)
    return min(ways)


@given(st.text("abc", max_size=5), st.text("abc", max_size=5))
@example("ab", "ba")
def test_slips_are_counted_as_they_are_defined(one: str, other: str) -> None:
    assert count_edits(one, other) == slow(one, other) == count_edits(other, one)


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=4))
@example("A", ["a"])
def test_what_is_suggested_is_one_of_the_names(text: str, names: list[str]) -> None:
    assert suggest_name(text, names) in {None, *names}
    assert suggest_name(text, [text, *names]) == text


MANY = [
    f"{city}{street} {number}" for city in ("Ghent", "Turin", "Malmö") for street in "abcdefgh" for number in range(500)
]


@pytest.mark.parametrize("name", MANY[::3997])
def test_a_slip_among_thousands_of_names_is_understood(name: str) -> None:
    for typo in (name[:-1] + "x", name[1:], name[:3] + name[4:], name[1] + name[0] + name[2:], name.upper() + "y"):
        least = min(count_edits(typo.casefold(), other.casefold()) for other in MANY)
        assert count_edits(typo.casefold(), str(suggest_name(typo, MANY)).casefold()) == least, typo
        assert count_edits(typo.casefold(), preselect_names(typo, MANY)[0].casefold()) == least


def test_an_unknown_label_among_many_is_told_by_the_nearest_few() -> None:
    labels = tuple(MANY)
    with pytest.raises(ValueError) as caught:
        Dimension((Level("place", labels, labels),)).number("Ghemta 12")
    assert str(caught.value) == (
        "unknown label of 'place' 'Ghemta 12': choose one of 12,000, such as 'Ghenta 12', 'Ghenta 102', 'Ghenta 112'"
    )


def test_names_that_separate_nothing_are_compared_too() -> None:
    odd = ["a\nb", "\x1fab", "\x00ab", "\ue000ab", "\ud800ab", "", "ß" * 40, *MANY]
    assert suggest_name("\x00abc", odd) == "\x00ab"
    assert suggest_name("Ghenta 12x", odd) == "Ghenta 12"
    assert suggest_name("x" * 1_000_000, odd) is None
    assert suggest_name("q", MANY) is None


def test_an_object_among_many_alike_is_found_by_a_slip() -> None:
    names = pa.array(MANY)
    objects = Objects.of(pa.table({"object": names, "name": names, "kind": names}))
    assert objects.near("Turinc 411x") == ["Turinc 411"]
    assert objects.near("Turin " * 100_000) == []


def test_a_sentence_stays_short_whatever_is_in_it() -> None:
    long = "x" * 1_000_000
    assert len(str(unknown_name("label", long, ["a", "b"]))) < 300
    assert len(str(unknown_name("label", "a", [long, long + "y"]))) < 500
    assert len(quote_few([long, long, long, long])) < 500 and len(join_names([long, long])) < 300
    assert len(join_names(MANY)) < 500 and join_names(MANY).endswith(", … (12,000 in all)")
    told = str(Cube2netError(f"cannot read {long!r}: give another"))
    assert len(told) < 5_000 and told.startswith("cannot read 'xxx") and told.endswith("xxx': give another")


def test_values_that_are_no_texts_are_cut_too() -> None:
    assert len(str(unknown_name("label", list(range(100_000)), ["a"]))) < 300
    assert len(quote_few([np.arange(3), tuple(range(9_999))])) < 300


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("ppr", "pagerank"),
        ("RWR", "pagerank"),
        ("ego", "hops"),
        ("k-hop", "hops"),
        ("steiner tree", "steiner"),
        ("community search", "maxdisc"),
        ("simulated_annealing", "anneal"),
        ("induced subgraph", "none"),
    ],
)
def test_a_method_by_the_name_that_another_field_has_for_it_is_told_its_name_here(theirs: str, ours: str) -> None:
    said = str(unknown_name("method", theirs, NAMES["method"]))
    assert said.startswith(f"unknown method {theirs!r}: choose one of anneal, ")
    assert said.endswith(f" ({theirs!r} is {ours!r} here)")


def test_other_names_lead_to_methods_that_exist_each_to_one_and_none_is_a_name_here() -> None:
    table = OTHER_NAMES["method"]
    assert set(table) == set(METHODS)
    others = [other for names in table.values() for other in names.split(", ")]
    assert len(others) == len(set(others))
    assert all(translate_name("method", other) in table and other not in table for other in others)


def test_a_name_here_that_is_not_allowed_is_not_proposed() -> None:
    assert str(unknown_name("method", "ppr", ["none", "greedy"])) == "unknown method 'ppr': choose one of greedy, none"
