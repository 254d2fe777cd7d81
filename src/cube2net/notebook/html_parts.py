"""Pieces of HTML that every notebook keeps: escaped texts and plain tables in the colours around them.

What JupyterLab leaves of HTML that is not trusted decides what is used: ``<table>``, ``<code>``, ``<progress>`` and
``<img>`` with data stay, and of styles lengths, borders and opacity; ``<svg>``, ``<style>``, ``<script>`` and the words
``inherit`` and ``currentColor`` go. So no colour is named at all: a border without one has that of the text.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import partial

from cube2net.escaping import short

LONGEST = 80
"""Of a name so many letters are shown."""
LONGEST_SENTENCE = 400
"""Of a sentence in a table, so many."""


def escaped(text: object, most: int = LONGEST) -> str:
    r"""Return a text for HTML, on one line: nothing in it is markup, and what cannot be seen is left out.

    >>> escaped("<b>\u202eAT&T\n"), escaped("abcdef", 4)
    ('&lt;b&gt;AT&amp;T', 'abc…')
    """
    return html.escape(short(str(text), most))


def sentence(text: object, *, faint: bool = False) -> str:
    """Return a sentence as a paragraph; whatever is in it is text."""
    style = "margin:4px 0;opacity:0.75" if faint else "margin:4px 0"
    return f'<p style="{style}">{escaped(text, 4_000)}</p>'


def headline(word: str, rest: str) -> str:
    """Return the first line of a page: what it is, and how large."""
    return f'<p style="margin:4px 0"><b>{escaped(word)}</b> {escaped(rest, 400)}</p>'


def codes(*lines: tuple[str, str]) -> str:
    """Return how to go on: code, and what it gives."""
    said = " · ".join(f"{escaped(what)} <code>{escaped(code, 200)}</code>" for what, code in lines)
    return f'<p style="margin:4px 0;opacity:0.75">{said}</p>'


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    prose: Iterable[str] = (),
    more: str = "",
) -> str:
    """Return a table; ``right`` names columns of numbers, ``prose`` of sentences, ``more`` says what is not shown."""
    numbers = [head in set(right) for head in heads]
    lengths = [LONGEST_SENTENCE if head in set(prose) else LONGEST for head in heads]
    top = "".join(_cell("th", head, number, line="1px solid") for head, number in zip(heads, numbers, strict=True))
    body = "".join(f"<tr>{''.join(map(partial(_cell, 'td'), row, numbers, lengths))}</tr>" for row in rows)
    below = sentence(more, faint=True) if more else ""
    return (
        '<table style="border-collapse:collapse;margin:4px 0;text-align:left">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"
    )


def _cell(tag: str, value: object, is_number: bool, most: int = LONGEST, *, line: str = "") -> str:
    side = "right;white-space:nowrap" if is_number else "left"
    border = f";border-bottom:{line}" if line else ""
    return f'<{tag} style="text-align:{side};padding:2px 10px 2px 0{border}">{escaped(value, most)}</{tag}>'


def page(*parts: str) -> str:
    """Return the parts of a page in one frame, so that a notebook's own rules reach no further."""
    return f'<div class="cube2net" style="max-width:100%;overflow:auto">{"".join(parts)}</div>'
