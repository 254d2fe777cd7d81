"""Text that any XML 1.0 reader gives back as it was."""

from __future__ import annotations

ADVICE = "XML cannot tell them apart: write .json, .csv or .parquet instead"

_ESCAPES = {
    **{code: chr(0x2400 + code) for code in range(0x20)},
    **{code: f"&#{code};" for code in (0x09, 0x0A, 0x0D)},
    **dict.fromkeys((65534, 65535, *range(55296, 57344)), "�"),
    **{ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord('"'): "&quot;"},
}


def escape(text: str) -> str:
    r"""Return a text safe inside an element or a quoted attribute; line ends and tabs are kept.

    XML 1.0 has no way at all to write the other control characters: these become their pictures. Halves of signs and
    numbers that are none become the sign for a lost one.

    >>> print(escape('a "b" & <c>\n\x01'))
    a &quot;b&quot; &amp; &lt;c&gt;&#10;␁
    """
    return text.translate(_ESCAPES)
