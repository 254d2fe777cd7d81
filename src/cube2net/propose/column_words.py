"""What every column of a table was taken for, in words."""

from __future__ import annotations

from collections.abc import Sequence

from cube2net.records import Corpus, DimensionSpec
from cube2net.records.suggestion import Suggestion

ROLE_WORDS = {
    "id": "tells rows apart",
    "name": "name",
    "kind": "kind",
    "text": "text, in which topics are found",
    "source": "one end of a link",
    "target": "the other end of a link",
    "names": "names other rows: the links",
    "weight": "weight of a link",
    "time": "time of a link",
    "item": "record",
    "object": "who or what is mentioned",
}
"""What a column is, in words, by its role."""


def columns_in_words(corpus: Corpus, found: Suggestion, chosen: Sequence[DimensionSpec]) -> list[dict[str, str]]:
    """Return what every column was taken for and why: first those that have a role, then the attributes."""
    used: dict[str, str] = {}
    for spec in chosen:
        used[spec.attribute] = f"dimension {spec}" if str(spec) != spec.attribute else "dimension"
        for level in spec.levels:
            used.setdefault(level.source, f"level above {level.below}")
    rows: list[dict[str, str]] = []
    own = False
    for role, name in (corpus.source.get("columns") or {}).items():
        table, _, what = role.rpartition(".")
        if what == "source" and name in [row["column"] for row in rows]:
            own = True
        elif name:
            what = "names" if what == "target" and own else what
            rows.append({"table": table, "column": name, "what": ROLE_WORDS.get(what, what), "why": ""})
    for each in found.attributes:
        what = used.get(each.name, "kept, no dimension")
        rows.append({"table": "", "column": each.name, "what": what, "why": f"{each.name} {each.reason}"})
    return rows
