"""Workbooks as spreadsheet programs write them, made of bytes."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from xml.sax.saxutils import escape, quoteattr

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
STYLES = (
    f'{HEAD}<styleSheet {MAIN}><numFmts count="2"><numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy"/>'
    '<numFmt numFmtId="165" formatCode="#,##0.00\\ &quot;days&quot;"/></numFmts>'
    '<cellStyleXfs count="1"><xf numFmtId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)
Rows = Sequence[Sequence[object]]


def place(row: int, column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row}"


def cell(value: object, at: str, shared: dict[str, int], inline: bool, from_1904: bool) -> str:
    if value is None:
        return f'<c r="{at}" s="3"/>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, date | datetime):
        whole = datetime(value.year, value.month, value.day) if type(value) is date else value
        days = (whole - datetime(1904, 1, 1) if from_1904 else whole - datetime(1899, 12, 30)).total_seconds() / 86_400
        return f'<c r="{at}" s="{1 if at[0] < "C" else 2}"><v>{days:.10g}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{at}" s="3"><f>1+1</f><v>{value!r}</v></c>'
    text = str(value)
    if text.startswith("#"):
        return f'<c r="{at}" t="e"><v>{text}</v></c>'
    if inline:
        return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(text)}</t></is></c>'
    return f'<c r="{at}" t="s"><v>{shared.setdefault(text, len(shared))}</v></c>'


def workbook(sheets: Mapping[str, Rows], *, inline: bool = False, from_1904: bool = False) -> bytes:
    """Return a workbook of sheets; texts are shared, as Excel writes them, or inline, as some libraries do."""
    shared: dict[str, int] = {}
    parts: dict[str, str] = {}
    for number, rows in enumerate(sheets.values(), start=1):
        lines = [
            f'<row r="{at}">'
            + "".join(cell(v, place(at, c), shared, inline, from_1904) for c, v in enumerate(row, start=1))
            + "</row>"
            for at, row in enumerate(rows, start=1)
            if row
        ]
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f"{HEAD}<worksheet {MAIN}><sheetData>{''.join(lines)}</sheetData></worksheet>"
        )
    texts = "".join(
        f"<si><r><t>{escape(text[:2])}</t></r><r><t xml:space='preserve'>{escape(text[2:])}</t></r>"
        "<rPh sb='0' eb='1'><t>sound</t></rPh></si>"
        for text in shared
    )
    names = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, start=1)
    )
    targets = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in range(1, len(sheets) + 1)
    )
    counted = ' date1904="1"' if from_1904 else ""
    parts |= {
        "xl/workbook.xml": f'{HEAD}<workbook {MAIN} xmlns:r="{RELATIONS}"><workbookPr{counted}/>'
        f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}">{targets}</Relationships>',
        "xl/styles.xml": STYLES,
    }
    if shared:
        parts["xl/sharedStrings.xml"] = f"{HEAD}<sst {MAIN}>{texts}</sst>"
    return zipped(parts)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def unzipped(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
