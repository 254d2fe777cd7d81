"""What a cube says of itself, its pivots, reasons, contrasts and verdicts over JSON; and the schema they keep to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import cube2net as c2n
from cube2net._util import packages as extras
from cube2net._util.progress import Stop
from cube2net.api.what_if import change as change_network
from cube2net.apps.service.exports import list_formats
from cube2net.apps.service.openapi import openapi
from cube2net.apps.service.service import ROUTES, CubeService
from cube2net.errors import ParameterError, QueryError

NetworkRequest = dict[str, Any]


def test_a_cube_says_what_it_has_and_what_may_be_asked(service: CubeService) -> None:
    answer = service.answer("cube", {})
    assert answer["name"] == "cube"
    assert answer["checksum"] == service.checksum
    assert answer["sentence"].startswith("200 objects (object) in ")
    assert [each["name"] for each in answer["dimensions"]] == ["year", "venue", "topic"]
    assert [level["name"] for level in answer["dimensions"][0]["levels"]] == ["year", "decades"]
    assert all(level["first"] == sorted(level["first"]) for level in answer["dimensions"][0]["levels"])
    assert [len(level["first"]) for level in answer["dimensions"][0]["levels"]] == [
        level["labels"] for level in answer["dimensions"][0]["levels"]
    ]
    assert [each["time"] for each in answer["dimensions"]] == [True, False, False]
    assert answer["times"] == sorted(answer["times"])
    assert answer["kinds"] == ["object"]
    assert answer["exports"] == list_formats()
    assert answer["pictures"] == [".png", ".svg", ".pdf"]
    assert answer["limits"] == {
        **{"letters": 1_000_000, "bytes": 4_000_000, "names": 200_000, "members": 20_000, "file": 2_900_000},
        **{"least_runs": 1, "runs": 5, "most_runs": 50},
    }
    methods = {method["name"]: method for method in answer["methods"]}
    assert {"none", "greedy", "exact", "auto", "hops 2", "cube2net paper"} <= methods.keys()
    assert methods["greedy"]["cells"]
    assert not methods["greedy"]["long"]
    assert methods["exact"]["long"]
    shown = {option["name"] for method in methods.values() for option in method["options"]}
    assert not shown & {"save", "policy", "progress"}


def test_a_window_of_every_time_can_be_asked_for(service: CubeService, network_request: NetworkRequest) -> None:
    times = service.answer("cube", {})["times"]
    whole, seen = (
        service.answer("construct", {"request": network_request | window})
        for window in ({}, {"between": f"{times[0]}..{times[-1]}"})
    )
    assert [seen[part] for part in ("nodes", "links")] == [whole[part] for part in ("nodes", "links")]


def test_a_method_says_what_is_missing(service: CubeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda package: package != "torch")
    methods = {method["name"]: method for method in service.answer("cube", {})["methods"]}
    assert methods["greedy"]["missing"] is None
    assert "pip install torch" in methods["cube2net"]["missing"]


def test_a_cube_in_memory_has_no_checksum() -> None:
    service = CubeService(c2n.build(c2n.make_planted(objects=200, communities=4).corpus))
    answer = service.answer("cube", {})
    assert (answer["checksum"], answer["name"]) == (None, "a cube in memory")
    assert "cube" not in service.answer("construct", {"request": {"query": ["o1", "o2"]}})["request"]


def test_a_pivot_marks_chosen_cells_and_names_the_finer_levels(
    service: CubeService, network_request: NetworkRequest
) -> None:
    cells = [cell["labels"] for cell in service.answer("construct", {"request": network_request})["cells"]]
    question = {"rows": "decades", "columns": "topic", "query": network_request["query"], "cells": cells}
    answer = service.answer("pivot", question)
    assert answer["finer"] == ["year", None]
    full = [cell for cell in cells if "∗" not in cell]
    assert sum(map(sum, answer["chosen"])) == len(full) > 0
    parents = dict(
        zip(service.cube.dimensions[0].labels, service.cube.dimensions[0].parents_at(1).tolist(), strict=True)
    )
    decade = service.cube.dimensions[0].levels[1].labels[parents[full[0][0]]]
    assert answer["chosen"][answer["rows"].index(decade)][answer["columns"].index(full[0][2])] >= 1
    assert answer["query"][0][0] <= answer["objects"][0][0]
    assert answer["rows"] == sorted(answer["rows"])
    plain = service.answer("pivot", {"rows": "decades", "columns": "topic"})
    assert plain["query"] == plain["lift"] == plain["chosen"] == []
    assert plain["objects"] == answer["objects"]
    coarse = service.answer("pivot", question | {"cells": [["∗", "∗", "topic 0"], ["199X", "∗", "topic 0"]]})
    assert sum(map(sum, coarse["chosen"])) == 1


def test_a_pivot_is_drilled_by_a_view(service: CubeService) -> None:
    answer = service.answer("pivot", {"rows": "year", "columns": "topic", "where": {"decades": ["199X"]}})
    assert answer["rows"]
    assert all(label.startswith("199") for label in answer["rows"])
    few = service.answer("pivot", {"rows": "year", "columns": "topic", "most": 2})
    assert len(few["rows"]) == len(few["columns"]) == 2
    assert few["more_rows"] > 0


def test_reasons_are_those_of_the_library(service: CubeService, network_request: NetworkRequest) -> None:
    network = service.network(network_request)  # type: ignore[arg-type]
    cell = network.labels[0]
    assert service.answer("explain", {"request": network_request})["explanation"] == c2n.explain(network).to_dict()
    told = service.answer("explain", {"request": network_request, "node": {"cell": list(cell)}})
    assert told["explanation"] == c2n.explain(network, cell).to_dict()
    assert told["kind"] == "cell"
    told = service.answer("explain", {"request": network_request, "node": {"object": "o150"}})
    assert told["sentence"] == str(c2n.explain(network, "o150"))
    assert [each["column"] for each in told["columns"]] == ["year", "venue", "topic"]
    assert told["columns"][1]["value"].startswith("venue ")


def test_what_if_is_that_of_the_library(service: CubeService, network_request: NetworkRequest) -> None:
    network = service.network(network_request)  # type: ignore[arg-type]
    cell = list(network.labels[0])
    away = next(f"o{row}" for row in range(200) if row not in network.objects)
    told = service.answer(
        "without", {"request": network_request, "without": [{"cell": cell}], "with_": [{"object": away}]}
    )
    change = change_network(network, without=[tuple(cell)], with_=[away])
    assert told["change"] == change.to_dict()
    assert {"cell": cell} in told["left"]
    assert {"object": away} in told["entered"]
    assert told["sentence"] == change.sentence
    links = service.answer(
        "without", {"request": network_request | {"method": "pagerank"}, "without": [{"object": "o1"}]}
    )
    assert links["value"] is None
    with pytest.raises(ParameterError, match="no cell and no object is named"):
        service.answer("without", {"request": network_request})


def test_contrasts_are_of_two_queries_of_labels_or_of_all_others(
    service: CubeService, network_request: NetworkRequest
) -> None:
    one, two = network_request["query"][:12], network_request["query"][12:]
    both = service.answer("contrast", {"query": one, "against": two, "names": ["one", "two"], "n_cells": 3})
    assert both["contrast"]["sides"] == [{"name": "one", "objects": 12}, {"name": "two", "objects": 12}]
    labels = service.answer("contrast", {"query": network_request["query"], "labels": network_request["labels"]})
    assert len(labels["contrast"]["groups"]) == 2
    rest = service.answer("contrast", {"query": one})
    assert [side["objects"] for side in rest["contrast"]["sides"]] == [12, 188]
    assert rest["sentence"].startswith("the query (12 objects) differs from all others (188 objects)")
    everybody = [f"o{number}" for number in range(200)]
    with pytest.raises(QueryError, match="the query has all objects of the cube"):
        service.answer("contrast", {"query": everybody})


def test_an_empty_other_side_is_refused_and_not_taken_for_all_others(
    service: CubeService, network_request: NetworkRequest
) -> None:
    for labels in ({}, {"labels": network_request["labels"]}):
        with pytest.raises(ParameterError, match=r"^against is \[\], expected the id of at least one object: leave it"):
            service.answer("contrast", {"query": network_request["query"], "against": [], **labels})
    with pytest.raises(ParameterError, match=r"^names is \[\], expected two different texts$"):
        service.answer("contrast", {"query": network_request["query"], "names": []})


@pytest.mark.parametrize(
    ("route", "field", "most", "what"),
    [
        ("pivot", "most", 100, "rows and columns"),
        ("contrast", "n_cells", 100, "cells"),
        ("drill", "k", 100, "cells"),
        ("complete", "most", 100, "names"),
        ("members", "most", 20_000, "objects"),
    ],
)
def test_how_much_is_answered_has_an_upper_end(
    service: CubeService, network_request: NetworkRequest, route: str, field: str, most: int, what: str
) -> None:
    question = real_questions(service, network_request)[route][0]
    service.answer(route, question | {field: most})
    for wrong in (0, most + 1, 2**40):
        with pytest.raises(ParameterError, match=f"^{field} is {wrong}, expected 1 to {most:,} {what}$"):
            service.answer(route, question | {field: wrong})
    shape = openapi()["components"]["schemas"][ROUTES[route].request_type.__name__]
    assert f"1 to {most:,}" in shape["properties"][field]["description"]


def test_drilling_is_that_of_the_library(service: CubeService, network_request: NetworkRequest) -> None:
    told = service.answer("drill", {"query": network_request["query"], "cell": ["199X", "∗", "∗"], "k": 3})
    assert told["drilled"] == c2n.drill(service.cube, network_request["query"], ("199X", "∗", "∗"), 3).to_dict()


def test_a_verdict_compares_the_network_asked_for_with_pagerank_and_the_query_alone(
    service: CubeService, network_request: NetworkRequest
) -> None:
    stages = []
    question = {"request": network_request | {"n_cells": 3, "bans": [{"object": "o150"}]}, "runs": 2}
    answer = service.answer("compare", question, lambda stage, done, total: stages.append((stage, done, total)))
    name = "greedy as asked · cover · hybrid · n_cells 3"
    assert [row["network"] for row in answer["table"]] == ["none", name, f"pagerank, as large as {name}"]
    made = service.answer("construct", {"request": question["request"]})
    assert answer["table"][1]["nodes"] == len(made["nodes"]["id"])
    assert answer["table"][1]["links"] == len(made["links"]["weight"])
    assert answer["task"] == "clustering"
    assert {"model", "measure", "mean", "low", "high", "runs"} == answer["table"][0]["scores"][0].keys()
    assert any("comparing" in stage for stage, _, _ in stages)
    page = service.report(answer["report"])
    assert page.lstrip().lower().startswith("<!doctype html")
    with pytest.raises(ParameterError, match="there is no report 'nothing': run the comparison again"):
        service.report("nothing")


def test_a_verdict_without_labels_is_by_hidden_links(
    service: CubeService, network_request: NetworkRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "_is_installed", lambda package: package != "plotly")
    answer = service.answer("compare", {"request": {"query": network_request["query"]}, "runs": 1})
    assert answer["task"] == "hidden"
    assert answer["report"] == ""
    assert "needs the package 'plotly'" in answer["note"]


def test_what_cannot_be_compared_is_refused(service: CubeService, network_request: NetworkRequest) -> None:
    with pytest.raises(ParameterError, match=r"^runs is 51, expected 1 to 50 runs$"):
        service.answer("compare", {"request": network_request, "runs": 51})
    with pytest.raises(ParameterError, match="unknown task 'links'"):
        service.answer("compare", {"request": network_request, "task": "links"})
    with pytest.raises(ParameterError, match="the method 'auto' has compared networks itself"):
        service.answer("compare", {"request": network_request | {"method": "auto"}})


def test_a_comparison_can_be_stopped(service: CubeService, network_request: NetworkRequest) -> None:
    stop = Stop()

    def told(stage: str, done: int, total: int | None) -> None:
        stop.ask()

    with pytest.raises(KeyboardInterrupt):
        stop.wrap(service.answer)("compare", {"request": network_request, "runs": 50}, told)


def real_questions(service: CubeService, network_request: NetworkRequest) -> dict[str, list[dict[str, Any]]]:
    """Return questions of every route."""
    cells = [cell["labels"] for cell in service.answer("construct", {"request": network_request})["cells"]]
    cell = next(labels for labels in cells if "∗" not in labels)
    return {
        "cube": [{}],
        "names": [{"text": "Ada Lovelace\nWei Li\nnobody\nAda Lovelace"}, {"text": "object,label\no1,a"}],
        "complete": [{"text": "a"}],
        "members": [{"cells": [["∗", "venue 0", "∗"]], "most": 3}],
        "pivot": [
            {"rows": "year", "columns": "topic"},
            {
                "rows": "year",
                "columns": "topic",
                "query": network_request["query"],
                "cells": [cell],
                "between": "1990..2000",
            },
        ],
        "construct": [
            {"request": network_request},
            {"request": network_request | {"pins": [{"cell": cells[0]}]}},
            {"request": network_request | {"pins": [{"cell": cell}]}, "prices": True},
            {"request": network_request | {"method": "pagerank"}},
            {"request": network_request | {"form": "cells+objects", "levels": ["one"]}},
            {"request": network_request | {"method": "auto"}},
        ],
        "layout": [{"request": network_request}],
        "explain": [
            {"request": network_request | more} | node
            for more in (
                {},
                {"method": "pagerank"},
                {"form": "objects"},
                {"pins": [{"cell": cell}]},
                {"n_neighbors": 2},
            )
            for node in ({}, {"node": {"object": "o1"}}, {"node": {"object": "o150"}}, {"node": {"cell": cell}})
            if more.get("method") is None or node != {"node": {"cell": cell}}
        ],
        "without": [
            {"request": network_request, "without": [{"cell": cell}, {"object": "o1"}], "with_": [{"object": "o150"}]},
            {"request": network_request | {"method": "pagerank"}, "without": [{"object": "o1"}]},
        ],
        "contrast": [
            {"query": network_request["query"]},
            {"query": network_request["query"], "labels": network_request["labels"]},
            {"query": network_request["query"][:12], "against": network_request["query"][12:]},
            {"query": network_request["query"][:2], "against": network_request["query"][2:4]},
        ],
        "drill": [
            {"query": network_request["query"]},
            {"query": network_request["query"], "k": 1, "cell": ["199X", "∗", "∗"]},
        ],
        "compare": [{"request": network_request, "runs": 1}],
    }


@pytest.mark.parametrize("name", ROUTES)
def test_questions_and_answers_keep_to_the_schema(
    service: CubeService, network_request: NetworkRequest, name: str
) -> None:
    page = openapi()
    operation = page["paths"][f"/api/v1/{name}"]["post"]
    asked = operation["requestBody"]["content"]["application/json"]["schema"]
    answered = operation["responses"]["200"]["content"]["application/json"]["schema"]
    for question in real_questions(service, network_request)[name]:
        answer = json.loads(json.dumps(service.answer(name, question), allow_nan=False))
        for schema, value in ((asked, question), (answered, answer)):
            jsonschema.Draft202012Validator({**schema, "components": page["components"]}).validate(value)


def test_the_schema_says_what_every_question_is_and_refers_to_nothing_else() -> None:
    page = openapi()
    assert page["openapi"] == "3.1.0"
    text = json.dumps(page)
    schemas = page["components"]["schemas"]
    for name, schema in schemas.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["description"], name
    for part in text.split('"$ref": "')[1:]:
        assert part.partition('"')[0].removeprefix("#/components/schemas/") in schemas
    for path, methods in page["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            assert operation["description"].startswith("Return "), path
    assert "the ids of the objects" in text


def test_no_field_of_a_question_or_an_answer_is_left_open() -> None:
    def open_fields(name: str, schema: dict[str, Any]) -> list[str]:
        inner = [("items", schema.get("items")), ("values", schema.get("additionalProperties"))]
        inner += [*schema.get("properties", {}).items()]
        inner += [("either", each) for each in schema.get("anyOf", [])]
        found = [each for word, part in inner if isinstance(part, dict) for each in open_fields(f"{name}.{word}", part)]
        return [*found, *([] if {"type", "$ref", "anyOf"} & schema.keys() else [name])]

    schemas = openapi()["components"]["schemas"]
    assert [each for name, schema in schemas.items() for each in open_fields(name, schema)] == []


def test_the_types_of_the_page_are_current() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, str(root / "scripts" / "make_types.py"), "--check"], check=False)
    assert done.returncode == 0, "run python scripts/make_types.py"
