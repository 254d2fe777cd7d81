import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import cube2net as c2n
from cube2net._util.progress import Progress, silent
from cube2net.api.checkpoints import checkpoints_beside, digest_corpus, digest_files
from cube2net.api.cubes import read_manifest
from cube2net.errors import InputError, ParameterError
from cube2net.model.corpus import Corpus
from cube2net.topics.lda import Lda
from dblp_like_corpus import make_dblp_like

from cuts import CutError, run_until_killed, told

TEXTS = {"fish": "salmon swim upstream rivers nets", "birds": "geese fly south winter wings"}


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    """Return a folder of tables with texts, in which topics are to be found."""
    folder = tmp_path / "papers"
    folder.mkdir()
    lines = ["item,year,text"]
    mentions = ["item,object"]
    for i in range(40):
        text = TEXTS["fish" if i % 2 else "birds"]
        lines.append(f"{i},{1990 + i},{text} {text}")
        mentions += [f"{i},o{(i * 7 + k) % 12}" for k in range(3)]
    (folder / "items.csv").write_text("\n".join(lines) + "\n")
    (folder / "mentions.csv").write_text("\n".join(mentions) + "\n")
    (folder / "objects.csv").write_text("object,name\n" + "".join(f"o{i},Object {i}\n" for i in range(12)))
    return folder


def build(papers: Path, out: Path, progress: Progress = silent, **options: object) -> c2n.Cube:
    settings = {"dimensions": ["decade=year@decades", "topic"], "min_objects": 1, "out": out, "progress": progress}
    return c2n.build([*sorted(papers.iterdir())], source="tables", **{**settings, **options})  # type: ignore[arg-type]


CUTS = {
    "cube: labels": ["corpus", "topics"],
    "cube: members": ["corpus", "topics", "cube: distinct mentions", "cube: key objects"],
    "cube: files": ["corpus", "topics", "cube: distinct mentions", "cube: links"],
}


@pytest.mark.parametrize("cut_at", CUTS)
def test_a_build_that_was_cut_off_does_not_repeat_what_it_had_finished(
    papers: Path, tmp_path: Path, cut_at: str
) -> None:
    whole: list[str] = []
    expected = build(papers, tmp_path / "expected", told(whole))
    with pytest.raises(CutError):
        build(papers, tmp_path / "cube", told([], cut_at))
    assert (tmp_path / ".cube.stages").is_dir() and not (tmp_path / "cube").exists()
    again: list[str] = []
    cube = build(papers, tmp_path / "cube", told(again))
    for name in CUTS[cut_at]:
        if name in ("corpus", "topics"):
            assert f"{name}: taken from the run before, which did not finish" in again
        else:
            assert name in whole and name not in again
    assert cut_at in again
    assert "words" in whole and "words" not in again
    assert not (tmp_path / ".cube.stages").exists()
    one, other = (read_manifest(tmp_path / name) for name in ("expected", "cube"))
    assert one == other
    assert repr(cube) == repr(expected)


def test_a_killed_build_goes_on_and_the_old_cube_stands_until_then(papers: Path, tmp_path: Path) -> None:
    build(papers, tmp_path / "cube", dimensions=["year"])
    before = read_manifest(tmp_path / "cube")
    program = f"""
        import os, signal, sys
        from pathlib import Path
        sys.path += {sys.path!r}
        from test_checkpoints import build

        def progress(stage, done, total=None):
            if stage == "cube: links":
                os.kill(os.getpid(), signal.SIGKILL)

        build(Path({str(papers)!r}), Path({str(tmp_path / "cube")!r}), progress)
    """
    run_until_killed(program)
    assert read_manifest(tmp_path / "cube") == before
    stages: list[str] = []
    build(papers, tmp_path / "cube", told(stages))
    assert "cube: links" in stages and "cube: members" not in stages
    assert c2n.open(tmp_path / "cube").verify()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube", "papers"]


@pytest.mark.parametrize("change", ["file", "seed", "dimensions"])
def test_what_was_made_of_other_data_or_settings_is_made_again(papers: Path, tmp_path: Path, change: str) -> None:
    with pytest.raises(CutError):
        build(papers, tmp_path / "cube", told([], "cube: files"))
    options: dict[str, object] = {}
    if change == "file":
        with (papers / "items.csv").open("a") as file:
            file.write("40,2031,more geese\n")
    elif change == "seed":
        options["seed"] = 1
    else:
        options["dimensions"] = ["topic"]
    stages: list[str] = []
    cube = build(papers, tmp_path / "cube", told(stages), **options)
    taken = [stage for stage in stages if "taken from" in stage]
    assert [stage.partition(":")[0] for stage in taken] == {"file": [], "seed": ["corpus"]}.get(
        change, ["corpus", "topics"]
    )
    assert "cube: distinct mentions" in stages
    assert cube.settings["items"] == (41 if change == "file" else 40)


def test_a_corpus_at_hand_has_stages_too_and_those_taken_over_are_named(tmp_path: Path) -> None:
    corpus = make_dblp_like(2_000)
    with pytest.raises(CutError):
        c2n.build(corpus, out=tmp_path / "cube", progress=told([], "cube: key objects"))
    stages: list[str] = []
    c2n.build(corpus, out=tmp_path / "cube", progress=told(stages))
    assert "cube: taken from the run before, which did not finish: distinct mentions, item keys" in stages
    assert "cube: key objects" in stages and "cube: item keys" not in stages
    assert [path.name for path in tmp_path.iterdir()] == ["cube"]


def test_a_build_that_fails_before_anything_is_finished_leaves_nothing(tmp_path: Path) -> None:
    corpus = c2n.make_planted(seed=0).corpus
    with pytest.raises(ParameterError):
        c2n.build(corpus, ["no such attribute"], out=tmp_path / "cube")
    assert list(tmp_path.iterdir()) == []


def test_the_person_is_told_where_the_stages_are(papers: Path, tmp_path: Path) -> None:
    first, again = list[str](), list[str]()
    for stages in (first, again):
        with pytest.raises(ParameterError):
            build(papers, tmp_path / "cube", told(stages), dimensions=["no such attribute"])
    kept = repr(str(tmp_path / ".cube.stages"))
    assert f"what was finished is kept in {kept} (0 MB): the same build goes on from there" in first
    assert not [stage for stage in again if "kept in" in stage], "the second run has finished nothing itself"


def test_the_person_is_told_again_where_more_was_finished(tmp_path: Path) -> None:
    corpus = make_dblp_like(2_000)
    for cut_at in ("cube: key objects", "cube: links"):
        stages: list[str] = []
        with pytest.raises(CutError):
            c2n.build(corpus, out=tmp_path / "cube", progress=told(stages, cut_at))
        assert [stage for stage in stages if stage.startswith("what was finished is kept in")], cut_at


def test_a_dimension_that_cannot_be_read_is_refused_before_the_files_are(papers: Path, tmp_path: Path) -> None:
    for wrong in ("year@decade", "text//year", "=year"):
        stages: list[str] = []
        with pytest.raises(ParameterError, match="cannot read the"):
            build(papers, tmp_path / "cube", told(stages), dimensions=[wrong])
        assert stages == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["papers"]


def test_a_source_of_ones_own_may_call_its_parameters_as_it_likes(papers: Path, tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Mine:
        files: tuple[str, ...] = ("a",)

        def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
            return c2n.read_tables(papers)

    cube = c2n.build([], source=Mine(), out=tmp_path / "cube", dimensions=["year"], min_objects=1)
    assert len(cube.objects) == 12


def test_two_builds_of_one_cube_at_a_time_do_not_share_stages(tmp_path: Path) -> None:
    with checkpoints_beside(tmp_path / "cube") as one, checkpoints_beside(tmp_path / "cube") as other:
        assert one.folder != other.folder
        (other.folder / "mine").write_text("")
        assert not (one.folder / "mine").exists()
    assert list(tmp_path.iterdir()) == []


def test_arrays_made_in_files_are_those_made_in_memory(tmp_path: Path) -> None:
    corpus = make_dblp_like(2_000)
    c2n.build(corpus).save(tmp_path / "one")
    c2n.build(corpus, out=tmp_path / "other")
    assert read_manifest(tmp_path / "one") == read_manifest(tmp_path / "other")
    assert np.array_equal(c2n.open(tmp_path / "one").links.indices, c2n.open(tmp_path / "other").links.indices)


def renamed(corpus: Corpus) -> Corpus:
    return replace(corpus, attribution="somebody else")


def one_mention_less(corpus: Corpus) -> Corpus:
    return replace(corpus, mentions=corpus.mentions.slice(1))


@pytest.mark.parametrize("change", [renamed, one_mention_less])
def test_another_corpus_has_another_checksum(change: Callable[[Corpus], Corpus]) -> None:
    corpus = c2n.make_planted(seed=0).corpus
    assert digest_corpus(corpus) == digest_corpus(c2n.make_planted(seed=0).corpus)
    assert digest_corpus(corpus) != digest_corpus(change(corpus))


def test_a_file_that_was_touched_has_another_checksum(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = digest_files([tmp_path])
    assert digest_files([tmp_path]) == before
    os.utime(tmp_path / "a", ns=(1, 1))
    assert digest_files([tmp_path]) != before


def test_topics_of_another_model_are_never_taken_for_those_asked_for(papers: Path, tmp_path: Path) -> None:
    corpus = c2n.read_tables(*sorted(papers.iterdir()))
    one, other = (Lda(count=2).fit(corpus, seed=seed) for seed in (0, 1))
    other = replace(other, names=("geese of the north", "salmon of the south"))
    with pytest.raises(CutError):
        build(papers, tmp_path / "cube", told([], "cube: files"), topics=one)
    cube = build(papers, tmp_path / "cube", topics=other)
    assert set(cube.dimensions[1].labels) <= set(other.names)


class Own:
    """A topic model of one's own, of which nothing can be told."""

    def __init__(self, name: str) -> None:
        self.name = name

    def topics(self, corpus: Corpus, *, seed: int, progress: Progress = silent) -> c2n.model.Topics:
        return replace(Lda(count=1).topics(corpus, seed=seed), names=(self.name,), model=None)

    def __repr__(self) -> str:
        return "Own()"


def test_a_model_of_ones_own_is_asked_again(papers: Path, tmp_path: Path) -> None:
    with pytest.raises(CutError):
        build(papers, tmp_path / "cube", told([], "cube: files"), topics=Own("first"))
    cube = build(papers, tmp_path / "cube", topics=Own("second"))
    assert cube.dimensions[1].labels == ("second",)


def test_more_threads_do_not_make_topics_anew(papers: Path, tmp_path: Path) -> None:
    with pytest.raises(CutError):
        build(papers, tmp_path / "cube", told([], "cube: files"), topics=Lda(count=2))
    stages: list[str] = []
    build(papers, tmp_path / "cube", told(stages), topics=Lda(count=2, workers=2))
    assert "topics: taken from the run before, which did not finish" in stages


def test_a_task_that_was_cut_off_can_be_made_again(tmp_path: Path) -> None:
    corpus = make_dblp_like(2_000)
    hidden = pa.table({"source": pa.array([0], pa.int32()), "target": pa.array([1], pa.int32())})
    task = SimpleNamespace(corpus=corpus, query=("0", "1"), hidden=hidden)
    with pytest.raises(CutError):
        c2n.api.build_task(task, tmp_path / "task", progress=told([], "cube: links"))  # type: ignore[arg-type]
    c2n.api.build_task(task, tmp_path / "task")  # type: ignore[arg-type]
    assert sorted(path.name for path in (tmp_path / "task").iterdir()) == ["cube", "hidden.csv", "query.csv"]
    (tmp_path / "task" / "mine.txt").write_text("")
    with pytest.raises(InputError, match="holds other files than a task's"):
        c2n.api.build_task(task, tmp_path / "task")  # type: ignore[arg-type]


def test_checkpoints_that_are_removed_are_never_seen_by_the_next_build(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    removing = shutil.rmtree

    def slowly(path: Path, **options: object) -> None:
        with checkpoints_beside(tmp_path / "cube") as other:
            seen.append([path.name for path in other.folder.iterdir()])
        removing(path, **options)

    with checkpoints_beside(tmp_path / "cube") as one:
        (one.folder / "corpus-1").mkdir()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(shutil, "rmtree", lambda path, **options: (patched.undo(), slowly(path, **options)))
            one.remove()
    assert seen == [["lock"]]
    assert list(tmp_path.iterdir()) == []


def test_columns_with_dictionaries_in_pieces_can_be_kept(tmp_path: Path) -> None:
    class Pieces:
        def read(self, paths: Sequence[Path], *, progress: Progress = silent) -> Corpus:
            corpus = make_dblp_like(100)
            parts = [corpus.items["venue"].slice(at, 50).combine_chunks().dictionary_encode() for at in (0, 50)]
            return replace(corpus, items=corpus.items.set_column(2, "venue", pa.chunked_array(parts)))

    cube = c2n.build([], source=Pieces(), out=tmp_path / "cube", dimensions=["venue"], min_objects=1)
    expected = c2n.build(make_dblp_like(100), ["venue"], min_objects=1)
    assert cube.dimensions[0].labels == expected.dimensions[0].labels


def test_what_cannot_be_done_is_said_before_anything_is_read(papers: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    tables = sorted(papers.iterdir())
    for options, paths, sentence in (
        ({"memory": "1MB"}, tables, "memory is '1MB', and a build takes at least"),
        ({"out": tmp_path / "file" / "cube"}, tables, "is a file, not a folder"),
        ({}, [*tables, papers / "missing.csv"], "there is no file '.*missing.csv': check the path"),
    ):
        stages: list[str] = []
        given = {"out": tmp_path / "cube", "progress": told(stages), **options}
        with pytest.raises(c2n.Cube2netError, match=sentence):
            c2n.build([*paths], source="tables", **given)  # type: ignore[arg-type]
        assert stages == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "papers"]


def test_the_stages_of_one_table_are_not_those_of_the_same_table_named_twice(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("source,target,city\n" + "".join(f"p{i},p{(i * 7 + 1) % 40},{'AB'[i % 2]}\n" for i in range(40)))
    said: list[str] = []

    def note(stage: str, done: int, total: int | None = None) -> None:
        said.append(stage)

    def refuse(corpus: c2n.Corpus) -> list[str]:
        raise c2n.Cube2netError("no dimension suits")

    for paths in ((table,), (table, table), (table, table)):
        with pytest.raises(c2n.Cube2netError, match="no dimension suits"):
            c2n.build([*paths], source="tables", out=tmp_path / "cube", dimensions=refuse, progress=note)
    assert sum("taken from the run before" in stage for stage in said) == 1, said
