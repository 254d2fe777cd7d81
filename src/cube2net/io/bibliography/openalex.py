"""OpenAlex: works and their authors, institutions or citations, from its snapshot or from what its interface gave.

    data/jsonl/works/updated_date=2026-01-05/part_0000.gz     as published now, and so in data/parquet/
    works/updated_date=2021-11-03/part_000.gz                 as published before
    merged_ids/authors/2023-04-13.csv.gz                      what became of ids

Other entities and manifests are passed over. Any other folder is one of files of works, whatever they are called.
Works are gathered in temporary files; in memory are some numbers for every work and for every mention.
"""

from __future__ import annotations

import io
import mmap
import tempfile
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from cube2net._util.arrays import Array
from cube2net._util.files import explain_disk_errors
from cube2net._util.progress import Progress, Stage, check_stop, silent
from cube2net._util.spelling import suggest_name
from cube2net._util.zip_files import RATIO, TOTAL, Meter, UnpackLimits, open_raw, unpack
from cube2net.errors import ParameterError, SourceError, check_int, first_line, join_names, unknown_name
from cube2net.io.bibliography.openalex_files import (
    Parts,
    find_snapshot,
)
from cube2net.io.bibliography.openalex_works import (
    CHAINS,
    FILTERS,
    OTHER_LABEL,
    SINGLE_ATTRIBUTES,
    Batch,
    LineReader,
    WorkColumns,
    parse_id_numbers,
)
from cube2net.io.dropped import Dropped
from cube2net.model.corpus import CITED_ELSEWHERE, MENTIONS, OBJECTS, Corpus, table
from cube2net.model.dimension import DimensionSpec

T = TypeVar("T")
STAGE = "reading OpenAlex's works"
ATTRIBUTION = (
    "OpenAlex (https://openalex.org, CC0): J. Priem, H. Piwowar and R. Orr, OpenAlex: a fully-open index of scholarly "
    "works, authors, venues, institutions and concepts, 2022"
)


@dataclass(frozen=True, kw_only=True)
class OpenAlex:
    """Reads OpenAlex's works: its snapshot or parts of it (JSON lines or Parquet), saved pages, bare JSON lines.

    Items are works with ``year``, ``date``, ``title``, ``source``, ``publisher``, ``topic``, ``subfield``,
    ``field``, ``domain``, ``concept`` (the best of level 2), ``concept_area`` (level 1), ``concept_field`` (level
    0), ``type``, ``language``, ``country`` and ``institution`` of the authors, ``cited_by_count`` and ``text``:
    title and abstract, or with ``abstracts=False`` the title alone. ``objects`` are ``"authors"`` or
    ``"institutions"``, linked if a work names both, or ``"works"``, linked by citations. ``where`` selects works
    with one of some labels (``{"field": ["Computer Science"]}``), ``from_year`` and ``to_year`` works of some
    years; ``retracted=False`` leaves out retracted works. Of several versions of a work the newest counts, and
    merged ids are followed if the snapshot lists them. Unusable lines are counted in ``dropped`` and the first few
    are shown; ``strict`` makes them errors. ``max_ratio`` and ``max_unpacked`` limit the size of unpacked files.
    """

    objects: Literal["authors", "institutions", "works"] = "authors"
    where: Mapping[str, Sequence[str] | str] = field(default_factory=dict)
    from_year: int | None = None
    to_year: int | None = None
    retracted: bool = True
    abstracts: bool = True
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if self.objects not in ("authors", "institutions", "works"):
            raise unknown_name("kind of objects", self.objects, ("authors", "institutions", "works"))
        for name in self.where:
            if name not in FILTERS:
                raise unknown_name("attribute of works", name, FILTERS)
        for name, year in (("from_year", self.from_year), ("to_year", self.to_year)):
            if year is not None:
                check_int(name, year, 0, 9999)
        if self.from_year is not None and self.to_year is not None and self.from_year > self.to_year:
            raise ParameterError(f"from_year is {self.from_year}, after to_year {self.to_year}: no year is in between")

    @property
    def filters(self) -> dict[str, tuple[str, ...]]:
        """The labels of which a work must have one, by attribute."""
        return {name: (labels,) if isinstance(labels, str) else tuple(labels) for name, labels in self.where.items()}

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of the files, each read once from front to back."""
        snapshot = find_snapshot(paths)
        dropped = Dropped(self.strict, progress)
        for remark in snapshot.remarks:
            dropped.say(remark)
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        parts = Parts(snapshot.parts, meter, dropped)
        columns = WorkColumns(dropped, self.objects, self.filters, (self.from_year, self.to_year), self.retracted)
        builder = CorpusBuilder(self.objects)
        required = [labels for labels in self.filters.values() if OTHER_LABEL not in labels]
        reader = LineReader(dropped, abstracts=self.abstracts, citations=self.objects == "works", required=required)
        with closing(reader), closing(prefetch(iter(parts))) as blocks:
            for block in blocks:
                check_stop()
                for lines, works in reader.parse(block):
                    if works.num_rows and (batch := columns.batch(lines, works)) is not None:
                        builder.add(batch)
                progress(STAGE, parts.done, parts.total)
        progress(STAGE, parts.total, parts.total)
        dropped.leave_out("works outside the filters", reader.skipped)
        if not builder.works:
            raise self._explain_no_works(paths, columns, Parts(snapshot.parts, meter, Dropped()))
        if columns.cut_lists:
            dropped.leave_out("works of which only the first 100 authors are named", columns.cut_lists)
            dropped.say(f"{columns.cut_lists:,} works name their first 100 authors only (is_authors_truncated)")
        progress(Stage("OpenAlex", "putting works together"), 0, None)
        pa.default_memory_pool().release_unused()
        return builder.corpus(columns, MergedIds(snapshot.merged, meter), ATTRIBUTION)

    def files_read(self, paths: Sequence[Path]) -> list[Path]:
        """Return the files that would be read."""
        snapshot = find_snapshot(paths)
        return [part.path for part in snapshot.parts] + [path for _, path in snapshot.merged]

    def _explain_no_works(self, paths: Sequence[Path], columns: WorkColumns, parts: Parts) -> SourceError:
        """Return the error where no work is left, which says why and what a label may have been meant to be."""
        columns.dropped.close()
        drop_reasons, first_sentence = "; ".join(columns.dropped.reasons), columns.dropped.first
        hints = []
        if self.filters:
            all_columns = WorkColumns(Dropped(), self.objects, {}, (None, None), retracted=True)
            with closing(LineReader(Dropped(), abstracts=False, citations=False)) as reader:
                for block in islice(parts, 1):
                    for lines, works in reader.parse(block):
                        all_columns.batch(lines, works)
            for name, labels in self.filters.items():
                suggestions = [
                    label for wanted in labels if (label := suggest_name(wanted, all_columns.list_labels(name)))
                ]
                hints += [f"did you mean {name} {label!r}?" for label in suggestions if label not in labels]
        hint = f" ({' '.join(hints)})" if hints else ""
        reason = f" ({drop_reasons})" if drop_reasons else ""
        return SourceError(
            f"{join_names(paths)} holds no work to read{reason}{f': {first_sentence}' if first_sentence else ''}{hint}"
        )


def prefetch(blocks: Iterator[T]) -> Generator[T, None, None]:
    """Return the same blocks, read up to two ahead in a thread."""
    with ThreadPoolExecutor(1, "cube2net-reading") as pool:
        pending = deque(pool.submit(next, blocks, None) for _ in range(2))
        while (block := pending.popleft().result()) is not None:
            pending.append(pool.submit(next, blocks, None))
            yield block


ROWS_PER_BATCH, ROWS_PER_STEP = 2**16, 2**20


class CorpusBuilder:
    """Collects batches of works, and builds a corpus of them."""

    def __init__(self, objects: str) -> None:
        self.objects = objects
        self.items, self.texts, self.people = Spool(), Spool(), Spool()
        self.arrays: dict[str, list[Array]] = {
            name: [] for name in ("ids", "stamps", "sizes", "mentions", "affiliations", "citations", "cited")
        }

    def add(self, batch: Batch) -> None:
        """Add a batch."""
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
        """Return the corpus, in which merged ids are replaced."""
        dropped = columns.dropped
        ids = merged.follow_all("W", self._take("ids"))
        kept = find_newest(ids, self._take("stamps"))
        dropped.leave_out("older versions of works", int((~kept).sum()))
        items = self._build_items(columns, ids, kept)
        links = None
        if self.objects == "authors":
            objects, mentions = self._build_authors(columns, kept, items, merged)
        elif self.objects == "institutions":
            item, code, _ = self._select_mentions(kept)
            objects, code = _build_institutions(columns, code)
            mentions = _spool_mentions(item, code)
        else:
            about = ("year", "source", "type", "cited_by_count")
            objects = pa.table(
                {
                    "object": items["item"],
                    "name": pc.coalesce(items["title"], items["item"]),
                    "kind": pa.repeat(pa.scalar("work"), items.num_rows),
                    **{name: items[name] for name in about if name in items.column_names},
                }
            )
            mentions = _spool_mentions(*[np.arange(len(objects), dtype=np.int32)] * 2)
            links = self._build_citations(columns, ids, kept, merged)
        return Corpus(
            objects=objects,
            items=items,
            mentions=mentions,
            links=links,
            dimensions=propose_dimensions(items),
            dropped=dropped.close(),
            attribution=attribution,
            time="date",
            directed=links is not None,
            gone=find_gone_works([merged.list_merged("W"), *columns.withdrawn], items["item"]),
        )

    def _take(self, name: str) -> Array:
        """Return a whole array, and release its parts."""
        parts = self.arrays.pop(name)
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _build_items(self, columns: WorkColumns, ids: Array, kept: Array) -> pa.Table:
        """Return the items, with labels as texts; attributes that no work has are left out."""
        labels = {
            name: pa.array(attribute_labels.texts(), pa.string()) for name, attribute_labels in columns.labels.items()
        }
        labels["source"] = pa.array(columns.sources.labels(), pa.string())
        labels["institution"] = pa.array(columns.institutions.labels(), pa.string())
        unused = {name for name, texts in labels.items() if not len(texts)}

        def label_batches() -> Iterator[pa.RecordBatch]:
            start = 0
            for batch in self.items.batches():
                names = _prefix_ids("W", ids[start : start + batch.num_rows])
                start += batch.num_rows
                used_names = [name for name in batch.schema.names if name not in unused]
                columns = {name: _look_up_texts(batch.column(name), labels.get(name)) for name in used_names}
                yield pa.RecordBatch.from_pydict({"item": names, **columns})

        all_kept = kept.all()
        items = spool(label_batches() if all_kept else _filter_batches(label_batches(), kept))
        texts = self.texts.table() if all_kept else spool(_filter_batches(self.texts.batches(), kept))
        for name in texts.column_names:
            items = items.append_column(name, texts[name])
        order = [
            "item",
            "year",
            "date",
            "title",
            *SINGLE_ATTRIBUTES,
            "country",
            "institution",
            "cited_by_count",
            "text",
        ]
        return items.select([name for name in order if name in items.column_names])

    def _select_mentions(self, kept: Array) -> tuple[Array, Array, Array | slice]:
        """Return the item and the object of every mention of a kept work, and which of all mentions these are.

        Nothing is copied if all works are kept.
        """
        work_numbers = np.repeat(np.arange(len(kept), dtype=np.int32), self._take("sizes"))
        mentions = self._take("mentions")
        if kept.all():
            return work_numbers, mentions, slice(None)
        is_used = kept[work_numbers]
        new_numbers = np.cumsum(kept, dtype=np.int32) - 1
        return new_numbers[work_numbers[is_used]], mentions[is_used], is_used

    def _build_authors(
        self, columns: WorkColumns, kept: Array, items: pa.Table, merged: MergedIds
    ) -> tuple[pa.Table, pa.Table]:
        """Return the authors with name, ORCID and where they were last, and who is mentioned where.

        Arrays with an entry for every mention are deleted as soon as possible: they take most of the memory.
        """
        from cube2net.kernels.text import find_latest

        item, author, is_used = self._select_mentions(kept)
        affiliations = self._take("affiliations")[is_used]
        old_ids = sort_unique(author)
        new_ids = merged.follow("A", old_ids)
        author_ids, new_places = (
            (old_ids, None) if np.array_equal(new_ids, old_ids) else np.unique(new_ids, return_inverse=True)
        )
        code = number_ids(author, old_ids)
        del author, is_used
        if new_places is not None:
            columns.dropped.leave_out("authors merged into others", int((new_ids != old_ids).sum()))
            code = new_places[code].astype(np.int32)
            _, first_mentions = np.unique(item.astype(np.int64) << 32 | code, return_index=True)
            first_mentions.sort()
            item, code, affiliations = item[first_mentions], code[first_mentions], affiliations[first_mentions]
        del new_ids
        days = items["date"].cast(pa.int32()).fill_null(-(2**31)).to_numpy()
        last_mentions = find_latest(code, days[item], affiliations >= 0, len(author_ids))
        affiliation = np.where(last_mentions >= 0, affiliations[last_mentions], np.int32(-1))
        del last_mentions, affiliations, days
        mentions = _spool_mentions(item, code)
        del item, code
        return self._build_author_table(columns, author_ids, affiliation, old_ids, new_places), mentions

    def _build_author_table(
        self, columns: WorkColumns, author_ids: Array, affiliation: Array, old_ids: Array, new_places: Array | None
    ) -> pa.Table:
        """Return the authors, of whom some stand by an id ``old_ids`` that is now the one at a ``new_places``."""
        if not len(author_ids):
            return table(OBJECTS)
        people = self.people.table()
        rows = self._find_first_rows(len(author_ids), old_ids, new_places, ("name", "orcid"))
        country_of = np.full(len(columns.institutions.names) + 1, -1, np.int32)
        country_of[list(columns.countries)] = list(columns.countries.values())
        labels = {
            "institution": pa.array(columns.institutions.labels(), pa.string()),
            "country": pa.array(columns.labels["country"].texts(), pa.string()),
        }
        has_values = {"institution": (affiliation >= 0).any(), "country": (country_of[affiliation] >= 0).any()}

        def build_batches() -> Iterator[pa.RecordBatch]:
            for start in range(0, len(author_ids), ROWS_PER_BATCH):
                step = slice(start, start + ROWS_PER_BATCH)
                ids = _prefix_ids("A", author_ids[step])
                shown_names = pc.coalesce(take_rows(people["name"], rows["name"][step]), ids)
                batch = {"object": ids, "name": shown_names, "kind": pa.repeat(pa.scalar("author"), len(ids))}
                codes = {"institution": affiliation[step], "country": country_of[affiliation[step]]}
                batch |= {
                    name: _look_up_texts(pa.array(codes[name]), labels[name]) for name in codes if has_values[name]
                }
                yield pa.RecordBatch.from_pydict(batch)

        def read_orcids() -> Iterator[pa.RecordBatch]:
            for start in range(0, len(author_ids), ROWS_PER_BATCH):
                step = take_rows(people["orcid"], rows["orcid"][start : start + ROWS_PER_BATCH])
                yield pa.RecordBatch.from_pydict({"orcid": pc.replace_substring(step, "https://orcid.org/", "")})

        objects = spool(build_batches())
        if not (rows["orcid"] >= 0).any():
            return objects
        return objects.add_column(len(OBJECTS), "orcid", spool(read_orcids())["orcid"])

    def _find_first_rows(
        self, count: int, old_ids: Array, new_places: Array | None, names: Sequence[str]
    ) -> dict[str, Array]:
        """Return for every author the row of the people with the first value, -1 where there is none."""
        rows = {name: np.full(count, -1, np.int32) for name in names}
        start = 0
        for batch in self.people.batches():
            ids = batch.column("author").to_numpy()
            places = np.minimum(np.searchsorted(old_ids, ids), len(old_ids) - 1)
            code = places if new_places is None else new_places[places]
            for name, first in rows.items():
                is_given = batch.column(name).is_valid().to_numpy(zero_copy_only=False)
                candidates = np.flatnonzero((old_ids[places] == ids) & is_given)[::-1]
                candidates = candidates[first[code[candidates]] < 0]
                first[code[candidates]] = start + candidates
            start += len(ids)
        return rows

    def _build_citations(self, columns: WorkColumns, ids: Array, kept: Array, merged: MergedIds) -> pa.Table:
        """Return the links from works to those they cite, among the works that are there."""
        rows = np.cumsum(kept, dtype=np.int32) - 1
        citing = np.repeat(np.arange(len(ids), dtype=np.int32), self._take("citations"))
        cited = self._take("cited")
        citing, cited = citing[kept[citing]], cited[kept[citing]]
        cited = merged.follow_all("W", cited)
        order = np.flatnonzero(kept)[np.argsort(ids[kept], kind="stable")]
        places = np.minimum(np.searchsorted(ids[order], cited), len(order) - 1)
        is_known = ids[order][places] == cited
        source, target = rows[citing[is_known]], rows[order[places[is_known]]]
        is_self = source == target
        pairs = np.unique(source[~is_self].astype(np.int64) << 32 | target[~is_self])
        columns.dropped.leave_out(CITED_ELSEWHERE, int((~is_known).sum()))
        columns.dropped.leave_out("works citing themselves", int(is_self.sum()))
        columns.dropped.leave_out("citations named twice", int((~is_self).sum()) - len(pairs))
        source, target = (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)
        weight, kind = np.ones(len(source), np.float32), pa.repeat(pa.scalar("cites"), len(source))
        return pa.table({"source": source, "target": target, "weight": weight, "kind": kind, "item": source})


def find_newest(ids: Array, stamps: Array) -> Array:
    """Return which works to keep: of several with one id the one changed last, and of equal ones the last.

    >>> find_newest(np.array([7, 8, 7, 8]), np.array([5, 5, 9, 5])).tolist()
    [False, False, True, True]
    """
    order = np.lexsort((stamps, ids))
    kept = np.zeros(len(ids), bool)
    if len(ids):
        kept[order[np.append(ids[order][1:] != ids[order][:-1], True)]] = True
    return kept


def propose_dimensions(items: pa.Table) -> tuple[DimensionSpec, ...]:
    """Return the dimensions of a cube: year, source, topic (or concept, which more works may have) and country."""
    value_counts = {name: items.num_rows - items[name].null_count for name in items.column_names}
    subject = "topic" if value_counts.get("topic", 0) >= value_counts.get("concept", 0) else "concept"
    chains = {finest: "/".join(above) for finest, *above in CHAINS}
    names = [name for name in ("source", subject, "country") if name in value_counts]
    year = DimensionSpec("year", "year", bins="years", above="decades")
    return year, *(DimensionSpec(name, name, above=chains.get(name)) for name in names)


def _prefix_ids(letter: str, ids: Array) -> pa.Array:
    return pc.binary_join_element_wise(letter, pa.array(ids).cast(pa.string()), "")


def _look_up_texts(codes: pa.Array, labels: pa.Array | None) -> pa.Array:
    """Return labels instead of their numbers, of lists too; numbers that are no labels stay."""
    if labels is None:
        return codes
    if pa.types.is_list(codes.type):
        return pa.ListArray.from_arrays(codes.offsets, labels.take(codes.values))
    number_ids = codes.to_numpy(zero_copy_only=False)
    return labels.take(pa.array(number_ids, mask=number_ids < 0))


def _filter_batches(batches: Iterable[pa.RecordBatch], kept: Array) -> Iterator[pa.RecordBatch]:
    start = 0
    for batch in batches:
        yield batch.filter(pa.array(kept[start : start + batch.num_rows]))
        start += batch.num_rows


def sort_unique(ids: Array) -> Array:
    """Return the distinct ids, sorted, in no more memory than a copy of the ids."""
    sorted_ids = np.sort(ids)
    is_last = np.ones(len(sorted_ids), bool)
    is_last[:-1] = sorted_ids[1:] != sorted_ids[:-1]
    unique_ids: Array = sorted_ids[is_last]
    return unique_ids


def number_ids(ids: Array, sorted_ids: Array) -> Array:
    """Return the position of every id among sorted ids, a part at a time to save memory."""
    codes = np.empty(len(ids), np.int32)
    for start in range(0, len(ids), ROWS_PER_STEP):
        unique_ids, inverse = np.unique(ids[start : start + ROWS_PER_STEP], return_inverse=True)
        codes[start : start + ROWS_PER_STEP] = np.searchsorted(sorted_ids, unique_ids)[inverse]
    return codes


def take_rows(column: pa.ChunkedArray, rows: Array) -> pa.Array:
    """Return the values at some rows, null for negative ones; the pieces of the column are not put together.

    >>> take_rows(pa.chunked_array([["a", "b"], ["c"]]), np.array([2, -1, 0, 2])).to_pylist()
    ['c', None, 'a', 'c']
    """
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    starts = np.cumsum([0, *(len(chunk) for chunk in column.chunks)])
    bounds = np.searchsorted(wanted, starts)
    parts = [pa.nulls(int(bounds[0]), column.type)]
    for chunk, start, begin, end in zip(column.chunks, starts, bounds, bounds[1:], strict=False):
        if end > begin:
            parts.append(chunk.take(pa.array(wanted[begin:end] - start)))
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = np.arange(len(rows))
    return pa.concat_arrays(parts).take(pa.array(inverse))


def _spool_mentions(item: Array, code: Array) -> pa.Table:
    mentions = table(MENTIONS, item=item, object=code)
    return spool(mentions.to_batches(ROWS_PER_STEP)) if len(item) else mentions


def _build_institutions(columns: WorkColumns, code: Array) -> tuple[pa.Table, Array]:
    """Return the institutions that works name, by id, and which of them every mention names."""
    named_things = columns.institutions
    used = np.unique(code)
    rows = used[np.argsort(np.asarray(named_things.ids, np.int64)[used])].tolist()
    new_numbers = np.empty(len(named_things.ids), np.int32)
    new_numbers[rows] = np.arange(len(rows), dtype=np.int32)
    countries = [*columns.labels["country"].texts(), None]
    institutions = pa.table(
        {
            "object": pa.array([f"I{named_things.ids[row]}" for row in rows], pa.string()),
            "name": pa.array([named_things.names[row] for row in rows], pa.string()),
            "kind": pa.repeat(pa.scalar("institution"), len(rows)),
            "country": pa.array([countries[columns.countries.get(row, -1)] for row in rows], pa.string()),
        }
    )
    return institutions, new_numbers[code]


OLD_ID, NEW_ID = "id", "merge_into_id"
MAX_MERGES = 16
"""The most steps that an id is followed within one list."""


class MergedIds:
    """Follows ids through lists of merged ones, the oldest list first."""

    def __init__(self, lists: Sequence[tuple[str, Path]], meter: Meter) -> None:
        self.lists, self.meter = lists, meter

    def follow(self, letter: str, ids: Array) -> Array:
        """Return what became of sorted ids, themselves where nothing did; of lists only what concerns these is kept."""
        current_ids = ids
        for pairs in self._read_pairs(letter):
            order = np.argsort(pairs[0], kind="stable")
            old_ids, new_ids = (ids[order] for ids in pairs)
            for _ in range(MAX_MERGES):
                places = np.minimum(np.searchsorted(old_ids, current_ids), len(old_ids) - 1)
                is_merged = old_ids[places] == current_ids
                if not is_merged.any():
                    break
                current_ids = np.where(is_merged, new_ids[places], current_ids)
        return current_ids

    def follow_all(self, letter: str, ids: Array) -> Array:
        """Return what became of ids in any order, each of which may come several times."""
        unique_ids = sort_unique(ids)
        current_ids = self.follow(letter, unique_ids)
        return ids if np.array_equal(current_ids, unique_ids) else current_ids[number_ids(ids, unique_ids)]

    def list_merged(self, letter: str) -> Array:
        """Return the ids that were merged into others."""
        return np.concatenate([np.empty(0, np.int64), *(old for old, _ in self._read_pairs(letter))])

    def _read_pairs(self, letter: str) -> Iterator[tuple[Array, Array]]:
        options = pv.ConvertOptions(include_columns=[OLD_ID, NEW_ID], column_types={OLD_ID: "str", NEW_ID: "str"})
        for path in [path for kind, path in self.lists if kind == letter]:
            gauge = self.meter.gauge(path)
            try:
                with unpack(open_raw(path, gauge), gauge) as file:
                    for batch in pv.open_csv(io.BufferedReader(file), convert_options=options):
                        old_ids, new_ids = (parse_id_numbers(batch.column(name), letter) for name in (OLD_ID, NEW_ID))
                        is_valid = (old_ids >= 0) & (new_ids >= 0)
                        if is_valid.any():
                            yield old_ids[is_valid], new_ids[is_valid]
            except (pa.ArrowException, KeyError) as error:
                expected = join_names([OLD_ID, NEW_ID])
                raise SourceError(
                    f"{path.name} is no list of merged ids: {first_line(error)}, expected the columns {expected}"
                ) from None


def find_gone_works(ids: Sequence[Array], items: pa.ChunkedArray) -> pa.Array:
    """Return the ids of works that are no more, having been merged into others or withdrawn, but for those of items.

    >>> find_gone_works([np.array([7, 5]), np.array([9, 7])], pa.chunked_array([["W9"]])).to_pylist()
    ['W5', 'W7']
    """
    names = _prefix_ids("W", np.unique(np.concatenate(ids)).astype(np.int64))
    return names.filter(pc.invert(pc.is_in(names, value_set=items.filter(pc.is_in(items, value_set=names)))))


class Spool:
    """Batches of rows in an unnamed temporary file, which can be mapped into memory as a table."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="cube2net-")  # noqa: SIM115 (its mapping keeps it)
        self.writer: Any = None
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Write a batch; the first one defines the columns."""
        with explain_disk_errors(Path(tempfile.gettempdir())):
            if self.writer is None:
                self.writer = pa.ipc.new_file(self.file, batch.schema)
            self.writer.write_batch(batch)
        self.rows += batch.num_rows

    def table(self) -> pa.Table:
        """Return all rows, mapped into memory; the file is deleted with the table."""
        self._finish()
        return pa.ipc.open_file(pa.py_buffer(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ))).read_all()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Return the batches one by one, as they were written."""
        self._finish()
        self.file.seek(0)
        reader = pa.ipc.open_file(self.file)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)

    def _finish(self) -> None:
        with explain_disk_errors(Path(tempfile.gettempdir())):
            self.writer.close()
            self.file.flush()


def spool(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return the table of batches, in a temporary file."""
    spool = Spool()
    for batch in batches:
        spool.add(batch)
    return spool.table()
