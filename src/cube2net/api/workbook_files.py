"""A network as a workbook that Excel and LibreOffice open by a double click: nodes and links, a sheet each.

Texts stand in it as texts, so that none is run as a formula; numbers, dates and truth values as such, whatever language
reads them; and cells by their titles.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any
from xml.sax.saxutils import escape

from cube2net.escaping import holdable
from cube2net.records import Network
from cube2net.records.cell_titles import cell_title

EPOCH = (1980, 1, 1, 0, 0, 0)
LONGEST = 32_000
"""A field of a workbook holds no longer text."""
MOST_ROWS = 1_000_000
CELLS, BETWEEN = "cells", "; "
"""The column of the cells that hold an object, and what stands between their titles."""
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


def workbook_bytes(network: Network) -> bytes:
    """Return the nodes and the links of a network as a workbook; the same network gives the same bytes."""
    nodes, links = network.to_arrow()
    titles = [cell_title(labels) for labels in network.labels]
    sheets = {"nodes": _columns(nodes, titles), "links": _columns(links, titles)}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*_frame(list(sheets)).items(), *_sheets(sheets)):
            about = zipfile.ZipInfo(name, EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, HEAD + content)
    return held.getvalue()


def _columns(table: Any, titles: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of columns; of the cells that hold an object, by their ranks, the titles."""
    columns = {name: table[name].to_pylist() for name in table.column_names}
    if CELLS in columns:
        columns[CELLS] = [BETWEEN.join(titles[rank - 1] for rank in ranks or ()) or None for ranks in columns[CELLS]]
    return columns


def _sheets(sheets: dict[str, dict[str, list[Any]]]) -> list[tuple[str, str]]:
    made = []
    for at, columns in enumerate(sheets.values(), start=1):
        rows = [tuple(columns), *zip(*columns.values(), strict=True)][:MOST_ROWS]
        body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        sheet = f'<worksheet xmlns="{MAIN}">{FROZEN}<sheetData>{body}</sheetData></worksheet>'
        made.append((f"xl/worksheets/sheet{at}.xml", sheet))
    return made


def _cell(value: object) -> str:
    """Return a field: numbers, dates and truth values as such, all else as a text.

    >>> _cell(2.5), _cell("=1+1"), _cell(None)
    ('<c><v>2.5</v></c>', '<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>', '<c/>')
    >>> _cell(True), _cell(date(2006, 2, 25)), _cell(datetime(2006, 2, 25, 12))
    ('<c t="b"><v>1</v></c>', '<c s="1"><v>38773</v></c>', '<c s="2"><v>38773.5</v></c>')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, date) and (days := _days(value)) is not None:
        return f'<c s="{TIME if isinstance(value, datetime) else DAY}"><v>{days}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    text = escape(holdable(str(value)[:LONGEST]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _days(value: date) -> float | None:
    """Return how many days after the first a date or time is; None where a workbook has no number for it."""
    if isinstance(value, datetime):
        time = value
        if time.tzinfo is not None:
            return None
    else:
        time = datetime(value.year, value.month, value.day)
    if time < FIRST:
        return None
    since = time - START
    return since.days if not isinstance(value, datetime) else since.total_seconds() / 86_400


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
