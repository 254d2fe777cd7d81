"""Names that stand twice are told apart, and none is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cube2net.model.objects import distinct_names

NAMES = st.lists(st.sampled_from(["a", "b", "a (2)", "a (3)", "", "a (2) (2)"]), max_size=8)


def test_a_number_is_taken_where_a_name_has_it_already() -> None:
    assert distinct_names(["a", "a (2)", "a", "a"]) == ["a", "a (2)", "a (3)", "a (4)"]
    assert distinct_names(["a"], taken=["a", "a (2)"]) == ["a (3)"]


@given(NAMES, NAMES)
def test_no_name_comes_twice_and_one_that_is_free_stays(names: list[str], taken: list[str]) -> None:
    found = distinct_names(names, taken)
    assert len({*found, *taken}) == len(found) + len(set(taken))
    for at, (name, own) in enumerate(zip(names, found, strict=True)):
        assert own == name if name not in {*found[:at], *taken} else own.startswith(f"{name} (")
