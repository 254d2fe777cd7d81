"""A network as a workbook for Excel and LibreOffice: sheets of nodes, links and the recipe.

Texts are written as texts, so that none runs as a formula, and numbers, dates and booleans with their types. The cells
of the cube are named by their titles, which the last sheet lists in the order chosen.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import InputError
from cube2net.model.corpus import is_list
from cube2net.model.network import Network
from cube2net.model.node_names import cell_title
from cube2net.network.export.plain_tables import choose_list_format, iterate_rows, plain_nodes, plain_table, with_dates
from cube2net.network.export.xml import escape

MAX_ROWS, MAX_COLUMNS = 2**20, 2**14
"""Rows of a sheet, including the header, and columns, as Excel limits them."""
MAX_TEXT_UNITS = 32_767
"""Length of a text in UTF-16 code units."""
MAX_INTEGER = 10**15
"""Spreadsheets keep fifteen digits of a number: integers from here on are written as texts."""
RECIPE_PIECE_LETTERS = 32_000
"""Letters of the recipe, which are ASCII, in one row."""
LIST_SEPARATOR = "; "
END_NAMES = {"source": "source_name", "target": "target_name"}
"""Columns of the names of a link's ends, by those of their ids."""
WIDTH_SAMPLE_ROWS, MAX_WIDTH = 100, 48
"""Rows from which the width of a column is computed, and its limit in letters."""
CUT = "…"
"""End of a text that was cut to the length of a field."""
RECIPE, RECIPE_HEADER = "recipe", ("entry", "text")
"""Name of the last sheet and of its entries that hold the recipe, and the header of that sheet."""
ZIP_TIME, ZIP_SYSTEM_UNIX = (1980, 1, 1, 0, 0, 0), 3
"""Fixed time and system of every part, so that the same network gives the same bytes."""
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PANE = '<pane ySplit="1" topLeftCell="A2" state="frozen"/>'
FROZEN_HEADER = f'<sheetViews><sheetView workbookViewId="0">{PANE}</sheetView></sheetViews>'
DAY_ZERO, FIRST_SAFE_DAY = datetime(1899, 12, 30), datetime(1900, 3, 1)
"""Day 0 of a workbook, and the first day that all programs number alike."""
DAY_STYLE, TIME_STYLE = 1, 2
STYLED = "".join(f'<xf numFmtId="{form}" fontId="0" fillId="0" borderId="0" xfId="0"/>' for form in (0, 14, 22))
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill '
    'patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/>'
    '</borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    f'<cellXfs count="3">{STYLED}</cellXfs></styleSheet>'
)
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class SheetTable(NamedTuple):
    """A sheet: the names of its columns, the number of rows, an iterable of the rows, and the first rows."""

    header: Sequence[str]
    height: int
    rows: Iterable[tuple[Any, ...]]
    first: Sequence[tuple[Any, ...]] = ()

    def compute_widths(self) -> list[int]:
        """Return the width of each column in letters, from its name and first rows."""
        columns = zip(self.header, *self.first, strict=True)
        return [min(max(len(str(value)) for value in column if value is not None) + 2, MAX_WIDTH) for column in columns]


def write_workbook(network: Network, path: Path) -> None:
    """Write the nodes, the links and the recipe of a network as the sheets of a workbook.

    Links have the names of their ends beside the ids. The sheet ``recipe`` has the form, the dimensions, the titles of
    the cells in the order chosen, and the recipe as JSON in as many rows as it needs. A text that is too long for a
    field ends in ``…``. A table with more rows than a sheet holds is refused.
    """
    titles = [cell_title(labels) for labels in network.labels]
    nodes = with_dates(network.nodes.to_arrow(), plain_nodes(network))
    links = _add_end_names(nodes, with_dates(network.links.to_arrow(), plain_table(network.links.to_arrow())))
    recipe = list(_list_recipe_rows(network, titles))
    sheets = {
        "nodes": _make_sheet(nodes, {"cells": lambda ranks: LIST_SEPARATOR.join(titles[rank - 1] for rank in ranks)}),
        "links": _make_sheet(links, {}),
        RECIPE: SheetTable(RECIPE_HEADER, len(recipe), recipe),
    }
    for name, sheet in sheets.items():
        for what, count, limit in (("rows", sheet.height + 1, MAX_ROWS), ("columns", len(sheet.header), MAX_COLUMNS)):
            if count > limit:
                raise InputError(
                    f"the sheet {name!r} would have {count:,} {what}, and a workbook holds {limit:,}: "
                    "write .csv or .parquet instead"
                )
    with path.open("wb") as out, zipfile.ZipFile(out, "w") as archive:
        for name, content in _make_frame(list(sheets)).items():
            _write_part(archive, name, [content])
        for number, sheet in enumerate(sheets.values(), start=1):
            _write_part(archive, f"xl/worksheets/sheet{number}.xml", _format_sheet(sheet))


def _make_sheet(table: pa.Table, formats: Mapping[str, Callable[[Any], str]]) -> SheetTable:
    """Return the sheet of a plain table; ``formats`` has functions that format columns of lists."""
    lists = {
        name: formats.get(name) or choose_list_format(table[name], LIST_SEPARATOR)
        for name in table.column_names
        if is_list(table.schema.field(name).type)
    }
    places = [(table.column_names.index(name), text) for name, text in lists.items()]

    def format_rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
        for row in iterate_rows(table):
            line = list(row)
            for place, text in places:
                line[place] = None if line[place] is None else text(line[place])
            yield tuple(line)

    return SheetTable(
        table.column_names, len(table), format_rows(table), list(format_rows(table.slice(0, WIDTH_SAMPLE_ROWS)))
    )


def _add_end_names(nodes: pa.Table, links: pa.Table) -> pa.Table:
    """Return links with the names of their ends, unless ids are names or the columns exist."""
    if nodes["id"].equals(nodes["name"]) or set(END_NAMES.values()) & set(links.column_names):
        return links
    ids = nodes["id"].combine_chunks()
    for end, name in END_NAMES.items():
        links = links.append_column(name, nodes["name"].take(pc.index_in(links[end], value_set=ids)))
    return links


def _list_recipe_rows(network: Network, titles: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "form", network.form
    yield from (("dimension", name) for name in network.dimensions)
    yield from (("cell", title) for title in titles)
    if network.recipe is not None:
        text = network.recipe.to_json()
        for start in range(0, len(text), RECIPE_PIECE_LETTERS):
            yield RECIPE, text[start : start + RECIPE_PIECE_LETTERS]


def _write_part(archive: zipfile.ZipFile, name: str, pieces: Iterable[str]) -> None:
    info = zipfile.ZipInfo(name, ZIP_TIME)
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, ZIP_SYSTEM_UNIX
    with archive.open(info, "w") as out:
        for piece in chain([HEAD], pieces):
            out.write(piece.encode("utf-8"))


def _format_sheet(sheet: SheetTable) -> Iterator[str]:
    """Yield the XML of a sheet, one row at a time."""
    columns = "".join(
        f'<col min="{number}" max="{number}" width="{width}" customWidth="1"/>'
        for number, width in enumerate(sheet.compute_widths(), start=1)
    )
    yield f'<worksheet xmlns="{MAIN}">{FROZEN_HEADER}<cols>{columns}</cols><sheetData>'
    for row in chain([sheet.header], sheet.rows):
        yield f"<row>{''.join(map(_format_cell, row))}</row>"
    yield "</sheetData></worksheet>"


def _format_cell(value: object) -> str:
    """Return the XML of a field: numbers, dates and booleans with their types, all else as a text.

    >>> _format_cell(2.5), _format_cell("=1+1"), _format_cell(None)
    ('<c><v>2.5</v></c>', '<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>', '<c/>')
    >>> _format_cell(True), _format_cell(date(2006, 2, 25)), _format_cell(datetime(2006, 2, 25, 12))
    ('<c t="b"><v>1</v></c>', '<c s="1"><v>38773</v></c>', '<c s="2"><v>38773.5</v></c>')
    """
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < MAX_INTEGER):
        return f"<c><v>{value}</v></c>"
    if isinstance(value, date):
        if (days := _count_days(value)) is not None:
            return f'<c s="{TIME_STYLE if isinstance(value, datetime) else DAY_STYLE}"><v>{days}</v></c>'
        value = value.isoformat()
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(_cut_text(str(value)))}</t></is></c>'


def _count_days(value: date) -> float | None:
    """Return the number of a date or time in a workbook; None if it has none there."""
    if isinstance(value, datetime):
        has_number = value.tzinfo is None and value >= FIRST_SAFE_DAY
        return (value - DAY_ZERO).total_seconds() / 86_400 if has_number else None
    time = datetime(value.year, value.month, value.day)
    return (time - DAY_ZERO).days if time >= FIRST_SAFE_DAY else None


def _cut_text(text: str) -> str:
    """Return a text cut to the length of a field.

    >>> _cut_text("a"), len(_cut_text(40_000 * "a")), _cut_text(40_000 * "a")[-2:], len(_cut_text(40_000 * "𝒂"))
    ('a', 32767, 'a…', 16384)
    """
    if len(text) <= MAX_TEXT_UNITS // 2:
        return text
    encoded = text.encode("utf-16-le", "replace")
    if len(encoded) <= 2 * MAX_TEXT_UNITS:
        return text
    return encoded[: 2 * (MAX_TEXT_UNITS - len(CUT))].decode("utf-16-le", "ignore") + CUT


def _make_frame(names: Sequence[str]) -> dict[str, str]:
    """Return the parts of a workbook other than its sheets, by name."""
    parts = range(1, len(names) + 1)
    sheet = f'ContentType="{TYPE}.worksheet+xml"'
    kinds = "".join(f'<Override PartName="/xl/worksheets/sheet{at}.xml" {sheet}/>' for at in parts)
    sheets = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(names, start=1))
    of_sheet = f'Type="{RELATIONS}/worksheet"'
    links = "".join(f'<Relationship Id="rId{at}" {of_sheet} Target="worksheets/sheet{at}.xml"/>' for at in parts)
    links += f'<Relationship Id="rId{len(names) + 1}" Type="{RELATIONS}/styles" Target="styles.xml"/>'
    kinds += f'<Override PartName="/xl/styles.xml" ContentType="{TYPE}.styles+xml"/>'
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{sheets}</sheets></workbook>',
        "xl/styles.xml": STYLES,
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
    }
