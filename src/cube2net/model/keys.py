"""Keys by which callers name objects: texts and whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import Message, QueryError, Setting, quoted, some

SKIP_MISSING = Message(Setting("skip_missing", True, "cube.query"), " leaves them out")
MISSING = ("NAType", "NaTType")
"""What pandas calls the kinds of a value that is not there."""


def keys_of(objects: object) -> list[Any]:
    """Return what a query lists, NumPy's and Arrow's texts and whole numbers as Python's.

    >>> keys_of(pa.array(["a", "b"])), keys_of(range(2))
    (['a', 'b'], [0, 1])
    """
    if isinstance(objects, str):
        raise QueryError(f"a query is a list of objects, got the text {quoted(objects)}")
    return [key_of(value) for value in _listed(objects, "a query is a list of objects")]


def labels_of(labels: object, keys: Sequence[Any]) -> list[str]:
    """Return the label of every key as a text, empty where there is none."""
    texts = [label_text(label) for label in _listed(labels, "labels of a query are a list")]
    if len(texts) != len(keys):
        raise QueryError(f"the query has {len(keys):,} objects and {len(texts):,} labels")
    for key, text in zip(keys, texts, strict=True):
        if not is_text(text):
            raise QueryError(f"query gives {quoted(key)} the label {quoted(text)}, which no file can hold")
    return texts


def label_text(label: object) -> str:
    """Return a label as a text, empty where there is none: None, and what a table has in an empty field.

    >>> [label_text(label) for label in ("a", 3, None, float("nan"))]
    ['a', '3', '', '']
    """
    if isinstance(label, int) and label.bit_length() > 1000:
        return quoted(label)
    return "" if is_missing(label) else str(label)


def is_missing(value: object) -> bool:
    """Return whether a value is what a list or a table has where there is none."""
    return value is None or type(value).__name__ in MISSING or (isinstance(value, float) and value != value)


def is_text(text: str) -> bool:
    r"""Return whether a text can be written at all: one with half a sign (a lone surrogate) cannot.

    >>> is_text("naïve"), is_text("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_row(key: object) -> bool:
    """Return whether a key is a row number."""
    return isinstance(key, int) and not isinstance(key, bool)


LOWEST = -(2**62)
"""No whole number that is an id is below this: what is made beside objects gets numbers below those of all."""


def are_whole(ids: pa.ChunkedArray | pa.Array) -> bool:
    """Return whether all ids are whole numbers of 64 bits, each spelled the one way that such a number is spelled.

    >>> are_whole(pa.array(["5", "-12", "0"])), are_whole(pa.array(["5", "007"])), are_whole(pa.array(["1" * 30]))
    (True, False, False)
    """
    if not pc.all(pc.match_substring_regex(ids, r"^(0|-?[1-9][0-9]{0,18})$"), min_count=0).as_py():
        return False
    try:
        numbers = pc.cast(ids, pa.int64())
    except pa.ArrowInvalid:
        return False
    return len(ids) == 0 or pc.min(numbers).as_py() >= LOWEST


def check_kinds(keys: Sequence[Any]) -> None:
    """Raise where a key is missing, or is neither a text nor a whole number."""
    wrong = [key for key in keys if not (isinstance(key, str) or is_row(key))]
    if wrong and all(map(is_missing, wrong)):
        plural = "1 of them is missing" if len(wrong) == 1 else f"{len(wrong):,} of them are missing"
        raise QueryError(f"query lists {len(keys):,} objects, and {plural}", parameter="query", hint=SKIP_MISSING)
    if wrong:
        plural = "1 object that is" if len(wrong) == 1 else f"{len(wrong):,} objects that are"
        is_mask = all(isinstance(key, bool) for key in keys)
        hint = " (a mask? give what it keeps, such as frame[mask])" if is_mask else ""
        raise QueryError(f"query has {plural} neither a text nor a whole number: {some(wrong)}{hint}")


def key_of(value: Any) -> Any:
    """Return a value that may name an object, a text or whole number as Python's; a whole fraction is such a number.

    A UUID is the text that a table has of it.
    """
    if type(value) in (str, int, bool):
        return value
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, str | UUID):
        return str(value)
    if type(value).__name__ == "bool":  # NumPy's
        return bool(value)
    whole = isinstance(value, Integral) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else value


def _listed(values: object, what: str) -> list[Any]:
    """Return the values of whatever holds several; a mapping holds its keys."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | bytearray):
        try:
            return list(values)
        except TypeError:  # an array of no dimensions
            pass
    raise QueryError(f"{what}, got {quoted(values)}")
