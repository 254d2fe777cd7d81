"""The stress run is complete, and every part of it runs, with tiny counts, on what is sound."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cube2net._util.random import stream
from cube2net.api.plan import METHODS
from cube2net.errors import Cube2netError, SourceError
from cube2net.io.sources import SOURCES

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))

from stress import disk, exchange, kills, names, pool, signals, writers  # noqa: E402
from stress.__main__ import END, PARTS, START, write_page  # noqa: E402
from stress.bases import make_bases  # noqa: E402
from stress.damage import damage  # noqa: E402
from stress.fuzz_cubes import QUESTIONS  # noqa: E402
from stress.fuzz_sheets import SHEETS  # noqa: E402
from stress.fuzz_sources import SAMPLES  # noqa: E402
from stress.outcome import Outcome  # noqa: E402
from stress.scenes import SCENES  # noqa: E402
from stress.targets import SMALL  # noqa: E402

pytestmark = pytest.mark.stress


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stress")
    make_bases(folder)
    return folder


@pytest.fixture
def outcome(tmp_path: Path) -> Outcome:
    return Outcome("part", "things", 1, 600.0, tmp_path / "out")


@pytest.fixture
def one_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kills, disk, signals):
        monkeypatch.setattr(module, "SCENES", {"build": SCENES["build"]})
    monkeypatch.setattr(kills, "ORDER", ("build",))


def test_every_source_and_every_method_is_stressed() -> None:
    assert {sample.source for sample in SAMPLES.values()} == set(SOURCES)
    assert set(METHODS) <= set(QUESTIONS)
    assert {"build", "update", "query", "compare"} == {scene.argv[0] for scene in SCENES.values()}


def test_a_mutated_spreadsheet_is_read_or_refused_in_one_sentence(tmp_path: Path) -> None:
    for seed in range(12):
        for target in SHEETS.values():
            try:
                target(tmp_path, tmp_path, seed or None)
            except Cube2netError as error:
                assert str(error) and "\n" not in str(error)


def test_the_parts_share_the_whole_time_and_the_page_promises_each_of_them() -> None:
    assert sum(part.share for part in PARTS.values()) == pytest.approx(1)
    page = (ROOT / "docs" / "findings" / "reliability.md").read_text(encoding="utf-8")
    assert START in page and END in page
    for name in PARTS:
        assert f"| {name} |" in page, name


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.csv"])
def test_the_same_seed_damages_alike_and_others_otherwise(name: str) -> None:
    data = b'{"a": [1, 2, {"b": null}], "c": "text"}'
    made = [[damage(name, data, stream(seed, "test")) for seed in range(50)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 40


@pytest.mark.parametrize("name", SAMPLES)
def test_undamaged_input_of_every_source_is_read(name: str, tmp_path: Path) -> None:
    SAMPLES[name](tmp_path, tmp_path, None)  # raises where nothing was read
    assert list(tmp_path.iterdir())


def judged(tmp_path: Path, target: object, seed: int = 1) -> str:
    (tmp_path / "here").mkdir(exist_ok=True)
    return pool.judge(target, "it", tmp_path, tmp_path, seed, 1 << 40).kind


def test_an_answer_and_a_sentence_are_sound_and_nothing_else_is(tmp_path: Path) -> None:
    def refuses(*_: object) -> None:
        raise SourceError("x.csv is empty")

    def breaks_the_line(*_: object) -> None:
        raise SourceError("x.csv\nis empty")

    def crashes(*_: object) -> None:
        raise KeyError("x")

    def litters(*_: object) -> None:
        (tmp_path / "here" / "litter").write_text("")

    assert judged(tmp_path, lambda *_: None) == "answer"
    assert judged(tmp_path, refuses) == "sentence"
    assert judged(tmp_path, refuses, 0) == "it: undamaged input is refused"
    assert judged(tmp_path, breaks_the_line) == "it: a sentence with control characters"
    assert judged(tmp_path, crashes) == "it: KeyError"
    assert judged(tmp_path, litters) == "it: wrote 'litter' into the working folder"


@pytest.fixture
def worker(base: Path, tmp_path: Path) -> Iterator[pool.Worker]:
    made = pool.Worker(base, tmp_path / "worker", pool.Limits(seconds=600))
    yield made
    made.stop()


def test_workers_answer_and_one_that_dies_or_hangs_is_told_and_replaced(
    worker: pool.Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = ("tables csv", 0)
    assert worker.ask(job).kind == "answer"
    os.kill(worker.process.pid, signal.SIGSEGV)
    assert worker.ask(job).kind == "tables csv: died with signal 11"
    assert worker.ask(job).kind == "answer"
    monkeypatch.setattr(pool, "FIRST", 0.1)
    os.kill(worker.process.pid, signal.SIGSTOP)
    assert worker.ask(job).kind == "tables csv: hangs for more than 0.1 s"


def test_damaged_input_is_counted_by_target(base: Path, outcome: Outcome) -> None:
    jobs = [(name, seed) for name in ("dblp", "links") for seed in range(5)]
    pool.ask_all(outcome, jobs, base, pool.Limits(seconds=600), workers=1)
    assert outcome.done == sum(outcome.counts.values()) == 10
    assert outcome.passed


def test_a_killed_build_passes(base: Path, outcome: Outcome, one_scene: None) -> None:
    assert kills.run(outcome, base).passed, outcome.failures


def test_readers_have_one_cube_while_another_writes(tmp_path: Path, outcome: Outcome) -> None:
    outcome.wanted = 40
    assert exchange.run(outcome, tmp_path).passed, outcome.failures
    assert outcome.done == 40


def test_two_updates_at_once_lose_nothing(base: Path, outcome: Outcome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "PAIRS", {"update and update": writers.PAIRS["update and update"]})
    assert writers.run(outcome, base).passed, outcome.failures


def test_a_full_disk_passes(base: Path, outcome: Outcome, one_scene: None) -> None:
    assert disk.run(outcome, base).passed, outcome.failures


def test_an_interrupted_build_ends(base: Path, outcome: Outcome, one_scene: None) -> None:
    assert signals.run(outcome, base).passed, outcome.failures


def test_hostile_names_are_tried(tmp_path: Path, outcome: Outcome) -> None:
    pytest.importorskip("hostile")
    assert names.run(outcome, tmp_path).passed, outcome.failures


def test_a_failure_is_kept_with_its_files_and_counted_by_kind(tmp_path: Path, outcome: Outcome) -> None:
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "x.csv").write_text("odd")
    for _ in range(5):
        outcome.fail("x: KeyError", "all of it", repeat="python -m stress --again", files=tmp_path / "input")
    kept = sorted((tmp_path / "out" / "failures").iterdir())
    assert outcome.failures == {"x: KeyError": 5}
    assert [folder.name for folder in kept] == ["part-1-1", "part-1-2", "part-1-3"]
    assert json.loads((kept[0] / "about.json").read_text())["told"] == "all of it"
    assert (kept[0] / "files" / "x.csv").read_text() == "odd"
    assert not outcome.passed


def test_the_page_gets_the_counts_between_its_marks(tmp_path: Path, outcome: Outcome) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{START}\nthe run before\n{END}\nafter\n")
    outcome.part, outcome.done = "kills", 7
    about = {"day": "2026-01-01", "minutes": 15.0, "cores": 2, "python": "3", "system": "Linux", "seed": 1}
    write_page(page, {"about": about, "parts": [outcome.plain()]})
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n")
    assert "| 7 things | 0 |" in text and "the run before" not in text


def test_every_small_target_has_a_name_of_its_own() -> None:
    assert len(SMALL) == len(set(SMALL)) >= 35
