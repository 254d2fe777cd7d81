"""OpenAlex's works for tests, and a plain reading of the same records that says what should come of them.

``openalex_works.jsonl`` holds 36 real works of 2021 to 2026 (https://openalex.org, CC0) with the fields that are read.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

from cube2net.io.bibliography.openalex import OpenAlex
from cube2net.model.corpus import Corpus

REAL = [json.loads(line) for line in Path(__file__).with_name("openalex_works.jsonl").read_text("utf-8").splitlines()]
FILES = {"works.jsonl": "".join(json.dumps(work) + "\n" for work in REAL).encode()}
ONE: dict[str, Any] = {
    "id": "https://openalex.org/W1",
    "title": "On cubes",
    "publication_year": 2015,
    "publication_date": "2015-03-01",
    "updated_date": "2024-01-01T00:00:00.000001",
    "type": "article",
    "language": "en",
    "cited_by_count": 3,
    "is_retracted": False,
    "primary_location": {"source": {"id": "S5", "display_name": "Cubes", "host_organization_name": "Oslo Press"}},
    "authorships": [
        {
            "author": {"id": "https://openalex.org/A1", "display_name": "Ada", "orcid": "https://orcid.org/0000-1"},
            "institutions": [{"id": "https://openalex.org/I1", "display_name": "Oslo", "country_code": "NO"}],
        },
        {"author": {"id": "A2", "display_name": "Bob"}, "institutions": [], "countries": ["SE"]},
    ],
    "primary_topic": {
        "display_name": "Data cubes",
        "subfield": {"display_name": "Databases"},
        "field": {"display_name": "Computer Science"},
        "domain": {"display_name": "Physical Sciences"},
    },
    "abstract_inverted_index": {"cubes": [1, 3], "We": [0], "of": [2]},
    "referenced_works": ["https://openalex.org/W2", "https://openalex.org/W1", "W99"],
}


def work(number: int, **changes: Any) -> dict[str, Any]:
    return {**ONE, "id": f"https://openalex.org/W{number}", **changes}


def lines(*works: object) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in works).encode()


def read(content: bytes, *more: tuple[str, bytes], name: str = "works.jsonl", **options: Any) -> Corpus:
    with tempfile.TemporaryDirectory() as folder:
        for file, held in ((name, content), *more):
            (Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / file).write_bytes(held)
        return OpenAlex(**options).read([Path(folder)])


def plain_item(one: dict[str, Any]) -> dict[str, Any]:
    """Return what the item of a work should be, by the words of the documentation."""
    source = (one.get("primary_location") or {}).get("source") or {}
    venue = one.get("host_venue") or {}
    topic = one.get("primary_topic") or {}
    places = [place for by in one.get("authorships") or [] for place in by.get("institutions") or []]
    countries = [place.get("country_code") for place in places]
    countries += [code for by in one.get("authorships") or [] for code in by.get("countries") or []]
    name = source.get("display_name") or venue.get("display_name")
    publisher = source.get("host_organization_name") or source.get("publisher") or venue.get("publisher")
    found = {
        "item": one["id"].removeprefix("https://openalex.org/"),
        "year": one.get("publication_year"),
        "date": date.fromisoformat(one["publication_date"]) if one.get("publication_date") else None,
        "title": one.get("title") or one.get("display_name"),
        "source": name,
        "publisher": publisher or ("other" if name else None),
        "topic": topic.get("display_name"),
        **{level: (topic.get(level) or {}).get("display_name") for level in ("subfield", "field", "domain")},
        "type": one.get("type"),
        "language": one.get("language") or None,
        "country": {code for code in countries if code},
        "institution": {place["display_name"] for place in places if place.get("id")},
        "cited_by_count": one.get("cited_by_count"),
        "text": plain_text(one),
    }
    for level, attribute in ((2, "concept"), (1, "concept_area"), (0, "concept_field")):
        scored = [c for c in one.get("concepts") or [] if int(c["level"]) == level]
        best = max(scored, key=lambda c: float(c["score"]))["display_name"] if scored else None
        found[attribute] = best or ("other" if found.get("concept") else None)
    return found


def plain_text(one: dict[str, Any]) -> str:
    index = one.get("abstract_inverted_index")
    index = json.loads(index) if isinstance(index, str) else index
    index = index.get("InvertedIndex", index) if index else {}
    placed = sorted((at, number, word) for number, (word, where) in enumerate(index.items()) for at in where)
    abstract = " ".join(word for _, _, word in placed) or one.get("abstract") or ""
    title = one.get("title") or one.get("display_name") or ""
    if not title or not abstract:
        return title or abstract
    return f"{title} {abstract}" if title.endswith((".", "?", "!")) else f"{title}. {abstract}"


def items_of(corpus: Corpus) -> dict[str, dict[str, Any]]:
    rows = corpus.items.to_pylist()
    for row in rows:
        for name in ("country", "institution"):
            row[name] = set(row.get(name) or ())
    return {row["item"]: row for row in rows}


def mentions_of(corpus: Corpus) -> set[tuple[str, str]]:
    items, objects = corpus.items["item"].to_pylist(), corpus.objects["object"].to_pylist()
    pairs = zip(corpus.mentions["item"].to_pylist(), corpus.mentions["object"].to_pylist(), strict=True)
    return {(items[item], objects[thing]) for item, thing in pairs}


def _called_once(works: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return works where sources and institutions are called as where their ids are first met."""
    names: dict[str, str] = {}
    works = json.loads(json.dumps(works))
    for one in works:
        places = [place for by in one.get("authorships") or [] for place in by.get("institutions") or []]
        venues = [(one.get("primary_location") or {}).get("source"), one.get("host_venue")]
        for thing in [*places, *venues]:
            if thing and thing.get("id"):
                thing["display_name"] = names.setdefault(thing["id"], thing["display_name"])
    return works


NUMBERED = re.compile(r" \([SI]\d+\)$")


def check_as_plain(corpus: Corpus, works: list[dict[str, Any]]) -> None:
    found = items_of(corpus)
    wanted = {one["item"]: one for one in map(plain_item, _called_once(works))}
    assert found.keys() == wanted.keys()
    for key, item in found.items():
        known = {name: value for name, value in wanted[key].items() if name in item or value not in (None, set())}
        known["text"] = " ".join(known["text"].split())
        item["text"] = " ".join(item["text"].split())
        item["source"] = NUMBERED.sub("", item.get("source") or "") or None
        known["source"] = (known.get("source") or "").strip() or None
        item["institution"] = {NUMBERED.sub("", name) for name in item["institution"]}
        known["institution"] = {name.strip() for name in known["institution"]}
        assert item == {name: known.get(name) for name in item}, key
    mentions = {
        (one["id"].rsplit("/", 1)[-1], by["author"]["id"].rsplit("/", 1)[-1])
        for one in works
        for by in one.get("authorships") or []
        if (by.get("author") or {}).get("id")
    }
    assert mentions_of(corpus) == mentions
    assert corpus.mentions.num_rows == len(mentions)


PRESSES = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
PAGE = {"meta": {"count": 36, "per_page": 200}, "results": REAL, "group_by": []}
FORMS = {
    **{f"works.jsonl{ending}": press(FILES["works.jsonl"]) for ending, press in PRESSES.items()},
    "marked.jsonl": b"\xef\xbb\xbf" + FILES["works.jsonl"].replace(b"\n", b"\r\n\n"),
    "page.json": json.dumps(PAGE).encode(),
    "spread.json": json.dumps(PAGE, indent=2).encode(),
    "list.json": json.dumps(REAL).encode(),
    "spread-list.json": json.dumps(REAL, indent=1, ensure_ascii=False).encode(),
    "pages.jsonl": b"".join(
        json.dumps({"meta": {}, "results": REAL[at : at + 10]}).encode() + b"\n" for at in range(0, len(REAL), 10)
    ),
    "data/jsonl/works/updated_date=2026-01-05/part_0000.gz": gzip.compress(FILES["works.jsonl"]),
    "works/updated_date=2021-11-03/part_000.gz": gzip.compress(FILES["works.jsonl"]),
}
