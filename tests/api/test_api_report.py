"""From a comparison to a report: read again from its folder, whatever is best, and whatever can be drawn."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from markupsafe import escape

import cube2net as c2n
from cube2net.api.compare import JOURNAL, compare_by_name, results
from cube2net.apps.cli import compare
from cube2net.errors import InputError
from cube2net.evaluation.configurations import DEFAULT, Maker
from cube2net.evaluation.report import page as illustrations
from cube2net.model.comparison import Comparison, Configuration
from cube2net.model.cube import Cube
from cube2net.model.objects import Objects
from cube2net.model.query import Query
from cube2net.network.hops import Hops

from toys import toy_cube, two_communities

TINY: dict[str, Any] = {
    "methods": ["none", "greedy", "pagerank"],
    "objectives": ["linked"],
    "forms": ["cells"],
    "membership_weights": ["unit"],
    "n_cells": 3,
    "models": ["deepwalk"],
    "runs": 2,
}
FILES = ["report.html", "trials.csv", "scores.csv", "costs.csv", "results.json"]
ALONE = Configuration(method="none")
GREEDY = Configuration(method="greedy", objective="linked", form="cells", n_cells=3, membership_weights="unit")


@pytest.fixture(scope="module")
def planted() -> tuple[Cube, Query]:
    """A cube of six communities, and 40 objects of two of them."""
    return two_communities(20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison") / "out"


@pytest.fixture(scope="module")
def compared(planted: tuple[Cube, Query], folder: Path) -> Comparison:
    return compare_by_name(*planted, out=folder, **TINY)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def better(comparison: Comparison, *ranking: Configuration) -> Comparison:
    """Return a comparison in which the first of some configurations has the highest scores, and so on."""
    trials = []
    for trial in comparison.trials:
        if trial.configuration in ranking:
            wrong = 2 * ranking.index(trial.configuration)
            found = np.array([label == "group 1" for label in comparison.truth], dtype=np.int32)
            found[:wrong] = 1 - found[:wrong]
            scores = {**trial.scores, "F1": 1.0 - wrong / len(found)}
            trials.append(replace(trial, evidence=found, scores=scores))
    return replace(comparison, trials=tuple(trials))


# A comparison read from its folder


def test_a_comparison_is_read_from_its_folder_as_it_was_made(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path
) -> None:
    read = c2n.read_comparison(folder, planted[1])
    assert (read.task, read.measures, read.truth) == (compared.task, compared.measures, compared.truth)
    assert {trial.key for trial in read.trials} == {trial.key for trial in compared.trials}
    for trial in read.trials:
        twin = compared.of(trial.configuration, trial.model)[trial.seed]
        assert trial.scores == twin.scores and trial.evidence.tolist() == twin.evidence.tolist()
    assert read.verdict().sentence == compared.verdict().sentence
    assert read.settings["methods"] == compared.settings["methods"]


def test_a_comparison_is_read_while_its_last_line_is_being_written_and_left_as_it_is(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path, tmp_path: Path
) -> None:
    content = (folder / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(content[:-40])
    read = c2n.read_comparison(str(tmp_path), planted[1])
    assert len(read.trials) == len(compared.trials) - 1
    assert (tmp_path / JOURNAL).read_bytes() == content[:-40]
    read.verdict()


def test_a_comparison_that_was_read_is_shown_and_reported_like_the_one_that_was_made(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read = c2n.read_comparison(folder, planted[1])
    shown = []
    for comparison in (compared, read):
        compare.show_comparison(comparison)
        shown.append(capsys.readouterr().out)
    assert shown[0].startswith(compared.verdict().sentence) and shown[0] == shown[1]
    assert [path.name for path in read.write_report(tmp_path, *planted)] == [*FILES, "cells.csv"]


ODD: tuple[dict[str, object], ...] = (
    {"task": 5},
    {"query": []},
    {"methods": "x"},
    {"pairs": "x"},
    {"pairs": {"0": {}}},
)


def _header(**odd: object) -> bytes:
    whole = {"format": 4, "task": "hidden", "query": "x", "methods": {}, "models": {}, "pairs": {"0": 40}}
    return json.dumps({**whole, **odd}).encode() + b"\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot read {path!r}: no such file or directory"),
        (b"", "{path!r} is no journal of a comparison: choose another folder"),
        (b"[]\n", "{path!r} is no journal of a comparison: choose another folder"),
        (b'{"format": 4}\n', "{path!r} is no journal of a comparison: choose another folder"),
        (b'{"format": 4, "task": "clustering"}\n', "{path!r} is no journal of a comparison: choose another folder"),
        (b'{"format": 99, "task": "clustering"}\n', "{path!r} is a journal of format 99, expected 4: it was written"),
        *((_header(**odd), "{path!r} is no journal of a comparison: choose another folder") for odd in ODD),
    ],
    ids=["no file", "empty", "no header", "no task", "no query", "another format", *map(str, ODD)],
)
def test_a_folder_without_a_comparison_is_one_sentence(
    content: bytes | None, sentence: str, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / JOURNAL).write_bytes(content)
    with pytest.raises(InputError) as caught:
        c2n.read_comparison(tmp_path, planted[1])
    assert str(caught.value).startswith(sentence.format(path=str(tmp_path / JOURNAL)))


@pytest.mark.usefixtures("compared")
def test_a_comparison_without_any_trial_yet_is_one_sentence(
    planted: tuple[Cube, Query], folder: Path, tmp_path: Path
) -> None:
    (tmp_path / JOURNAL).write_bytes((folder / JOURNAL).read_bytes().split(b"\n")[0] + b"\n")
    with pytest.raises(InputError, match="a comparison needs at least one trial"):
        c2n.read_comparison(tmp_path, planted[1])


@pytest.mark.usefixtures("compared")
def test_the_comparison_of_another_query_is_refused(planted: tuple[Cube, Query], folder: Path) -> None:
    query = planted[1]
    assert query.labels is not None
    for other in (Query(query.objects[:-1], query.labels[:-1]), replace(query, labels=query.labels[::-1])):
        with pytest.raises(InputError) as caught:
            c2n.read_comparison(folder, other)
        assert str(caught.value) == (
            f"{str(folder / JOURNAL)!r} holds the trials of another query: give the one that was compared"
        )


# Its report


def test_a_report_has_a_page_with_the_verdict_and_the_command_tables_and_json(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    command = "cube2net compare 'my cube' --query 'a&b.csv'"
    files = compared.write_report(tmp_path / "new" / "out", *planted, command=command, title="Does it?")
    assert files == [tmp_path / "new" / "out" / name for name in [*FILES, "cells.csv"]]
    assert all(path.stat().st_size for path in files)
    page, sentence = files[0].read_text(encoding="utf-8"), compared.verdict().sentence
    assert f"<h1>{escape(sentence)}</h1>" in page and "Does it?" in page
    assert escape(command) in page
    told = json.loads((tmp_path / "new" / "out" / "results.json").read_text(encoding="utf-8"))
    assert told == {**results(compared), "command": command} and told["verdict"]["sentence"] == sentence
    assert len(rows(tmp_path / "new" / "out" / "trials.csv")) == len(compared.trials)


def test_the_cells_of_the_report_are_those_of_the_network_that_it_speaks_of(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    assert compared.verdict().best == GREEDY
    compared.write_report(tmp_path, *planted)
    network = c2n.construct(*planted, "greedy", 3, "linked", "cells")
    found = [tuple(list(row.values())[1:4]) for row in rows(tmp_path / "cells.csv")]
    assert found == list(network.labels)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="network"' in page


def test_where_adding_nothing_is_best_the_best_other_network_is_shown(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    none_best = better(compared, ALONE, GREEDY, Configuration(method="pagerank"))
    assert none_best.verdict().best == ALONE
    files = none_best.write_report(tmp_path, *planted)
    assert [path.name for path in files] == [*FILES, "cells.csv"]
    assert "no network tested is better than the query alone" in files[0].read_text(encoding="utf-8")


def titles(page: str) -> list[str]:
    """Return the headings of the drawings of a page."""
    return re.findall(r"<h3>(.*?)</h3>", page.split('<section id="network">')[1].split("</section>")[0])


def test_where_nothing_is_surely_better_the_default_is_drawn_beside_the_query_alone_and_never_random_cells(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    random = Configuration(method="random", objective="linked", form="cells", n_cells=3)
    lucky = [replace(trial, configuration=random) for trial in better(compared, GREEDY).trials]
    behind = better(compared, ALONE, Configuration(method="pagerank"), GREEDY)
    level = replace(compared, trials=(*behind.trials, *lucky))
    assert not level.verdict().helps
    # without a default the best that is not random; with one it, and its cells
    page = level.write_report(tmp_path, *planted)[0].read_text(encoding="utf-8")
    assert titles(page) == ["pagerank, the best of the others", "the query alone"]
    assert not (tmp_path / "cells.csv").exists()
    level = replace(level, settings={**level.settings, "default": GREEDY.name})
    files = level.write_report(tmp_path, *planted)
    page = files[0].read_text(encoding="utf-8")
    assert titles(page) == [f"{GREEDY.title}, the default", "the query alone"]
    assert f'configuration to look at</dt><dd class="words">{GREEDY.name}</dd>' in page
    network = c2n.construct(*planted, "greedy", 3, "linked", "cells")
    assert [tuple(list(row.values())[1:4]) for row in rows(files[-1])] == list(network.labels)


def test_a_default_that_failed_is_not_drawn(compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path) -> None:
    level = better(compared, ALONE, Configuration(method="pagerank"))
    failed = [replace(trial, scores={}, reason="no") for trial in compared.trials if trial.configuration == GREEDY]
    level = replace(level, trials=(*level.trials, *failed), settings={"default": GREEDY.name})
    page = level.write_report(tmp_path, *planted)[0].read_text(encoding="utf-8")
    assert titles(page) == ["pagerank, the best of the others", "the query alone"]
    assert escape(f"; the default, {GREEDY.title}, failed") in page


def test_a_network_that_helps_is_drawn_alone_also_where_it_was_made_as_large_as_another(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    peer = Configuration(method="pagerank", like=GREEDY.name)
    assert peer in compared.configurations
    ahead = better(compared, peer, GREEDY, *[Configuration(method="m")] * 6, ALONE)
    ahead = replace(ahead, settings={"default": GREEDY.name})
    said = ahead.verdict()
    assert (said.best, said.helps, said.shown) == (peer, True, peer)
    page = ahead.write_report(tmp_path, *planted)[0].read_text(encoding="utf-8")
    assert titles(page) == [peer.title]


def test_settings_that_a_journal_keeps_are_read_with_it(
    compared: Comparison, planted: tuple[Cube, Query], folder: Path, tmp_path: Path
) -> None:
    first, rest = (folder / JOURNAL).read_bytes().split(b"\n", 1)
    said = {**json.loads(first), "task": "hidden", "pairs": {"0": 7, "1": 5}}
    (tmp_path / JOURNAL).write_bytes(json.dumps(said).encode() + b"\n" + rest)
    read = c2n.read_comparison(tmp_path, planted[1])
    assert read.settings["pairs"] == 12, "links hidden in all runs together"
    read = c2n.read_comparison(folder, planted[1])
    assert "pairs" not in read.settings
    assert read.settings["default"] == compared.settings["default"] == DEFAULT.name == "greedy · cover · hybrid"


def test_a_network_of_objects_has_no_table_of_cells(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    files = better(compared, Configuration(method="pagerank"), ALONE).write_report(tmp_path, *planted)
    assert [path.name for path in files] == FILES
    page = files[0].read_text(encoding="utf-8")
    assert 'id="network"' in page and 'id="cells"' not in page


def test_a_report_of_the_query_alone_has_nothing_to_draw(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    files = better(compared, ALONE).write_report(tmp_path, *planted)
    assert [path.name for path in files] == FILES
    page = files[0].read_text(encoding="utf-8")
    assert "there is nothing to compare the query alone with" in page and 'id="network"' not in page


def test_large_networks_are_not_drawn_and_their_cells_are_told(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(illustrations, "MAX_DRAWN_NODES", 42)
    files = compared.write_report(tmp_path, *planted)
    assert [path.name for path in files] == [*FILES, "cells.csv"]
    page = files[0].read_text(encoding="utf-8")
    assert 'id="network"' not in page and 'id="cells"' in page
    monkeypatch.setattr(illustrations, "MAX_DRAWN_NODES", 43)
    assert 'id="network"' in compared.write_report(tmp_path, *planted)[0].read_text(encoding="utf-8")


def test_the_drawing_bears_the_name_of_the_configuration_and_methods_of_ones_own_are_drawn_where_they_are_given(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(illustrations, "Drawing", lambda *_, title: drawn.append(title))
    monkeypatch.setattr("cube2net.api.compare.write_report_files", lambda report, folder, **options: [])
    for name, methods in (("hops 2", None), ("far", {"far": Hops(hops=2)}), ("unknown", None)):
        trials = [replace(trial, configuration=Configuration(method=name)) for trial in better(compared, GREEDY).trials]
        own = replace(compared, trials=(*better(compared, GREEDY, ALONE).trials[:2], *trials))
        own = replace(own, trials=tuple(trial for trial in own.trials if trial.configuration != GREEDY))
        assert own.verdict().best.name == name
        own.write_report(tmp_path, *planted, methods=methods)
    compared.write_report(tmp_path, *planted)
    names = ["hops 2", "far", GREEDY.title]
    assert [name for name in drawn if name != "the query alone"] == names


def test_the_network_shown_is_of_a_seed_that_was_mined(
    compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    really = Maker.__call__

    def make(maker: Any, config: Configuration, seed: int, nodes: int | None = None) -> Any:
        if config == GREEDY:
            asked.append(seed)
        return really(maker, config, seed, nodes)

    monkeypatch.setattr(Maker, "__call__", make)
    failed = [
        replace(trial, scores={}, reason="out of luck")
        if trial.configuration.method != "none" and trial.seed == 0
        else trial
        for trial in compared.trials
    ]
    replace(compared, trials=tuple(failed)).write_report(tmp_path, *planted)
    assert asked == [1]


def test_a_comparison_of_hidden_links_makes_a_report(tmp_path: Path) -> None:
    pairs = [(u, 8 + f) for u in range(8) for f in range(8) if (u < 4) == (f < 4)]
    hidden = [(u, f) for u, f in pairs if f - 8 == u]
    cube = toy_cube(
        [[*range(4), *range(8, 12)], [*range(4, 8), *range(12, 16)]],
        objects=16,
        links=[pair for pair in pairs if pair not in hidden],
    )
    table = cube.objects.table.set_column(2, "kind", pa.array(["user"] * 8 + ["film"] * 8))
    cube, query = replace(cube, objects=Objects.of(table)), Query(np.arange(16))
    ends = ([u for u, _ in hidden], [f for _, f in hidden])
    options: dict[str, Any] = {
        "methods": ["greedy", "hops"],
        "objectives": ["jaccard"],
        "forms": ["cells"],
        "n_cells": 2,
    }
    found = compare_by_name(
        cube, query, "links", hidden=ends, models=["popularity", "ease"], runs=2, out=tmp_path, **options
    )
    files = found.write_report(tmp_path, cube, query)
    assert {path.name for path in files} >= set(FILES)
    page = files[0].read_text(encoding="utf-8")
    assert escape(found.verdict().sentence) in page and 'id="panels"' in page
    read = c2n.read_comparison(tmp_path, query)
    assert (read.task, read.measures, read.truth) == ("links", found.measures, ())


def test_a_folder_that_is_a_file_is_refused(compared: Comparison, planted: tuple[Cube, Query], tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="cannot make the folder .*out': file exists"):
        compared.write_report(tmp_path / "out", *planted)
    assert (tmp_path / "out").read_text() == "mine"
