"""Recipes are read from files of any origin within limits, and what could do harm is refused in one sentence."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from cube2net._util import xml as safe_xml
from cube2net.errors import InputError
from cube2net.network.export.recipes import read_recipe

LAUGHS = '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
BODIES = {
    ".graphml": '<graphml xmlns="g"><key id="r" for="graph" attr.name="recipe"/><graph><data key="r">{}</data>'
    "<node/></graph></graphml>",
    ".gexf": '<gexf xmlns="g"><meta><description>a network\nrecipe: {}</description></meta><graph/></gexf>',
}


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        read_recipe(path)
    text = str(error.value)
    assert "\n" not in text and len(text) < 400 and path.name in text
    return text


def refused_bytes(folder: Path, name: str, content: bytes | str) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return refusal(path)


@pytest.mark.parametrize("suffix", BODIES)
def test_entities_that_a_file_declares_are_not_expanded(suffix: str, tmp_path: Path) -> None:
    text = refused_bytes(tmp_path, f"net{suffix}", LAUGHS + BODIES[suffix].format("&b;"))
    assert text == (
        f"net{suffix} line 1: declarations inside the document type are refused, as entities could read other files "
        "or grow without end"
    )


@pytest.mark.parametrize("suffix", BODIES)
@pytest.mark.parametrize("start", ["<a b='", "<a", "<a><!--"])
def test_a_token_without_end_is_refused(
    suffix: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_xml, "PIECE", 100)
    monkeypatch.setattr(safe_xml, "MAX_VALUE_BYTES", 1000)
    text = refused_bytes(tmp_path, f"net{suffix}", start + "x" * 5000)
    assert text == f"net{suffix} line 1: a value takes more than 16 MiB"


@pytest.mark.parametrize("suffix", BODIES)
@pytest.mark.parametrize("encoding", ["rot13", "hex", "klingon", "undefined"])
def test_an_encoding_that_is_none_of_text_is_refused(suffix: str, encoding: str, tmp_path: Path) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    text = refused_bytes(tmp_path, f"net{suffix}", head + BODIES[suffix].format("{}"))
    assert text.startswith(f"net{suffix} line 1: its encoding cannot be read (")


@pytest.mark.parametrize("suffix", BODIES)
def test_a_recipe_is_read_before_the_nodes_which_are_not_read(suffix: str, tmp_path: Path) -> None:
    body = BODIES[suffix].format("[1, &#x22;a&#x22;, <b/>]")
    assert "a recipe is JSON, got" in refused_bytes(tmp_path, f"net{suffix}", body)
    cut = BODIES[suffix].format("[]").partition("<node" if suffix == ".graphml" else "<graph/>")[0]
    assert refused_bytes(tmp_path, f"net{suffix}", cut).endswith("a recipe is a JSON object, got []")
    none = BODIES[suffix].replace("recipe", "form").format("x")
    assert "holds no recipe" in refused_bytes(tmp_path, f"net{suffix}", none.replace("<node/>", "<node/><<<"))


def npz(**members: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return held.getvalue()


def npy(header: str, body: bytes = b"") -> bytes:
    padded = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + body


TEXT = "{{'descr': '<U{}', 'fortran_order': False, 'shape': (), }}"


def test_an_array_that_unpacks_to_far_more_than_the_file_is_refused(tmp_path: Path) -> None:
    held = io.BytesIO()
    np.savez_compressed(held, recipe=np.array("x" * (6 * 2**20)))
    text = refused_bytes(tmp_path, "net.npz", held.getvalue())
    assert text.startswith("net.npz unpacks to more than 100 times its size (25,")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npz(recipe=npy(TEXT.format(2), "{}".encode("utf-32-le"))), "the recipe has an odd cube"),
        (npz(recipe=npy(TEXT.format(2), b"{")), "holds no text"),
        (npz(recipe=npy(TEXT.format(10**9), b"{")), "holds no text"),
        (npz(recipe=npy(TEXT.format(0))), "a recipe is JSON, got"),
        (npz(recipe=npy(TEXT.format(1), b"\xff" * 4)), "cannot be read: 'utf-32-le' codec"),
        (npz(recipe=npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999,), }")), "holds no text"),
        (npz(recipe=npy("{'descr': '|O', 'fortran_order': False, 'shape': (), }", b"\x80\x04N.")), "holds no text"),
        (npz(recipe=npy("{'descr': '<U2', 'shape': ((((")), "holds no text"),
        (npz(recipe=npy("'''")), "holds no text"),
        (npz(recipe=npy("(" * 110)), "holds no text"),
        (npz(recipe=b""), "holds no text"),
        (npz(other=b""), "holds no recipe"),
        (
            npz(recipe=npy(TEXT.format(2), b"x" * 8)).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x00\x00\x63\x00"),
            "",
        ),
        (
            npz(recipe=npy(TEXT.format(2), b"x" * 8)).replace(b"\x14\x00\x00\x00\x08\x00", b"\x14\x00\x01\x00\x08\x00"),
            "",
        ),
    ],
)
def test_an_array_that_is_no_recipe_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    assert message in refused_bytes(tmp_path, "net.npz", content)


@pytest.mark.parametrize("about", [b"[]", b"3", b"\xff", b"[" * 100_000, b'{"recipe": []}'])
def test_a_parquet_file_whose_notes_are_no_recipe_is_refused(about: bytes, tmp_path: Path) -> None:
    for name in ("net.nodes.parquet", "net.links.parquet", "net.parquet"):
        parquet.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"cube2net": about}), tmp_path / name)
    with pytest.raises(InputError) as error:
        read_recipe(tmp_path / "net.parquet")
    assert "\n" not in str(error.value)


def cut_anywhere(content: bytes) -> Callable[[int], bytes]:
    return lambda at: content[:at] + b"\xff" + content[at + 1 :]


def test_a_damaged_array_file_is_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    damaged = cut_anywhere(npz(recipe=npy(TEXT.format(2), "{}".encode("utf-32-le"))))
    for at in range(len(damaged(0))):
        refused_bytes(tmp_path, "net.npz", damaged(at))
