"""Writes docs/findings/performance.md: the words of ``page.md``, section by section, with what was measured put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from string import Template

from measures.growing import grown
from measures.page_own import answers, build, builds_of, update
from measures.page_race import closest, ready_table, task_tables
from measures.page_scale import growing, limits, throughput
from measures.page_words import Values, bytes_said, duration, remark, table, wrapped
from measures.processes import Results

WORDS = Path(__file__).with_name("page.md")


def write_page(results: Results, page: Path) -> None:
    """Write the page of all measurements that are there, and its pictures beside it."""
    texts = []
    for name, words in re.findall(r"<!-- (\w+) -->\n(.*?)(?=<!-- |\Z)", WORDS.read_text(encoding="utf-8"), re.DOTALL):
        values = SECTIONS[name](results, page.parent)
        if values is not None:
            texts.append(wrapped(Template(words).substitute(values)))
    page.write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def intro(results: Results, folder: Path) -> Values:
    """Return what machine it was, and which programs."""
    found = results.read("machine") or {}
    kind = "virtual machine" if found["virtual"] else "machine"
    machine = f"a {kind} of {found['cores']} cores ({found['cpu']}) and {found['memory'] / 2**30:.0f} GB of memory"
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return {
        "machine": f"{machine}, {found['conditions']['when'][:10]}",
        "versions": f"Python {found['python']}, {versions}",
    }


def glance(results: Results, folder: Path) -> Values:
    """Return measured figures beside their targets."""
    rows = list(_glance(results))
    return {"table": table(("at the largest size", "measured", "target"), rows)} if rows else None


def _glance(results: Results) -> Iterator[tuple[str, ...]]:
    builds = builds_of(results)
    if builds:
        last = builds[-1]
        measured = f"{duration(last['seconds'])}, {bytes_said(last['memory']['peak'])}"
        yield f"build the cube of {last['papers']:,} papers, topics given", measured, "60 s, 6 GB"
    opened, found = results.read("open"), results.read("answers-0116")
    if opened and found:
        methods = found["methods"]
        yield "open it", duration(opened["reopening"]), "50 ms"
        yield "one hop from 116 objects, with all links", duration(methods["one hop"]["seconds"]), "20 ms"
        yield "greedy, 20 cells for 116 objects, with all links", duration(methods["greedy"]["seconds"]), "100 ms"
    near = closest(results)
    if near:
        ratio, name, task = near
        kind, _, size = task.rpartition(" ")
        yield (
            f"the fastest other library in any task: {name}, {kind} from {int(size):,} objects",
            f"{ratio:.1f} × the time of cube2net",
            "above 1 ×",
        )
    graphs = (grown(results) or {}).get("rows", ())
    if len(graphs) > 1:
        times = graphs[-1]["graph"] / graphs[0]["graph"]
        for kind in ("one hop", "greedy", "PageRank"):
            ratio = graphs[-1]["kinds"][kind]["seconds"] / graphs[0]["kinds"][kind]["seconds"]
            yield (
                f"the same query ({kind}) in a graph {times:.0f} × as large",
                f"{ratio:.1f} × the time",
                "the same time",
            )


def race(results: Results, folder: Path) -> Values:
    """Return what everybody took to get ready, and everybody's times for every task."""
    ready = ready_table(results)
    if not ready:
        return None
    tasks, busy = task_tables(results, "", folder / "performance-race.png")
    return {"ready": ready, "tasks": tasks, "remark": busy}


def anthology(results: Results, folder: Path) -> Values:
    """Return the figures on the ACL Anthology."""
    built, found = results.read("anthology-build"), results.read("anthology-answers")
    if not built or not found:
        return None
    same = "the same cells" if found["same"] else "**other cells, which is a fault**"
    rows = [
        ("read the archive (XML in a tar.xz)", duration(built["reading"]), ""),
        ("phrases, topics and labels, 100 topics", duration(built["topics"]), ""),
        ("cube from parsed tables", duration(built["building"]), "2 s"),
        ("open", duration(found["opening"]), "20 ms"),
        (f"greedy, 20 cells, jaccard {found['value']:.4f}", duration(found["greedy"]), "50 ms"),
        (
            f"plain loop over all cells ({same})",
            duration(found["plain"]),
            f"{found['plain'] / found['greedy']:,.0f} ×",
        ),
        ("`cube2net --help`", duration(found["help"]), "0.3 s"),
        ("`cube2net query` in the shell", duration(found["shell"]), "1 s"),
    ]
    tasks, busy = task_tables(results, "-anthology", None)
    return {
        **{name: f"{built[name]:,}" for name in ("items", "objects", "links", "cells")},
        "archive": built["archive"],
        "dimensions": " × ".join(built["dimensions"]),
        "query": str(found["query"]),
        "table": table(("work", "time", "target, or ratio"), rows),
        "remark": remark([built, found]),
        "tasks": "\n\n".join(part for part in (tasks, busy) if part),
    }


def rest(results: Results, folder: Path) -> Values:
    """Return nothing to put in."""
    return {}


SECTIONS: dict[str, Callable[[Results, Path], Values]] = {
    section.__name__: section
    for section in (intro, glance, build, update, answers, race, throughput, growing, limits, anthology, rest)
}
