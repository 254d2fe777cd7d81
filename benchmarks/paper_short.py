"""What came out, of the scores that are kept: a few sentences for the top of the page, and the table of claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import Any

from cube2net.model.comparison import Comparison
from paper_claims import ROWS, apart, best_of_all, get_configuration, main_claims, papers
from paper_elsewhere import elsewhere
from paper_scores import LARGER
from paper_verdicts import CLOSED, CONFIRMED, CONTRADICTED, LATER, UNSURE, Claim, said

WORDS = {
    CONFIRMED: "confirmed",
    CONTRADICTED: "contradicted",
    UNSURE: "neither confirmed nor contradicted",
    LATER: "not tested yet",
    CLOSED: "not testable",
}
QUERIES = {"labs": "the 116 authors", "areas": "the larger set"}


def in_short(done: Mapping[str, Comparison], case: Mapping[str, Any], machines: Mapping[str, str]) -> str:
    """Return the result in a few sentences: the main claim, the counts, what holds, what does not, what is missing."""
    found = papers(done, case, machines)
    told = []
    for kind, title, that in ((CONFIRMED, "Confirmed", ""), (CONTRADICTED, "Contradicted", "that ")):
        listed = dict.fromkeys(f"{that}{claim.short or claim.says}" for claim in found if claim.kind == kind)
        if listed:
            told.append(f"- **{title}:** {'; '.join(listed)}.")
    told += tell_others(done)
    missing = not_run(done)
    if missing:
        told.append(f"- **Not run:** {missing}.")
    items = [fill(text, 118, subsequent_indent="  ", break_on_hyphens=False) for text in told]
    return "\n\n".join(
        [
            f"{main_result(done)} Of the paper's {len(found)} claims {counted(found)}.",
            *(["\n".join(items)] if items else []),
        ]
    )


def main_result(done: Mapping[str, Comparison]) -> str:
    """Return what our runs say of the paper's main claim."""
    verdicts = [WORDS[claim.kind] for claim in main_claims(done)]
    same = len(set(verdicts)) == 1
    each = [f"{word} for {name}" for word, name in zip(verdicts, QUERIES.values(), strict=True)]
    gains = []
    for name, title in QUERIES.items():
        if name in done:
            pair = (get_configuration("cube2net", done[name]), done[name].alone)
            gains += [f"by {said(gain)} for {title}" for gain in apart(done[name], [pair])]
    over = f": over the query's own links it changes F1 {' and '.join(gains)}" if gains else ""
    result = f"{verdicts[0]} by our data" if same else f"by our data {' and '.join(each)}"
    return f"The paper's main claim, that cube2net makes the network that clusters best, is {result}{over}."


def not_run(done: Mapping[str, Comparison]) -> str:
    """Return which rows of the paper's tables have no run."""
    told = []
    for name, title in QUERIES.items():
        there = {trial.configuration.method for trial in done[name].trials if trial.scores} if name in done else set()
        rows = [row.replace(", ", " ") for row, method in ROWS.items() if method not in there]
        if rows:
            older = ", except on an older cube (`areas-older`)" if name == "areas" and "areas-older" in done else ""
            told.append(f"{' and '.join(filter(None, [', '.join(rows[:-1]), rows[-1]]))} for {title}{older}")
    return "; ".join(told)


def tell_others(done: Mapping[str, Comparison]) -> list[str]:
    """Return what the default's network does on larger sets that the paper does not have, in an item or none."""
    told = []
    for name in LARGER:
        if name in done:
            pair = (get_configuration("cube2net", done[name]), done[name].alone)
            verdict = WORDS[best_of_all("", "", done[name]).kind]
            told += [f"`{name}` {said(gain)}, and being best is {verdict}" for gain in apart(done[name], [pair])]
    return (
        [f"- **F1 over the query's own links on sets that the paper does not have:** {'; '.join(told)}."]
        if told
        else []
    )


def claims(done: Mapping[str, Comparison], case: Mapping[str, Any], machines: Mapping[str, str]) -> Iterator[str]:
    """Yield the table of claims, and of the same asked elsewhere."""
    found = papers(done, case, machines)
    yield "## Claim by claim"
    yield ""
    yield f"Of the paper's {len(found)} claims {counted(found)}."
    yield ""
    yield "| the paper says | its numbers | ours | verdict |"
    yield "| --- | --- | --- | --- |"
    yield from (claim.row for claim in found)
    more = elsewhere(done)
    if more:
        yield ""
        yield "### The same elsewhere"
        yield ""
        yield "Not the paper's claims, and not counted above: the same asked on other tasks,"
        yield "and of the learner to the letter."
        yield ""
        yield "| if the paper's held here too | the paper | ours | verdict |"
        yield "| --- | --- | --- | --- |"
        yield from (claim.row for claim in more)


def counted(found: Sequence[Claim]) -> str:
    """Return how many claims have which verdict."""
    count = Counter(claim.kind for claim in found)
    texts = {
        CONFIRMED: "{} confirmed",
        CONTRADICTED: "{} contradicted",
        UNSURE: "{} are undecided",
        CLOSED: "{} cannot be tested here",
        LATER: "{} not run",
    }
    verbs = {CONFIRMED: ("is", "are"), CONTRADICTED: ("is", "are"), LATER: ("has", "have")}
    told = []
    for kind, text in texts.items():
        if count[kind]:
            verb = verbs.get(kind, ("", ""))[count[kind] > 1]
            told.append(text.format(f"{count[kind]} {verb}".rstrip()))
    return ", ".join(told[:-1]) + (" and " if told[1:] else "") + told[-1]
