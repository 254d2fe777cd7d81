"""Workbooks as spreadsheet programs write them, made of bytes."""

import base64
import io
import struct
import zipfile
import zlib
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


def ods(sheets: Mapping[str, Rows]) -> bytes:
    """Return a workbook as LibreOffice saves it."""
    names = ("office:1.0", "table:1.0", "text:1.0")
    spaces = " ".join(f'xmlns:{name[:-4]}="urn:oasis:names:tc:opendocument:xmlns:{name}"' for name in names)
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>"
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": f'{HEAD}<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
            "content.xml": f"{HEAD}<office:document-content {spaces}>{body}</office:document-content>",
        }
    )


def _ods_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    kinds = {bool: ("boolean", "boolean-value"), date: ("date", "date-value")}
    kind, attribute = kinds.get(type(value), ("float", "value"))
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{escape(value)}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="{kind}" office:{attribute}="{str(value).lower()}"/>'


def xlsb(sheets: Mapping[str, Rows]) -> bytes:
    """Return a binary workbook as Excel saves it: records of a number, a length and a content."""
    names, parts = b"", {}
    for number, (name, rows) in enumerate(sheets.items(), start=1):
        names += _record(156, struct.pack("<II", 0, number) + _wide(f"rId{number}") + _wide(name))
        body = _record(148, bytes(16)) + _record(145)
        for at, row in enumerate(rows):
            body += _record(0, struct.pack("<I", at) + bytes(13))
            for column, value in enumerate(row):
                if value is not None:
                    kind = 6 if isinstance(value, str) else 4 if isinstance(value, bool) else 5
                    packed = _wide(value) if isinstance(value, str) else struct.pack("<?" if kind == 4 else "<d", value)
                    body += _record(kind, struct.pack("<II", column, 0) + packed)
        parts[f"xl/worksheets/sheet{number}.bin"] = body + _record(146)
    targets = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{number}.bin"/>'
        for number in range(1, len(sheets) + 1)
    )
    relations = f'{HEAD}<Relationships xmlns="{PACKAGE}">{targets}</Relationships>'
    book = _record(143) + names + _record(144) + _record(157)
    return zipped({**parts, "xl/workbook.bin": book, "xl/_rels/workbook.bin.rels": relations})


def _record(kind: int, content: bytes = b"") -> bytes:
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    length = len(content)
    return number + (bytes([length]) if length < 128 else bytes([length & 0x7F | 0x80, length >> 7])) + content


def _wide(text: str) -> bytes:
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


OLD_CUSTOMERS = zlib.decompress(
    base64.b64decode(
        "eNrtWE1IVFEU/u6d93RmUmfGNNBARMjKTIg2EdiUUC7CyQIpIqmxeYtB5xnPKdBFWTabIAhaFW0EC2phtbGigtq1CIyCgiDQgjaugoIW6uvc896b"
        "1CZwoATlfcM9955z7znn/pz7M+/NZGxq9GHtNJZgDwKYt0MoWSATlEIeEwXV27YqenmQku1jVSEUpIUs0fG0/HWpWkO13tOQeKC9JAp8pnQCZ5Do"
        "N436FUQb9yEpVB9ahUaxJ3GLUgVquF+VTE8zXc/0Prd9xnQvS64ybaW2U+I4JuOJpl1uHB+TDVxXQVTgEet8ZMkOVOOViuML14TTVsc+K53sWysV"
        "dVoZxkBr3W6YhqX4CG4jDKRSLZlMyyBhClUUB2P4YdcD370N/6Lel6+sXIDkPxfLS/8iD9IiFpKHCsivSw0Yhn1KqOjP0S64ojl7/+BZM2WYOZTj"
        "Kx/8Ou37bHpoFt1YR6xKFClOq+0Jq4XUEsmMEQAOWVnS6MoMJLNDJB0w0lkdSPZm0+co7zDShkWtuvoyGuurNm39pklZn2FYYXWz8EkUXXQSlfP+"
        "LCOaQoTLMd6lURrv7N1vbzt6OuMnWTLMt49zR21S44ONi0qDlCu4JgDPahNrbGN6ia1u5HIt0yoaNeWNndVu4cAIt7nMtY3kZyfjXXzzgvIWKudm"
        "Dj+uy32Jb6XyePv0UNX4h/goGmgNUqSvfiNoFs3i5g2FJ3EvF+5p9olpzR8nW1BG3b7b7kUcwZxaCEKMqcOp2RF5Trpz5XAB4gJ5TiNOy3M6cbrr"
        "Ryzxc16GWRbDnYjTXrCfEnic8qMW7DmNQrCfGU2dz++7JfnQZZDPHtUzZV8WsC/Z/j3XvrPKQXicsh9y7Uu2H+aZmdjt2Zdsn94sshITyhid/7+x"
        "ErEl8nS1xpYoGFthb1ZRaFZ9+PDhw4cPH6sTgl+KzutY47eg8zoqdb/rzFGa9z+TrFkcQT/9svQPcT9Myi0MFhU/G6ALz5ZYpo73vVDhKHm30Ise"
        "7kdv0fFLr1uxcDzLVoz+uy1UrP/5Yvr5n/3/AtJuJho="
    )
)
"""Customers in a sheet "Kunden", and a note in a sheet "Notiz", in a workbook of Excel 97 (.xls) that xlwt wrote."""
