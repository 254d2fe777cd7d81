"""The talk in docs/howto/assistant.md is what the tools say."""

import json
import re
from pathlib import Path

import cube2net as c2n
from cube2net.api import Desk
from cube2net.assistant.tools import TOOLS, answer

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "assistant.md"


def test_every_answer_of_the_page_is_given() -> None:
    page = PAGE.read_text(encoding="utf-8")
    talk = re.findall(r"```\n(\w+) (\{[^\n]*\})\n```\n```\n(.*?)\n```\n", page, flags=re.DOTALL)
    assert len(talk) == 4
    desk = Desk(c2n.build_cube(c2n.load_bundled()))
    for tool, arguments, text in talk:
        assert answer(desk, tool, json.loads(arguments)).text == text


def test_the_page_lists_every_tool() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed == list(TOOLS)
