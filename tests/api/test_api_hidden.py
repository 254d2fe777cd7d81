"""Comparing networks by hidden links of the query: other links in every run, and baselines by name."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cube2net as c2n
from cube2net.api.compare import compare_by_name
from cube2net.cube.removal import hide_pairs
from cube2net.errors import ParameterError
from cube2net.evaluation.configurations import list_configurations
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.selection.greedy import Greedy

SMALL: dict[str, Any] = {
    "methods": ["greedy"],
    "objectives": ["cover"],
    "forms": ["hybrid"],
    "models": ["deepwalk"],
    "baselines": ["pagerank"],
}


@pytest.fixture(scope="module")
def planted() -> tuple[Cube, Query]:
    """A cube whose links are those of its items, and 60 objects of one of its communities."""
    corpus = c2n.make_planted(objects=300, communities=3, noise=0.2, seed=0).corpus
    cube = c2n.build(replace(corpus, links=None))
    return cube, cube.query(range(60))


def test_every_run_hides_other_links_and_tells_of_the_objects_that_have_one(planted: tuple[Cube, Query]) -> None:
    cube, query = planted
    found = compare_by_name(cube, query, "hidden", runs=3, **SMALL)
    hidden = {seed: hide_pairs(cube, query, seed=seed) for seed in range(3)}
    for trial in found.trials:
        ends = np.unique(np.concatenate([hidden[trial.seed].source, hidden[trial.seed].target]))
        assert trial.evidence.shape == (60, 1)
        assert query.objects[~np.isnan(trial.evidence[:, 0])].tolist() == ends.tolist()
        assert float(np.nanmean(trial.evidence)) == pytest.approx(trial.scores["AUC"], abs=1e-5)
    assert len({tuple(each.source.tolist()) for each in hidden.values()}) == 3
    assert found.settings["pairs"] == sum(len(each.source) for each in hidden.values())


def test_a_run_is_the_same_alone_and_among_others_and_goes_on_from_a_folder(
    planted: tuple[Cube, Query], tmp_path: Path
) -> None:
    first = compare_by_name(*planted, "hidden", runs=1, out=tmp_path, **SMALL)
    more = compare_by_name(*planted, "hidden", runs=2, out=tmp_path, **SMALL)
    again = compare_by_name(*planted, "hidden", runs=2, **SMALL)
    assert [trial.scores for trial in more.trials] == [trial.scores for trial in again.trials]
    assert [trial.scores for trial in more.trials if trial.seed == 0] == [trial.scores for trial in first.trials]
    assert (
        more.verdict().sentence
        == again.verdict().sentence
        == c2n.read_comparison(tmp_path, planted[1]).verdict().sentence
    )


def test_baselines_as_large_can_be_named_and_others_are_refused() -> None:
    named = list_configurations({"greedy": Greedy()}, ["cover"], ["hybrid"], as_large=["pagerank"])
    assert [config.name for config in named] == [
        "none",
        "greedy · cover · hybrid",
        "pagerank, as large as greedy · cover · hybrid",
    ]
    with pytest.raises(ParameterError, match="unknown method that can be as large as another 'steiner': choose one of"):
        list_configurations({"greedy": Greedy()}, ["cover"], ["hybrid"], as_large=["steiner"])


def test_the_command_takes_baselines_by_name(planted: tuple[Cube, Query], tmp_path: Path) -> None:
    cube, query = planted
    cube.save(tmp_path / "cube")
    names = cube.objects.table["object"].take(query.objects).to_pylist()
    (tmp_path / "names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    words = f"compare {tmp_path / 'cube'} --query {tmp_path / 'names.txt'} --methods greedy --objectives cover"
    words += " --forms hybrid --models deepwalk --baselines pagerank --runs 1 --json --quiet"
    ended = subprocess.run(
        [sys.executable, "-m", "cube2net", *words.split()], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    told = json.loads(ended.stdout)
    assert told["task"] == "hidden"
    assert [config["name"] for config in told["configurations"]] == [
        "none",
        "greedy · cover · hybrid",
        "pagerank, as large as greedy · cover · hybrid",
    ]
