"""Every data set is read one way: whatever it is packed in, the corpus is the same."""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import test_io_acl as acl
import test_io_aminer as aminer
import test_io_movies as movies
import test_io_yelp as yelp
from archives import Files, tar, write_files, zipped

from cube2net._util.progress import silent
from cube2net._util.zip_files import Meter
from cube2net.api.checkpoints import digest_corpus
from cube2net.errors import SourceError
from cube2net.io.bibliography.aminer import Aminer
from cube2net.io.dropped import Dropped
from cube2net.io.files import InputFiles, find_data_files
from cube2net.io.reviews.movies import Movies
from cube2net.io.sources import SOURCES
from cube2net.model.interfaces import Source

import openalex_records as openalex

DATA: dict[str, Files] = {
    "acl": acl.FILES,
    "aminer": {"papers.json": aminer.bytes_of(*aminer.V10)},
    "movies": movies.FILES,
    "openalex": openalex.FILES,
    "yelp": yelp.FILES,
}
PRESSES: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


PACKS: dict[str, Callable[[Files], bytes]] = {
    "data.zip": zipped,
    "data.tar": tar,
    "data.tgz": lambda files: gzip.compress(tar(files)),
    "data.tar.xz": lambda files: lzma.compress(tar(files)),
    "data.tar.bz2": lambda files: bz2.compress(tar(files)),
    "no ending": lambda files: lzma.compress(tar(files)),
}


@pytest.mark.parametrize("name", PACKS)
@pytest.mark.parametrize("source", DATA)
def test_a_data_set_is_the_same_in_a_folder_and_in_any_archive(tmp_path: Path, source: str, name: str) -> None:
    write_files(tmp_path / "plain", DATA[source])
    (tmp_path / "packed").mkdir()
    packed = tmp_path / "packed" / name
    packed.write_bytes(PACKS[name](DATA[source]))
    reader = SOURCES[source]()
    plain = digest_corpus(reader.read([tmp_path / "plain"]))
    assert digest_corpus(reader.read([packed])) == plain
    if "." in name and source != "acl":
        assert digest_corpus(reader.read([tmp_path / "packed"])) == plain


@pytest.mark.parametrize("press", PRESSES)
def test_a_packed_file_is_known_by_its_first_bytes_and_not_by_its_name(tmp_path: Path, press: str) -> None:
    (tmp_path / "papers.json").write_bytes(PRESSES[press](DATA["aminer"]["papers.json"]))
    (tmp_path / "plain.json").write_bytes(DATA["aminer"]["papers.json"])
    found, plain = (Aminer().read([tmp_path / name]) for name in ("papers.json", "plain.json"))
    assert digest_corpus(found) == digest_corpus(plain)


@pytest.mark.parametrize("name", PACKS)
def test_bytes_on_disk_are_counted_while_an_archive_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(PACKS[name]({f"{number}.json": bytes(range(256)) * 4_000 for number in range(5)}))
    files = InputFiles(find_data_files([tmp_path / name], (".json",), "data"), (".json",), Meter())
    done = [files.done]
    for _, file in files:
        assert len(file.read()) == 256 * 4_000
        done.append(files.done)
    assert done == sorted(done) and files.done == files.total == (tmp_path / name).stat().st_size
    assert done[1] > 0


def test_every_source_keeps_the_interface() -> None:
    assert [name for name, source in SOURCES.items() if not isinstance(source(), Source)] == []


def test_every_source_says_what_it_expects_where_there_is_nothing(tmp_path: Path) -> None:
    expected = {
        "aminer": "AMiner's file or folder",
        "dblp": "dblp.xml or dblp.xml.gz",
        "movies": "ratings.dat and movies.dat",
        "references": "citation exports such as library.ris",
        "yelp": "Yelp's business.json, review.json",
    }
    refused = [([], "no path is given"), ([tmp_path / "gone"], "gone does not exist"), ([tmp_path], "no file to read")]
    for source, words in expected.items():
        for paths, sentence in refused:
            with pytest.raises(SourceError, match=f"{sentence}: expected {re.escape(words)}"):
                SOURCES[source]().read(paths)


def test_what_is_called_a_tar_and_is_none_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "ratings.tar").write_bytes(b"1::2::3::4\n" * 200)
    with pytest.raises(SourceError, match=r"^ratings\.tar is not a whole tar archive: "):
        Movies().read([tmp_path / "ratings.tar"])


def test_places_are_only_looked_up_for_somebody_who_reads_them() -> None:
    said: list[str] = []
    asked: list[int] = []

    def places(rows: object) -> list[str]:
        found = list(rows)  # type: ignore[call-overload]
        asked.extend(found)
        return [f"line {row}" for row in found]

    nobody = Dropped(progress=silent)
    nobody.drop_rows("bad rows", places, [4, 5, 6, 7], str)
    assert (nobody.counts, asked) == ({"bad rows": 4}, [])
    somebody = Dropped(progress=lambda stage, done, total=None: said.append(stage))
    somebody.drop_rows("bad rows", places, [4, 5, 6, 7], str)
    assert (said, asked) == (["left out bad rows: 4 (line 4: 4; line 5: 5; line 6: 6; …)"], [4, 5, 6])
    with pytest.raises(SourceError, match=r"^line 4: 4$"):
        Dropped(strict=True).drop_rows("bad rows", places, [4, 5], str)
