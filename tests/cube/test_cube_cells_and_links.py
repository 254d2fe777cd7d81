import errno
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net._util.arrays import links_from_pairs
from cube2net.cube.building.cells import pack_members
from cube2net.cube.building.links import pack_links
from cube2net.cube.storage.writer import allocate_in_files
from cube2net.errors import InputError

LINKS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.25, 1.0, 3.0])), max_size=15)


def table_of(links: list[tuple[int, int, float]], chunk: int = 100) -> pa.Table:
    columns = list(zip(*links, strict=True)) or [(), (), ()]
    types = (pa.int32(), pa.int32(), pa.float32())
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    whole = pa.table(dict(zip(("source", "target", "weight"), arrays, strict=True)))
    return pa.Table.from_batches(whole.to_batches(chunk), whole.schema)


@given(LINKS, st.integers(1, 4), st.booleans())
def test_links_in_any_order_are_packed_as_sorting_would(links: list, chunk: int, ordered: bool) -> None:
    if ordered:
        once = {(a, b): weight for a, b, weight in links if a < b}
        links = [(a, b, weight) for (a, b), weight in sorted(once.items())]
    table = table_of(links, chunk)
    expected = links_from_pairs(*(table[name].to_numpy() for name in table.column_names), 6)
    with TemporaryDirectory() as folder:
        for packed in (pack_links(table, 6), pack_links(table, 6, allocate_in_files(Path(folder)))):
            for name in ("indptr", "indices", "weights"):
                got, want = getattr(packed, name), getattr(expected, name)
                assert got.tolist() == want.tolist()
                assert got.dtype == want.dtype


def test_links_in_order_are_not_sorted_again(monkeypatch) -> None:
    monkeypatch.setattr("cube2net.cube.building.links.merge_links", None)
    links = pack_links(table_of([(0, 1, 1.0), (0, 3, 2.0), (2, 3, 1.0)], 2), 4)
    assert links.neighbours(3).tolist() == [0, 2]


def test_an_array_in_a_file_is_the_file_that_numpy_saves(tmp_path: Path) -> None:
    array = allocate_in_files(tmp_path)("numbers", 3, np.int32)
    array[:] = [4, 5, 6]
    np.save(tmp_path / "saved.npy", np.array([4, 5, 6], np.int32))
    assert (tmp_path / "numbers.npy").read_bytes() == (tmp_path / "saved.npy").read_bytes()
    assert allocate_in_files(tmp_path)("nothing", 0, np.int32).tolist() == []


def test_members_by_hand() -> None:
    rows = pa.table({"object": pa.chunked_array([pa.array([3, 0], pa.int32()), pa.array([2, 1, 2], pa.int32())])})
    members = pack_members("cells", np.array([1, 0, 2]), rows, 1)
    assert [members[i].tolist() for i in range(3)] == [[0], [], [2, 1]]


def test_a_disk_that_is_full_is_said_before_anything_is_written(tmp_path: Path, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"cannot write '.*numbers.npy': no space left on device"):
        allocate_in_files(tmp_path)("numbers", 3, np.int32)
