"""What a desk does not do: look into too many cells, go on when nobody waits, or choose again what was chosen."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import cube2net as c2n
from cube2net._util.progress import Stop
from cube2net.apps.service.service import VIEWS, Desk, KeptChoice
from cube2net.errors import InputError, ParameterError

STEPS = {"method": "anneal", "options": {"steps": 500}}


@pytest.fixture
def cells(desk: Desk, ask: dict[str, Any]) -> list[list[str]]:
    return [list(labels) for labels in desk.network(ask).labels]  # type: ignore[arg-type]


def test_a_thousand_cells_are_looked_into_and_no_more(desk: Desk, cells: list[list[str]]) -> None:
    assert desk.answer("members", {"cells": cells[:1] * 1_000})["objects"]
    with pytest.raises(ParameterError, match="cells has 1,001 entries, expected at most 1,000"):
        desk.answer("members", {"cells": cells[:1] * 1_001})
    with pytest.raises(ParameterError, match="most is 101, expected 1 to 100 rows and columns"):
        desk.answer("pivot", {"rows": "venue", "columns": "topic", "most": 101})


@pytest.mark.parametrize("name", ["members", "pivot", "contrast", "drill", "names"])
def test_work_that_nobody_waits_for_stops(desk: Desk, ask: dict[str, Any], cells: list[list[str]], name: str) -> None:
    questions: dict[str, Any] = {
        "members": {"cells": cells},
        "pivot": {"rows": "venue", "columns": "topic", "cells": cells},
        "contrast": {"query": ask["query"]},
        "drill": {"query": ask["query"]},
        "names": {"text": "Ada Lovelance\nIvan Vulik"},
    }
    stop = Stop()
    answer: Callable[..., Any] = stop.heeded(desk.answer)
    assert answer(name, questions[name])
    stop.ask()
    with pytest.raises(KeyboardInterrupt):
        answer(name, questions[name])


@pytest.mark.parametrize(
    "words",
    [
        STEPS,
        {**STEPS, "form": "cells+objects", "max_nodes": 40},
        {**STEPS, "form": "objects", "bound": True},
        {**STEPS, "like": ["o3"], "pins": [{"object": "o5"}], "seed": 7},
        {"method": "exact", "levels": "venue,topic"},
        {"method": "maxdisc"},
        {"method": "auto", "options": {"seconds": 0.5, "runs": 1}},
    ],
    ids=lambda words: "-".join(map(str, words)),
)
def test_another_desk_has_the_network_that_was_chosen_elsewhere_and_does_not_choose_again(
    folder: Any, ask: dict[str, Any], words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = {"ask": {**ask, **words}}
    one, other = (Desk(c2n.open_cube(folder)) for _ in range(2))
    told = one.answer("construct", question)
    choice = one.choice(question)
    assert choice is not None
    assert other.is_long("construct", question)
    other.keep_choice(choice)
    assert not other.is_long("construct", question)
    assert not other.is_long("explain", question)
    assert other.is_long("without", question)
    with monkeypatch.context() as nobody:
        nobody.setattr(sys.modules["cube2net.api.construct"], "choose", None)
        assert other.answer("construct", question) == told
        for node in ({}, {"node": {"object": ask["query"][0]}}):
            assert other.answer("explain", {**question, **node}) == one.answer("explain", {**question, **node})
    banned = {**question, "without": [{"object": ask["query"][0]}]}
    assert other.answer("without", banned) == one.answer("without", banned)


def test_a_choice_that_does_not_fit_is_refused_once(folder: Any, ask: dict[str, Any]) -> None:
    one, other = (Desk(c2n.open_cube(folder)) for _ in range(2))
    question, another = ({"ask": {**ask, **STEPS, "n_cells": m}} for m in (2, 5))
    for each in (question, another):
        one.answer("construct", each)
    right, wrong = one.choice(question), one.choice(another)
    assert right is not None and wrong is not None
    begin = wrong.text.index('"checksum": "', wrong.text.index('"made"')) + len('"checksum": "')
    other.keep_choice(KeptChoice(right.key, f"{wrong.text[:begin]}x{wrong.text[begin + 1 :]}"))
    with pytest.raises(InputError, match="the network that was chosen cannot be had again: ask for it once more"):
        other.answer("construct", question)
    assert other.is_long("construct", question)
    assert other.answer("construct", question)["fingerprint"] == one.answer("construct", question)["fingerprint"]


def test_whether_a_question_is_long_is_told_by_its_words_without_a_look_at_the_cube(
    desk: Desk, ask: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "cube", None)
    assert desk.may_be_long("compare", {})
    assert desk.may_be_long("layout", {"ask": {**ask, **STEPS}})
    assert desk.may_be_long("construct", {"ask": {**ask, "bound": True}})
    assert desk.may_be_long("construct", {"ask": {"query": ["o1"] * 5_001}})
    for question in ({"ask": ask}, {"ask": {"query": 3, "method": [1]}}, {"ask": 3}, {}):
        assert not desk.may_be_long("construct", question)
        assert not desk.may_be_long("export", question)
    assert not desk.may_be_long("drill", {"ask": {**ask, **STEPS}})


@pytest.mark.parametrize(
    "words",
    [
        {"form": "objects", "n_cells": 20},
        {"form": "cells+objects", "n_cells": 20},
        {"form": "cells", "n_cells": 20, "objective": "jaccard"},
        {"n_neighbors": 170},
        {"method": "pagerank", "options": {"top": 100}},
        {"form": "objects", "n_cells": 150, "objective": "linked"},
    ],
    ids=lambda words: "-".join(map(str, words)),
)
def test_a_network_that_would_be_too_large_is_refused_before_it_is_made(
    folder: Any, ask: dict[str, Any], words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    free = Desk(c2n.open_cube(folder))
    size = len(free.network({**ask, **words}))  # type: ignore[typeddict-item]
    sure = "n_neighbors" not in words and words.get("objective") != "linked"
    desk = Desk(free.cube, most_nodes=size)
    assert len(desk.network({**ask, **words})) == size  # type: ignore[typeddict-item]
    desk = Desk(free.cube, most_nodes=size - 1 if sure else 10)
    monkeypatch.setattr(sys.modules["cube2net.api.construct"], "assemble", None)
    with pytest.raises(ParameterError, match=f"more than the {desk.most_nodes} that are taken at once: ask for fewer"):
        desk.network({**ask, **words})  # type: ignore[typeddict-item]


def test_only_the_parts_of_the_cube_that_were_looked_at_last_are_kept(folder: Any, ask: dict[str, Any]) -> None:
    desk = Desk(c2n.open_cube(folder))
    venues = desk.cube.dimensions[1].levels[0].labels
    parts = []
    for labels in [[venue] for venue in venues] + [[one, other] for one in venues for other in venues if one < other]:
        words = {**ask, "where": {"venue": labels}}
        desk.network(ask)  # type: ignore[arg-type]
        network = desk.network(words)  # type: ignore[arg-type]
        assert desk.network(words) is network  # type: ignore[arg-type]
        assert network.question is not None
        parts.append(weakref.ref(network.question.whole))
        del network
    assert len(parts) > VIEWS
    gc.collect()
    assert [part() is not None for part in parts] == [False] * (len(parts) - VIEWS) + [True] * VIEWS
