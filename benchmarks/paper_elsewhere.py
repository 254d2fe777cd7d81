"""What the paper's claims come to elsewhere: on other tasks than its own, and with the learner to the letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cube2net.model.comparison import Comparison
from paper_claims import best_of_all, one_sided, values_of
from paper_verdicts import Claim, gap, gap_text, mean_text

OTHERS = ("labs2", "areas-older", "areas2", "planted", "fourarea-large", "debian", "reviews")
LETTER = "cube2net paper"


def elsewhere(done: Mapping[str, Comparison]) -> list[Claim]:
    """Return the same asked of other tasks, and of the learner to the letter."""
    found = [
        best_of_all(f"`{name}`: cube2net is best in F1, JC and NMI by every embedding", "not in it", done[name])
        for name in OTHERS
        if name in done
    ]
    found += [
        best_of_all(
            f"`{name}`: cube2net's network is best for hidden links, in P, R and F1 by Soft-Impute",
            "a picture, on Yelp",
            comparison,
            models=("softimpute",),
            summary=("softimpute", "F1@10"),
        )
        for name, comparison in done.items()
        if comparison.task == "links"
    ]
    return [*found, *(claim for name, comparison in done.items() for claim in letters(name, comparison))]


def letters(name: str, comparison: Comparison) -> Iterator[Claim]:
    """Yield what the learner to the letter finds on a task, where it has run."""
    plans = list(values_of(comparison, LETTER).values())
    if not plans:
        return
    for baseline in ("greedy", "random"):
        values = list(values_of(comparison, baseline).values())
        if values:
            runs = f"{len(plans)} and {len(values)} runs" if min(len(plans), len(values)) > 1 else "too few runs"
            yield Claim(
                f"`{name}`, to the letter: its cells are more relevant than {baseline} ones",
                "no values",
                f"relevance {mean_text(plans)}, {baseline} {mean_text(values)}: "
                f"apart {gap_text(plans, values)}, {runs}",
                sides=(gap(plans, values),),
            )
    if comparison.task == "clustering":
        yield one_sided(f"`{name}`, to the letter: its cells help", "as cube2net", comparison, LETTER, "none", +1)
