"""Tool replies: text within a budget of tokens, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cube2net._util.text import in_markdown
from cube2net.errors import quoted, whole_number
from cube2net.network.export.token_budget import Section, estimated_tokens, longest_text

MAX_TOKENS, LEAST, MOST = 1_500, 200, 100_000
"""The budget of an answer without a word, and the least and the most that may be asked for."""


@dataclass(frozen=True)
class ToolReply:
    """An answer: its text, the same as JSON where both fit the budget, and whether it says that something is wrong."""

    text: str
    structured: dict[str, Any] | None = None
    wrong: bool = False


def budget_of(asked: Mapping[str, Any]) -> int:
    """Return how many tokens an answer may have."""
    return whole_number("max_tokens", asked.get("max_tokens", MAX_TOKENS), LEAST, MOST, what="tokens")


def reply_within(text: str, most: int, structured: dict[str, Any] | None = None, *, wrong: bool = False) -> ToolReply:
    """Return an answer whose JSON is left out where it does not fit the budget beside the text."""
    if structured is not None and estimated_tokens(text) + tokens_of(structured) > most:
        structured = None
    return ToolReply(text, structured, wrong)


def tokens_of(value: Any) -> int:
    """Return about how many tokens a value has as JSON."""
    return estimated_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def lines_within(most: int, head: Sequence[str], *sections: Section, before: str = "") -> str:
    """Return a text of whole lines: a head, and as much of its sections as fits behind what stands before."""

    def count(text: str) -> int:
        return estimated_tokens(after(before, text))

    heads = [each for line in head for each in line.split("\n")]
    text = longest_text([Section("", "", heads, weight=math.inf), *sections], most, count)
    return after(before, text)


def after(*texts: str) -> str:
    """Return texts one after the other, with an empty line between those that say something."""
    return "\n\n".join(filter(None, texts))


def name(text: object) -> str:
    r"""Return a name between quotation marks, on one line and inert in Markdown: data, and nothing else.

    >>> print(name('x"\n- y *z*'))
    "x\" - y \*z\*"
    """
    said = in_markdown(str(text)).replace('"', '\\"')
    return f'"{said}"'


def key(value: object) -> str:
    """Return an id in ``repr``, so that it can be given back."""
    return f"id {quoted(value)}"
