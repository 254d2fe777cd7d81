"""The page of what learning contributes is that of the runs that are kept."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def learning() -> SimpleNamespace:
    """Return the modules that make the page."""
    sys.path.append(str(ROOT / "benchmarks"))
    import learning_configurations
    import learning_page
    import learning_reuse

    return SimpleNamespace(configurations=learning_configurations, page=learning_page, reuse=learning_reuse)


def test_the_page_is_that_of_the_runs_that_are_kept(learning: SimpleNamespace) -> None:
    page = learning.page.make_page(learning.page.Runs.read())
    assert "<!-- short -->" not in page
    assert (ROOT / "docs/findings/learning.md").read_text(encoding="utf-8") == page


def test_no_run_is_kept_twice(learning: SimpleNamespace) -> None:
    tries = [(each["cube"], each["query"]) for each in learning.page.read_tries()]
    assert len(tries) == len(set(tries))
    for part in ("reuse", "newcomers"):
        seeds = [each["seed"] for each in learning.page.read_reused(part)]
        assert len(seeds) == len(set(seeds)) > 1


def test_queries_of_one_corpus_count_as_one_observation(learning: SimpleNamespace) -> None:
    corpora = learning.configurations.CORPORA
    records = [{"query": number} for number in (0, corpora, 2 * corpora, 1)]
    assert learning.page.average_corpora(records, np.array([1.0, 2.0, 6.0, 5.0])).tolist() == [3.0, 5.0]


def make_tries(learning: SimpleNamespace, gains: list[float], seconds: list[float]) -> SimpleNamespace:
    """Return the tries of one query: the first is the default, and all draws see the same."""
    place = learning.configurations.DEFAULT_PLACE
    order = [place, *(each for each in range(len(gains)) if each != place)]
    seen, spent = np.empty((1, len(gains), 2)), np.empty((1, len(gains)))
    for at, gain, each in zip(order, gains, seconds, strict=True):
        seen[0, at], spent[0, at] = gain, each
    return SimpleNamespace(seen=seen, spent=spent)


def test_a_search_ends_with_the_best_it_saw_within_its_limit(learning: SimpleNamespace) -> None:
    tries = make_tries(learning, [0.0, 0.1, -0.2, 0.3], [1.0, 1.0, 1.0, 5.0])
    order = [0, 2, 3]
    search = learning.configurations.search_configurations
    assert search(tries, 0, iter(order), 1, 100.0) == 0
    assert search(tries, 0, iter(order), 3, 100.0) == 3
    assert search(tries, 0, iter(order), 3, 4.0) == 0  # the last takes longer than what is left
    assert search(tries, 0, iter([2]), 3, 100.0) == learning.configurations.DEFAULT_PLACE


def test_runs_of_reuse_are_kept_as_they_were_made(
    learning: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [{"part": "reuse", "seed": seed, "shares": {"learned": [[1.0]], "fresh": [[1.1]]}} for seed in (1, 0)]
    for record in records:
        (tmp_path / f"reuse-{record['seed']}.jsonl").write_text(json.dumps(record) + "\n")
    monkeypatch.setattr(learning.reuse, "STORE", tmp_path / "kept")
    monkeypatch.setattr(learning.page, "REUSED", tmp_path / "kept")
    monkeypatch.setattr(sys, "argv", ["learning_reuse.py", "no cube", str(tmp_path), "--keep"])
    learning.reuse.main()
    assert learning.page.read_reused("reuse") == records[::-1]
