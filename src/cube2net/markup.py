"""Texts that XML and HTML can hold, whatever is in them."""

from __future__ import annotations

import unicodedata


class _Held(dict[int, str | int]):
    """For ``str.translate``: a sign that XML 1.0 or HTML cannot hold becomes its picture, or that of a lost one."""

    def __missing__(self, code: int) -> str | int:
        lost = unicodedata.category(chr(code)) in ("Cc", "Cs") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
        self[code] = 0xFFFD if lost else code
        return self[code]


_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"}
_HELD = _Held({**_PICTURES, 0x7F: "\u2421", **{ord(sign): ord(sign) for sign in "\t\n\r"}})


def holdable(text: str) -> str:
    r"""Return a text that XML and HTML can hold: line ends and tabs stay, other control characters become pictures.

    >>> print(holdable("a\x01b"), ascii(holdable("c\ud800\x9b\ufffed")))
    a␁b 'c\ufffd\ufffd\ufffdd'
    """
    return text.translate(_HELD)
