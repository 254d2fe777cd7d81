"""How much a column of texts looks like one of names: short, of words, nearly all different, and no list of labels."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.records.column_kinds import decoded, holds_text
from cube2net.sources.tables.column_types import Rows
from cube2net.sources.tables.written_values import likely_written, present, spread_rows

SAMPLED = 1_000
NAMED, MOSTLY_NAMES = 20, 0.8
"""So great a share of the texts of a column of names differ; in fewer rows than so many, names have two words."""
LETTERS = 40
"""Longer texts, on average, are no names."""
LABELS, FEW_LABELS = 1.5, 0.5
"""Texts of more parts each, of which fewer differ, are lists of labels."""
NEARLY_ALL = 0.95
"""Two words with a comma between, of which so many differ, are no two labels but a name turned round."""
NO_NAME = (0.0, 0.0)


def name_share(rows: Rows, name: str, *, least_words: int = 2) -> tuple[float, float]:
    """Return which share of a column's texts are different names, and which of these have no digit.

    Long texts, numbers, dates, addresses of the web and lists of labels are no names; in a few rows, nor are texts of
    fewer words than ``least_words``.
    """
    column = decoded(rows.table[name])
    if not holds_text(column.type) or column.null_count > (1 - MOSTLY_NAMES) * len(column):
        return NO_NAME
    texts = pc.drop_null(present(pc.cast(column.take(spread_rows(len(column), SAMPLED)), pa.string())))
    if len(texts) < 2 or pc.mean(pc.utf8_length(texts)).as_py() >= LETTERS:
        return NO_NAME
    few = len(texts) < NAMED
    if few and pc.mean(pc.count_substring_regex(texts, r"\pL{2,}")).as_py() < least_words:
        return NO_NAME
    worded = pc.and_(
        pc.match_substring_regex(texts, r"\pL{2}"), pc.invert(pc.match_substring_regex(texts, r"@|://|^www\."))
    )
    if _are_lists(texts) or _mean(worded) < MOSTLY_NAMES or likely_written(texts, rows.written):
        return NO_NAME
    different = pc.count_distinct(texts).as_py() / len(texts)
    return 0.0 if few and different < 1 else different, 1 - _mean(pc.match_substring_regex(texts, "[0-9]"))


def _are_lists(texts: pa.ChunkedArray) -> bool:
    """Return whether texts are lists of labels; many that are a last name before a first name are none."""
    labels = pc.list_flatten(pc.split_pattern_regex(texts, r"\s*[,;|/]\s*"))
    if len(labels) <= LABELS * len(texts) or pc.count_distinct(labels).as_py() >= FEW_LABELS * len(labels):
        return False
    turned = pc.all(pc.match_substring_regex(texts, r"^[^,;|/]+, [^,;|/]+$")).as_py()
    return not (turned and len(texts) >= NAMED and pc.count_distinct(texts).as_py() >= NEARLY_ALL * len(texts))


def _mean(truths: pa.ChunkedArray) -> float:
    return float(pc.mean(pc.cast(truths, pa.int8())).as_py())
