"""A network as a workbook that Excel and LibreOffice open by a double click: sheets of nodes, links and the recipe.

Texts stand in it as texts, so that none is run as a formula; numbers, dates and truth values as such, whatever language
reads them; and cells by their titles, which the last sheet lists in the order chosen.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import InputError
from cube2net.model.corpus import is_list
from cube2net.model.names import cell_title
from cube2net.model.network import Network
from cube2net.network.export.plain_tables import (
    as_text,
    can_be_joined,
    json_text,
    plain_nodes,
    plain_table,
    rows,
    with_dates,
)
from cube2net.network.export.xml import escape

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14
"""The rows of a sheet, the header among them, and its columns."""
LARGEST = 2**31 - 1
"""The bytes of a part that every program unpacks."""
LONGEST = 32_767
"""The letters of a field, as UTF-16 counts them."""
DIGITS = 10**15
"""Spreadsheets keep the first fifteen digits of a number: a whole number from here on is a text."""
PIECE = 32_000
"""The letters of a recipe, which are ASCII, in one row."""
CELLS, BETWEEN = "cells", "; "
"""The column of the cells that hold an object, and what stands between their titles, and between values of a list."""
NAMES = {"source": "source_name", "target": "target_name"}
"""The columns of the names of a link's ends, by those of their ids."""
LOOKED_AT, WIDEST = 100, 48
"""So many rows say how wide a column is, which shows so many letters at most."""
CUT = "…"
"""What a text ends in where a field does not hold all of it."""
RECIPE, HEADER = "recipe", ("entry", "text")
"""The name of the last sheet and of its entry that is the recipe, and the names of its columns."""
EPOCH, UNIX = (1980, 1, 1, 0, 0, 0), 3
"""The time and the system that every part is of, so that the same network makes the same bytes."""
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PANE = '<pane ySplit="1" topLeftCell="A2" state="frozen"/>'
FROZEN = f'<sheetViews><sheetView workbookViewId="0">{PANE}</sheetView></sheetViews>'
"""What keeps the first row in sight."""
START, FIRST = datetime(1899, 12, 30), datetime(1900, 3, 1)
"""The day 0 of a workbook, and the first that all programs count alike."""
DAY, TIME = 1, 2
"""The styles of dates and of times, by their places."""
STYLED = "".join(f'<xf numFmtId="{form}" fontId="0" fillId="0" borderId="0" xfId="0"/>' for form in (0, 14, 22))
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill '
    'patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/>'
    '</borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    f'<cellXfs count="3">{STYLED}</cellXfs></styleSheet>'
)
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class NewSheet(NamedTuple):
    """What one sheet holds: the names of its columns, how many rows are below, these one by one, and the first."""

    header: Sequence[str]
    height: int
    rows: Iterable[tuple[Any, ...]]
    first: Sequence[tuple[Any, ...]] = ()

    @property
    def widths(self) -> list[int]:
        """How many letters each column shows: as many as its first rows and its name have, within limits."""
        columns = zip(self.header, *self.first, strict=True)
        return [min(max(len(str(value)) for value in column if value is not None) + 2, WIDEST) for column in columns]


def write_workbook(network: Network, path: Path) -> None:
    """Write the nodes, the links and the recipe of a network as the sheets of a workbook.

    Links have the names of their ends beside the ids. The sheet ``recipe`` has the form, the dimensions, the titles of
    the cells in the order chosen, and the recipe as JSON in as many rows as it needs. A text that is too long for a
    field ends in ``…``; more rows than a sheet holds are refused.
    """
    titles = [cell_title(labels) for labels in network.labels]
    nodes = with_dates(network.nodes, plain_nodes(network))
    links = _with_names(nodes, with_dates(network.links, plain_table(network.links)))
    told = list(_about(network, titles))
    sheets = {
        "nodes": _sheet(nodes, _ways(nodes) | {CELLS: partial(_titles, titles)}),
        "links": _sheet(links, _ways(links)),
        RECIPE: NewSheet(HEADER, len(told), told),
    }
    for name, sheet in sheets.items():
        _check(name, sheet)
    with path.open("wb") as out, zipfile.ZipFile(out, "w") as archive:
        for name, content in _frame(list(sheets)).items():
            _write_part(archive, name, [content])
        for at, sheet in enumerate(sheets.values(), start=1):
            _write_part(archive, f"xl/worksheets/sheet{at}.xml", _pieces(sheet))


def _sheet(table: pa.Table, ways: Mapping[str, Callable[[Any], str]]) -> NewSheet:
    first = list(_rows(table.slice(0, LOOKED_AT), ways))
    return NewSheet(table.column_names, len(table), _rows(table, ways), first)


def _with_names(nodes: pa.Table, links: pa.Table) -> pa.Table:
    """Return links with the names of their ends beside the ids, where these are not the names themselves."""
    if nodes["id"].equals(nodes["name"]) or set(NAMES.values()) & set(links.column_names):
        return links
    ids = nodes["id"].combine_chunks()
    for end, called in NAMES.items():
        links = links.append_column(called, nodes["name"].take(pc.index_in(links[end], value_set=ids)))
    return links


def _about(network: Network, titles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Give the rows of the last sheet."""
    yield "form", network.form
    yield from (("dimension", name) for name in network.dimensions)
    yield from (("cell", title) for title in titles)
    if network.recipe is not None:
        text = network.recipe.to_json()
        yield from ((RECIPE, text[at : at + PIECE]) for at in range(0, len(text), PIECE))


def _ways(table: pa.Table) -> dict[str, Callable[[Any], str]]:
    """Return what writes the lists of columns that have them."""
    return {name: _list_text(table[name]) for name in table.column_names if is_list(table.schema.field(name).type)}


def _list_text(column: pa.ChunkedArray) -> Callable[[Any], str]:
    """Return what writes lists: with a sign between the values, as JSON where one of a column has that sign itself."""
    if not can_be_joined(column, BETWEEN.strip()):
        return json_text
    one = as_text(column.type.value_type)
    return lambda values: BETWEEN.join(map(one, values))


def _titles(titles: Sequence[str], ranks: Sequence[int]) -> str:
    """Return the titles of cells by their ranks; where they are too long for a field, the first and a sign.

    >>> _titles(["⟨ACL⟩", "⟨KDD⟩"], [2, 1]), _titles(["⟨" + 9_998 * "x" + "⟩"], [1, 1, 1, 1])[-7:]
    ('⟨KDD⟩; ⟨ACL⟩', 'xxx⟩; …')
    """
    chosen = [titles[rank - 1] for rank in ranks]
    if len(held := BETWEEN.join(chosen)) <= LONGEST // 2:
        return held
    ends = accumulate(_units(title) + len(BETWEEN) for title in chosen)
    kept = sum(end + len(CUT) <= LONGEST for end in ends)
    return held if _units(held) <= LONGEST else BETWEEN.join([*chosen[:kept], CUT])


def _rows(table: pa.Table, ways: Mapping[str, Callable[[Any], str]]) -> Iterator[tuple[Any, ...]]:
    """Give the rows of a plain table, lists as texts."""
    places = [(table.column_names.index(name), way) for name, way in ways.items()]
    for row in rows(table):
        line = list(row)
        for at, way in places:
            line[at] = None if line[at] is None else way(line[at])
        yield tuple(line)


def _check(name: str, sheet: NewSheet) -> None:
    """Raise where a sheet would have more rows or columns than a workbook has room for."""
    counts = {"rows": (sheet.height + 1, MOST_ROWS), "columns": (len(sheet.header), MOST_COLUMNS)}
    for what, (count, most) in counts.items():
        if count > most:
            raise InputError(
                f"the sheet {name!r} would have {count:,} {what}, and a workbook holds {most:,}: "
                "write .csv or .parquet instead"
            )


def _write_part(archive: zipfile.ZipFile, name: str, pieces: Iterable[str]) -> None:
    about = zipfile.ZipInfo(name, EPOCH)
    about.compress_type, about.create_system = zipfile.ZIP_DEFLATED, UNIX
    size = 0
    with archive.open(about, "w") as out:
        for piece in chain([HEAD], pieces):
            encoded = piece.encode("utf-8")
            size += len(encoded)
            if size > LARGEST:
                raise InputError(
                    f"a sheet would have more than {LARGEST:,} bytes, which not every program opens: "
                    "write .csv or .parquet instead"
                )
            out.write(encoded)


def _pieces(sheet: NewSheet) -> Iterator[str]:
    """Give the XML of a sheet, a row at a time."""
    widths = enumerate(sheet.widths, start=1)
    shown = "".join(f'<col min="{at}" max="{at}" width="{width}" customWidth="1"/>' for at, width in widths)
    yield f'<worksheet xmlns="{MAIN}">{FROZEN}<cols>{shown}</cols><sheetData>'
    for row in chain([sheet.header], sheet.rows):
        yield f"<row>{''.join(map(_cell, row))}</row>"
    yield "</sheetData></worksheet>"


def _cell(value: object) -> str:
    """Return a field: numbers, dates and truth values as such, all else as a text; what is missing is empty.

    >>> _cell(2.5), _cell("=1+1"), _cell(None)
    ('<c><v>2.5</v></c>', '<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>', '<c/>')
    >>> _cell(True), _cell(date(2006, 2, 25)), _cell(datetime(2006, 2, 25, 12))
    ('<c t="b"><v>1</v></c>', '<c s="1"><v>38773</v></c>', '<c s="2"><v>38773.5</v></c>')
    """
    if value is None or value == "":
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < DIGITS):
        return f"<c><v>{value}</v></c>"
    if isinstance(value, date):
        if (days := _days(value)) is not None:
            return f'<c s="{TIME if isinstance(value, datetime) else DAY}"><v>{days}</v></c>'
        value = value.isoformat()
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(_short(str(value)))}</t></is></c>'


def _days(value: date) -> float | None:
    """Return how many days after the first a date or time is; None where a workbook has no number for it."""
    if isinstance(value, datetime):
        counted = value.tzinfo is None and value >= FIRST
        return (value - START).total_seconds() / 86_400 if counted else None
    time = datetime(value.year, value.month, value.day)
    return (time - START).days if time >= FIRST else None


def _short(text: str) -> str:
    """Return a text that a field holds: all of it, or its beginning and a sign.

    >>> _short("a"), len(_short(40_000 * "a")), _short(40_000 * "a")[-2:], len(_short(40_000 * "𝒂"))
    ('a', 32767, 'a…', 16384)
    """
    if len(text) <= LONGEST // 2 or _units(text) <= LONGEST:
        return text
    return text.encode("utf-16-le", "replace")[: 2 * (LONGEST - len(CUT))].decode("utf-16-le", "ignore") + CUT


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


def _frame(names: Sequence[str]) -> dict[str, str]:
    """Return the parts of a workbook around its sheets."""
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
