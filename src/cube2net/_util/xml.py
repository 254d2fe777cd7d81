"""Read untrusted XML element by element, within limits.

No entity is declared or fetched, no token or value may exceed ``MAX_VALUE_BYTES`` (expat takes time quadratic in the
length of a token), and elements may be nested ``MAX_DEPTH`` deep. A file may name a document type, which is not read:
the characters it would declare (``&uuml;``) are those of HTML. A file with declarations of its own is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from html.entities import html5
from typing import IO
from xml.parsers import expat

from cube2net.errors import Cube2netError, SourceError, first_line

PIECE = 2**20
"""Bytes per read. ``pyexpat`` feeds expat at most 1 MiB at a time, so larger pieces save nothing."""
MAX_VALUE_BYTES = 16 * 2**20
"""The most bytes that may go by without the end of what they belong to."""
MAX_DEPTH = 100


class SafeXml:
    """Goes through one XML file and hands on the starts and ends of its elements, with errors that say the line.

    Text is had by setting ``expat.CharacterDataHandler``. Where the document type would name a character it goes to
    ``characters``, and the sentence about one that is not known to ``unknown``, which is raised where there is none.
    ``depth`` counts the open elements: the one that starts is among them, the one that ends no longer.

    >>> import io
    >>> texts = []
    >>> xml = SafeXml("a.xml", start=lambda tag, given: None, end=lambda tag: None, characters=texts.append)
    >>> xml.read(io.BytesIO(b'<!DOCTYPE a SYSTEM "a.dtd"><a>&uuml;</a>'))
    >>> texts
    ['ü']
    """

    def __init__(
        self,
        name: str,
        *,
        start: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None],
        characters: Callable[[str], None] = lambda text: None,
        unknown: Callable[[str], None] | None = None,
        encoding: str | None = None,
        allow_doctype: bool = True,
    ) -> None:
        self.name, self._characters, self._unknown = name, characters, unknown
        self.depth = 0
        self._begun: int | None = None
        self._on_start, self._on_end = start, end
        reader = self.expat = expat.ParserCreate(encoding)
        reader.buffer_text = True
        reader.StartElementHandler = self._start
        reader.EndElementHandler = self._end
        reader.StartDoctypeDeclHandler = self._doctype if allow_doctype else self._refuse_doctype
        reader.EntityDeclHandler = self._refuse
        reader.ExternalEntityRefHandler = self._refuse
        reader.SkippedEntityHandler = self._named

    @property
    def place(self) -> str:
        """Return the file and the line, as errors name them."""
        return f"{self.name} line {self.expat.CurrentLineNumber:,}"

    def error(self, sentence: str) -> SourceError:
        """Return an error about the line that is being read."""
        return SourceError(f"{self.place}: {sentence}")

    def read(
        self,
        file: IO[bytes],
        *,
        since: Callable[[], int] | None = None,
        too_long: str = "a value takes more than 16 MiB",
        check: Callable[[bytes], None] = lambda piece: None,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Read a file to its end; call ``check`` with every piece before it is parsed, and ``tell`` after that.

        ``since`` says at which byte began what is still open, by default the last tag; ``too_long`` is the sentence
        about what then takes more than ``MAX_VALUE_BYTES`` bytes.
        """
        fed = 0
        while piece := file.read(PIECE):
            check(piece)
            self.feed(piece)
            fed += len(piece)
            if fed - (since() if since is not None else self._begun or 0) > MAX_VALUE_BYTES:
                raise self.error(too_long)
            tell()
        self.feed(b"")

    def feed(self, piece: bytes) -> None:
        """Take in one piece of a file; an empty one is its end."""
        try:
            self.expat.Parse(piece, not piece)
        except Cube2netError:
            raise
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code)
            raise SourceError(f"{self.name} line {error.lineno:,}: not whole XML ({what})") from None
        except (LookupError, ValueError) as error:
            if self._begun is not None:
                raise  # an encoding is known before the first tag: this is an error of a handler
            raise self.error(f"its encoding cannot be read ({first_line(error).partition(';')[0]})") from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._begun = self.expat.CurrentByteIndex
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"elements stand more than {MAX_DEPTH} deep in each other")
        self._on_start(tag, attributes)

    def _end(self, tag: str) -> None:
        self._begun = self.expat.CurrentByteIndex
        self.depth -= 1
        self._on_end(tag)

    def _refuse_doctype(self, *_: object) -> None:
        raise self.error(
            "a document type declaration is refused, as its entities could read other files or grow without end"
        )

    def _doctype(self, _name: str, _system: str | None, _public: str | None, inside: bool) -> None:
        if inside:
            self._refuse()

    def _refuse(self, *_: object) -> int:
        raise self.error(
            "declarations inside the document type are refused, as entities could read other files or grow without end"
        )

    def _named(self, name: str, _is_parameter: bool) -> None:
        character = html5.get(f"{name};")
        if character is not None:
            self._characters(character)
            return
        sentence = f"'&{name[:40]};' names no known character"
        if self._unknown is None:
            raise self.error(sentence)
        self._unknown(sentence)
