"""Labels of works as numbers while many go by, and at the end as texts that tell apart what has the same name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cube2net.array_types import Array

LONGEST = 500
"""The most characters of a label."""


class Labels:
    """Texts, each with a number, in the order in which they are met.

    >>> labels = Labels()
    >>> labels.codes(pa.array(["Oslo", None, " ", "Rome", "Oslo "])).tolist(), labels.texts()
    ([0, -1, -1, 1, 0], ['Oslo', 'Rome'])
    """

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def codes(self, texts: pa.Array | pa.ChunkedArray) -> Array:
        """Return the numbers of texts, -1 for what is missing or blank."""
        if isinstance(texts, pa.ChunkedArray):
            texts = texts.combine_chunks()
        packed = texts.dictionary_encode()
        codes = [self.code(text.strip()[:LONGEST]) for text in packed.dictionary.to_pylist()]
        at = packed.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)
        found: Array = np.array([*codes, -1], np.int32)[at]
        return found

    def code(self, text: str) -> int:
        """Return the number of a text, -1 where it is empty."""
        return self.known.setdefault(text, len(self.known)) if text else -1

    def texts(self) -> list[str]:
        """Return all texts, by their numbers."""
        return list(self.known)


class NamedThings:
    """Things with an id and a name, of which some have a name alone; each has a number."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.known: dict[int | str, int] = {}
        self.ids: list[int] = []
        self.names: list[str] = []

    def codes(self, ids: Array, names: pa.Array) -> Array:
        """Return the numbers of things, -1 for what has neither an id (-1) nor a name."""
        every, first, back = np.unique(ids, return_index=True, return_inverse=True)
        known = self.known
        numbered = [known.get(number, -1) for number in every.tolist()]
        for at in [at for at, code in enumerate(numbered) if code < 0 and every[at] >= 0]:
            numbered[at] = self._code(int(every[at]), names[int(first[at])].as_py())
        codes = np.array(numbered, np.int32)
        found: Array = codes[back.reshape(-1)]
        if len(every) and every[0] < 0:
            packed = names.filter(pa.array(ids < 0)).dictionary_encode()
            codes = np.array([*(self._code(-1, name) for name in packed.dictionary.to_pylist()), -1], np.int32)
            found[ids < 0] = codes[packed.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)]
        return found

    def _code(self, number: int, name: str | None) -> int:
        name = (name or "").strip()[:LONGEST]
        key: int | str = name if number < 0 else number
        if key == "":
            return -1
        if key not in self.known:
            self.known[key] = len(self.known)
            self.ids.append(number)
            self.names.append(name or f"{self.letter}{number}")
        return self.known[key]

    def labels(self) -> list[str]:
        """Return what each is called: of several ids with one name, all but the lowest have the id beside it.

        >>> things = NamedThings("S")
        >>> things.codes(np.array([9, 7, -1]), pa.array(["BMJ", "BMJ", "BMJ"])).tolist(), things.labels()
        ([1, 0, 2], ['BMJ', 'BMJ (S9)', 'BMJ'])
        """
        lowest: dict[str, int] = {}
        for number, name in zip(self.ids, self.names, strict=True):
            if number >= 0:
                lowest[name] = min(number, lowest.get(name, number))
        return [
            name if number < 0 or lowest[name] == number else f"{name} ({self.letter}{number})"
            for number, name in zip(self.ids, self.names, strict=True)
        ]
