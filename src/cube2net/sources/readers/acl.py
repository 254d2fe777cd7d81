"""The ACL Anthology: authors and their papers, from its folder of XML or from the archive itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from cube2net.errors import ParameterError, SourceError, listed, unknown
from cube2net.progress import Progress, silent
from cube2net.records import Corpus, DimensionSpec
from cube2net.records.corpus import LABELS, MENTIONS, OBJECTS, table
from cube2net.sources.io.dropped import Dropped
from cube2net.sources.io.input_files import InputFiles
from cube2net.sources.io.text_records import read_whole
from cube2net.sources.readers.acl_xml import Paper, read_xml
from cube2net.unpacking import RATIO, TOTAL, Meter, UnpackLimits

LONGEST = 16 * 2**20
STAGE = "reading the ACL Anthology"
ATTRIBUTION = (
    "ACL Anthology (https://aclanthology.org): papers of 2016 and later under CC BY 4.0, "
    "earlier ones under CC BY-NC-SA 3.0"
)
DIMENSIONS = (
    DimensionSpec("decade", "year", bins="decades"),
    DimensionSpec("venue", "venue", parent="kind"),
    DimensionSpec("topic", "topic"),
)
TABLES = ("venues.json", "sigs.json")
ITEMS = {
    "item": pa.string(),
    "year": pa.int32(),
    "venue": pa.list_(pa.string()),
    "sig": pa.list_(pa.string()),
    "volume": pa.string(),
    "title": pa.string(),
    "text": pa.string(),
}
Entries = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Acl:
    """Reads the ACL Anthology: a folder with ``data/xml`` and ``data/json``, one of XML alone, or a tar of it.

    Objects are authors: the person's id where the Anthology gives one, else "First Last". Items are
    papers with ``year``, ``venue`` (acronyms, several where a volume belongs to several), ``sig`` (the
    special interest groups of the volume), ``volume``, ``title`` and ``text`` (title and abstract).
    ``without_sigs`` leaves out the volumes of some groups. A paper that cannot be used is counted in
    ``dropped``, or stops the reading when ``strict``. ``max_ratio`` and ``max_unpacked`` limit how far a packed file
    may swell.
    """

    from_year: int | None = None
    to_year: int | None = None
    without_sigs: Sequence[str] = ()
    strict: bool = False
    max_ratio: int = RATIO
    max_unpacked: int | str = TOTAL

    def __post_init__(self) -> None:
        UnpackLimits(self.max_ratio, self.max_unpacked)
        if isinstance(self.without_sigs, str):
            raise ParameterError(f"without_sigs is the text {self.without_sigs!r}, expected a tuple such as ('sigmt',)")
        if self.from_year is not None and self.to_year is not None and self.from_year > self.to_year:
            raise ParameterError(f"from_year is {self.from_year!r}, after to_year, which is {self.to_year!r}")

    def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
        """Return the corpus of a folder or archive, read one file at a time."""
        papers: list[Paper] = []
        tables: dict[str, Entries] = {}
        dropped = Dropped(self.strict, progress)
        found, count = _files([Path(path) for path in paths])
        meter = Meter(UnpackLimits(self.max_ratio, self.max_unpacked))
        for done, (name, file) in enumerate(InputFiles(found, (".xml", *TABLES), meter, guarded=True), start=1):
            if name.endswith(".json"):
                tables[Path(name).name] = _read_json(name, file)
            else:
                papers += read_xml(name, file, dropped)
            progress(STAGE, done, count)
        papers, left_out = self._asked_for(papers, tables.get("sigs.json", {}))
        papers = _distinct(papers, dropped)
        dropped.close()
        for reason, number in left_out.items():
            dropped.leave_out(reason, number)
        if not papers:
            why = ", ".join(dropped.reasons)
            raise SourceError(f"{listed(paths)} holds no paper to read" + (f" ({why})" if why else ""))
        return _corpus(papers, tables, dropped.counts)

    def _asked_for(self, papers: list[Paper], sigs: Entries) -> tuple[list[Paper], Counter[str]]:
        """Return the papers of the years and groups asked for, and how many are not."""
        without = {sig.casefold() for sig in self.without_sigs}
        known = {sig for paper in papers for sig in paper.volume.sigs} | set(sigs)
        for sig in sorted(without - known):
            raise unknown("special interest group", sig, known)
        kept, left_out = [], Counter[str]()
        for paper in papers:
            if self.from_year is not None and paper.volume.year < self.from_year:
                left_out[f"papers before {self.from_year}"] += 1
            elif self.to_year is not None and paper.volume.year > self.to_year:
                left_out[f"papers after {self.to_year}"] += 1
            elif not without.isdisjoint(paper.volume.sigs):
                left_out["papers of groups not asked for"] += 1
            else:
                kept.append(paper)
        return kept, left_out


def _distinct(papers: list[Paper], dropped: Dropped) -> list[Paper]:
    """Return every paper once, in the order of files and lines; each further one of its id is dropped."""
    kept: dict[str, Paper] = {}
    for paper in sorted(papers, key=lambda paper: (paper.file, paper.line)):
        if kept.setdefault(paper.id, paper) is not paper:
            place = f"{paper.file} line {paper.line:,}"
            dropped.drop_one("papers named twice", place, f"paper {paper.id!r} was there before")
    return list(kept.values())


def _files(paths: list[Path]) -> tuple[list[Path], int | None]:
    """Return the files to read, and how many they hold where that is known before they are read."""
    if not paths:
        raise SourceError("no path is given: name the Anthology's folder, or its tar.xz")
    for path in paths:
        if not path.exists():
            raise SourceError(f"{path} is not there: name the Anthology's folder, or its tar.xz")
    found = [file for path in paths for file in (_folder(path) if path.is_dir() else [path])]
    return found, len(found) if all(path.suffix in (".xml", ".json") for path in found) else None


def _folder(path: Path) -> list[Path]:
    xml = next((folder for folder in (path / "data" / "xml", path / "xml") if folder.is_dir()), path)
    found = sorted(xml.glob("*.xml"))
    if not found:
        raise SourceError(f"{path} holds no XML: expected the Anthology's folder, with data/xml in it, or its tar.xz")
    return found + [place / name for name in TABLES for place in (xml, xml.parent / "json") if (place / name).is_file()]


def _read_json(name: str, file: IO[bytes]) -> Entries:
    whole = read_whole(file, LONGEST)
    if whole is None:
        raise SourceError(f"{name} takes more than {LONGEST:,} bytes, expected a table of names")
    try:
        entries = json.loads(whole.decode())
    except json.JSONDecodeError as error:
        raise SourceError(f"{name} line {error.lineno:,}: not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{name} cannot be read as JSON: {error}") from None
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise SourceError(f"{name} is not a table of names: expected an object with an object for every id")
    return entries


def _corpus(papers: list[Paper], tables: Mapping[str, Entries], dropped: Mapping[str, int]) -> Corpus:
    rows: dict[str, int] = {}
    spelled: dict[str, Counter[str]] = {}
    items: list[int] = []
    objects: list[int] = []
    for item, paper in enumerate(papers):
        for key, name in paper.authors.items():
            items.append(item)
            objects.append(rows.setdefault(key, len(rows)))
            if name != key:
                spelled.setdefault(key, Counter())[name] += 1
    names = [spelled[key].most_common(1)[0][0] if key in spelled else key for key in rows]
    venues = _entries({venue for paper in papers for venue in paper.volume.venues}, tables.get("venues.json", {}))
    sigs = _entries({sig for paper in papers for sig in paper.volume.sigs}, tables.get("sigs.json", {}))
    return Corpus(
        objects=table(OBJECTS, object=list(rows), name=names, kind=["author"] * len(rows)),
        items=table(
            ITEMS,
            item=[paper.id for paper in papers],
            year=[paper.volume.year for paper in papers],
            venue=[list(dict.fromkeys(venues[venue][0] for venue in paper.volume.venues)) for paper in papers],
            sig=[list(dict.fromkeys(sigs[sig][0] for sig in paper.volume.sigs)) for paper in papers],
            volume=[paper.volume.id for paper in papers],
            title=[paper.title for paper in papers],
            text=[_text(paper) for paper in papers],
        ),
        mentions=table(MENTIONS, item=items, object=objects),
        labels=_labels(venue=venues, sig=sigs),
        dimensions=DIMENSIONS,
        dropped=dict(dropped),
        attribution=ATTRIBUTION,
        time="year",
    )


def _entries(keys: set[str], table_of_names: Entries) -> dict[str, tuple[str, str, str]]:
    """Return the acronym, the full name and the kind of every venue or group."""
    known = {}
    for key in keys:
        entry = table_of_names.get(key)
        if entry is None:
            known[key] = key, key, "other"
        else:
            acronym, name = (str(entry.get(field) or key).strip() or key for field in ("acronym", "name"))
            known[key] = acronym, name, str(entry.get("type") or "conference")
    return known


def _labels(**attributes: Mapping[str, tuple[str, str, str]]) -> pa.Table:
    rows = {
        (attribute, label): (full_name, kind if attribute == "venue" else None)
        for attribute, entries in attributes.items()
        for label, full_name, kind in sorted(entries.values())
    }
    return table(
        LABELS,
        attribute=[attribute for attribute, _ in rows],
        label=[label for _, label in rows],
        full_name=[full_name for full_name, _ in rows.values()],
        parent=[kind for _, kind in rows.values()],
    )


def _text(paper: Paper) -> str:
    if not paper.abstract:
        return paper.title
    return paper.title + ("" if paper.title.endswith((".", "?", "!")) else ".") + " " + paper.abstract
