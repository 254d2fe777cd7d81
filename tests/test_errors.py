"""What the errors say: the name that was most likely meant."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cube2net import commands, pipeline
from cube2net.errors import _slips, nearest, unknown

NAMES = {
    "method": [*commands.methods()],
    "objective": [*pipeline.OBJECTIVES],
    "source": [*pipeline.SOURCES, "bundled"],
    "engine": [*pipeline.ENGINES],
    "topic model": [*pipeline.TOPIC_MODELS],
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
        if min(_slips(typo, other) for other in others) < 2:
            assert typo in ("yblp", "delp")  # as near to dblp as to yelp
            continue
        assert str(unknown(what, typo, NAMES[what])).endswith(f"(did you mean {name!r}?)"), typo


@pytest.mark.parametrize(
    ("text", "meant"),
    [("gredy", "greedy"), ("rgeedy", "greedy"), ("nakeal", "anneal"), ("GREEDY", "greedy"), ("page rank", "pagerank")],
)
def test_names_that_strangers_typed_are_understood(text: str, meant: str) -> None:
    assert nearest(text, NAMES["method"]) == meant


@pytest.mark.parametrize("text", ["", "best", "louvain", "x", "42", "shortest-path", "infomap", "metis"])
def test_a_name_that_is_like_no_other_brings_no_suggestion(text: str) -> None:
    assert "did you mean" not in str(unknown("method", text, NAMES["method"]))


def test_one_letter_is_never_taken_for_another() -> None:
    assert nearest("c", ["a", "b"]) is None
    assert nearest("A", ["a", "b"]) == "a"


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
    assert _slips(one, other) == slow(one, other) == _slips(other, one)


@given(st.text(max_size=8), st.lists(st.text(max_size=8), max_size=4))
@example("A", ["a"])
def test_what_is_suggested_is_one_of_the_names(text: str, names: list[str]) -> None:
    assert nearest(text, names) in {None, *names}
    assert nearest(text, [text, *names]) == text
