"""The recorded results: what differs from them is named, and the cheap ones are compared here.

`make oracles` compares all of them.
"""

import json
from pathlib import Path

import pytest

import oracles

RECORDED = json.loads((oracles.RECORDS / oracles.VERSIONS).read_text(encoding="utf-8"))
CUBES = {"bundled": {"files": {"cells.npy": "aa", "links.npy": "bb"}, "manifest": {"counts": {"cells": 3}}}}


def changed(**files: str) -> dict:
    """Return the hand-made record with other hashes."""
    return {"bundled": {**CUBES["bundled"], "files": {**CUBES["bundled"]["files"], **files}}}


def test_a_file_that_differs_is_named_with_both_hashes() -> None:
    assert oracles.find_differences(CUBES, changed(**{"links.npy": "cc"})) == [
        'bundled / files / links.npy: "bb" → "cc"'
    ]


def test_equal_records_do_not_differ_whatever_the_order_of_their_keys() -> None:
    turned = {"bundled": dict(reversed(CUBES["bundled"].items()))}
    assert oracles.find_differences(CUBES, turned) == []


@pytest.mark.parametrize(
    ("recorded", "found", "line"),
    [
        ({"cells": [{"gain": 3.0}]}, {"cells": [{"gain": 2.5}]}, "cells / 0 / gain: 3.0 → 2.5"),
        ({"m": 1}, {"m": 1.0}, "m: 1 → 1.0"),
        ({"m": 1}, {"m": True}, "m: 1 → true"),
        ({"m": 1, "n": [2]}, {"m": 1}, "n: [2] → nothing"),
        ({"m": 1}, {"m": 1, "n": None}, "n: nothing → null"),
        ({"labels": ["a", "b"]}, {"labels": ["b", "a"]}, 'labels: ["a", "b"] → ["b", "a"]'),
        ({"cells": [{"gain": 3}]}, {"cells": []}, "cells: 1 entries → 0 entries"),
    ],
)
def test_a_value_that_differs_is_named_by_its_path_with_both_values(recorded: dict, found: dict, line: str) -> None:
    assert oracles.find_differences(recorded, found) == [line]


def test_of_a_text_that_differs_a_diff_is_shown() -> None:
    (diff,) = oracles.find_differences("one\ntwo\nthree\n", "one\n2\nthree\n")
    assert diff.splitlines()[2:] == ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three"]


def test_a_part_that_fails_and_one_without_a_record_differ() -> None:
    assert oracles.find_differences(CUBES, ValueError("no cells")) == ["failed: ValueError: no cells"]
    assert oracles.find_differences(None, CUBES) == ["not recorded yet: make oracles-record"]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the parts make now, instead of real cubes and names."""
    found = {"cubes": CUBES, "names": "construct(cube)\n"}
    monkeypatch.setattr(oracles, "make_records", lambda names, kept: {name: found[name] for name in names})
    return found


def test_a_check_fails_and_names_the_part_the_file_and_the_value(
    made: dict, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert oracles.record(["cubes", "names"], tmp_path) == 0
    assert oracles.check(["cubes", "names"], tmp_path) == 0
    made["cubes"] = changed(**{"cells.npy": "dd"})
    capsys.readouterr()
    assert oracles.check(["cubes", "names"], tmp_path) == 1
    assert capsys.readouterr().out == (
        '\ncubes (cubes.json):\n  bundled / files / cells.npy: "aa" → "dd"\n\n1 of 2 parts differ from their records\n'
    )


def test_recording_tells_what_changed_and_keeps_the_record_of_a_part_that_failed(
    made: dict, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    oracles.record(["cubes", "names"], tmp_path)
    made |= {"cubes": ValueError("no cells"), "names": "construct(cube, query)\n"}
    capsys.readouterr()
    assert oracles.record(["cubes", "names"], tmp_path) == 1
    said = capsys.readouterr().out
    assert "failed: ValueError: no cells" in said
    assert "-construct(cube)\n  +construct(cube, query)" in said
    assert json.loads((tmp_path / "cubes.json").read_text()) == CUBES
    assert (tmp_path / "names.txt").read_text() == "construct(cube, query)\n"


def test_differences_come_with_the_versions_that_the_records_were_made_with(
    made: dict, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    oracles.record(["cubes"], tmp_path)
    made["cubes"] = changed(**{"cells.npy": "dd"})
    monkeypatch.setattr(oracles, "find_versions", lambda: {"python": "9.9"})
    oracles.check(["cubes"], tmp_path)
    assert 'may be the reason: python: "3.' in capsys.readouterr().out


@pytest.mark.skipif(
    any(oracles.find_versions().get(name) != RECORDED[name] for name in ("mcp", "typer")),
    reason="the records were made with another version of typer or mcp, which lay out help and tools",
)
def test_names_help_and_descriptions_for_machines_are_those_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    status = oracles.check(["names", "rooms", "help", "openapi", "tools"])
    assert status == 0, capsys.readouterr().out
