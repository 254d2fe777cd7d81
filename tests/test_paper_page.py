"""The page of the paper's tables is that of the scores that are kept, and its verdicts follow from them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cube2net as c2n
from cube2net.records import Comparison, Setup, Trial

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def paper() -> SimpleNamespace:
    """Return the modules that make the page."""
    sys.path.append(str(ROOT / "benchmarks"))
    import paper_claims
    import paper_page
    import paper_scores

    return SimpleNamespace(claims=paper_claims, page=paper_page, scores=paper_scores)


def test_the_page_is_that_of_the_scores_that_are_kept(paper: SimpleNamespace) -> None:
    scores = paper.scores.read_scores()
    done = {name: paper.scores.comparison_of(kept) for name, kept in scores["tasks"].items()}
    assert (ROOT / "docs/findings/paper.md").read_text(encoding="utf-8") == paper.page.page_of(scores, done)


def test_the_scores_that_are_kept_are_small(paper: SimpleNamespace) -> None:
    assert paper.scores.STORE.stat().st_size < 500_000


def test_the_pictures_of_the_page_lie_beside_it_and_are_small(paper: SimpleNamespace) -> None:
    for name in ("paper-cells.png", "paper-closer.png", "paper-apart.png"):
        assert name in (ROOT / "docs/findings/paper.md").read_text(encoding="utf-8")
        assert 5_000 < (ROOT / "docs/findings" / name).stat().st_size < 200_000


def test_a_comparison_is_the_same_when_it_was_kept(paper: SimpleNamespace, tmp_path: Path) -> None:
    planted = c2n.make_planted(objects=120, communities=4, noise=0.2)
    cube = c2n.build_cube(planted.corpus)
    query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)})
    made = c2n.compare(
        cube, query, methods=["greedy"], objectives=["jaccard"], forms=["objects"], miners=["deepwalk"], runs=2
    )
    paper.scores.write_scores({"tasks": {"planted": paper.scores.stored(made, "a cube", "a query")}}, tmp_path / "s")
    again = paper.scores.comparison_of(paper.scores.read_scores(tmp_path / "s")["tasks"]["planted"])
    assert again.truth == made.truth
    greedy = paper.claims.setup_of("greedy", made)
    for one, other in zip(made.of(greedy, "deepwalk"), again.of(greedy, "deepwalk"), strict=True):
        assert np.array_equal(one.evidence, other.evidence)
        assert (one.seed, one.nodes, one.links) == (other.seed, other.nodes, other.links)
        assert other.scores["F1"] == pytest.approx(one.scores["F1"], abs=1e-5)


@pytest.mark.parametrize(
    ("right", "verdict"), [((0.9, 0.3), "confirmed"), ((0.3, 0.9), "**not confirmed**, surely the reverse")]
)
def test_a_claim_is_confirmed_only_by_an_interval_on_its_side(
    paper: SimpleNamespace, right: tuple[float, float], verdict: str
) -> None:
    _, _, said, found = paper.claims.one_sided("", "", two_methods(*right), "hops", "none", +1)
    assert found == verdict
    assert "4 runs" in said


def test_a_claim_whose_interval_holds_0_is_not_confirmed(paper: SimpleNamespace) -> None:
    *_, found = paper.claims.one_sided("", "", two_methods(0.6, 0.6), "hops", "none", +1)
    assert found == "**not confirmed**"


def test_a_claim_without_runs_is_not_judged(paper: SimpleNamespace) -> None:
    *_, found = paper.claims.one_sided("", "", two_methods(0.6, 0.6), "maxdisc", "none", +1)
    assert found == "not run yet"


def two_methods(one: float, other: float) -> Comparison:
    """Return four runs of two methods that put such shares of 80 objects into the right one of two clusters."""
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    trials = []
    for setup, share in ((Setup(method="none"), other), (Setup(method="hops"), one)):
        for seed in range(4):
            found = np.where(rng.random(80) < share, truth, rng.integers(0, 2, 80))
            score = float(max(np.mean(found == truth), np.mean(found != truth)))
            trials.append(Trial(setup, "deepwalk", seed, {"F1": score}, found))
    return Comparison("clustering", ("F1",), tuple(trials), truth=tuple(str(label) for label in truth))
