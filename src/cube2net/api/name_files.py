"""Names out of what a person hands over: a text, or a file of any kind that lists of names come in."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from cube2net import pipeline
from cube2net.api.shapes import NamesQuestion
from cube2net.errors import ParameterError, listed, plain
from cube2net.records import Cube
from cube2net.records.query_tables import ReadNames

MOST_FILE = 2_900_000
"""A file has at most so many bytes: in base64 they fit into a question."""
UNNAMED = "the file"


def names_in(cube: Cube, question: NamesQuestion) -> ReadNames:
    """Return the names that a question gives, in its text or in its file."""
    column = question.get("column")
    if ("text" in question) == ("file" in question):
        both = "has both" if "text" in question else "lacks the field"
        raise ParameterError(f"the question {both} 'text' {'and' if 'text' in question else 'or'} 'file': give one")
    if "text" in question:
        return pipeline.read_query_text(cube, question["text"], column)
    try:
        content = base64.b64decode(question["file"], validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError("file is no base64, expected the bytes of a file written so") from None
    name = question.get("name", UNNAMED)
    if len(content) > MOST_FILE:
        raise ParameterError(f"{plain(name)} has {len(content):,} bytes, expected a list of at most {MOST_FILE:,}")
    return pipeline.read_query_bytes(cube, content, name, column)


def which_column(question: NamesQuestion, columns: Sequence[str]) -> str:
    """Return the sentence that asks for the column of the names, since none holds objects of the cube.

    >>> which_column({"file": "", "name": "x.csv"}, ["Group", "Surname"])
    'no column of x.csv has names that the cube knows: it has Group, Surname; choose the one to be read'
    """
    called = plain(question.get("name", UNNAMED)) if "file" in question else "the text"
    return f"no column of {called} has names that the cube knows: it has {listed(columns)}; choose the one to be read"
