"""Works that went by become a corpus: the newest of each, with merged ids followed and labels as texts.

Everything that grows with the texts lies in temporary files. In memory are some numbers for every work and for every
mention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cube2net.array_types import Array
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import CITED_ELSEWHERE, MENTIONS, OBJECTS, table
from cube2net.sources.io.spool import Spool, spooled
from cube2net.sources.readers.openalex_merged import MergedIds, gone_works
from cube2net.sources.readers.openalex_works import CHAINS, SINGLE, Batch, WorkColumns

ROWS, MANY = 2**16, 2**20
Follow = Callable[[str, Array], Array]
"""Gives for a letter and sorted ids what each became."""


class Gathering:
    """Takes batches of works one at a time, and makes a corpus of them at the end."""

    def __init__(self, objects: str) -> None:
        self.objects = objects
        self.items, self.texts, self.people = Spool(), Spool(), Spool()
        self.arrays: dict[str, list[Array]] = {
            name: [] for name in ("ids", "stamps", "sizes", "mentions", "homes", "citations", "cited")
        }

    def add(self, batch: Batch) -> None:
        """Take a batch."""
        self.items.add(batch.items)
        self.texts.add(batch.texts)
        if batch.people is not None:
            self.people.add(batch.people)
        for name, parts in self.arrays.items():
            parts.append(getattr(batch, name))

    @property
    def works(self) -> int:
        """How many works there are so far."""
        return self.items.rows

    def corpus(self, columns: WorkColumns, merged: MergedIds, attribution: str) -> Corpus:
        """Return the corpus, with what became of merged ids."""
        dropped, follow = columns.dropped, merged.follow
        ids = _followed(self._taken("ids"), "W", follow)
        kept = newest(ids, self._taken("stamps"))
        dropped.leave_out("older versions of works", int((~kept).sum()))
        items = self._items(columns, ids, kept)
        links = None
        if self.objects == "authors":
            objects, mentions = self._authors(columns, kept, items, follow)
        elif self.objects == "institutions":
            item, code, _ = self._mentioned(kept)
            objects, code = _institutions(columns, code)
            mentions = _mapped(item, code)
        else:
            objects = _works_as_objects(items)
            mentions = _mapped(*[np.arange(len(objects), dtype=np.int32)] * 2)
            links = self._citations(columns, ids, kept, follow)
        return Corpus(
            objects=objects,
            items=items,
            mentions=mentions,
            links=links,
            dimensions=proposed(items),
            dropped=dropped.close(),
            attribution=attribution,
            time="date",
            directed=links is not None,
            gone=gone_works([merged.merged("W"), *columns.withdrawn], items["item"]),
        )

    def _taken(self, name: str) -> Array:
        """Return an array whole, and forget it."""
        parts = self.arrays.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _items(self, columns: WorkColumns, ids: Array, kept: Array) -> pa.Table:
        """Return the items, with labels as texts; attributes that no work has are left out."""
        labels = {name: pa.array(known.texts(), pa.string()) for name, known in columns.labels.items()}
        labels["source"] = pa.array(columns.sources.labels(), pa.string())
        labels["institution"] = pa.array(columns.institutions.labels(), pa.string())
        empty = {name for name, texts in labels.items() if not len(texts)}
        every = kept.all()

        def labelled() -> Iterator[pa.RecordBatch]:
            done = 0
            for batch in self.items.batches():
                some = slice(done, done + batch.num_rows)
                done += batch.num_rows
                names = pc.binary_join_element_wise("W", pa.array(ids[some]).cast(pa.string()), "")
                made = {"item": names} | {
                    name: _texts(batch.column(name), labels.get(name))
                    for name in batch.schema.names
                    if name not in empty
                }
                whole = pa.RecordBatch.from_pydict(made)
                yield whole if every else whole.filter(pa.array(kept[some]))

        items = spooled(labelled())
        texts = self.texts.table() if every else spooled(_filtered(self.texts.batches(), kept))
        for name in texts.column_names:
            items = items.append_column(name, texts[name])
        order = ["item", "year", "date", "title", *SINGLE, "country", "institution", "cited_by_count", "text"]
        return items.select([name for name in order if name in items.column_names])

    def _mentioned(self, kept: Array) -> tuple[Array, Array, Array | slice]:
        """Return the items that mention somebody, whom, and which of all mentions these are: those of works that stay.

        Nothing is copied where all works do.
        """
        at = np.repeat(np.arange(len(kept), dtype=np.int32), self._taken("sizes"))
        mentions = self._taken("mentions")
        if kept.all():
            return at, mentions, slice(None)
        used = kept[at]
        rows = np.cumsum(kept, dtype=np.int32) - 1
        return rows[at[used]], mentions[used], used

    def _authors(self, columns: WorkColumns, kept: Array, items: pa.Table, follow: Follow) -> tuple[pa.Table, pa.Table]:
        """Return the authors with name, ORCID and where they were last, and who is mentioned where.

        What has a number for every mention is let go as soon as it can be: it is most of the memory in use.
        """
        from cube2net.kernels.number_ids import latest

        item, author, used = self._mentioned(kept)
        homes = self._taken("homes")[used]
        before = different(author)
        after = follow("A", before)
        known, place = (before, None) if np.array_equal(after, before) else np.unique(after, return_inverse=True)
        code = numbered(author, before)
        del author, used
        if place is not None:
            columns.dropped.leave_out("authors merged into others", int((after != before).sum()))
            code = place.reshape(-1)[code].astype(np.int32)
            item, code, homes = _once(item, code, homes)
        del after
        days = items["date"].cast(pa.int32()).fill_null(-(2**31)).to_numpy()
        last = latest(code, days[item], homes >= 0, len(known))
        home = np.where(last >= 0, homes[last], np.int32(-1))
        del last, homes, days
        mentions = _mapped(item, code)
        del item, code
        return self._author_table(columns, known, home, before, place), mentions

    def _author_table(
        self, columns: WorkColumns, known: Array, home: Array, before: Array, place: Array | None
    ) -> pa.Table:
        """Return the authors, of whom some stand by an id ``before`` that is now the one at a ``place``."""
        if not len(known):
            return table(OBJECTS)
        people = self.people.table()
        rows = self._first_said(len(known), before, place, ("name", "orcid"))
        country_of = np.full(len(columns.institutions.names) + 1, -1, np.int32)
        country_of[list(columns.countries)] = list(columns.countries.values())
        labels = {
            "institution": pa.array(columns.institutions.labels(), pa.string()),
            "country": pa.array(columns.labels["country"].texts(), pa.string()),
        }
        said = {"institution": (home >= 0).any(), "country": (country_of[home] >= 0).any()}

        def batches() -> Iterator[pa.RecordBatch]:
            for begin in range(0, len(known), ROWS):
                some = slice(begin, begin + ROWS)
                ids = pc.binary_join_element_wise("A", pa.array(known[some]).cast(pa.string()), "")
                called = pc.coalesce(taken(people["name"], rows["name"][some]), ids)
                made = {"object": ids, "name": called, "kind": pa.repeat(pa.scalar("author"), len(ids))}
                codes = {"institution": home[some], "country": country_of[home[some]]}
                made |= {name: _texts(pa.array(codes[name]), labels[name]) for name in codes if said[name]}
                yield pa.RecordBatch.from_pydict(made)

        def orcids() -> Iterator[pa.RecordBatch]:
            for begin in range(0, len(known), ROWS):
                some = taken(people["orcid"], rows["orcid"][begin : begin + ROWS])
                yield pa.RecordBatch.from_pydict({"orcid": pc.replace_substring(some, "https://orcid.org/", "")})

        objects = spooled(batches())
        if not (rows["orcid"] >= 0).any():
            return objects
        return objects.add_column(len(OBJECTS), "orcid", spooled(orcids())["orcid"])

    def _first_said(self, count: int, before: Array, place: Array | None, names: Sequence[str]) -> dict[str, Array]:
        """Return for every author the row of the people where something is said first, -1 where nothing is."""
        rows = {name: np.full(count, -1, np.int32) for name in names}
        begin = 0
        for batch in self.people.batches() if self.people.rows else ():
            ids = batch.column("author").to_numpy()
            at = np.minimum(np.searchsorted(before, ids), max(len(before) - 1, 0))
            there = before[at] == ids if len(before) else np.zeros(len(ids), bool)
            code = at if place is None else place.reshape(-1)[at]
            for name, first in rows.items():
                new = np.flatnonzero(there & batch.column(name).is_valid().to_numpy(zero_copy_only=False))[::-1]
                new = new[first[code[new]] < 0]
                first[code[new]] = begin + new
            begin += len(ids)
        return rows

    def _citations(self, columns: WorkColumns, ids: Array, kept: Array, follow: Follow) -> pa.Table:
        """Return the links from works to those they cite, among the works that are there."""
        rows = np.cumsum(kept, dtype=np.int32) - 1
        at = np.repeat(np.arange(len(ids), dtype=np.int32), self._taken("citations"))
        cited = self._taken("cited")
        at, cited = at[kept[at]], cited[kept[at]]
        cited = _followed(cited, "W", follow)
        order = np.flatnonzero(kept)[np.argsort(ids[kept], kind="stable")]
        place = np.minimum(np.searchsorted(ids[order], cited), len(order) - 1)
        there = ids[order][place] == cited
        source, target = rows[at[there]], rows[order[place[there]]]
        itself = source == target
        pairs = np.unique(source[~itself].astype(np.int64) << 32 | target[~itself])
        columns.dropped.leave_out(CITED_ELSEWHERE, int((~there).sum()))
        columns.dropped.leave_out("works citing themselves", int(itself.sum()))
        columns.dropped.leave_out("citations named twice", int((~itself).sum()) - len(pairs))
        source, target = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
        return pa.table(
            {
                "source": source,
                "target": target,
                "weight": np.ones(len(source), np.float32),
                "kind": pa.repeat(pa.scalar("cites"), len(source)),
                "item": source,
            }
        )


def newest(ids: Array, stamps: Array) -> Array:
    """Return which works stay of those that come several times: the one changed last, of equal ones the last.

    >>> newest(np.array([7, 8, 7, 8]), np.array([5, 5, 9, 5])).tolist()
    [False, False, True, True]
    """
    order = np.lexsort((stamps, ids))
    kept = np.zeros(len(ids), bool)
    if len(ids):
        kept[order[np.append(ids[order][1:] != ids[order][:-1], True)]] = True
    return kept


def proposed(items: pa.Table) -> tuple[DimensionSpec, ...]:
    """Return the dimensions of a cube: year, source, topic (or concept, which more works may have) and country."""
    known = {name: items.num_rows - items[name].null_count for name in items.column_names}
    subject = "topic" if known.get("topic", 0) >= known.get("concept", 0) else "concept"
    chains = {finest: "/".join(above) for finest, *above in CHAINS}
    specs = [DimensionSpec("year", "year", bins="years", above="decades")]
    specs += [
        DimensionSpec(name, name, above=chains.get(name)) for name in ("source", subject, "country") if name in known
    ]
    return tuple(specs)


def _texts(codes: pa.Array, labels: pa.Array | None) -> pa.Array:
    """Return labels instead of their numbers, of lists too; numbers that are no labels stay."""
    if labels is None:
        return codes
    if pa.types.is_list(codes.type):
        return pa.ListArray.from_arrays(codes.offsets, labels.take(codes.values))
    numbered = codes.to_numpy(zero_copy_only=False)
    return labels.take(pa.array(numbered, mask=numbered < 0))


def _filtered(batches: Iterable[pa.RecordBatch], kept: Array) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield batch.filter(pa.array(kept[done : done + batch.num_rows]))
        done += batch.num_rows


def _followed(ids: Array, letter: str, follow: Follow) -> Array:
    """Return ids as they are now."""
    before = different(ids)
    after = follow(letter, before)
    return ids if np.array_equal(after, before) else after[numbered(ids, before)]


def _once(item: Array, code: Array, homes: Array) -> tuple[Array, Array, Array]:
    """Return mentions without those that come again on an item."""
    _, first = np.unique(item.astype(np.int64) << 32 | code, return_index=True)
    first.sort()
    return item[first], code[first], homes[first]


def different(ids: Array) -> Array:
    """Return each of some ids once, sorted, in no more memory than a copy of them.

    >>> different(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    some = np.sort(ids)
    last = np.ones(len(some), bool)
    last[:-1] = some[1:] != some[:-1]
    once: Array = some[last]
    return once


def numbered(ids: Array, known: Array) -> Array:
    """Return where each of some ids stands among all, which are sorted, some at a time to save memory."""
    codes = np.empty(len(ids), np.int32)
    for begin in range(0, len(ids), MANY):
        some, back = np.unique(ids[begin : begin + MANY], return_inverse=True)
        codes[begin : begin + MANY] = np.searchsorted(known, some)[back.reshape(-1)]
    return codes


def taken(column: pa.ChunkedArray, rows: Array) -> pa.Array:
    """Return the values at some rows, null for negative ones; the pieces of the column are not put together.

    >>> taken(pa.chunked_array([["a", "b"], ["c"]]), np.array([2, -1, 0, 2])).to_pylist()
    ['c', None, 'a', 'c']
    """
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    starts = np.cumsum([0, *(len(chunk) for chunk in column.chunks)])
    bounds = np.searchsorted(wanted, starts)
    found = [pa.nulls(int(bounds[0]), column.type)]
    for chunk, start, begin, end in zip(column.chunks, starts, bounds, bounds[1:], strict=False):
        if end > begin:
            found.append(chunk.take(pa.array(wanted[begin:end] - start)))
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return pa.concat_arrays(found).take(pa.array(back))


def _mapped(item: Array, code: Array) -> pa.Table:
    """Return who is mentioned where, in a temporary file."""
    every = table(MENTIONS, item=item, object=code)
    return spooled(every.to_batches(MANY)) if len(item) else every


def _institutions(columns: WorkColumns, code: Array) -> tuple[pa.Table, Array]:
    """Return the institutions that works name, and which of them every mention names."""
    things = columns.institutions
    met, back = np.unique(code, return_inverse=True)
    order = met[np.argsort(np.asarray(things.ids, np.int64)[met])]
    place = np.empty(len(things.ids), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    countries = columns.labels["country"].texts()
    said: Mapping[int, int] = columns.countries
    rows = order.tolist()
    institutions = pa.table(
        {
            "object": pa.array([f"I{things.ids[row]}" for row in rows], pa.string()),
            "name": pa.array([things.names[row] for row in rows], pa.string()),
            "kind": pa.repeat(pa.scalar("institution"), len(rows)),
            "country": pa.array([countries[said[row]] if row in said else None for row in rows], pa.string()),
        }
    )
    return institutions, place[met[back.reshape(-1)]]


def _works_as_objects(items: pa.Table) -> pa.Table:
    return pa.table(
        {
            "object": items["item"],
            "name": pc.coalesce(items["title"], items["item"]),
            "kind": pa.repeat(pa.scalar("work"), items.num_rows),
            **{
                name: items[name] for name in ("year", "source", "type", "cited_by_count") if name in items.column_names
            },
        }
    )
