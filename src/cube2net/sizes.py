"""Amounts of bytes, as people write them."""

from __future__ import annotations

import re

from cube2net.errors import ParameterError

UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def parse_size(text: str, what: str) -> int:
    """Return an amount in bytes; ``what`` says in an error what it is the amount of.

    >>> parse_size("4GB", "memory"), parse_size("512 MiB", "memory"), parse_size("1.5g", "memory")
    (4000000000, 536870912, 1500000000)
    """
    pattern = r"\s*(\d+(?:\.\d+)?)\s*([kmgt])(i?)b?\s*"
    found = re.fullmatch(pattern, text, re.IGNORECASE) if isinstance(text, str) else None
    if found is None or float(found[1]) == 0:
        raise ParameterError(f"{what} is {text!r}, expected a number and a unit, such as 512MB or 4GB")
    unit = UNITS[found[2].lower()]
    power = list(UNITS.values()).index(unit) + 1
    return int(float(found[1]) * (1024**power if found[3] else unit))
