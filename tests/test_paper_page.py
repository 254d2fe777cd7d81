"""The page of the paper's tables is that of the scores that are kept, and its verdicts follow from them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cube2net as c2n
from cube2net.model.comparison import Comparison, Configuration, Trial
from cube2net.model.query import Query

from toys import toy_cube, with_kinds

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def paper() -> SimpleNamespace:
    """Return the modules that make the page."""
    sys.path.append(str(ROOT / "benchmarks"))
    import paper_claims
    import paper_elsewhere
    import paper_page
    import paper_scores
    import paper_verdicts

    return SimpleNamespace(
        claims=paper_claims,
        elsewhere=paper_elsewhere,
        page=paper_page,
        scores=paper_scores,
        verdicts=paper_verdicts,
    )


def test_the_page_is_that_of_the_scores_that_are_kept(paper: SimpleNamespace) -> None:
    scores = paper.scores.read_scores()
    done = {name: paper.scores.comparison_of(kept) for name, kept in scores["tasks"].items()}
    assert (ROOT / "docs/findings/paper.md").read_text(encoding="utf-8") == paper.page.page_of(scores, done)


def test_the_scores_that_are_kept_are_small(paper: SimpleNamespace) -> None:
    for store in paper.scores.STORES:
        assert store.stat().st_size < 500_000


def test_the_pictures_of_the_page_lie_beside_it_and_are_small(paper: SimpleNamespace) -> None:
    for name in ("paper-cells.png", "paper-closer.png", "paper-apart.png"):
        assert name in (ROOT / "docs/findings/paper.md").read_text(encoding="utf-8")
        assert 5_000 < (ROOT / "docs/findings" / name).stat().st_size < 200_000


def test_a_comparison_is_the_same_when_it_was_kept(paper: SimpleNamespace, tmp_path: Path) -> None:
    planted = c2n.make_planted(objects=120, communities=4, noise=0.2)
    cube = c2n.build(planted.corpus)
    query = cube.query({name: f"community {number}" for number in (0, 1) for name in planted.query(number)})
    made = c2n.compare(
        cube,
        query,
        methods=["greedy"],
        models=["deepwalk"],
        runs=2,
        options=c2n.ComparisonOptions(objectives=["jaccard"], forms=["objects"]),
    )
    paper.scores.write_scores({"tasks": {"planted": paper.scores.stored(made, "a cube", "a query")}}, tmp_path / "s")
    again = paper.scores.comparison_of(paper.scores.read_scores(tmp_path / "s")["tasks"]["planted"])
    assert again.truth == made.truth
    greedy = paper.claims.get_configuration("greedy", made)
    for one, other in zip(made.of(greedy, "deepwalk"), again.of(greedy, "deepwalk"), strict=True):
        assert np.array_equal(one.evidence, other.evidence)
        assert (one.seed, one.nodes, one.links) == (other.seed, other.nodes, other.links)
        assert other.scores["F1"] == pytest.approx(one.scores["F1"], abs=1e-5)


def test_a_comparison_of_hidden_links_is_the_same_when_it_was_kept(paper: SimpleNamespace, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.permutation([(user, film) for user in range(30) for film in range(30, 54)])[:300]
    cube = with_kinds(
        toy_cube([rng.integers(0, 54, 20).tolist() for _ in range(8)], objects=54, links=[*map(tuple, pairs[:220])]),
        ["user"] * 30 + ["film"] * 24,
    )
    query = Query(np.arange(54))
    ends = (pairs[220:, 0], pairs[220:, 1])
    made = c2n.compare(
        cube,
        query,
        task="links",
        methods=["greedy"],
        models=["popularity"],
        runs=2,
        options=c2n.ComparisonOptions(objectives=["jaccard"], forms=["objects"], hidden=ends),
    )
    paper.scores.write_scores({"tasks": {"links": paper.scores.stored(made, "a cube", "a query")}}, tmp_path / "s")
    again = paper.scores.comparison_of(paper.scores.read_scores(tmp_path / "s")["tasks"]["links"])
    assert again.measures == paper.scores.LINK_SCORES
    greedy = paper.claims.get_configuration("greedy", made)
    found = list(zip(made.of(greedy, "popularity"), again.of(greedy, "popularity"), strict=True))
    assert len(found) == 2
    assert any(other.scores["R@20"] > 0 for _, other in found)
    for one, other in found:
        for number, measure in enumerate(again.measures):
            if measure in made.measures:
                assert other.scores[measure] == pytest.approx(one.scores[measure], abs=1e-5)
                column = one.evidence[:, made.measures.index(measure)]
                tenth = 0.05 if measure.startswith("R") else 0.05 / int(measure[2:])  # hits are kept in tenths
                assert other.evidence[:, number] == pytest.approx(column, abs=tenth + 1e-9)
        precision, recall = (other.evidence[:, again.measures.index(f"{kind}@10")] for kind in "PR")
        total = np.where(precision + recall > 0, precision + recall, 1)
        harmonic = 2 * precision * recall / total
        assert other.evidence[:, again.measures.index("F1@10")] == pytest.approx(harmonic)


@pytest.mark.parametrize("number", [-1, 256])
def test_a_number_that_would_not_be_kept_as_it_is_is_refused(paper: SimpleNamespace, number: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 255"):
        paper.scores.pack(np.array([0, number]))


def test_scores_of_another_machine_are_not_added(paper: SimpleNamespace) -> None:
    kept, new = ({"tasks": {"labs": {**kept_task([], []), "machine": name}}} for name in ("one", "another"))
    with pytest.raises(SystemExit, match="labs cannot be added: machine was 'one', and is 'another'"):
        paper.scores.added(kept, new)


def test_seconds_of_two_machines_are_not_compared(paper: SimpleNamespace) -> None:
    two = two_methods(0.6, 0.6)
    told = paper.claims.take_longer(two, two, {"labs": "one", "areas": "another"})
    assert told.verdict == "cannot be tested here: the runs of the two queries are of two machines"
    assert paper.claims.take_longer(two, two, {"labs": "one", "areas": "one"}).verdict == "not run"


def kept_task(configs: list[str], trials: list[list[object]], cube: str = "a cube") -> dict[str, object]:
    same = {"query": "a query", "task": "clustering", "measures": ["F1"], "labels": ["a"], "truth": "0"}
    return {"cube": cube, **same, "configurations": configs, "trials": trials}


def test_scores_of_one_part_are_added_to_those_that_are_kept(paper: SimpleNamespace) -> None:
    kept = {"case": 1, "tasks": {"labs": kept_task(["none", "hops"], [[0, "line", 0, "old"], [1, "line", 0, "old"]])}}
    trials: list[list[object]] = [[0, "line", 0, "new"], [1, "line", 0, "new"], [1, "line", 1, "new"]]
    new = {"tasks": {"labs": kept_task(["far", "none"], trials), "films": kept_task([], [])}}
    both = paper.scores.added(kept, new)
    assert both["case"] == 1
    assert both["tasks"]["films"] == new["tasks"]["films"]
    assert both["tasks"]["labs"]["configurations"] == ["none", "hops", "far"]
    assert both["tasks"]["labs"]["trials"] == [
        [0, "line", 0, "new"],
        [1, "line", 0, "old"],
        [2, "line", 0, "new"],
        [0, "line", 1, "new"],
    ]


def test_scores_of_another_cube_are_not_added(paper: SimpleNamespace) -> None:
    kept, new = ({"tasks": {"labs": kept_task([], [], cube)}} for cube in ("a cube", "another"))
    with pytest.raises(SystemExit, match="labs cannot be added: cube was 'a cube', and is 'another'"):
        paper.scores.added(kept, new)


@pytest.mark.parametrize(
    ("sides", "verdict"),
    [
        ([(0.1, 0.3)], "confirmed"),
        ([(0.1, 0.3), (-0.1, 0.3)], "cannot tell"),
        ([(-0.1, 0.3)], "cannot tell"),
        ([(float("nan"), float("nan"))], "cannot tell"),
        ([(-0.3, -0.1)], "**contradicted**"),
        ([(0.1, 0.3), (-0.3, -0.1)], "**contradicted**"),
        ([], "not run"),
    ],
)
def test_a_verdict_follows_from_the_intervals(
    paper: SimpleNamespace, sides: list[tuple[float, float]], verdict: str
) -> None:
    assert paper.verdicts.verdict_of(sides) == verdict
    assert paper.verdicts.Claim("", "", sides=tuple(sides)).verdict == verdict


def test_a_claim_without_an_interval_says_why_none_is_needed(paper: SimpleNamespace) -> None:
    with pytest.raises(ValueError, match="no interval is needed"):
        paper.verdicts.Claim("", "", "a number", exact=True)
    assert paper.verdicts.Claim("", "", "a proof, so no interval is needed", exact=False).verdict == "**contradicted**"


def test_every_row_that_was_judged_shows_its_interval_or_says_why_none_is_needed() -> None:
    page = (ROOT / "docs/findings/paper.md").read_text(encoding="utf-8")
    part = page.partition("## Claim by claim")[2].partition("## Table I")[0]
    rows = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("|")]
    judged = [row for row in rows if row[-1] in ("confirmed", "**contradicted**")]
    assert judged
    for row in judged:
        assert "[" in row[2] or "no interval is needed" in row[2] or "surely" in row[2], row


def test_only_the_papers_own_claims_are_counted(paper: SimpleNamespace) -> None:
    scores = paper.scores.read_scores()
    done = {name: paper.scores.comparison_of(kept) for name, kept in scores["tasks"].items()}
    first = {name: done[name] for name in ("labs", "areas") if name in done}
    assert len(paper.claims.papers(done, scores["case"])) == len(paper.claims.papers(first, scores["case"]))


@pytest.mark.parametrize(("right", "verdict"), [((0.9, 0.3), "confirmed"), ((0.3, 0.9), "**contradicted**")])
def test_a_claim_is_confirmed_only_by_an_interval_on_its_side(
    paper: SimpleNamespace, right: tuple[float, float], verdict: str
) -> None:
    claim = paper.claims.one_sided("", "", two_methods(*right), "hops", "none", +1)
    assert claim.verdict == verdict
    assert "4 runs" in claim.ours


def test_a_claim_whose_interval_holds_0_cannot_be_told(paper: SimpleNamespace) -> None:
    assert paper.claims.one_sided("", "", two_methods(0.6, 0.6), "hops", "none", +1).verdict == "cannot tell"


def test_a_claim_without_runs_is_not_judged(paper: SimpleNamespace) -> None:
    assert paper.claims.one_sided("", "", two_methods(0.6, 0.6), "maxdisc", "none", +1).verdict == "not run"
    assert paper.claims.one_sided("", "", None, "hops", "none", +1).verdict == "not run"


def test_a_claim_judged_by_several_lists_has_wider_intervals(paper: SimpleNamespace) -> None:
    two = two_methods(0.9, 0.3)
    found = paper.claims.apart(two, [(Configuration(method="hops"), Configuration(method="none"))])[0]
    wider = paper.verdicts.wider(found, 9)
    assert wider.low < found.low < found.mean == wider.mean < found.high < wider.high
    assert paper.verdicts.wider(found, 1) == found


def test_a_ratio_of_paired_runs_has_an_interval_unless_all_are_the_same(paper: SimpleNamespace) -> None:
    ratio = paper.verdicts.paired({0: 20.0, 1: 22.0, 2: 19.0, 5: 1.0}, {0: 10.0, 1: 10.0, 2: 10.0})
    assert ratio.low < 2 < ratio.middle < ratio.high
    assert ratio.runs == 3
    assert paper.verdicts.verdict_of([ratio.side()]) == "confirmed"
    assert paper.verdicts.verdict_of([ratio.side(4.0)]) == "**contradicted**"
    same = paper.verdicts.paired({0: 4.0, 1: 4.0}, {0: 2.0, 1: 2.0})
    assert same.same
    assert paper.verdicts.paired({0: 4.0}, {1: 2.0}) is None
    assert paper.claims.by_ratio("", "", "sizes", same).verdict == "confirmed"
    assert paper.claims.by_ratio("", "", "sizes", paper.verdicts.paired({0: 4.0}, {0: 2.0})).verdict == "cannot tell"


def test_a_ratio_of_runs_that_are_not_paired_is_judged_by_a_margin(paper: SimpleNamespace) -> None:
    ratio = paper.verdicts.unpaired([13.5, 13.8, 14.0], [9.8, 9.9, 10.2, 10.0])
    assert ratio.runs == 3
    assert 1.3 < ratio.low < ratio.middle < ratio.high < 1.5
    assert paper.claims.by_ratio("", "", "times", ratio, margin=1.25, sign=-1).verdict == "**contradicted**"
    assert paper.claims.by_ratio("", "", "times", ratio, margin=1.6, sign=-1).verdict == "confirmed"


def test_the_letter_is_beside_random_and_greedy_cells_once_it_has_run(paper: SimpleNamespace) -> None:
    scores = paper.scores.read_scores()
    kept = scores["tasks"]["labs"]
    trial = next(row for row in kept["trials"] if row[1] == "deepwalk")
    rows = [row for row in kept["trials"] if kept["configurations"][row[0]][0] != "cube2net paper"]
    place = len(kept["configurations"])
    for seed, value in enumerate((0.008, 0.007, 0.009)):
        rows.append([place, "deepwalk", seed, *trial[3:6], value, trial[7]])
    changed = {
        **kept,
        "configurations": [*kept["configurations"], ["cube2net paper", "jaccard", "objects", 20]],
        "trials": rows,
    }
    labs = paper.scores.comparison_of(changed)
    greedy, _, helps = paper.elsewhere.letters("labs", labs)
    assert greedy.verdict == "**contradicted**"
    assert "0.0080" in greedy.ours
    assert "[" in greedy.ours
    assert helps.verdict in ("not run", "cannot tell", "confirmed", "**contradicted**")
    told = " ".join(paper.page.letter(scores["case"], {"labs": labs}))
    assert "a relevance of 0.0080" in told
    assert "random cells have" in told
    without = paper.scores.comparison_of({**kept, "trials": rows[:-3]})
    assert not list(paper.elsewhere.letters("labs", without))
    assert "no run of its own" in " ".join(paper.page.letter(scores["case"], {"labs": without}))


def test_the_page_of_one_task_says_what_was_not_run(paper: SimpleNamespace) -> None:
    scores = paper.scores.read_scores()
    only = {"labs": scores["tasks"]["labs"]}
    done = {"labs": paper.scores.comparison_of(only["labs"])}
    page = paper.page.page_of({**scores, "tasks": only}, done)
    assert "cube2net to the letter for the larger set" in " ".join(page.split())
    assert "| larger set: the same | F1 by DeepWalk 0.645, next 0.613 | – | not run |" in page


def two_methods(one: float, other: float) -> Comparison:
    """Return four runs of two methods that put such shares of 80 objects into the right one of two clusters."""
    rng = np.random.default_rng(0)
    truth = np.arange(80) % 2
    trials = []
    for config, share in ((Configuration(method="none"), other), (Configuration(method="hops"), one)):
        for seed in range(4):
            found = np.where(rng.random(80) < share, truth, rng.integers(0, 2, 80))
            score = float(max(np.mean(found == truth), np.mean(found != truth)))
            trials.append(Trial(config, "deepwalk", seed, {"F1": score}, found))
    return Comparison("clustering", ("F1",), tuple(trials), truth=tuple(str(label) for label in truth))
