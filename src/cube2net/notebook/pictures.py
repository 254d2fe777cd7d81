"""A network as a picture that a notebook shows in its place, and that can be kept as a file."""

from __future__ import annotations

import base64
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from cube2net import pipeline
from cube2net.arguments import path_of
from cube2net.atomic_files import write_files
from cube2net.errors import ParameterError, whole_number
from cube2net.escaping import short
from cube2net.notebook.html_parts import escaped
from cube2net.records import Network

WIDTH, NARROWEST, WIDEST = 760, 200, 10_000
ENDING = ".svg"

_drawn: WeakKeyDictionary[Network, dict[tuple[str, int], Picture]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Picture:
    """A picture: ``svg`` is its text; a notebook shows it as an image, also where it is not trusted.

    ``alt`` says what is on it to those who do not see it.
    """

    svg: str = field(repr=False)
    alt: str
    width: int = WIDTH

    def _repr_html_(self) -> str:
        return self.tag

    @property
    def source(self) -> str:
        """The picture as an address that carries it."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg.encode()).decode()}"

    @property
    def tag(self) -> str:
        """The picture as an ``<img>``."""
        return (
            f'<img src="{self.source}" alt="{escaped(self.alt, 400)}" width="{self.width}" '
            'style="max-width:100%;height:auto">'
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture to an ``.svg`` file, whole or not at all, and return its path."""
        place = path_of(path, "the file of the picture")
        if place.suffix.lower() != ENDING:
            raise ParameterError(
                f"the picture is written as {ENDING}, got {place.name!r} (draw_network writes .png and .pdf too)"
            )
        return write_files({place: self._write})[0]

    def _write(self, path: Path) -> None:
        path.write_bytes(self.svg.encode())


def plot_of(network: Network, title: str | None = None, width: int = WIDTH) -> Picture:
    """Return a picture of a network; the same question again gives the same picture at once."""
    whole_number("width", width, NARROWEST, WIDEST)
    known = _drawn.setdefault(network, {})
    key = title or "", width
    if key not in known:
        known[key] = Picture(pipeline.picture_text(network, title=key[0], width=width), _alt(network, key[0]), width)
    return known[key]


def _alt(network: Network, title: str) -> str:
    said = f"{title}: {pipeline.described(network)}" if title else pipeline.described(network)
    counts = Counter(network.query.labels or ())
    labels = ", ".join(f"{short(label, 40)} ({count:,})" for label, count in counts.most_common(6))
    return f"{said}; coloured by label: {labels}" if labels else said
