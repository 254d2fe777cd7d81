"""XML that may mean harm, read element by element: no entity is ever declared or fetched, and nothing is held whole.

A file may name a document type, which is not read: the characters it would declare (``&uuml;``) are those of HTML. A
file with declarations of its own is refused, as they could grow without end or name other files.
"""

from __future__ import annotations

from collections.abc import Callable
from html.entities import html5
from typing import IO
from xml.parsers import expat

from cube2net.errors import Cube2netError, SourceError

PIECE = 2**18
LONGEST = 16 * 2**20
"""The most bytes that may go by without the end of what they belong to."""
DEEPEST = 100


class SafeXml:
    """Goes through one XML file and hands on the starts and ends of its elements, with errors that say the line.

    Text is had by setting ``expat.CharacterDataHandler``. Where the document type would name a character it goes to
    ``characters``, and the sentence about one that is not known to ``unknown``, which is raised where there is none.

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
    ) -> None:
        self.name, self._characters, self._unknown = name, characters, unknown
        reader = self.expat = expat.ParserCreate(encoding)
        reader.buffer_text = True
        reader.StartElementHandler = start
        reader.EndElementHandler = end
        reader.StartDoctypeDeclHandler = self._doctype
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

    def too_deep(self) -> SourceError:
        """Return the error about more than ``DEEPEST`` elements in each other."""
        return self.error(f"elements stand more than {DEEPEST} deep in each other")

    def read(
        self,
        file: IO[bytes],
        *,
        since: Callable[[], int] | None = None,
        too_long: str = "a value takes more than 16 MiB",
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Read a file to its end, and call ``tell`` after every piece of it.

        ``since`` says at which byte began what is still open, by default where expat stands; ``too_long`` is the
        sentence about what then takes more than ``LONGEST`` bytes.
        """
        fed = 0
        while piece := file.read(PIECE):
            self.feed(piece)
            fed += len(piece)
            if fed - (since() if since is not None else max(self.expat.CurrentByteIndex, 0)) > LONGEST:
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
            raise self.error(f"its encoding cannot be read ({error})") from None

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
