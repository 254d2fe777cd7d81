"""The answers in docs/howto/assistant.md are those of the tools."""

import json
import re

import pytest

import cube2net as c2n
from cube2net.apps.mcp.tools import TOOLS, answer
from cube2net.apps.service.service import CubeService

from page_blocks import ROOT, SHOWN, blocks
from stage import Stage

PAGE = ROOT / "docs" / "howto" / "assistant.md"


def test_every_answer_of_the_page_is_given(stage: Stage) -> None:
    texts = [block.text.rstrip("\n") for block in blocks(PAGE) if block.language == SHOWN]
    assert len(texts) == 8
    if not stage.usual:
        pytest.skip("topics come out otherwise here")
    service = CubeService(c2n.open(stage.folder / "acl"))
    for call, text in zip(texts[::2], texts[1::2], strict=True):
        tool, arguments = call.split(" ", 1)
        assert answer(service, tool, json.loads(arguments)).text == text


def test_the_page_lists_every_tool() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed == list(TOOLS)
