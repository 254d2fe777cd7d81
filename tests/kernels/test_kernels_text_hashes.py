import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.kernels.text import compute_checksums, hash_texts

MASK = 2**64 - 1


def hash_twin(text: str) -> int:
    number = 14695981039346656037
    for byte in text.encode():
        number = (number ^ byte) * 1099511628211 & MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor & MASK
    return number ^ number >> 33


@given(st.lists(st.text(max_size=12), max_size=6))
def test_a_text_has_the_number_that_its_bytes_make(texts: list[str]) -> None:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    numbers = hash_texts(offsets, np.frombuffer(b"".join(parts), np.uint8))
    assert numbers.tolist() == [hash_twin(text) for text in texts]


@pytest.mark.parametrize(("text", "number"), [("", 0xEFD01F60BA992926), ("a", 0x82A2A958A9BECE5B)])
def test_the_number_of_a_text_never_changes_for_cubes_on_disk_have_it(text: str, number: int) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    assert hex(int(hash_texts(np.array([0, len(data)]), data)[0])) == hex(number)


@given(st.lists(st.text(max_size=12), max_size=6))
def test_the_checksum_of_a_text_is_that_of_zlib(texts: list[str]) -> None:
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    numbers = compute_checksums(offsets, np.frombuffer(b"".join(parts), np.uint8))
    assert numbers.tolist() == [zlib.crc32(part) for part in parts]
