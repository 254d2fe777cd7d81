"""A network as a workbook that Excel and LibreOffice open by a double click: nodes and links, a sheet each.

Texts stand in it as texts, so that none is run as a formula, and numbers as numbers, whatever language reads them.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

from cube2net.escaping import holdable
from cube2net.records import Network

EPOCH = (1980, 1, 1, 0, 0, 0)
LONGEST = 32_000
"""A field of a workbook holds no longer text."""
MOST_ROWS = 1_000_000
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PANE = '<pane ySplit="1" topLeftCell="A2" state="frozen"/>'
FROZEN = f'<sheetViews><sheetView workbookViewId="0">{PANE}</sheetView></sheetViews>'
"""What keeps the first row in sight."""
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


def workbook_bytes(network: Network) -> bytes:
    """Return the nodes and the links of a network as a workbook; the same network gives the same bytes."""
    nodes, links = network.to_arrow()
    sheets = {"nodes": nodes, "links": links}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*_frame(list(sheets)).items(), *_sheets(sheets)):
            about = zipfile.ZipInfo(name, EPOCH)
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, HEAD + content)
    return held.getvalue()


def _sheets(sheets: dict[str, Any]) -> list[tuple[str, str]]:
    made = []
    for at, table in enumerate(sheets.values(), start=1):
        columns = [table[name].to_pylist() for name in table.column_names]
        rows = [table.column_names, *zip(*columns, strict=True)][:MOST_ROWS]
        body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        sheet = f'<worksheet xmlns="{MAIN}">{FROZEN}<sheetData>{body}</sheetData></worksheet>'
        made.append((f"xl/worksheets/sheet{at}.xml", sheet))
    return made


def _cell(value: object) -> str:
    """Return a field: a number as a number, all else as a text.

    >>> _cell(2.5), _cell("=1+1"), _cell(None)
    ('<c><v>2.5</v></c>', '<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>', '<c/>')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "<c/>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<c><v>{value}</v></c>"
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    text = escape(holdable(str(value)[:LONGEST]))
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _frame(names: Sequence[str]) -> dict[str, str]:
    """Return the parts of a workbook around its sheets."""
    parts = range(1, len(names) + 1)
    sheet = f'ContentType="{TYPE}.worksheet+xml"'
    kinds = "".join(f'<Override PartName="/xl/worksheets/sheet{at}.xml" {sheet}/>' for at in parts)
    sheets = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(names, start=1))
    of_sheet = f'Type="{RELATIONS}/worksheet"'
    links = "".join(f'<Relationship Id="rId{at}" {of_sheet} Target="worksheets/sheet{at}.xml"/>' for at in parts)
    return {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>{kinds}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
    }
