"""How many hidden members of a group does a text name? For the assistant's text and for lists made in other ways.

    python benchmarks/assistant.py [--tasks labs guilds areas] [--seeds 5] [--tokens 1000 4000]

Of each labelled group 20 % of the members are hidden, and the others are the query. A text is written within a budget
of tokens, and the hidden members that it names are counted:

- ``construct``: what the assistant's tool ``construct`` answers, head and all;
- ``to_text``: the default network by ``network.to_text()``;
- ``one hop``: those linked to the query, most links first, then the heaviest;
- ``PageRank``: the nearest by the walk of the method ``pagerank``;
- ``BM25``: objects by how well their name and the titles of their items match the words of the known members' titles.

These three are lists in lines like those of ``construct``, a name and two numbers (its links, and the objects of the
query that it is linked to), below one title line; ``PageRank, bare`` has names alone, and so room for more of them.

Groups: ``labs`` are four institutions; ``areas`` four special interest groups, whose own volumes are left out;
``guilds`` four further groups, made by the same rule. The order of the text was chosen on labs and guilds; areas had no
say. Differences are paired, with 95 % intervals by drawing members anew within their groups. Everything comes with the
package; the cubes are built first.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

import cube2net as c2n
from cube2net._util.statistics import ENDS
from cube2net._util.text import escape_markdown
from cube2net.api.datasets import AREA_SIGS
from cube2net.apps.mcp.tools import answer
from cube2net.apps.service.service import CubeService
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from cube2net.model.query import Query
from cube2net.network.export.text import Section, estimate_tokens, fit_text
from cube2net.network.pagerank import find_neighbors

HIDDEN, MOST, DRAWS = 0.2, 150, 2_000
"""The share of a group that is hidden, how many members a guild has at most, and how often members are drawn."""
GUILDS = {"siggen": "generation", "sigarab": "Arabic", "sigparse": "parsing", "sigsem": "semantics"}
K1, B = 1.2, 0.75

Array = np.ndarray
Text = Callable[[Array, int], str]


def main() -> None:
    """Print a table for every task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", default=["labs", "guilds"], choices=["labs", "guilds", "areas"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1_000, 4_000])
    given = parser.parse_args()
    for name in given.tasks:
        task = task_of(name)
        texts: dict[str, Text] = {
            "construct": partial(tool_text, CubeService(task.cube)),
            "to_text": partial(plain_text, task.cube),
            "one hop": listing(task.cube, one_hop),
            "PageRank": listing(task.cube, pagerank),
            "BM25": listing(task.cube, Bm25(task.corpus).ranked),
            "PageRank, bare": listing(task.cube, pagerank, numbers=False),
        }
        for most in given.tokens:
            show(task, texts, most, given.seeds)


@dataclass(frozen=True, eq=False)
class Task:
    """A cube, and groups of its objects."""

    name: str
    corpus: Corpus
    cube: Cube
    groups: dict[str, Array]

    def splits(self, seeds: int) -> Iterator[tuple[Array, Array]]:
        """Give, for every seed and group, those that are known and those that are hidden."""
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            for label in sorted(self.groups):
                members = rng.permutation(self.groups[label])
                count = round(HIDDEN * len(members))
                yield np.sort(members[count:]), np.sort(members[:count])


def task_of(name: str) -> Task:
    """Return a task by its name; its cube is built in memory."""
    sigs = {"labs": (), "guilds": tuple(GUILDS), "areas": AREA_SIGS}[name]
    corpus = c2n.load_bundled(without_sigs=sigs)
    labels = {"labs": c2n.load_labs, "guilds": load_guilds, "areas": c2n.load_areas}[name]()
    cube = c2n.build(corpus)
    query = cube.query(labels)
    assert query.labels is not None
    each = np.array(query.labels)
    return Task(name, corpus, cube, {label: query.objects[each == label] for label in set(query.labels)})


def load_guilds() -> dict[str, str]:
    """Return authors with two papers or more in the volumes of one guild, none in another's, and one elsewhere."""
    corpus = c2n.load_bundled()
    names = list(GUILDS)
    kinds = [
        [names.index(sig.lower()) for sig in sigs if sig.lower() in GUILDS] for sigs in corpus.items["sig"].to_pylist()
    ]
    counts = np.zeros((corpus.objects.num_rows, len(names) + 1), dtype=int)
    for item, row in zip(*(corpus.mentions[name].to_pylist() for name in ("item", "object")), strict=True):
        counts[row, kinds[item] or [len(names)]] += 1
    ids = corpus.objects["object"].to_pylist()
    found: dict[str, str] = {}
    for number, label in enumerate(GUILDS.values()):
        others = np.delete(counts[:, :-1], number, axis=1).sum(axis=1)
        rows = np.flatnonzero((counts[:, number] >= 2) & (others == 0) & (counts[:, -1] >= 1))
        chosen = np.random.default_rng(0).permutation(rows)[:MOST]
        found |= {ids[row]: label for row in np.sort(chosen).tolist()}
    return found


def tool_text(service: CubeService, known: Array, most: int) -> str:
    """Return what the assistant's tool says of a query without further words."""
    ids = service.cube.objects.ids(known).to_pylist()
    return answer(service, "construct", {"objects": ids, "max_tokens": most}).text


def plain_text(cube: Cube, known: Array, most: int) -> str:
    """Return the default network of a query as the default text."""
    return c2n.construct(cube, known).to_text(most)


def listing(cube: Cube, ranked: Callable[[Cube, Array], Array], *, numbers: bool = True) -> Text:
    """Return what writes a ranking as names, each with its items and to how many of the query it is linked."""
    names, ids = (cube.objects.table[column].to_pylist() for column in ("name", "object"))
    often = Counter(names)

    def text(known: Array, most: int) -> str:
        rows, (linked, _) = ranked(cube, known), links_to(cube, known)

        def line(row: int) -> str:
            apart = f" (id {escape_markdown(ids[row])})" if often[names[row]] > 1 and names[row] != ids[row] else ""
            said = f" {cube.links.degrees[row]:,} {linked[row]:,}" if numbers else ""
            return f"- {_quoted(names[row])}{apart}{said}"

        what = "; name, links in all, objects of the query it is linked to" if numbers else ""
        title = f"# Objects for a query of {len(known):,}, the best first{what}"
        return fit_text([Section("object", title, rows.tolist(), line)], most, estimate_tokens)

    return text


def links_to(cube: Cube, known: Array) -> tuple[Array, Array]:
    """Return to how many of some objects every object is linked, and how heavily."""
    links, count = cube.links, len(cube.objects)
    spans = [slice(*links.indptr[row : row + 2]) for row in known.tolist()]
    ends = np.concatenate([links.indices[span] for span in spans])
    weight = np.bincount(ends, np.concatenate([links.weights[span] for span in spans]), minlength=count)
    return np.bincount(ends, minlength=count), weight


def one_hop(cube: Cube, known: Array) -> Array:
    """Return the objects linked to some, those linked to most first, then the heaviest."""
    linked, weight = links_to(cube, known)
    linked[known] = 0
    return np.lexsort((-weight, -linked))[: np.count_nonzero(linked)]


def pagerank(cube: Cube, known: Array) -> Array:
    """Return the objects nearest to some by PageRank."""
    return find_neighbors(cube.links, Query(known), 1_000, slack=None)


class Bm25:
    """Objects as documents: their names and the titles of the items that mention them, weighed as BM25 does."""

    def __init__(self, corpus: Corpus) -> None:
        self.words: dict[str, int] = {}
        items, objects = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
        shape = (corpus.objects.num_rows, corpus.items.num_rows)
        mentions = sp.csr_array((np.ones(len(items)), (objects, items)), shape=shape)
        titles = self._counts(corpus.items["title"].to_pylist())
        names = self._counts(corpus.objects["name"].to_pylist())
        titles.resize(shape[1], len(self.words))
        self.titles = (mentions @ titles).tocsr()
        found = (self.titles + names).tocsr()
        count, length = shape[0], np.asarray(found.sum(axis=1)).ravel()
        held = np.bincount(found.indices, minlength=len(self.words))
        rarity = np.log1p((count - held + 0.5) / (held + 0.5))
        size = np.repeat(1 - B + B * length / length.mean(), np.diff(found.indptr))
        found.data = found.data * (K1 + 1) / (found.data + K1 * size) * rarity[found.indices]
        self.weights = found

    def _counts(self, texts: Sequence[str | None]) -> sp.csr_array:
        rows, columns = [], []
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", (text or "").lower()):
                rows.append(row)
                columns.append(self.words.setdefault(word, len(self.words)))
        return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(self.words)))

    def ranked(self, cube: Cube, known: Array) -> Array:
        """Return objects by their scores for the words of some objects' titles, each word once."""
        asked = np.zeros(len(self.words))
        asked[self.titles[known].indices] = 1
        scores = self.weights @ asked
        scores[known] = 0
        return np.argsort(-scores, kind="stable")[:1_000]


def named(text: str, names: Sequence[str], ids: Sequence[str]) -> list[bool]:
    """Return which objects a text has a line of, by name, and by id where the line has one."""
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    begun = {re.sub(r"( [\d,]+)*$", "", line) for line in lines} | {line.partition(":")[0] for line in lines}
    return [
        any(
            f"- {form}{apart}" in begun
            for form in (escape_markdown(name), _quoted(name))
            for apart in ("", f" (id {key})")
        )
        for name, key in zip(names, map(escape_markdown, ids), strict=True)
    ]


def _quoted(name: str) -> str:
    return '"' + escape_markdown(name).replace('"', '\\"') + '"'


def show(task: Task, texts: dict[str, Text], most: int, seeds: int) -> None:
    """Print how many of the hidden each text names, and how much more that of construct does."""
    table = task.cube.objects.table
    count = len(task.cube.objects)
    hidden, found = np.zeros(count), {name: np.zeros(count) for name in texts}
    for known, lost in task.splits(seeds):
        names, ids = (table[column].take(lost).to_pylist() for column in ("name", "object"))
        hidden[lost] += 1
        for name, write in texts.items():
            text = write(known, most)
            assert estimate_tokens(text) <= most
            found[name][lost] += named(text, names, ids)
    print(f"\n{task.name}, {most:,} tokens, {len(task.groups)} groups, {seeds} seeds, {int(hidden.sum()):,} hidden")
    rng = np.random.default_rng(0)
    draws = [{label: rng.choice(rows, len(rows)) for label, rows in task.groups.items()} for _ in range(DRAWS)]
    for name in texts:
        share = mean_share(found[name], hidden, task.groups)
        apart = [mean_share(found["construct"] - found[name], hidden, draw) for draw in draws]
        low, high = np.quantile(apart, ENDS)
        more = mean_share(found["construct"], hidden, task.groups) - share
        said = "" if name == "construct" else f"   construct {more:+.3f} ({low:+.3f} to {high:+.3f})"
        print(f"{name:14} {share:.3f}{said}")


def mean_share(found: Array, hidden: Array, groups: dict[str, Array]) -> float:
    """Return which share of the hidden was found, the mean over groups."""
    return float(np.mean([found[rows].sum() / max(1, hidden[rows].sum()) for rows in groups.values()]))


if __name__ == "__main__":
    main()
