"""Resolve and complete names of objects, with an index of the names of a cube by their words."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.arrays import Array, find_distinct
from cube2net._util.progress import Progress, check_stop
from cube2net._util.spelling import MAX_TEXT_LETTERS, count_edits, list_normal_forms, list_variants, reorder_name
from cube2net._util.text import format_count
from cube2net.api import drill
from cube2net.api.query import read_query_bytes, read_query_text
from cube2net.apps.service.schemas import (
    DEFAULT_COMPLETIONS,
    MAX_COMPLETIONS,
    MAX_MEMBERS,
    Candidate,
    CompleteAnswer,
    CompleteRequest,
    Labels,
    MembersAnswer,
    MembersRequest,
    NameRow,
    NamesAnswer,
    NamesRequest,
)
from cube2net.errors import ParameterError, check_int, join_names, quote_unsafe
from cube2net.model.cube import Cube
from cube2net.model.node_names import cell_title
from cube2net.model.objects import Found
from cube2net.model.query import ReadNames
from cube2net.network.attributes import describe_objects

if TYPE_CHECKING:
    from cube2net.apps.service.service import CubeService

MAX_FILE_BYTES = 2_900_000
"""The largest file of names; in base64 it fits into a request."""
DEFAULT_FILE_NAME = "the file"
MAX_CASE_FOLDED = 5_000
"""Number of unknown names that are also looked up without regard to capitals."""
MAX_CANDIDATES = 5
MAX_SUGGESTED = 200
"""Number of unknown names for which similar names are suggested."""
MAX_NAMES = 200_000
MAX_CELLS = 1_000
MAX_QUOTED = 3
"""Number of unknown names that the sentence quotes."""

BETWEEN_WORDS = r"[^\p{L}\p{N}]+"
"""Separates the words of a name: everything but letters and digits."""
MARKS = r"\p{Mn}+"
STEM = 3
"""Names with a word that shares this many first letters are candidates for similar names."""
MAX_STEM_MATCHES, MAX_COMPARED = 400, 12
"""Candidates that share the most such words, and the most similar of them, which are compared letter by letter."""


def find_names(service: CubeService, body: NamesRequest, progress: Progress) -> NamesAnswer:
    """Return the objects that a pasted text or a file names, in its order."""
    parsed = _read_names(service.cube, body)
    if len(parsed.names) > MAX_NAMES:
        source = "file" if "file" in body else "text"
        raise ParameterError(f"{source} names {len(parsed.names):,} objects, expected at most {MAX_NAMES:,}")
    answer = resolve_names(service, parsed.names, parsed.labels)
    if parsed.columns:
        answer |= {"columns": list(parsed.columns), "column": parsed.column}
        if parsed.column is None:
            answer["sentence"] = _ask_for_column(body, parsed.columns)
    return answer


def resolve_names(
    service: CubeService, names: list[str], labels: list[str] | None = None, *, most: int = MAX_CANDIDATES
) -> NamesAnswer:
    """Return the object of each name, or up to ``most`` candidates if several objects share it or none has it."""
    objects = service.cube.objects
    lookup = _find_ignoring_case(service, names, objects.find(names))
    sharing_rows = objects.also_called(names, lookup.rows)
    ambiguous = set(lookup.ambiguous)
    resolved_rows = lookup.rows[lookup.rows >= 0]
    name_of_row = dict(zip(resolved_rows.tolist(), objects.table["name"].take(resolved_rows).to_pylist(), strict=True))
    id_of_row = dict(zip(resolved_rows.tolist(), objects.ids(resolved_rows).to_pylist(), strict=True))
    row_of_name = dict(zip(names, lookup.rows.tolist(), strict=True))
    bearers = {name: [row_of_name[name], *others] for name, others in sharing_rows.items()}
    bearers |= {name: objects.rows_bearing(name).tolist() for name in lookup.ambiguous}
    candidates = _find_candidates(service, bearers, list(dict.fromkeys(lookup.missing))[:MAX_SUGGESTED], most)
    seen_keys: set[Any] = set()
    rows: list[NameRow] = []
    for position, (name, row) in enumerate(zip(names, lookup.rows.tolist(), strict=True)):
        state = "found" if row >= 0 else "ambiguous" if name in ambiguous else "missing"
        key = row if row >= 0 else name
        answer: NameRow = {
            "given": name,
            "state": "repeated" if key in seen_keys else state,  # type: ignore[typeddict-item]
            "id": id_of_row.get(row),
            "name": name_of_row.get(row, ""),
            "label": labels[position] if labels else "",
            "candidates": [] if key in seen_keys else candidates.get(name, []),
        }
        if name in bearers and key not in seen_keys:
            answer["bearers"] = len(bearers[name])
        rows.append(answer)
        seen_keys.add(key)
    counts: Counter[str] = Counter(row["state"] for row in rows)
    notes = _list_notes(rows, set(sharing_rows))
    return {
        "rows": rows,
        "found": counts["found"],
        "ambiguous": counts["ambiguous"],
        "missing": counts["missing"],
        "repeated": counts["repeated"],
        "labelled": labels is not None,
        "notes": notes,
        "sentence": "; ".join([*_list_counts(rows, counts), *notes]),
    }


def complete_name(service: CubeService, body: CompleteRequest, progress: Progress) -> CompleteAnswer:
    """Return the objects whose names contain words with the typed beginnings, the best known first."""
    most = check_int("most", body.get("most", DEFAULT_COMPLETIONS), 1, MAX_COMPLETIONS, what="names")
    rows = service.names.find_by_prefix(body["text"][:200], most)
    return {"candidates": describe_candidates(service, rows.tolist())}


def list_members(service: CubeService, body: MembersRequest, progress: Progress) -> MembersAnswer:
    """Return the objects of cells, those with the most items there first."""
    if not body["cells"]:
        raise ParameterError("cells is [], expected the labels of at least one cell")
    check_cell_count(body["cells"])
    max_objects = check_int("most", body.get("most", MAX_MEMBERS), 1, MAX_MEMBERS, what="objects")
    rows = drill.members(service.view(body), [tuple(labels) for labels in body["cells"]])
    listed_rows = rows[:max_objects]
    titles = ", ".join(cell_title(labels) for labels in body["cells"][:2])
    n_more = len(body["cells"]) - 2
    cells = f"{titles} and {n_more:,} more cells" if n_more > 0 else titles
    verb = "hold" if len(body["cells"]) > 1 else "holds"
    return {
        "ids": service.cube.objects.ids(listed_rows).to_pylist(),
        "names": service.cube.objects.table["name"].take(listed_rows).to_pylist(),
        "objects": len(rows),
        "sentence": f"{cells} {verb} {len(rows):,} object{'s' * (len(rows) != 1)}"
        + (f", of which the first {max_objects:,} are here" if len(rows) > max_objects else ""),
    }


def check_cell_count(cells: list[Labels]) -> None:
    """Raise if too many cells are named."""
    if len(cells) > MAX_CELLS:
        raise ParameterError(f"cells has {len(cells):,} entries, expected at most {MAX_CELLS:,}")


def describe_candidates(service: CubeService, rows: list[int]) -> list[Candidate]:
    """Return objects with what distinguishes them from others of the same name."""
    candidates = describe_objects(service.cube, np.array(rows, dtype=np.int64)) if rows else []
    return candidates  # type: ignore[return-value]


def _find_candidates(
    service: CubeService, bearers: dict[str, list[int]], missing: list[str], most: int
) -> dict[str, list[Candidate]]:
    """Return the objects that share a name, and those with names similar to missing ones."""
    rows = {name: name_rows[:most] for name, name_rows in bearers.items()}
    rows |= {name: service.names.find_similar(name, MAX_CANDIDATES) for name in missing}
    all_rows = list(dict.fromkeys(row for name_rows in rows.values() for row in name_rows))
    candidates = dict(zip(all_rows, describe_candidates(service, all_rows), strict=True))
    return {name: [candidates[row] for row in name_rows] for name, name_rows in rows.items()}


def _list_counts(rows: list[NameRow], counts: Counter[str]) -> list[str]:
    """Return how many names were found, and which have no match, with the most similar name."""
    unresolved = [row for row in rows if row["state"] in ("ambiguous", "missing")]
    parts = (
        [] if len(rows) == len(unresolved) == 1 else [f"{counts['found']:,} of {format_count(len(rows), 'name')} found"]
    )
    ambiguous = [row for row in unresolved if row["state"] == "ambiguous"]
    missing = [row for row in unresolved if row["state"] == "missing"]
    if len(ambiguous) == 1:
        parts.append(
            f'"{quote_unsafe(ambiguous[0]["given"])}" is the name of {ambiguous[0]["bearers"]} objects: choose one'
        )
    elif ambiguous:
        parts.append(f"{len(ambiguous):,} names belong to several objects each: choose one of them")
    if len(missing) > MAX_QUOTED:
        parts.append(f"{len(missing):,} names have no match")
    for row in missing if len(missing) <= MAX_QUOTED else ():
        suggestion = "".join(
            f' (did you mean "{quote_unsafe(candidate["name"])}"?)' for candidate in row["candidates"][:1]
        )
        parts.append(f'no match for "{quote_unsafe(row["given"])}"{suggestion}')
    return parts


def _list_notes(rows: list[NameRow], shared: set[str]) -> list[str]:
    """Return remarks on names that were found in another spelling, are shared or repeated, and on their labels."""
    found_rows = [row for row in rows if row["state"] == "found"]
    labels = {row["label"] for row in rows if row["id"] is not None} - {""}
    counts = {
        "also belonging to other objects": sum(row["given"] in shared for row in found_rows),
        "read as 'First Last' instead of 'Last, First'": sum(
            _is_inverted(row["given"], row["name"]) for row in found_rows
        ),
        "found in other capitals": sum(_differs_in_case(row["given"], row["name"]) for row in found_rows),
        "repeated": sum(row["state"] == "repeated" for row in rows),
    }
    notes = [f"{format_count(count, 'name')} {description}" for description, count in counts.items() if count]
    return notes + ([format_count(len(labels), "label")] if labels else [])


def _is_inverted(given_name: str, name: str) -> bool:
    """Return whether a name was given as 'Last, First'."""
    return given_name != name and name in list_variants(given_name) and name not in list_normal_forms(given_name)


def _find_ignoring_case(service: CubeService, names: list[str], lookup: Found) -> Found:
    """Return the rows of names, including those that exactly one object bears with other capitals."""
    rows, missing = lookup.rows.copy(), list[str]()
    positions_by_name: dict[str, list[int]] = {}
    for position, name in enumerate(names if lookup.missing else []):
        positions_by_name.setdefault(name, []).append(position)
    name_column = service.cube.objects.table["name"]
    for name in lookup.missing[:MAX_CASE_FOLDED]:
        forms = {_fold_case(form) for form in (name, *reorder_name(name))}
        matching_rows = {
            row
            for form in forms
            for row in service.names.find_by_name(form).tolist()
            if _fold_case(name_column[row].as_py()) in forms
        }
        if len(matching_rows) == 1:
            rows[positions_by_name[name]] = matching_rows.pop()
        else:
            missing.append(name)
    return replace(lookup, rows=rows, missing=(*missing, *lookup.missing[MAX_CASE_FOLDED:]))


def _fold_case(text: str) -> str:
    """Return a text in lower case, with composed accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(text.split())).casefold())


def _differs_in_case(given_name: str, name: str) -> bool:
    return given_name != name and name not in list_variants(given_name) and _fold_case(given_name) == _fold_case(name)


def _read_names(cube: Cube, body: NamesRequest) -> ReadNames:
    """Return the names in the text or the file of a request."""
    column = body.get("column")
    if ("text" in body) == ("file" in body):
        problem = "has both" if "text" in body else "lacks the field"
        raise ParameterError(f"the request {problem} 'text' {'and' if 'text' in body else 'or'} 'file': give one")
    if "text" in body:
        return read_query_text(cube, body["text"], column)
    try:
        content = base64.b64decode(body["file"], validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError("file is no base64, expected the bytes of a file in base64") from None
    name = body.get("name", DEFAULT_FILE_NAME)
    if len(content) > MAX_FILE_BYTES:
        raise ParameterError(
            f"{quote_unsafe(name)} has {len(content):,} bytes, expected a list of at most {MAX_FILE_BYTES:,}"
        )
    return read_query_bytes(cube, content, name, column)


def _ask_for_column(body: NamesRequest, columns: Sequence[str]) -> str:
    """Return the sentence that asks for the column of the names, since none contains names of the cube.

    >>> _ask_for_column({"file": "", "name": "x.csv"}, ["Group", "Surname"])
    'no column of x.csv contains names of this cube: choose one of Group, Surname'
    """
    source = quote_unsafe(body.get("name", DEFAULT_FILE_NAME)) if "file" in body else "the text"
    return f"no column of {source} contains names of this cube: choose one of {join_names(columns)}"


def fold_text(text: str) -> str:
    """Return a text in lower case without accents.

    >>> fold_text("Ivan VULIĆ"), fold_text("Ångström")
    ('ivan vulic', 'angstrom')
    """
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(sign for sign in plain if unicodedata.category(sign) != "Mn")


@dataclass(frozen=True, eq=False)
class NameIndex:
    """The sorted words of all names, and the rows of the names with each word.

    ``words[w]`` is in the names of the rows ``rows[starts[w]:starts[w + 1]]``; ``names`` are lower-case without
    accents, and ``rank`` orders objects by their number of mentions, the most mentioned first.

    >>> index = NameIndex.of(pa.array(["Ada Lovelace", "Ádám Nagy", "Ben Ada-Smith"]), np.array([1, 5, 3]))
    >>> index.find_by_prefix("ada", 9).tolist(), index.find_by_prefix("smith be", 9).tolist()
    ([1, 2, 0], [2])
    >>> index.find_similar("Ada Lovelance", 1)
    [0]
    """

    names: pa.Array
    words: list[str]
    starts: Array
    rows: Array
    rank: Array

    @classmethod
    def of_cube(cls, cube: Cube) -> NameIndex:
        """Return the index of the names of a cube's objects."""
        return cls.of(cube.objects.table["name"], _count_mentions(cube))

    @classmethod
    def of(cls, names: pa.Array | pa.ChunkedArray, mentions: Array) -> NameIndex:
        """Return the index of names; ``mentions`` are the numbers of mentions of their objects."""
        small = pc.utf8_normalize(pc.utf8_lower(names), form="NFKD")
        small = pc.replace_substring_regex(small, MARKS, "")
        small = small.combine_chunks() if isinstance(small, pa.ChunkedArray) else small
        pieces = pc.split_pattern_regex(small, BETWEEN_WORDS)
        owner = np.asarray(pc.list_parent_indices(pieces))
        coded = pc.list_flatten(pieces).dictionary_encode()
        numbers, words = np.asarray(coded.indices), coded.dictionary
        order = np.asarray(pc.sort_indices(words))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        pairs = find_distinct(place[numbers] * max(len(small), 1) + owner)
        starts = np.searchsorted(pairs, np.arange(len(order) + 1) * max(len(small), 1))
        by_rank = np.empty(len(small), np.int32)
        by_rank[np.argsort(-mentions, kind="stable")] = np.arange(len(small), dtype=np.int32)
        return cls(
            small,
            words.take(pa.array(order)).to_pylist(),
            starts,
            (pairs % max(len(small), 1)).astype(np.int32),
            by_rank,
        )

    def __repr__(self) -> str:
        return f"NameIndex({len(self.names):,} names, {len(self.words):,} words, {self.nbytes / 1e6:.1f} MB)"

    @property
    def nbytes(self) -> int:
        """The approximate memory in bytes: arrays, names, and words at 60 bytes each plus their letters."""
        texts = sum(map(len, self.words)) + 60 * len(self.words)
        return int(self.names.nbytes + self.starts.nbytes + self.rows.nbytes + self.rank.nbytes + texts)

    def find_by_prefix(self, text: str, most: int) -> Array:
        """Return the rows of names in which every word of a text is the beginning of a word, the most mentioned first.

        Accents and case are ignored; names equal to the text come first.
        """
        typed = fold_text(text)
        parts = _split_words(typed)
        if not parts:
            return np.empty(0, np.int64)
        mark = np.zeros(len(self.names), dtype=bool)
        mark[self._rows(parts[0])] = True
        for part in parts[1:]:
            other = np.zeros(len(self.names), dtype=bool)
            other[self._rows(part)] = True
            mark &= other
        found = np.flatnonzero(mark)
        if len(found) > most:
            found = found[np.argpartition(self.rank[found], most)[:most]]
        same = self._match_names(" ".join(typed.split()), parts)
        found = np.union1d(found, same)
        chosen: Array = found[np.lexsort((self.rank[found], ~np.isin(found, same)))][:most]
        return chosen.astype(np.int64)

    def find_by_name(self, text: str) -> Array:
        """Return the rows of names equal to a text, ignoring case and accents."""
        typed = fold_text(text)
        parts = _split_words(typed)
        return self._match_names(" ".join(typed.split()), parts) if parts else np.empty(0, np.int64)

    def _match_names(self, typed: str, parts: list[str]) -> Array:
        """Return the rows of names equal to a text with these words."""
        each = [self._rows(part, is_whole=True) for part in parts]
        rows = min(each, key=len)
        found: Array = rows[np.asarray(pc.equal(self.names.take(pa.array(rows)), typed))]
        return found

    def find_similar(self, text: str, most: int) -> list[int]:
        """Return the rows of the names most similar to a text, with at most one edit per three letters.

        Candidates share the first letters of most words with it. Names with all words of the text, or whose words are
        all in the text, are similar too.
        """
        typed = " ".join(_split_words(fold_text(text)))
        parts = [part for part in dict.fromkeys(typed.split()) if len(part) >= STEM]
        if not parts or len(text) > MAX_TEXT_LETTERS:
            return []
        shared = np.concatenate([find_distinct(self._rows(part[:STEM]).astype(np.int64)) for part in parts])
        rows, counts = np.unique(shared, return_counts=True)
        lengths = np.asarray(pc.utf8_length(self.names.take(pa.array(rows)))).astype(np.int64)
        order = np.lexsort((self.rank[rows], np.abs(lengths - len(typed)), -counts))[:MAX_STEM_MATCHES]
        own = _pair_letters(typed)
        names = list(zip(rows[order], self.names.take(pa.array(rows[order])).to_pylist(), strict=True))
        names.sort(key=lambda pair: len(own ^ _pair_letters(pair[1])))
        # Names with all words of the text may be much longer than it, and must not be lost among others.
        complete = [pair for pair in names if set(parts) <= set(_split_words(pair[1]))][: MAX_COMPARED // 2]
        names = complete + [pair for pair in names if pair not in complete]
        allowed, similar = max(len(typed) // 3, 1), []
        check_stop()
        for row, name in names[:MAX_COMPARED]:
            words = _split_words(name)
            inside = set(parts) <= set(words) or set(words) <= set(typed.split())
            edits = _count_edits(typed, " ".join(words), allowed)
            if inside or edits <= allowed:
                lacks = not set(parts) <= set(words)
                similar.append((lacks, min(edits, allowed), int(self.rank[row]), int(row)))
        return [row for *_, row in sorted(similar)[:most]]

    def _rows(self, begin: str, *, is_whole: bool = False) -> Array:
        """Return the rows of names with a word that begins with a text, or equals it; a row may be repeated."""
        first = bisect_left(self.words, begin)
        last = bisect_right(self.words, begin) if is_whole else bisect_left(self.words, begin + "\U0010ffff")
        found: Array = self.rows[self.starts[first] : self.starts[last]]
        return found


def _count_mentions(cube: Cube) -> Array:
    """Return the number of items that mention each object, or of its links if the cube keeps no items."""
    if cube.items is None:
        return np.diff(cube.links.indptr).astype(np.int64)
    return np.bincount(cube.items().objects.indices, minlength=len(cube.objects))


def _split_words(text: str) -> list[str]:
    return "".join(sign if sign.isalnum() else " " for sign in text).split()


def _pair_letters(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))


def _count_edits(one: str, other: str, allowed: int) -> int:
    return allowed + 1 if abs(len(one) - len(other)) > allowed else count_edits(one, other)
