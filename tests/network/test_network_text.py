"""A network as text: within any budget, whole lines, exact counts, names that are only names."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cube2net as c2n
from cube2net.model.cube import Cube
from cube2net.model.network import Network
from cube2net.model.objects import Objects
from cube2net.network.export.text import Section, estimate_tokens, fit_text

import hostile
from toys import random_cube, toy_cube, two_communities

MOST = 10**9
COUNTERS: dict[str, Callable[[str], int]] = {
    "estimate": estimate_tokens,
    "bytes": lambda text: len(text.encode()),
    "words": lambda text: len(text.split()),
    "lines": lambda text: text.count("\n"),
    "more for more": lambda text: len(text) ** 2 // 1_000,
    "a constant more": lambda text: len(text) // 4 + 17,
    "up and down": lambda text: len(text) // 4 - 300 * (text.count("\n") % 3),
    "by its hash": lambda text: sum(text.encode()) % 997,
    "a fraction": lambda text: len(text) / 3.7,
    "nothing": lambda text: 0,
}


@cache
def network(form: str) -> Network:
    cube, query = two_communities(20)
    ways = {
        "hops": {"method": "hops"},
        "hybrid": {},
        "objects": {"form": "objects", "n_cells": 6},
        "cells": {"form": "cells"},
    }
    return c2n.api.construct_by_name(cube, query, **ways[form])


FORMS = ("hybrid", "objects", "cells", "hops")


@pytest.mark.parametrize("form", FORMS)
@given(st.integers(0, 6_000), st.sampled_from(sorted(COUNTERS)))
def test_no_budget_is_exceeded_whatever_counts(form: str, most: int, name: str) -> None:
    counter = COUNTERS[name]
    text = network(form).to_text(most, counter)
    assert counter(text) <= most or counter("") > most
    assert text == network(form).to_text(most, counter)


@pytest.mark.parametrize("count", range(1, 41))
def test_as_many_lines_stand_there_as_fit_and_all_where_there_is_room(count: int) -> None:
    sections = [Section("line", "", range(count))]
    whole = "\n".join(map(str, range(count)))
    assert fit_text(sections, MOST, len) == whole
    for lines in range(count):
        left = f"and {count - lines} more line{'s' * (count - lines != 1)}"
        text = "\n\n".join([*(["\n".join(map(str, range(lines)))] * bool(lines)), left])
        assert fit_text(sections, lines, lambda text: sum(map(str.isdigit, text.split("\n")))) == text


@pytest.mark.parametrize("form", FORMS)
@given(most=st.integers(0, 6_000))
def test_every_line_is_whole_and_all_that_is_left_out_is_counted(form: str, most: int) -> None:
    whole, text = network(form).to_text(MOST), network(form).to_text(most)
    rest, _, last = text.rpartition("\n\n")
    body, left = (rest, last) if last.startswith("and ") else (text, "")
    lines, every = body.split("\n"), iter(whole.split("\n"))
    assert body == "" or all(line in every for line in lines)
    omitted = {what: int(count.replace(",", "")) for count, what in re.findall(r"([\d,]+) more (\w+?)s?\b", left)}
    assert text == "" or counts(lines) + np.array([omitted.get(what, 0) for what in KINDS]) == pytest.approx(
        counts(whole.split("\n"))
    )


KINDS = ("group", "cell", "object", "link")


def counts(lines: list[str]) -> np.ndarray:
    """Return how many lines are about a group, a cell, an object and a link."""
    heads = {"## Who": 0, "## Cho": 1, "## In ": 2, "## Nea": 2, "## Oth": 2, "## Lin": 3}
    found, kind = np.zeros(4, dtype=int), -1
    for line in lines:
        kind = heads.get(line[:6], kind)
        found[kind] += line[:2] == "- " or (kind == 1 and line[:1].isdigit())
    return found


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_text_has_a_line_for_every_cell_object_and_link(form: str) -> None:
    made = network(form)
    among = int((np.maximum(made.source, made.target) < len(made.objects)).sum())
    whole = made.to_text(MOST)
    assert counts(whole.split("\n"))[1:].tolist() == [len(made.selection.cells), len(made.objects), among]
    assert not whole.split("\n")[-1].startswith("and ")


@pytest.mark.parametrize("most", [150, 400, 1_000, 3_000])
def test_a_longer_beginning_does_not_fit(most: int) -> None:
    text = network("hybrid").to_text(most)
    tight = estimate_tokens(text)
    assert network("hybrid").to_text(tight) == text
    longest = max(map(estimate_tokens, network("hybrid").to_text(MOST).split("\n")))
    assert most - tight < 2 * longest


def test_a_small_budget_shows_the_first_of_everything_but_links() -> None:
    lines = network("hybrid").to_text(900).split("\n")
    shown = counts(lines)
    assert all(shown[:3] > 0) and shown[3] == 0
    titles = [line.split()[1] for line in lines if line.startswith("## ")]
    assert titles == ["Who", "Chosen", "In", "Neighbours,"]


def test_too_small_a_budget_gives_the_counts_alone_and_then_nothing() -> None:
    made = network("cells")
    last = made.to_text(35)
    assert re.fullmatch(r"and 40 more objects, 2 more groups, \d+ more cells, \d+ more links", last)
    assert made.to_text(3) == made.to_text(0) == ""


def test_a_text_says_who_is_there_and_why() -> None:
    cube = toy_cube([[0, 1, 2], [1, 2, 5], [6, 7]], objects=9, links=[(0, 1), (1, 2), (2, 3), (0, 3), (4, 5), (6, 7)])
    made = c2n.construct(
        cube, {"o0": "red", "o1": "red", "o2": "blue", "o8": "blue"}, options=c2n.NetworkOptions(n_neighbors=2)
    )
    assert made.to_text().split("\n") == [
        "# Network around a query of 4 objects",
        "It has 5 objects (4 of the query, 1 neighbour), 2 cells chosen, 4 links among objects. "
        "An object here is: thing.",
        "It was made by the method greedy for the objective cover (how often chosen cells hold objects of the query, "
        "each counted 3 times at most): 5; proven best: no choice within the limits is worth more.",
        "A cell ⟨group⟩ holds the objects of all items with these labels; its gain is what it added when it was "
        "chosen.",
        "The cells hold 3 of the 4 objects of the query, all but Object 8.",
        "Neighbours are those that walks along links from the query come to most often.",
        "",
        "## Who they are",
        "- red: 2 objects",
        "- blue: 2 objects",
        "",
        "## Chosen cells, first chosen first: number. ⟨group⟩ gain: of the query; objects in all",
        "1. ⟨label 0⟩ +3: 3 of the query (75%): red 2, blue 1; 3 in all",
        "2. ⟨label 1⟩ +2: 2 of the query (50%): red 1, blue 1; 3 in all",
        "",
        "## In the query: 4, those with most cells and links first",
        "- Object 1 (red): in cells 1, 2; linked to 2 of the query: Object 0, Object 2",
        "- Object 2 (blue): in cells 1, 2; linked to 1 of the query: Object 1",
        "- Object 0 (red): in cell 1; linked to 1 of the query: Object 1",
        "- Object 8 (blue): in no chosen cell; linked to none of the query",
        "",
        "## Neighbours, not in the query: 1, those with most cells and links first",
        "- Object 3: linked to 2 of the query, 1 of red: Object 0, Object 2",
        "",
        "## Links, heaviest first: weight",
        "- Object 0 — Object 1: 1",
        "- Object 1 — Object 2: 1",
        "- Object 0 — Object 3: 0.658",
        "- Object 2 — Object 3: 0.658",
    ]


def test_what_the_source_knows_of_objects_and_their_items_is_told() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    text = c2n.construct(c2n.build(planted.corpus), planted.query(0)).to_text(MOST)
    assert re.search(r"- All of the query: 50 objects; decade .*\d%; venue .*\d%; topic .*\d%", text)
    assert re.search(r"- Object \d+: \d+ items; mostly \w+ · venue \d · topic \d; in cells [\d, ]+; linked to", text)


def test_a_text_says_what_the_user_wanted_in_it_and_not() -> None:
    cube = random_cube(0)
    made = c2n.construct(cube, ["o0", "o4", "o8"], pins=["o3"], bans=[cube.cell(0), cube.cell(1)])
    assert "\nThe user wanted in it Object 3; not in it ⟨label 0⟩, ⟨label 1⟩.\n" in made.to_text()
    assert "The user wanted" not in c2n.construct(cube, ["o0", "o4", "o8"]).to_text()


def named(names: list[str]) -> Cube:
    """Return a random cube whose objects have these names, over and over."""
    cube = random_cube(0, objects=60)
    ids = [f"o{number}" for number in range(len(cube.objects))]
    given = [names[number % len(names)] for number in range(len(ids))]
    table = pa.table({"object": ids, "name": pa.array(given, pa.string()), "kind": ["thing"] * len(ids)})
    return replace(cube, objects=Objects.of(table))


def test_objects_of_one_name_are_told_apart_by_their_ids() -> None:
    text = c2n.construct(
        named(["Twin", "Twin", "o2", ""]), ["o0", "o1", "o2", "o3"], options=c2n.NetworkOptions(n_neighbors=0)
    ).to_text(MOST)
    for title in ("- Twin (id o0): ", "- Twin (id o1): ", "- o2: ", "- no name (id o3): "):
        assert title in text


HOSTILE = [name for name in hostile.NAMES if "\0" not in name] + [
    *("# Heading", "- item", "1. one", "> said", "**bold** _x_ `code`", "[a](http://b)", "<script>", "a\n\n## Chosen"),
    "x" * 5_000,
]


def test_a_name_stays_on_its_line_and_means_nothing_there() -> None:
    cube = named(HOSTILE)
    query = [f"o{number}" for number in range(len(cube.objects))]
    made = c2n.construct(cube, dict.fromkeys(query, "a\n# label\x1b[2J"))
    text = made.to_text(MOST)
    assert hostile.harmful(text.encode()) == []
    assert counts(text.split("\n"))[2] == len(made.objects)
    assert [line for line in text.split("\n") if line.startswith("#")] == [
        line for line in text.split("\n") if re.match(r"# Network|## (Who|Chosen|In|Near|Links)", line)
    ]
    assert max(map(len, text.split("\n"))) < 1_000
    for marked in (r"\# Heading", r"\- item", r"1\. one", r"\> said", r"\*\*bold\*\* \_x\_ \`code\`", r"\[a]", r"\<sc"):
        assert marked in text


@pytest.mark.parametrize(
    ("answer", "wanted"), [("many", "'many'"), (None, "None"), (float("nan"), "nan"), (True, "True")]
)
def test_a_counter_that_gives_no_number_is_refused(answer: object, wanted: str) -> None:
    with pytest.raises(c2n.Cube2netError, match=f"the counter gave {wanted} for a text, expected how many tokens"):
        network("cells").to_text(100, lambda text: answer)  # type: ignore[arg-type,return-value]


def test_what_is_no_counter_and_no_budget_is_refused() -> None:
    with pytest.raises(c2n.Cube2netError, match="the counter is 'words', expected a function of a text"):
        network("cells").to_text(100, "words")  # type: ignore[arg-type]
    with pytest.raises(c2n.Cube2netError, match="max_tokens is -1, expected 0 or more tokens"):
        network("cells").to_text(-1)


def test_a_counter_is_asked_a_few_times_about_texts_not_much_longer_than_the_budget() -> None:
    asked: list[int] = []

    def counter(text: str) -> int:
        asked.append(len(text))
        return len(text)

    cube = random_cube(1, cells=200, objects=3_000, links=9_000, largest=60)
    made = c2n.construct(cube, cube.query([f"o{number}" for number in range(0, 3_000, 2)]))
    text = made.to_text(6_000, counter)
    assert len(made.to_text(MOST)) > 50 * len(text)
    assert len(asked) < 25 and max(asked) < 4 * 6_000


def test_of_cells_at_higher_levels_every_time_counts() -> None:
    planted = c2n.make_planted(objects=200, communities=4, noise=0)
    text = c2n.construct(
        c2n.build(planted.corpus), planted.query(0), options=c2n.NetworkOptions(levels="one")
    ).to_text()
    assert "how often chosen cells hold objects of the query, every time counted" in text
