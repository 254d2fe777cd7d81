"""What docs/findings/performance.md compares is comparable: all give the same answer, a graph beside changes none."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import cube2net as c2n
from dblp_like_corpus import make_dblp_like, open_dblp_like

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def measures(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Return the modules of the benchmarks, and a small cube in a folder to ask."""
    sys.path.append(str(BENCHMARKS))
    from measures import (
        anthology,
        contestants,
        growing,
        limits,
        literature,
        page,
        page_words,
        processes,
        race,
        updating,
    )

    folder = tmp_path_factory.mktemp("benchmarks")
    literature.make(folder, 3_000)
    corpus = open_dblp_like(literature.corpus_folder(folder, 3_000))
    literature.cube_folder(folder, 3_000).parent.mkdir()
    cube = c2n.build(corpus, corpus.dimensions, out=literature.cube_folder(folder, 3_000))
    modules = (anthology, contestants, growing, limits, literature, page, page_words, processes, race, updating)
    named = {module.__name__.partition(".")[2]: module for module in modules}
    return SimpleNamespace(**named, folder=folder, cube=cube, at=literature.cube_folder(folder, 3_000))


def test_a_persons_query_has_the_size_asked_for_and_is_the_same_again(measures: SimpleNamespace) -> None:
    rows = measures.literature.person_query(measures.cube, 40)
    assert len(rows) == len(np.unique(rows)) == 40
    assert np.array_equal(rows, measures.literature.person_query(measures.cube, 40))
    assert not np.array_equal(rows, measures.literature.person_query(measures.cube, 40, seed=1))


@pytest.mark.parametrize("name", ["igraph", "NetworkX", "PyG", "DuckDB"])
@pytest.mark.parametrize("steps", [1, 2])
def test_every_contestant_gives_the_same_network(measures: SimpleNamespace, name: str, steps: int) -> None:
    for package in measures.contestants.CONTESTANTS[name].needs:
        pytest.importorskip(package)
    rows = measures.literature.person_query(measures.cube, 40)
    ours = measures.contestants.CONTESTANTS["cube2net"](measures.at, measures.folder)
    peer = measures.contestants.CONTESTANTS[name](measures.at, measures.folder)
    wanted, got = (measures.race._shown(*one.plain(one.hops(rows, steps))) for one in (ours, peer))
    assert wanted["nodes"] > 40
    assert got == wanted


@pytest.mark.parametrize("name", ["cube2net, tight", "igraph", "scikit-network", "scikit-network, diteration"])
def test_every_contestant_finds_the_objects_of_highest_score(measures: SimpleNamespace, name: str) -> None:
    for package in measures.contestants.CONTESTANTS[name].needs:
        pytest.importorskip(package)
    rows = measures.literature.person_query(measures.cube, 40)
    peer = measures.contestants.CONTESTANTS[name](measures.at, measures.folder)
    found = measures.race._top(np.asarray(peer.pagerank(rows, measures.race.top_of(rows))), rows)
    exact = measures.race.exact(measures.at, {40: rows})["tops"]["40"]
    assert len(set(found) & set(exact)) >= 0.95 * len(exact)


def test_a_literature_beside_another_keeps_its_rows_links_and_answers(measures: SimpleNamespace) -> None:
    literature = measures.literature
    base, other = make_dblp_like(2_000, seed=1), make_dblp_like(3_000)
    alone, grown = (
        c2n.build(corpus, corpus.dimensions) for corpus in (literature.marked(base), literature.beside(base, other))
    )
    count = len(alone.objects)
    assert len(grown.objects) == count + other.objects.num_rows
    assert grown.objects.table.slice(0, count).equals(alone.objects.table)
    assert np.array_equal(grown.links.indices[: len(alone.links.indices)], alone.links.indices)
    rows = literature.person_query(alone, 30).tolist()
    for method in ("hops", "greedy"):
        one, two = (c2n.construct(cube, cube.query(rows), method, form="objects") for cube in (alone, grown))
        assert np.array_equal(one.objects, two.objects)
        assert [alone.cell(int(cell)) for cell in one.selection.cells] == [
            grown.cell(int(cell)) for cell in two.selection.cells
        ]


def test_the_plain_loop_chooses_the_cells_of_greedy(measures: SimpleNamespace) -> None:
    query = measures.cube.query(measures.literature.person_query(measures.cube, 40).tolist())
    chosen = c2n.construct(measures.cube, query, "greedy", 5, form="objects").selection.cells.tolist()
    assert measures.anthology.plain_greedy(measures.cube, query, 5) == chosen


def test_every_kernel_can_be_measured_against_its_floor(
    measures: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = measures.limits
    monkeypatch.setattr(limits, "turns", lambda work, **_: [measures.processes.timed(work)[0]])
    query = measures.literature.person_query(measures.cube, 40).astype(np.int32)
    rows = [kernel(measures.cube, query) for kernel in (limits._hop, limits._induce, limits._push, limits._greedy)]
    rows += [kernel(measures.cube) for kernel in (limits._nearest, limits._pack)]
    speeds = {"stream": 1e9, "fetch": {str(size): 1e-9 for size in limits.TABLES}}
    for row in rows:
        assert row["streamed"] > 0
        assert [limits.fetch(speeds, table) for _, table in row["fetched"]] == pytest.approx(
            [1e-9] * len(row["fetched"])
        )


def test_what_is_measured_is_not_measured_again(measures: SimpleNamespace, tmp_path: Path) -> None:
    results = measures.processes.Results(tmp_path / "results")
    first = results.measure("one", lambda: {"value": 1})
    assert results.measure("one", lambda: {"value": 2}) == first
    assert first["value"] == 1
    assert {"load", "others", "own", "wall", "when"} == set(first["conditions"])
    assert json.loads((tmp_path / "results" / "one.json").read_text())["value"] == 1
    assert results.read("two") is None


def test_the_page_has_only_the_sections_that_were_measured(measures: SimpleNamespace, tmp_path: Path) -> None:
    results = measures.processes.Results(tmp_path / "results")
    results.measure("machine", measures.processes.machine)
    measures.page.write_page(results, tmp_path / "performance.md")
    text = (tmp_path / "performance.md").read_text(encoding="utf-8")
    assert re.findall(r"^#+ (.*)$", text, re.MULTILINE) == [
        "Performance",
        "Command line",
        "Compilation",
        "Further measurements",
    ]
    assert "$" not in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_busy_machine_is_remarked(measures: SimpleNamespace) -> None:
    quiet, busy = ({"conditions": {"others": others, "load": 3.0}} for others in (0.01, 1.5))
    assert measures.page_words.remark([quiet]) == ""
    assert "1 of these 2 measurements other programs took up to 1.5 cores" in measures.page_words.remark([quiet, busy])


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.00042, "0.42 ms"), (0.0123, "12 ms"), (0.9996, "1.0 s"), (3.21, "3.2 s"), (75, "75 s")]
)
def test_times_are_said_in_the_unit_that_suits_them(measures: SimpleNamespace, seconds: float, said: str) -> None:
    assert measures.page_words.duration(seconds) == said


def test_adding_the_last_papers_gives_the_files_of_a_rebuild(measures: SimpleNamespace) -> None:
    found = measures.updating.update(measures.folder, 3_000, 0.1)
    assert found["added"] == 300
    assert found["same"]


def test_a_slower_commit_is_measured_again_before_it_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sys.path.append(str(BENCHMARKS))
    import compare_commits

    asked: list[str] = []
    figures = {"base": [1.0], "head": [2.0, 2.0, 1.2, 2.0]}

    def child(tree: Path, folder: Path, name: str) -> float:
        asked.append(tree.name)
        return figures[tree.name].pop(0) if len(figures[tree.name]) > 1 else figures[tree.name][0]

    monkeypatch.setattr(compare_commits, "child", child)
    sides = {side: (Path(side), Path(side)) for side in ("base", "head")}
    assert compare_commits.compared("build", sides, rounds=2, limit=1.3)
    assert asked == ["base", "head", "head", "base"] * 2, "the two take turns, twice as often where one seemed slower"
    figures["head"] = [1.5]
    assert not compare_commits.compared("build", sides, rounds=2, limit=1.3)
    assert capsys.readouterr().out.endswith("1,500.0 ms    1.50  slower\n")
    asked.clear()
    figures["head"] = [1.1]
    assert compare_commits.compared("build", sides, rounds=2, limit=1.3)
    assert len(asked) == 4


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["--wlak"], 2)])
def test_help_and_unknown_options_of_the_trace_run_nothing(
    words: list[str], status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import trace_calls

    monkeypatch.setattr(trace_calls, "works", lambda *_: pytest.fail("the trace ran"))
    monkeypatch.setattr(sys, "argv", ["trace_calls.py", *words])
    with pytest.raises(SystemExit) as ended:
        trace_calls.main()
    assert ended.value.code == status
    out, err = capsys.readouterr()
    assert "--walk" in out + err
