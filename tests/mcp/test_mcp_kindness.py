"""What a model gives is read kindly: spellings, single texts, nodes as JSON has them; and a refusal says what fits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from assistant_cubes import ASKED, CALLS, named_cube
from cube2net.apps.mcp.texts import ToolReply
from cube2net.apps.mcp.tools import TOOLS, answer
from cube2net.apps.service.service import CubeService
from cube2net.model.objects import Objects

from toys import toy_cube

SERVICE = CubeService(named_cube())


def ask(tool: str, **arguments: Any) -> ToolReply:
    """Return what a tool says."""
    return answer(SERVICE, tool, arguments)


def test_an_unknown_name_is_refused_with_the_tool_that_finds_names() -> None:
    told = ask("explain", objects=ASKED, node="nowhere near")
    assert told.wrong and told.text.endswith("Try next: find_objects tells ids and spellings.")
    assert "Try next" not in ask("construct", objects=ASKED, max_tokens=10).text


@pytest.mark.parametrize("given", ["object 3", "OBJECT  3", " Object   3 "])
def test_other_capitals_and_spaces_find_the_one_object_and_say_so(given: str) -> None:
    told = ask("find_objects", objects=[given])
    assert "1 of 1 name found" in told.text and "(id 'o3')" in told.text
    assert "Taken in other capitals or spaces" in told.text
    assert "Taken in other capitals or spaces" in ask("construct", objects=[given, "o60"]).text
    assert "Object 3 is" in ask("explain", objects=ASKED, node=given).text


def test_a_name_in_other_capitals_that_several_bear_stays_ambiguous() -> None:
    told = ask("find_objects", objects=["TWIN"])
    assert "Ambiguous" in told.text and "'o20'" in told.text and "'o21'" in told.text


@pytest.mark.parametrize("tool", ["construct", "explain", "contrast", "drill", "pivot"])
def test_one_text_is_a_list_of_one(tool: str) -> None:
    given = {**CALLS[tool], "objects": "Object 3"}
    assert answer(SERVICE, tool, given) == answer(SERVICE, tool, {**given, "objects": ["Object 3"]})


def test_nodes_are_taken_as_json_has_them() -> None:
    plain = ask("explain", objects=ASKED, node="o77")
    assert ask("explain", objects=ASKED, node={"object": "o77"}) == plain
    cell = list(SERVICE.cube.cell(0))
    assert not ask("explain", objects=ASKED, node={"cell": cell}).wrong
    assert ask("explain", objects=ASKED, node=cell) == ask("explain", objects=ASKED, node=" · ".join(cell))
    stars = ["∗"] * len(cell)
    assert ask("drill", objects=ASKED, cell=stars) == ask("drill", objects=ASKED)
    assert ask("drill", objects=ASKED, cell={"cell": stars}) == ask("drill", objects=ASKED)


def test_pinned_objects_are_listed_first_and_where_is_told_in_words() -> None:
    for detail in ("brief", "full"):
        text = ask("construct", objects=ASKED, pins=["o150"], detail=detail, max_tokens=4_000).text
        listed = text[text.index(", not in the query: ", text.index("## Neigh")) :].split("\n")
        assert "Object 150" in listed[1]
    assert "only venue: venue 1" in ask("construct", objects=ASKED, where={"venue": "venue 1"}).text


def test_begins_counts_all_names_there_are() -> None:
    text = ask("find_objects", begins="object", most=5).text
    assert text.startswith("The first 5 of ") and int(text.split()[4]) > 100


def test_the_least_budget_stands_in_every_schema() -> None:
    for tool in TOOLS.values():
        assert "200 to 100,000" in tool.schema["properties"]["max_tokens"]["description"]


def test_a_name_that_others_bear_too_is_remarked_with_their_ids() -> None:
    made = toy_cube([[0, 1, 2], [2, 3]], objects=4, links=[(0, 1), (1, 2), (2, 3)])
    table = pa.table({"object": ["wei-li", "Wei Li", "ada", "ben"], "name": ["Wei Li", "Wei Li", "Ada", "Ben"]})
    service = CubeService(replace(made, objects=Objects.of(table.append_column("kind", pa.array(["author"] * 4)))))
    said = "1 name is ambiguous and taken as the id: \"Wei Li\" also by id 'wei-li' (find_objects lists all)."
    for tool in ("construct", "explain", "contrast", "drill"):
        assert answer(service, tool, {"objects": ["Wei Li", "ada"]}).text.startswith(said)
        assert not answer(service, tool, {"objects": ["wei-li", "ada"]}).text.startswith("1 name")
    told = answer(service, "find_objects", {"objects": ["Wei Li"]}).text
    assert told.startswith("1 of 1 name found.")
    assert '- "Wei Li": "Wei Li" (id \'Wei Li\'): author' in told and "(id 'wei-li')" in told
