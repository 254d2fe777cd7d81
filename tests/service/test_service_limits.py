"""What a service does not do: look into too many cells, go on when nobody waits, or choose again what was chosen."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import cube2net as c2n
from cube2net._util.progress import Stop
from cube2net.apps.service.service import MAX_VIEWS, CubeService, KeptChoice
from cube2net.errors import InputError, ParameterError

STEPS = {"method": "anneal", "options": {"steps": 500}}


@pytest.fixture
def cells(service: CubeService, network_request: dict[str, Any]) -> list[list[str]]:
    return [list(labels) for labels in service.network(network_request).labels]  # type: ignore[arg-type]


def test_a_thousand_cells_are_looked_into_and_no_more(service: CubeService, cells: list[list[str]]) -> None:
    assert service.answer("members", {"cells": cells[:1] * 1_000})["objects"]
    with pytest.raises(ParameterError, match="cells has 1,001 entries, expected at most 1,000"):
        service.answer("members", {"cells": cells[:1] * 1_001})
    with pytest.raises(ParameterError, match="most is 101, expected 1 to 100 rows and columns"):
        service.answer("pivot", {"rows": "venue", "columns": "topic", "most": 101})


@pytest.mark.parametrize("name", ["members", "pivot", "contrast", "drill", "names"])
def test_work_that_nobody_waits_for_stops(
    service: CubeService, network_request: dict[str, Any], cells: list[list[str]], name: str
) -> None:
    questions: dict[str, Any] = {
        "members": {"cells": cells},
        "pivot": {"rows": "venue", "columns": "topic", "cells": cells},
        "contrast": {"query": network_request["query"]},
        "drill": {"query": network_request["query"]},
        "names": {"text": "Ada Lovelance\nIvan Vulik"},
    }
    stop = Stop()
    answer: Callable[..., Any] = stop.wrap(service.answer)
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
        {**STEPS, "prefer": ["o3"], "pins": [{"object": "o5"}], "seed": 7},
        {"method": "exact", "levels": "venue,topic"},
        {"method": "maxdisc"},
        {"method": "auto", "options": {"seconds": 0.5, "runs": 1}},
    ],
    ids=lambda words: "-".join(map(str, words)),
)
def test_another_service_has_the_network_that_was_chosen_elsewhere_and_does_not_choose_again(
    folder: Any, network_request: dict[str, Any], words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = {"request": {**network_request, **words}}
    one, other = (CubeService(c2n.open(folder)) for _ in range(2))
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
        for node in ({}, {"node": {"object": network_request["query"][0]}}):
            assert other.answer("explain", {**question, **node}) == one.answer("explain", {**question, **node})
    banned = {**question, "without": [{"object": network_request["query"][0]}]}
    assert other.answer("without", banned) == one.answer("without", banned)


def test_a_choice_that_does_not_fit_is_refused_once(folder: Any, network_request: dict[str, Any]) -> None:
    one, other = (CubeService(c2n.open(folder)) for _ in range(2))
    question, another = ({"request": {**network_request, **STEPS, "n_cells": m}} for m in (2, 5))
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
    service: CubeService, network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "cube", None)
    assert service.may_be_long("compare", {})
    assert service.may_be_long("layout", {"request": {**network_request, **STEPS}})
    assert service.may_be_long("construct", {"request": {**network_request, "bound": True}})
    assert service.may_be_long("construct", {"request": {"query": ["o1"] * 5_001}})
    for question in ({"request": network_request}, {"request": {"query": 3, "method": [1]}}, {"request": 3}, {}):
        assert not service.may_be_long("construct", question)
        assert not service.may_be_long("export", question)
    assert not service.may_be_long("drill", {"request": {**network_request, **STEPS}})


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
    folder: Any, network_request: dict[str, Any], words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    free = CubeService(c2n.open(folder))
    size = len(free.network({**network_request, **words}))  # type: ignore[typeddict-item]
    sure = "n_neighbors" not in words and words.get("objective") != "linked"
    service = CubeService(free.cube, most_nodes=size)
    assert len(service.network({**network_request, **words})) == size  # type: ignore[typeddict-item]
    service = CubeService(free.cube, most_nodes=size - 1 if sure else 10)
    monkeypatch.setattr(sys.modules["cube2net.api.construct"], "assemble", None)
    with pytest.raises(
        ParameterError, match=f"more than the {service.most_nodes} that are taken at once: ask for fewer"
    ):
        service.network({**network_request, **words})  # type: ignore[typeddict-item]


def test_only_the_parts_of_the_cube_that_were_looked_at_last_are_kept(
    folder: Any, network_request: dict[str, Any]
) -> None:
    service = CubeService(c2n.open(folder))
    venues = service.cube.dimensions[1].levels[0].labels
    parts = []
    for labels in [[venue] for venue in venues] + [[one, other] for one in venues for other in venues if one < other]:
        words = {**network_request, "where": {"venue": labels}}
        service.network(network_request)  # type: ignore[arg-type]
        network = service.network(words)  # type: ignore[arg-type]
        assert service.network(words) is network  # type: ignore[arg-type]
        assert network.context is not None
        parts.append(weakref.ref(network.context.whole))
        del network
    assert len(parts) > MAX_VIEWS
    gc.collect()
    assert [part() is not None for part in parts] == [False] * (len(parts) - MAX_VIEWS) + [True] * MAX_VIEWS
