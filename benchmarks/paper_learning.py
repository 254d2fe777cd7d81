"""The paper's claims about learning: judged by what learning changes, in the runs of learning_runs.py."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from learning_page import TUNED, BySeed, Runs, compute_interval, format_difference, subtract
from learning_runs import LADDER
from paper_verdicts import NBSP, Claim, Side, mean_text

DEFAULT = LADDER[-1].name
WHERE = "on the papers of the package"


@cache
def read_runs() -> Runs:
    """Return the runs that are kept."""
    return Runs.read()


def describe(difference: BySeed) -> str:
    """Return a difference with its interval and its runs, on one line."""
    text = format_difference(difference).replace("**", "").replace(" ", NBSP)
    return f"{text}, {len(difference)} runs"


def compute_side(difference: BySeed) -> Side:
    """Return the interval of a difference."""
    _, low, high = compute_interval([*difference.values()])
    return low, high


def judge_values(own: list[float], greedy: list[float]) -> Claim:
    """Return whether learning finds better cells than greedy; ``own`` and ``greedy`` are values on the full papers."""
    runs, told, sides = read_runs(), [], []
    for task in ("labs", "areas"):
        value = next(iter(runs.values("others", task, "greedy").values()))
        learned, not_learned = (runs.values("tuned", task, TUNED, learns) for learns in (True, False))
        over = {seed: each - value for seed, each in learned.items()}
        sides.append(compute_side(over))
        told.append(
            f"`{task}` {mean_text([*learned.values()])} over {value:.4f}: {describe(over)}; "
            f"learning adds {describe(subtract(learned, not_learned))}"
        )
    default = subtract(*(runs.values("ladder", "labs", DEFAULT, learns) for learns in (True, False)))
    text = f"the paper's agent at its best (`paper-tuned`), {WHERE}: {'; '.join(told)}."
    if own and greedy:
        text += f" The default's cells are better ({mean_text(own)} over {mean_text(greedy)}), and need no learning: "
        text += f"it changes their value by {describe(default)} ({WHERE})"
    says = "a learner finds better cells than greedy"
    return Claim(says, "no values", text, "learning finds better cells than greedy", tuple(sides))


def add_learning(claim: Claim, task: str) -> Claim:
    """Return a claim about the learner's network that also needs learning to change F1 for the better."""
    runs = read_runs()
    gain = subtract(*(runs.f1(task, f"{DEFAULT}, {how}") for how in ("learned", "not learned")))
    if not claim.sides or not gain:
        return claim
    text = f"{claim.ours}; learning changes F1 by {describe(gain)} ({WHERE})"
    return replace(claim, ours=text, sides=(*claim.sides, compute_side(gain)))


def compare_corpora() -> dict[str, str]:
    """Return how the default's network changes F1 over the query alone, by task, on the papers of the package."""
    runs = read_runs()
    gains = {task: subtract(runs.f1(task, f"{DEFAULT}, learned"), runs.f1(task, "none")) for task in ("labs", "areas")}
    return {task: describe(gain) for task, gain in gains.items() if gain}
