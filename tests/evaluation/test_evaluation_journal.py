"""The journal: what is written down comes back exactly, and damage is said in one sentence."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cube2net.errors import Cube2netError, InputError
from cube2net.evaluation import trials as journals
from cube2net.evaluation.trials import Journal
from cube2net.model.comparison import Configuration, Trial

from comparisons import ALONE, GREEDY, PEER

ABOUT = {"task": "clustering", "query": "a1b2", "methods": {"none": "Nothing()", "greedy": "Greedy()"}}
NAN = float("nan")
TRIALS = {
    "clusters": Trial(
        GREEDY[0],
        "deepwalk",
        0,
        {"F1": 1 / 3, "JC": 0.1 + 0.2, "NMI": 1e-300},
        np.array([0, 2, 1], np.int32),
        nodes=13,
        links=20,
        loose=1,
        value=0.125,
        seconds={"select": 0.1, "mine": 2 / 3},
    ),
    "users × measures": Trial(
        PEER, "ease", 1, {"P@5": 0.2, "AUC": 0.5}, np.array([[0.2, NAN], [1 / 3, 1.0]]), nodes=40, links=90
    ),
    "no user": Trial(ALONE, "ease", 2, {"P@5": NAN, "AUC": NAN}, np.empty((0, 2)), nodes=4),
    "a column": Trial(ALONE, "own", 3, {"F1": 1.0}, np.array([0.5, NAN, float("inf")]), nodes=4),
    "no evidence": Trial(ALONE, "own", 4, {"F1": float("-inf")}, nodes=4),
    "failed": Trial(
        Configuration(method="exact · „odd“\n"), "line", 5, reason="no proof: 'max_links' is 3\u2028—\ud7ff"
    ),
    "not mined": Trial(GREEDY[1], "line", 6, reason="ValueError: odd", nodes=32, links=5, loose=2, value=0.0),
    "NumPy's numbers": Trial(
        ALONE,
        "own",
        7,
        {"F1": np.float32(0.5), "JC": np.float64(0.25)},  # type: ignore[dict-item]
        seconds={"mine": np.float32(1.5)},  # type: ignore[dict-item]
    ),
}


def plain(trials: Sequence[Trial]) -> list[str]:
    """Return all that trials say, as texts: in these a nan equals a nan."""
    return [
        repr(
            (
                trial.configuration,
                trial.model,
                trial.seed,
                {name: float(score) for name, score in trial.scores.items()},
                (trial.evidence.dtype, trial.evidence.shape, trial.evidence.tolist()),
                (trial.nodes, trial.links, trial.loose, trial.value, trial.reason),
                {name: float(spent) for name, spent in trial.seconds.items()},
            )
        )
        for trial in trials
    ]


def filled(path: Path) -> Path:
    """Return the path of a journal with three trials in it."""
    journal = Journal.open(path, ABOUT)
    for name in ("clusters", "users × measures", "failed"):
        journal.add(TRIALS[name])
    return path


def refused(path: Path, about: dict[str, object] | None = None) -> str:
    """Return the sentence that a journal is refused with."""
    with pytest.raises(InputError) as caught:
        Journal.open(path, ABOUT if about is None else about)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What is written comes back


@pytest.mark.parametrize("name", TRIALS)
def test_a_trial_comes_back_exactly(name: str, tmp_path: Path) -> None:
    trial = TRIALS[name]
    Journal.open(tmp_path / "trials.jsonl", ABOUT).add(trial)
    for journal in (Journal.open(tmp_path / "trials.jsonl", ABOUT), Journal.read(tmp_path / "trials.jsonl")):
        assert list(journal.trials) == [trial.key]
        assert plain(list(journal.trials.values())) == plain([trial])


def test_trials_come_back_in_the_order_they_were_noted(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "deep" / "er" / "trials.jsonl", ABOUT)
    for trial in TRIALS.values():
        journal.add(trial)
    again = Journal.open(tmp_path / "deep" / "er" / "trials.jsonl", ABOUT)
    assert plain(list(again.trials.values())) == plain(list(TRIALS.values())) == plain(list(journal.trials.values()))


def test_a_trial_is_on_disk_as_soon_as_it_is_noted(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "trials.jsonl", ABOUT)
    for number, trial in enumerate(TRIALS.values(), start=1):
        journal.add(trial)
        assert len(Journal.read(tmp_path / "trials.jsonl").trials) == number


def test_a_journal_without_a_path_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    journal = Journal.open(None, ABOUT)
    journal.add(TRIALS["failed"])
    assert list(journal.trials.values()) == [TRIALS["failed"]]
    assert not list(tmp_path.iterdir())


# A line cut short


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_last_line_cut_short_is_left_out_and_the_file_is_whole_again(cut: int, tmp_path: Path) -> None:
    path = filled(tmp_path / "trials.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    journal = Journal.open(path, ABOUT)
    assert list(journal.trials) == [TRIALS["clusters"].key, TRIALS["users × measures"].key]
    assert path.read_bytes() == b"".join(whole.splitlines(keepends=True)[:-1])
    journal.add(TRIALS["failed"])
    assert path.read_bytes() == whole
    assert [other.name for other in tmp_path.iterdir()] == ["trials.jsonl"]


def test_a_file_that_was_never_begun_is_begun(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.touch()
    Journal.open(path, ABOUT).add(TRIALS["failed"])
    assert list(Journal.open(path, ABOUT).trials) == [TRIALS["failed"].key]


def test_reading_a_journal_changes_nothing_in_it(tmp_path: Path) -> None:
    path = filled(tmp_path / "trials.jsonl")
    path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    journal = Journal.read(path)
    assert journal.about == {"format": journals.FORMAT, **ABOUT} and len(journal.trials) == 2
    journal.add(TRIALS["failed"])
    assert path.read_bytes() == before


# Another comparison


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"query": "c3d4"}, "query"),
        ({"task": "links", "query": "c3d4"}, "query, task"),
        ({"methods": {"greedy": "Greedy(by='price')"}}, "methods 'greedy'"),
        ({"methods": "all"}, "methods"),
        ({"hidden": "e5f6"}, "hidden"),
    ],
    ids=str,
)
def test_the_journal_of_another_comparison_is_refused_by_what_differs(
    change: dict[str, object], differs: str, tmp_path: Path
) -> None:
    path = filled(tmp_path / "trials.jsonl")
    before = path.read_bytes()
    assert refused(path, {**ABOUT, **change}) == (
        f"{str(path)!r} holds the trials of another comparison (it differs in {differs}): "
        "choose another folder, or remove it"
    )
    assert path.read_bytes() == before


def test_a_journal_of_a_later_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_text(json.dumps({**ABOUT, "format": journals.FORMAT + 1}) + "\n")
    assert "(it differs in format)" in refused(path)
    with pytest.raises(InputError) as caught:
        Journal.read(path)
    said = (
        f"is a journal of format {journals.FORMAT + 1}, expected {journals.FORMAT}: it was written by another version"
    )
    assert str(caught.value) == f"{str(path)!r} {said}"


def test_other_names_are_added_to_what_the_journal_says_and_its_trials_stay(tmp_path: Path) -> None:
    path = filled(tmp_path / "trials.jsonl")
    more = Journal.open(path, {**ABOUT, "methods": {"greedy": "Greedy()", "anneal": "Anneal()"}})
    assert len(more.trials) == 3
    said = json.loads(path.read_text().splitlines()[0])
    assert said["methods"] == {"none": "Nothing()", "greedy": "Greedy()", "anneal": "Anneal()"} == more.about["methods"]
    assert "methods 'anneal'" in refused(path, {**ABOUT, "methods": {"anneal": "Anneal(steps=5)"}})
    assert len(Journal.open(path, {**ABOUT, "methods": {}}).trials) == 3


# Damage


@pytest.mark.parametrize(
    "content",
    [b"hello\n", b"\x00\xff\xfe\n", b"[1]\n", b"3\n", b"null\n", b'{"a": 1}\n', b"\n", b'{"format": 1', b"[" * 100_000],
    ids=lambda content: repr(content[:9]),
)
def test_a_file_that_is_no_journal_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_bytes(content)
    assert refused(path) == f"{str(path)!r} is no journal of a comparison: choose another folder"
    with pytest.raises(InputError, match="is no journal of a comparison"):
        Journal.read(path)
    assert path.read_bytes() == content


def checked(text: bytes) -> bytes:
    """Return a line with the checksum that belongs to it."""
    return b"%08x %s" % (zlib.crc32(text), text)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"\xff",
        b"g0000000 {}",
        b"[" * 200_000,
        checked(b"5"),
        checked(b"{}"),
        checked(b"[" * 200_000),
        checked(b'{"configuration": 3}'),
        checked(b'{"configuration": {"method": "x", "colour": "red"}, "model": "m", "seed": 0, "evidence": []}'),
    ],
    ids=lambda line: repr(line[:40]),
)
def test_a_line_that_is_no_trial_is_named_by_its_number(line: bytes, tmp_path: Path) -> None:
    path = filled(tmp_path / "trials.jsonl")
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]) + b"\n")
    before = path.read_bytes()
    assert refused(path) == "trials.jsonl line 3: not a trial: remove it, and it is made again"
    with pytest.raises(InputError, match="line 3: not a trial"):
        Journal.read(path)
    assert path.read_bytes() == before


def test_a_trial_that_was_changed_by_hand_is_no_trial(tmp_path: Path) -> None:
    path = filled(tmp_path / "trials.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"nodes": 13', b'"nodes": 14'))
    assert refused(path) == "trials.jsonl line 2: not a trial: remove it, and it is made again"


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path / "trials.jsonl")
    monkeypatch.setattr(journals, "MAX_LINE_BYTES", 5_000)
    assert len(Journal.read(path).trials) == 3
    with path.open("ab") as file:
        file.write(b'"' * 5_001)
    before = path.read_bytes()
    text = "trials.jsonl line 5: longer than 5,000 bytes, which no trial is: remove it, and it is made again"
    assert refused(path) == text
    with pytest.raises(InputError, match="line 5: longer than 5,000 bytes"):
        Journal.read(path)
    assert path.read_bytes() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 2000), length=st.integers(0, 30), new=st.binary(max_size=20))
@example(at=0, length=1, new=b"")
def test_whatever_is_damaged_there_is_a_journal_or_one_sentence(
    at: int, length: int, new: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "trials.jsonl"
    path.unlink(missing_ok=True)
    whole = filled(path).read_bytes()
    path.write_bytes(whole[:at] + new + whole[at + length :])
    try:
        journal = Journal.open(path, ABOUT)
    except Cube2netError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert plain(list(Journal.open(path, ABOUT).trials.values())) == plain(list(journal.trials.values()))


# Trouble with the disk


@pytest.mark.parametrize("below", ["trials.jsonl", "folder/trials.jsonl"])
def test_a_folder_that_is_a_file_is_said_to_be_one(below: str, tmp_path: Path) -> None:
    (tmp_path / "report").write_text("mine")
    path = tmp_path / "report" / below
    assert refused(path) == f"cannot write {str(path)!r}: {str(tmp_path / 'report')!r} is a file, not a folder"
    assert (tmp_path / "report").read_text() == "mine"


def test_a_journal_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").mkdir()
    assert refused(tmp_path / "trials.jsonl") == f"cannot read {str(tmp_path / 'trials.jsonl')!r}: is a directory"


def test_a_journal_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        Journal.read(tmp_path / "trials.jsonl")
    assert str(caught.value) == f"cannot read {str(tmp_path / 'trials.jsonl')!r}: no such file or directory"


def test_a_journal_that_may_not_be_read_or_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path / "trials.jsonl")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", forbidden)
        assert refused(path) == f"cannot read {str(path)!r}: permission denied"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", forbidden)
        new = tmp_path / "new" / "trials.jsonl"
        assert refused(new) == f"cannot write {str(new)!r}: permission denied"


def test_a_trial_that_cannot_be_written_is_not_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gone" / "trials.jsonl"
    journal = Journal.open(path, ABOUT)
    path.unlink()
    path.parent.rmdir()
    with pytest.raises(InputError) as caught:
        journal.add(TRIALS["clusters"])
    assert str(caught.value) == f"cannot write {str(path)!r}: no such file or directory"
    assert not journal.trials
