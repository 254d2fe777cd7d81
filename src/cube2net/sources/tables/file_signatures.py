"""What files are by their first bytes, where these are no text: pictures, documents, packed files."""

from __future__ import annotations

MAGIC = {
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"BM": "a picture",
    b"RIFF": "a picture, a sound or a film",
    b"%PDF": "a PDF document",
    b"{\\rtf": "a document of a word processor",
    b"PK\x03\x04": "a packed folder or a document",
    b"\xd0\xcf\x11\xe0": "a document or workbook of the time before 2007",
    b"\x1f\x8b": "a packed file",
    b"SQLite format 3": "a database",
    b"PAR1": "a Parquet file, whose name does not end in .parquet",
}
WORKBOOK = b"xl/workbook.xml"
UNPACKED = (b"\x1f\x8b",)
"""How files begin that are unpacked as they are read, whatever they are called."""
TEXTS = (b"%PDF", b"{\\rtf")
"""How files begin that look like text at first."""
LOOKED_AT = 65_536


def no_table(start: bytes) -> str | None:
    """Return what a file is that begins with some bytes, None where it may be a table of text.

    >>> no_table(b"\\x89PNG\\r\\n\\x1a\\n\\x00\\x00"), no_table(b"%PDF-1.7"), no_table(b"BMW;Rome")
    ('a picture', 'a PDF document', None)
    """
    magic = next((magic for magic in MAGIC if start.startswith(magic)), None)
    if magic is None or magic in UNPACKED or (magic not in TEXTS and b"\0" not in start):
        return None
    if start.startswith(b"PK") and b"xl/" in start:
        return "a workbook, whose name does not end in .xlsx"
    return MAGIC[magic]
