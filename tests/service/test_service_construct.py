"""The network of a question over JSON: its roles, its shortest words, its reasons; and places for its nodes."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

import cube2net as c2n
from cube2net.apps.service.service import CubeService
from cube2net.errors import CubeError, ParameterError, QueryError

NetworkRequest = dict[str, Any]


def made(service: CubeService, network_request: NetworkRequest) -> dict[str, Any]:
    return service.answer("construct", {"request": network_request})


def test_an_answer_is_the_network_that_construct_makes(service: CubeService, network_request: NetworkRequest) -> None:
    answer = made(service, network_request)
    network = c2n.construct(service.cube, dict(zip(network_request["query"], network_request["labels"], strict=True)))
    assert network.recipe is not None
    assert answer["fingerprint"] == network.recipe.made["checksum"]
    assert answer["nodes"]["id"] == list(network)
    assert answer["links"]["weight"] == network.weight.tolist()
    assert [tuple(cell["labels"]) for cell in answer["cells"]] == list(network.labels)
    assert answer["request"] == {**network_request, "cube": service.checksum}
    nodes = f"24 objects of the query, 24 neighbours and {len(answer['cells'])} cells"
    held = f"the cells hold {answer['summary']['query_held']} of the 24, cover {answer['value']:.0f}"
    links = f"{len(answer['links']['weight'])} links"
    assert answer["sentence"] == f"{nodes}, {links}; {held}; {answer['certificate']}"
    assert "Network(" not in answer["sentence"]


def test_nodes_have_the_role_that_they_play(service: CubeService, network_request: NetworkRequest) -> None:
    cell = made(service, network_request)["cells"][1]["labels"]
    pins = [{"object": "o150"}, {"cell": cell}, {"object": network_request["query"][0]}]
    answer = made(service, network_request | {"pins": pins, "n_neighbors": 5})
    nodes = answer["nodes"]
    roles = dict(zip(nodes["id"], nodes["role"], strict=True))
    assert [roles[key] for key in nodes["id"][: len(network_request["query"])]] == ["query"] * len(
        network_request["query"]
    )
    assert set(network_request["query"]) == set(nodes["id"][: len(network_request["query"])])
    assert roles["o150"] == "pinned"
    assert sorted(set(nodes["role"])) == ["cell", "neighbor", "pinned", "query"]
    assert [each["pinned"] for each in answer["cells"]].count(True) == 1
    assert answer["cells"][0]["labels"] == cell
    assert nodes["labels"][-1] is not None
    assert nodes["labels"][0] is None
    brought = made(service, network_request | {"form": "objects", "n_cells": 3})
    assert set(brought["nodes"]["role"]) == {"query", "brought"}
    assert " more that 3 cells bring, " in brought["sentence"]
    alone = made(service, {"query": ["o1"], "method": "none"})["sentence"]
    assert alone == "1 object of the query, 0 links"


SAME = [
    {"method": "greedy"},
    {"form": "hybrid", "objective": "cover"},
    {"levels": "full+one", "seed": 0, "bound": False},
    {"levels": ["full+one"], "pins": [], "where": {}, "n_cells": None, "n_neighbors": None},
    {"where": {"venue": []}, "options": {"by": "value", "best_prefix": False}},
]


@pytest.mark.parametrize("words", SAME, ids=str)
def test_the_same_question_in_other_words_has_the_same_shortest_words(
    service: CubeService, network_request: NetworkRequest, words: NetworkRequest
) -> None:
    assert made(service, network_request | words)["request"] == made(service, network_request)["request"]


OTHER = [
    *({"levels": "full"}, {"r": 3}),
    *(
        {"n_cells": 0},
        {"n_neighbors": 0},
        {"r": 1},
        {"n_cells": 4},
        {"seed": 3},
        {"form": "cells"},
        {"method": "pagerank"},
    ),
    *({"levels": "one"}, {"levels": "one", "r": 3}, {"where": {"decades": ["199X"]}}, {"roll_up": {"year": "decades"}}),
    *({"between": "1995..2005"}, {"prefer": ["o150"]}, {"bans": [{"object": "o150"}]}),
    *({"options": {"by": "price"}}, {"objective": "fbeta", "options": {"beta": 2}}),
    *({"kind": ["object"]}, {"max_nodes": 30}, {"options": {"membership_weights": "even"}}, {"method": "hops 2"}),
]


@pytest.mark.parametrize("words", OTHER, ids=str)
def test_asking_again_by_the_shortest_words_gives_the_same_network(
    folder: Path, network_request: NetworkRequest, words: NetworkRequest
) -> None:
    service, other = (CubeService(c2n.open(folder)) for _ in range(2))
    first = made(service, network_request | words)
    again = made(other, first["request"])
    assert again["request"] == first["request"]
    assert again["fingerprint"] == first["fingerprint"]
    assert first["request"] == {**network_request, **words, "cube": service.checksum}


def test_ids_stand_once_in_the_order_given_and_as_the_cube_has_them(service: CubeService) -> None:
    answer = made(service, {"query": ["o7", "Ada Lovelace", "o7", "o1"], "labels": ["a", "b", "a", ""]})
    assert answer["request"]["query"] == ["o7", "o5", "o1"]
    assert answer["request"]["labels"] == ["a", "b", ""]
    assert "labels" not in made(service, {"query": ["o7"], "labels": [""]})["request"]


def test_a_question_of_another_cube_is_refused(service: CubeService, network_request: NetworkRequest) -> None:
    with pytest.raises(CubeError, match=r"made for another cube: its checksum begins 'abc', this one's '[0-9a-f]{12}'"):
        made(service, network_request | {"cube": "abc"})


REFUSED = [
    ({"method": "gredy"}, r"^unknown method 'gredy': .*did you mean 'greedy'"),
    ({"options": {"save": "/tmp/x"}}, r"^unknown option of the method 'greedy' 'save'"),
    (
        {"method": "cube2net", "options": {"policy": "/etc/passwd"}},
        r"^unknown option of the method 'cube2net' 'policy'",
    ),
    ({"method": "cube2net", "options": {"save": "x"}}, r"^unknown option of the method 'cube2net' 'save'"),
    ({"options": {"cube": "x"}}, r"^unknown option of the method 'greedy' 'cube'"),
    ({"options": {"progress": "x"}}, r"^unknown option of the method 'greedy' 'progress'"),
    ({"r": 2, "objective": "jaccard"}, r"^r is 2, and only the objective 'cover' has one"),
    ({"r": 2, "options": {"by": "price"}}, r"^r is 2, and only the objective 'cover' has one"),
    ({"method": "anneal", "options": {"seconds": "x"}}, r"^the options do not fit the method 'anneal': "),
    ({"labels": ["a"]}, r"^labels has 1 entries, expected one for each of 24 objects$"),
    ({"pins": [{"cell": ["199X", "venue 0"]}]}, r"labels, got \('199X', 'venue 0'\)"),
    ({"pins": [{"object": "nobody"}]}, "nobody"),
]


@pytest.mark.parametrize(("words", "sentence"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_asked_is_refused_in_one_sentence(
    service: CubeService, network_request: NetworkRequest, words: NetworkRequest, sentence: str
) -> None:
    with pytest.raises((ParameterError, QueryError), match=sentence):
        made(service, network_request | words)


def test_prices_are_told_where_they_are_asked_for(service: CubeService, network_request: NetworkRequest) -> None:
    cell = made(service, network_request)["cells"][-1]["labels"]
    steered = network_request | {"pins": [{"cell": cell}], "n_cells": 2}
    assert service.answer("construct", {"request": steered})["prices"] == []
    (price,) = service.answer("construct", {"request": steered, "prices": True})["prices"]
    assert price["kind"] == "pin"
    assert price["price"] >= 0
    assert price["sentence"].startswith("keeping ⟨")


def test_a_remembered_network_answers_as_a_new_one_does(folder: Path, network_request: NetworkRequest) -> None:
    service = CubeService(c2n.open(folder))

    def told() -> str:
        answer = made(service, network_request)
        return json.dumps({name: answer[name] for name in answer if name not in ("seconds", "summary")})

    assert told() == told()
    assert service.network(network_request) is service.network(network_request | {"method": "greedy"})  # type: ignore[arg-type]


def test_many_threads_get_the_answers_that_one_gets(folder: Path, network_request: NetworkRequest) -> None:
    service = CubeService(c2n.open(folder))
    asks = [
        network_request | {"n_cells": m, **more}
        for m in (1, 2, 3, 4)
        for more in ({}, {"between": "1995.."}, {"levels": "one"})
    ]
    single = [made(CubeService(c2n.open(folder)), each)["fingerprint"] for each in asks]
    found: dict[tuple[int, int], str] = {}

    def work(own: int) -> None:
        for number in np.random.default_rng(own).permutation(len(asks)).tolist():
            found[own, number] = made(service, asks[number])["fingerprint"]

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 * len(asks)
    assert all(mark == single[number] for (_, number), mark in found.items())


def test_long_questions_are_known_before_they_are_asked(folder: Path, network_request: NetworkRequest) -> None:
    service = CubeService(c2n.open(folder))
    assert service.is_long("compare", {"request": network_request})
    assert not service.is_long("construct", {"request": network_request})
    assert not service.is_long("names", {"text": "a"})
    exact = {"request": network_request | {"method": "exact"}}
    assert service.is_long("construct", exact)
    assert service.is_long("layout", exact)
    assert service.is_long("export", exact)
    service.answer("construct", exact)
    assert not service.is_long("layout", exact)
    assert not service.is_long("construct", {"request": network_request | {"bound": True}})
    assert service.is_long("construct", {"request": network_request | {"bound": True, "form": "objects"}})
    pins = [{"object": f"o{number}"} for number in range(100, 109)]
    assert not service.is_long("construct", {"request": network_request | {"pins": pins}})
    assert service.is_long("construct", {"request": network_request | {"pins": pins}, "prices": True})
    assert not service.is_long("construct", {"request": network_request | {"pins": pins[:3]}, "prices": True})
    for wrong in (
        {"request": 3},
        {},
        [],
        {"request": {"method": "exact"}},
        {"request": {"method": ["exact"], "query": 3}},
    ):
        assert not service.is_long("construct", wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^unknown request 'konstruct': .*did you mean 'construct'"):
        service.answer("konstruct", {})


# Places


def places(service: CubeService, network_request: NetworkRequest, start: Any = None) -> np.ndarray[Any, Any]:
    question = {"request": network_request} if start is None else {"request": network_request, "start": start}
    return np.array(service.answer("layout", question)["places"])


def test_nodes_that_have_a_place_move_little_and_new_ones_come_between_them(
    service: CubeService, network_request: NetworkRequest
) -> None:
    before = made(service, network_request)
    known = dict(zip(before["nodes"]["id"], places(service, network_request).tolist(), strict=True))
    moved = network_request | {"n_cells": 3, "n_neighbors": 30}
    after = made(service, moved)
    start = [known.get(key) for key in after["nodes"]["id"]]
    assert None in start
    found = places(service, moved, start)
    old = np.array([place is not None for place in start])
    shift = np.linalg.norm(found[old] - np.array([place for place in start if place]), axis=1)
    size = np.ptp(np.array(list(known.values())), axis=0).max()
    assert np.median(shift) < 0.08 * size
    cold = places(service, moved)
    links = after["links"]
    lengths = [np.linalg.norm(at[links["source"]] - at[links["target"]], axis=1).mean() for at in (found, cold)]
    assert lengths[0] < 1.6 * lengths[1]


@given(st.data())
def test_warm_places_are_finite_and_do_not_overlap_more_than_cold_ones(
    service: CubeService, data: st.DataObject
) -> None:
    network_request = {
        "query": data.draw(st.lists(st.sampled_from([f"o{i}" for i in range(60)]), min_size=1, unique=True))
    }
    network = service.network(network_request)  # type: ignore[arg-type]
    number = st.floats(-30, 30) | st.sampled_from([0.0, 1e6, -1e6, 1e-300])
    one = st.none() | st.lists(number, min_size=2, max_size=2) | st.just([1.0, 1.0])
    start = data.draw(st.lists(one, min_size=len(network), max_size=len(network)))
    found = places(service, network_request, start)
    assert found.shape == (len(network), 2)
    assert np.isfinite(found).all()
    if len(network) > 1:
        assert pdist(found).min() > 0
    assert np.array_equal(found, places(service, network_request, start))


def test_without_any_place_the_layout_is_the_cold_one_to_the_bit(
    service: CubeService, network_request: NetworkRequest
) -> None:
    cold = c2n.api.layout_network(service.network(network_request))  # type: ignore[arg-type]
    assert np.array_equal(cold, places(service, network_request))
    assert np.array_equal(cold, places(service, network_request, [None] * len(cold)))


def test_a_layout_from_its_own_places_keeps_them_apart(service: CubeService, network_request: NetworkRequest) -> None:
    cold = places(service, network_request)
    warm = places(service, network_request, cold.tolist())
    assert pdist(warm).min() > 0.9 * pdist(cold).min()
    assert np.linalg.norm(warm - cold, axis=1).max() < 2.5


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        ([[0.0, 0.0]], r"^start has 1 places, expected one, or null, for each of \d+ nodes$"),
        ([[0.0]] * 2, "start has 2 places"),
    ],
)
def test_places_that_do_not_fit_are_refused(
    service: CubeService, network_request: NetworkRequest, start: Any, sentence: str
) -> None:
    with pytest.raises(ParameterError, match=sentence):
        places(service, network_request, start)
    size = len(service.network(network_request))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"^start\[1\] is \[1.0\], expected two numbers of at most 1,000,000$"):
        places(service, network_request, [None, [1.0], *[None] * (size - 2)])
    with pytest.raises(ParameterError, match=r"^start\[0\] is \[10000000.0, 0.0\], expected two numbers"):
        places(service, network_request, [[1e7, 0.0], *[None] * (size - 1)])


def test_a_network_that_auto_chose_is_answered_like_any_other(
    service: CubeService, network_request: NetworkRequest
) -> None:
    auto = network_request | {"method": "auto", "options": {"runs": 1, "seconds": 30.0}}
    answer = made(service, auto)
    assert answer["request"]["method"] == "auto"
    assert answer["summary"]["tried"]
    assert service.is_long("construct", {"request": auto | {"seed": 1}})
    node = {"object": answer["nodes"]["id"][0]}
    assert service.answer("explain", {"request": auto, "node": node})["kind"] == "object"


def test_whole_numbers_are_ids_where_the_cube_has_such() -> None:
    rows = [{"id": 10 + i, "name": f"Person {i}", "city": ["Ghent", "Turin"][i % 2]} for i in range(30)]
    links = [{"source": 10 + i, "target": 10 + (i * 7 + 2) % 30} for i in range(30)]
    corpus = c2n.read_tables(nodes=pa.Table.from_pylist(rows), links=pa.Table.from_pylist(links))
    service = CubeService(c2n.build(corpus, ["city"], min_objects=2))
    assert service.cube.objects.whole
    assert service.answer("names", {"text": "12\nPerson 4"})["rows"][0]["id"] == 12
    assert [one["id"] for one in service.answer("complete", {"text": "person 4"})["candidates"]] == [14]
    first = made(service, {"query": ["10", 12, 14], "pins": [{"object": 21}], "n_neighbors": 3})
    assert first["request"]["query"] == [10, 12, 14]
    assert dict(zip(first["nodes"]["id"], first["nodes"]["role"], strict=True))[21] == "pinned"
    assert made(service, first["request"])["fingerprint"] == first["fingerprint"]
    assert service.answer("members", {"cells": [["Ghent"]]})["objects"] == 15


def test_where_more_than_half_of_the_nodes_are_new_all_are_laid_out_anew(
    service: CubeService, network_request: NetworkRequest
) -> None:
    cold = places(service, network_request)
    few = len(cold) // 2 - 1
    start: list[Any] = [[float(at), float(at)] for at in range(few)] + [None] * (len(cold) - few)
    assert np.array_equal(places(service, network_request, start), cold)
    start[few : few + 2] = cold[few : few + 2].tolist()
    assert not np.array_equal(places(service, network_request, start), cold)


def test_a_click_reads_the_question_and_looks_its_objects_up_once(
    service: CubeService, network_request: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = service.answer("construct", {"request": network_request})
    pinned = {**network_request, "pins": [{"cell": first["cells"][-1]["labels"]}]}
    looked: list[int] = []
    find = type(service.cube.objects).find

    def counted(objects: Any, keys: Any, *args: Any) -> Any:
        looked.append(len(keys))
        return find(objects, keys, *args)

    monkeypatch.setattr(type(service.cube.objects), "find", counted)
    service.answer("construct", {"request": pinned})
    assert looked == [len(network_request["query"])]
