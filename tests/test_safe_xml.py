"""XML goes by element by element, whatever the pieces, and what could do harm is refused in one sentence."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util import xml as safe_xml
from cube2net._util.xml import SafeXml
from cube2net.errors import SourceError

TYPED = '<!DOCTYPE a SYSTEM "nowhere.dtd">'


class Heard:
    """All that a file says, in order."""

    def __init__(self, **given: Any) -> None:
        self.said: list[Any] = []
        self.xml = SafeXml(
            "a.xml",
            start=lambda tag, attributes: self.said.append((tag, attributes)),
            end=lambda tag: self.said.append(f"/{tag}"),
            characters=self.said.append,
            **given,
        )
        self.xml.expat.CharacterDataHandler = self.said.append


def heard(text: str | bytes, **given: Any) -> list[Any]:
    reader = Heard(**given)
    reader.xml.read(io.BytesIO(text.encode() if isinstance(text, str) else text))
    return reader.said


def refusal(text: str | bytes, **given: Any) -> str:
    with pytest.raises(SourceError) as caught:
        heard(text, **given)
    return str(caught.value)


def test_elements_and_texts_come_in_their_order() -> None:
    assert heard('<a x="1">one<b/>two</a>') == [("a", {"x": "1"}), "one", ("b", {}), "/b", "two", "/a"]


def test_a_character_that_only_a_document_type_would_declare_is_that_of_html() -> None:
    assert heard(f"{TYPED}<a>&uuml;&amp;&Alpha;</a>") == [("a", {}), "ü", "&", "Α", "/a"]


def test_a_character_of_unknown_name_is_told_or_refused() -> None:
    text = f"{TYPED}\n<a>&nobody;</a>"
    told: list[str] = []
    assert heard(text, unknown=told.append) == [("a", {}), "/a"]
    assert told == ["'&nobody;' names no known character"]
    assert refusal(text) == "a.xml line 2: '&nobody;' names no known character"


@pytest.mark.parametrize(
    "inside",
    [
        '<!ENTITY x "grows">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % x SYSTEM "http://nowhere.invalid/x.dtd"> %x;',
        "<!ELEMENT a ANY>",
        "",
    ],
)
def test_declarations_inside_the_document_type_are_refused(inside: str) -> None:
    assert refusal(f"<!DOCTYPE a [{inside}]>\n<a>&x;</a>") == (
        "a.xml line 1: declarations inside the document type are refused, as entities could read other files or grow "
        "without end"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a.xml line 1: not whole XML (no element found)"),
        ("<a>\n<b>", "a.xml line 2: not whole XML (no element found)"),
        ("<a>&uuml;</a>", "a.xml line 1: not whole XML (undefined entity)"),
        ("<a></b>", "a.xml line 1: not whole XML (mismatched tag)"),
        (
            '<?xml version="1.0" encoding="klingon"?>\n<a/>',
            "a.xml line 1: its encoding cannot be read (unknown encoding: klingon)",
        ),
        (
            '<?xml version="1.0" encoding="utf-7"?>\n<a/>',
            "a.xml line 1: its encoding cannot be read (multi-byte encodings are not supported)",
        ),
    ],
)
def test_what_is_no_whole_xml_says_the_line(text: str, sentence: str) -> None:
    assert refusal(text) == sentence


def test_an_encoding_that_is_given_goes_before_the_one_that_a_file_claims() -> None:
    text = '<?xml version="1.0" encoding="klingon"?><a>é</a>'
    assert heard(text, encoding="UTF-8") == [("a", {}), "é", "/a"]


def test_an_error_of_the_reader_itself_comes_out_as_it_is() -> None:
    reader = Heard()

    def refuse(tag: str, attributes: dict[str, str]) -> None:
        raise reader.xml.error(f"{tag} is refused")

    reader.xml.expat.StartElementHandler = refuse
    with pytest.raises(SourceError, match="^a.xml line 3: b is refused$"):
        reader.xml.feed(b"\n\n<b/>")


def test_a_fault_of_a_handler_is_not_taken_for_a_wrong_encoding() -> None:
    def fail(tag: str, attributes: dict[str, str]) -> None:
        raise KeyError("a fault inside")

    with pytest.raises(KeyError, match="a fault inside"):
        SafeXml("a.xml", start=fail, end=lambda tag: None).feed(b"<a/>")


def test_elements_may_be_nested_a_hundred_deep_and_no_deeper() -> None:
    assert len(heard("<b>" * 100 + "</b>" * 100)) == 200
    assert refusal("<b>" * 101 + "</b>" * 101) == "a.xml line 1: elements are nested more than 100 deep"


def test_a_document_type_is_refused_where_none_is_allowed() -> None:
    assert refusal(f"{TYPED}<a/>", allow_doctype=False) == (
        "a.xml line 1: a document type declaration is refused, as its entities could read other files or grow without "
        "end"
    )


@pytest.mark.parametrize("text", ["<!--" + "x" * 500, "<a " + "x" * 500, "<a>" + "x" * 500, f"<a>{'<b/>' * 200}"])
def test_what_has_no_end_is_refused_before_it_is_held_whole(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 10)
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 100)
    file = io.BytesIO(text.encode())
    since: Callable[[], int] | None = (lambda: 0) if "<b/>" in text else None
    with pytest.raises(SourceError, match="^a.xml line 1: it is too long$"):
        Heard().xml.read(file, since=since, too_long="it is too long")
    assert file.tell() == 110


def test_each_piece_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 4)
    told: list[int] = []
    file = io.BytesIO(b"<a>123</a>")
    Heard().xml.read(file, report=lambda: told.append(file.tell()))
    assert told == [4, 8, 10]


PARTS = st.lists(st.sampled_from(["<b>x</b>", "<b>", "x", "&uuml;", "&no;", "\n", "<c/>", "é"]), max_size=12)


@given(PARTS, st.integers(1, 9))
def test_the_size_of_pieces_changes_nothing(parts: list[str], size: int) -> None:
    data = f"{TYPED}<a>{''.join(parts)}</a>".encode()
    answers = []
    for most in (len(data), size):
        reader = Heard()
        try:
            for at in range(0, len(data) + most, most):
                reader.xml.feed(data[at : at + most])
            answers.append("".join(map(str, reader.said)))
        except SourceError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]
