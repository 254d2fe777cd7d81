"""JSON is held against the shapes: what fits comes back, anything else is one sentence that names the place."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.apps.service.network_schemas import ConstructRequest, LayoutRequest
from cube2net.apps.service.schemas import CompleteRequest, MembersRequest, NameRow, NetworkRequest
from cube2net.apps.service.service import ROUTES, CubeService
from cube2net.apps.service.validation import read
from cube2net.errors import Cube2netError, ParameterError

WRONG = [
    (NetworkRequest, {}, r"^the request lacks the field 'query': the ids of the objects$"),
    (NetworkRequest, [], r"^the request is \[\], expected an object with .*query"),
    (
        NetworkRequest,
        {"query": ["a"], "metod": "greedy"},
        r"^unknown field of the request 'metod': .*did you mean 'method'\?\)$",
    ),
    (NetworkRequest, {"query": "a"}, r"^query is 'a', expected a list$"),
    (NetworkRequest, {"query": ["a", 1, True]}, r"^query\[2\] is True, expected a text or a whole number$"),
    (NetworkRequest, {"query": ["a"], "n_cells": True}, r"^n_cells is True, expected a whole number or null$"),
    (NetworkRequest, {"query": ["a"], "n_cells": 2.0}, r"^n_cells is 2.0, expected a whole number or null$"),
    (
        NetworkRequest,
        {"query": ["a"], "n_cells": 10**40},
        r"^n_cells is 1000.*…, expected a number of at most 4,611,686",
    ),
    (NetworkRequest, {"query": ["a"], "bound": 1}, r"^bound is 1, expected true or false$"),
    (NetworkRequest, {"query": ["a"], "where": {"venue": "ACL"}}, r"^where\['venue'\] is 'ACL', expected a list$"),
    (
        NetworkRequest,
        {"query": ["a"], "pins": [{"cel": ["x"]}]},
        r"^pins\[0\] is .*, expected an object with one of cell, object$",
    ),
    (NetworkRequest, {"query": ["a"], "pins": [{"cell": [1]}]}, r"^pins\[0\]\.cell\[0\] is 1, expected a text$"),
    (NetworkRequest, {"query": ["a"], "pins": [{"cell": [], "object": "a"}]}, r"^unknown field of pins\[0\] 'object'"),
    (
        NetworkRequest,
        {"query": ["a"], "options": {"beta": math.nan}},
        r"^options\['beta'\] is nan, expected a finite number$",
    ),
    (
        NetworkRequest,
        {"query": ["a"], "options": {"beta": [1]}},
        r"^options\['beta'\] is \[1\], expected a text, a whole number, ",
    ),
    (NetworkRequest, {"query": ["\ud800"]}, r"^query\[0\] is '\\ud800', which is not valid Unicode text$"),
    (
        ConstructRequest,
        {"request": {"query": [None]}},
        r"^request\.query\[0\] is None, expected a text or a whole number$",
    ),
    (
        LayoutRequest,
        {"request": {"query": []}, "start": [[0, math.inf]]},
        r"^start\[0\]\[1\] is inf, expected a finite",
    ),
    (MembersRequest, {"cells": [["a"], 7]}, r"^cells\[1\] is 7, expected a list$"),
    (CompleteRequest, {"text": None}, r"^text is None, expected a text$"),
    (CompleteRequest, {"text": "a" * 1_000_001}, r"^text has 1,000,001 letters, expected at most 1,000,000$"),
    (NameRow, {"state": "gone"}, r"lacks the field 'given'"),
]


@pytest.mark.parametrize(("shape", "value", "sentence"), WRONG, ids=range(len(WRONG)))
def test_what_does_not_fit_is_one_sentence_that_names_its_place(shape: type, value: Any, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence) as error:
        read(shape, value)
    assert "\n" not in str(error.value)


def test_what_fits_comes_back_as_it_is() -> None:
    network_request = {
        "query": ["a", 7],
        "n_cells": None,
        "n_neighbors": 0,
        "levels": ["one"],
        "pins": [{"cell": ["x"]}, {"object": 3}],
    }
    network_request |= {
        "options": {"by": "price", "top": 3, "damping": 0.5, "floor": False},
        "where": {"venue": ["ACL"]},
    }
    assert read(NetworkRequest, network_request) == network_request


def test_a_literal_is_one_of_its_words() -> None:
    row = {"given": "a", "state": "gone", "id": None, "name": "", "label": "", "candidates": []}
    with pytest.raises(ParameterError, match=r"^unknown state 'gone': choose one of ambiguous, found, missing"):
        read(NameRow, row)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
WORDS = st.sampled_from(
    [
        *("o0", "o1", "Ada Lovelace", "venue 0", "topic 1", "199X", "∗", "year", "venue", "topic", "one", "full"),
        *("greedy", "none", "pagerank", "hybrid", "objects", "cells", "cover", "jaccard", "", "2010..2012", "-1"),
        "object,label\na,b",
    ]
)
VALUES = WORDS | st.integers(-2, 30) | st.booleans() | st.none() | st.floats(0, 2)
CELLS = st.lists(WORDS, max_size=3)
ASKS = st.fixed_dictionaries(
    {"query": st.lists(st.sampled_from(["o0", "o1", "o7", 3, "nobody"]), max_size=4)},
    optional={
        "n_cells": VALUES,
        "n_neighbors": VALUES,
        "r": VALUES,
        "method": WORDS,
        "form": WORDS,
        "objective": WORDS,
        "levels": WORDS,
        "max_nodes": VALUES,
        "between": WORDS,
        "kind": CELLS,
        "where": st.dictionaries(WORDS, CELLS, max_size=2),
        "roll_up": st.dictionaries(WORDS, WORDS, max_size=2),
        "pins": st.lists(st.fixed_dictionaries({"cell": CELLS}) | st.fixed_dictionaries({"object": WORDS}), max_size=2),
        "bans": st.lists(st.fixed_dictionaries({"object": WORDS}), max_size=2),
        "prefer": CELLS,
        "labels": CELLS,
        "options": st.dictionaries(
            WORDS | st.sampled_from(["by", "save", "policy", "cube", "keep_unlinked", "r"]), VALUES
        ),
        "seed": VALUES,
    },
)
FIELDS = {
    "request": ASKS,
    "text": WORDS | st.text(max_size=30),
    "query": st.lists(WORDS, max_size=3),
    "against": st.lists(WORDS, max_size=3),
    "cells": st.lists(CELLS, max_size=2),
    "cell": CELLS,
    "rows": WORDS,
    "columns": WORDS,
    "node": st.fixed_dictionaries({"cell": CELLS}) | st.fixed_dictionaries({"object": WORDS}),
    "without": st.lists(st.fixed_dictionaries({"object": WORDS}), max_size=2),
    "start": st.lists(st.none() | st.lists(st.floats(), max_size=3), max_size=3),
    "most": VALUES,
    "k": VALUES,
    "format": WORDS,
}


@given(st.sampled_from([name for name in ROUTES if name != "compare"]), JSON)
def test_any_json_gives_an_answer_or_a_sentence(service: CubeService, name: str, question: Any) -> None:
    try:
        answer = service.answer(name, question)
    except Cube2netError as error:
        assert str(error)
    else:
        json.dumps(answer, allow_nan=False)


@given(st.data())
def test_questions_of_likely_words_give_an_answer_or_a_sentence(service: CubeService, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([name for name in ROUTES if name != "compare"]))
    fields = {field: FIELDS[field] for field in ROUTES[name].request_type.__annotations__ if field in FIELDS}
    question = data.draw(st.fixed_dictionaries(fields))
    service.is_long(name, question)
    try:
        answer = service.answer(name, question)
    except Cube2netError as error:
        assert "\n" not in str(error)
    else:
        json.dumps(answer, allow_nan=False)
