"""What may be set from outside: every method and every objective, whoever adds one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from cube2net.api.plan import METHODS, WITH_OPTIONS
from cube2net.apps.service.requests import is_long_method, list_methods, list_options, split_options
from cube2net.apps.service.service import CubeService
from cube2net.errors import ParameterError
from cube2net.model.interfaces import options_outside
from cube2net.selection.objectives import OBJECTIVES

TEXTS = {
    "greedy": {"among", "by"},
    "cube2net": {"preset"},
    "steiner": {"cost"},
    "maxdisc": {"tree"},
    "auto": {"embedding"},
}
"""The options that are words of a few, by method: none names a file."""
KINDS = {**list_methods(), **OBJECTIVES}


@pytest.mark.parametrize("name", KINDS)
def test_from_outside_only_numbers_are_set_and_words_of_a_few(name: str) -> None:
    fields = {field.name: field for field in dataclasses.fields(KINDS[name])}
    opened = set(options_outside(KINDS[name]))
    assert not opened & {"save", "policy", "vectors", "switches", "progress", "workers", "device"}
    texts = {option for option in opened if "str" in str(fields[option].type)}
    assert texts == TEXTS.get(name, set())
    for option in texts:
        with pytest.raises(ParameterError, match="/tmp/file"):
            KINDS[name](**{option: "/tmp/file"})


@pytest.mark.parametrize("name", list_methods())
def test_what_is_closed_to_the_outside_is_refused_and_not_shown(name: str, network_request: dict[str, Any]) -> None:
    kind = list_methods()[name]
    for field in dataclasses.fields(kind):
        words = {**network_request, "method": name, "options": {field.name: "x"}}
        if field.name not in options_outside(kind):
            assert field.name not in list_options(kind)
            with pytest.raises(ParameterError, match=f"unknown option of the method '{name}'"):
                split_options(words)


def test_a_method_that_somebody_adds_is_closed_and_long_until_it_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, service: CubeService, network_request: dict[str, Any]
) -> None:
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Reading:
        file: str | None = None
        count: int = 3

    monkeypatch.setitem(METHODS, "reading", Reading)  # type: ignore[arg-type]
    assert list_options(Reading) == {"count": 3}
    assert is_long_method("reading")
    assert service.is_long("construct", {"request": {**network_request, "method": "reading"}})
    with pytest.raises(ParameterError, match="unknown option of the method 'reading' 'file'"):
        split_options({**network_request, "method": "reading", "options": {"file": "/etc/passwd"}})


def test_methods_say_themselves_whether_they_take_long() -> None:
    short = {name for name in [*list_methods(), *WITH_OPTIONS] if not is_long_method(name)}
    assert short == {"none", "hops", "hops 2", "pagerank", "random", "greedy"}
    for options in ({"damping": 0.999999}, {"tolerance": 1e-12}):
        assert is_long_method("pagerank", options)
    assert is_long_method("greedy", {"damping": 0.99}) and not is_long_method("pagerank", {"top": 5})
    assert not is_long_method("nothing of the kind") and not is_long_method(["exact"]) and not is_long_method(None)
