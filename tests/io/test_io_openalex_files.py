"""OpenAlex's works in files of every form, parts of snapshots, and works that come again or are merged."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cube2net.api.checkpoints import digest_corpus
from cube2net.errors import SourceError
from cube2net.io.bibliography.openalex import OpenAlex

from openalex_records import FILES, FORMS, ONE, lines, mentions_of, read, work


def test_of_a_work_that_comes_again_the_one_changed_last_stays() -> None:
    old, new = work(1, updated_date="2023-05-01", title="Old"), work(1, updated_date="2024-05-01T10:00:00", title="New")
    for order in ([old, work(2), new], [new, old, work(2)]):
        corpus = read(lines(*order))
        assert sorted(corpus.items["title"].to_pylist()) == ["New", "On cubes"]
        assert mentions_of(corpus) == {(key, who) for key in ("W1", "W2") for who in ("A1", "A2")}
        assert corpus.dropped == {"older versions of works": 1}
    assert read(lines(work(1, title="One"), work(1, title="Two"))).items["title"].to_pylist() == ["Two"]


def test_a_partition_says_when_where_the_work_does_not() -> None:
    old, new = (lines(work(1, updated_date=None, title=title)) for title in ("Old", "New"))
    names = [f"works/updated_date={day}/part_000.gz" for day in ("2023-01-01", "2022-01-01")]
    corpus = read(gzip.compress(new), (names[1], gzip.compress(old)), name=names[0])
    assert corpus.items["title"].to_pylist() == ["New"]


def test_merged_ids_are_followed_for_works_and_authors() -> None:
    works = lines(work(1, updated_date="2020-01-01"), work(2, title="Kept", referenced_works=["W7"]), work(7))
    merged = {
        "merged_ids/authors/2022-01-01.csv.gz": b"merge_date,id,merge_into_id\n2022-01-01,A2,A3\n",
        "merged_ids/authors/2023-01-01.csv.gz": b"merge_date,id,merge_into_id\n2023-01-01,A3,A4\n2023-01-01,A4,A1\n",
        "merged_ids/works/2022-06-07.csv.gz": b"merge_date,id,merge_into_id\n2022-06-07,W1,W2\n2022-06-07,W7,W8\n",
    }
    packed = [(name, gzip.compress(content)) for name, content in merged.items()]
    layout = "works/updated_date=2024-01-01/part_000.gz"
    corpus = read(gzip.compress(works), *packed, name=layout)
    assert corpus.objects["object"].to_pylist() == ["A1"]
    assert corpus.objects["name"].to_pylist() == ["Ada"]
    assert corpus.items["item"].to_pylist() == ["W2", "W8"]
    assert mentions_of(corpus) == {("W2", "A1"), ("W8", "A1")} and corpus.mentions.num_rows == 2
    assert corpus.dropped == {"older versions of works": 1, "authors merged into others": 1}
    assert corpus.gone.to_pylist() == ["W1", "W7"]
    cited = read(gzip.compress(works), *packed, name=layout, objects="works").links
    assert cited is not None and [(row["source"], row["target"]) for row in cited.to_pylist()] == [(0, 1), (1, 0)]


def test_a_list_of_merged_ids_that_is_none_is_said_by_name() -> None:
    bad = ("merged_ids/authors/2022-01-01.csv", b"who,what\n1,2\n")
    with pytest.raises(SourceError, match=r"^2022-01-01\.csv is no list of merged ids: .*'id'"):
        read(gzip.compress(lines(ONE)), bad, name="works/part_000.gz")


def test_all_forms_of_the_same_works_give_the_same_corpus() -> None:
    plain = read(FILES["works.jsonl"])
    for name, content in FORMS.items():
        corpus = read(content, name=name)
        for table in ("items", "objects", "mentions"):
            assert getattr(corpus, table).equals(getattr(plain, table)), (name, table)
        assert corpus.dropped == plain.dropped


def test_parquet_parts_give_the_same_works_as_json_lines(tmp_path: Path) -> None:
    works = [
        {**ONE, "id": f"W{at}", "abstract_inverted_index": json.dumps(ONE["abstract_inverted_index"]), "more": at}
        for at in range(1, 30)
    ]
    part = tmp_path / "data" / "parquet" / "works" / "updated_date=2026-01-05" / "part_0000.parquet"
    part.parent.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(works), part)
    corpus = OpenAlex().read([tmp_path])
    assert digest_corpus(corpus) == digest_corpus(read(lines(*works)))
    pq.write_table(pa.table({"name": ["a"]}), part)
    with pytest.raises(SourceError, match=r"^part_0000\.parquet has no column 'id', expected works as OpenAlex"):
        OpenAlex().read([tmp_path])
    part.write_bytes(b"PAR1 and no more")
    with pytest.raises(SourceError, match=r"^part_0000\.parquet cannot be read as Parquet: .* \(is it cut short\?\)$"):
        OpenAlex().read([tmp_path])


def test_cubes_in_a_folder_of_works_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "works.jsonl").write_bytes(lines(work(1), work(2)))
    (tmp_path / "cube").mkdir()
    for name in ("manifest.json", "labels.parquet", "topics.parquet"):
        (tmp_path / "cube" / name).write_bytes(b"{}")
    said: list[str] = []
    corpus = OpenAlex().read([tmp_path], progress=lambda stage, done, total: said.append(stage))
    assert corpus.items.num_rows == 2
    assert any("1 cube(s) in it are passed over" in stage for stage in said)


def test_other_entities_and_manifests_of_a_snapshot_are_passed_over(tmp_path: Path) -> None:
    for name, content in {
        "data/jsonl/works/updated_date=2026-01-05/part_0000.gz": gzip.compress(lines(ONE)),
        "data/jsonl/works/manifest.json": b'{"entries": []}',
        "data/jsonl/works/manifest": b'{"entries": []}',
        "data/jsonl/authors/updated_date=2026-01-05/part_0000.gz": gzip.compress(b'{"id": "A1"}\n'),
        "data/parquet/works/updated_date=2026-01-05/part_0000.parquet": b"never looked at",
        "README.txt": b"words",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    said: list[str] = []
    corpus = OpenAlex(strict=True).read([tmp_path], progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.items["item"].to_pylist() == ["W1"] and not corpus.dropped
    assert any("has the works twice: of JSON lines and Parquet, the JSON lines are read" in text for text in said)
    assert [path.name for path in OpenAlex().files_read([tmp_path])] == ["part_0000.gz"]


def test_nothing_stays_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "works.jsonl").write_bytes(FILES["works.jsonl"])
    corpus = OpenAlex().read([tmp_path / "data"])
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert corpus.items["text"].to_pylist()[0]
