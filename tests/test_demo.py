"""The main job, run as a stranger would, on the data that ships."""

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import cube2net as c2n
from cube2net.aside import check_folder
from cube2net.demo import PARTS, run
from cube2net.errors import InputError
from cube2net.pipeline.comparing import WRITTEN


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-m", "cube2net.cli", "demo", "--out", str(out), "--quiet"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return out, ended.stdout


def test_the_demo_leaves_a_cube_a_query_a_network_and_pictures(demo: tuple[Path, str]) -> None:
    out, _ = demo
    assert sorted(path.name for path in out.iterdir()) == [
        "cube",
        "network.graphml",
        "network.png",
        "query.csv",
        "report",
        "woven.png",
    ]
    assert {"report.html", "results.json", "scores.csv"} <= {path.name for path in (out / "report").iterdir()}
    assert c2n.verify_cube(out / "cube")
    with (out / "query.csv").open(encoding="utf-8") as file:
        assert {row["object"]: row["label"] for row in csv.DictReader(file)} == c2n.load_labs()


@pytest.mark.parametrize(("name", "whose"), [("notes.txt", "a demo's"), ("report/notes.txt", "a report's")])
def test_the_demo_refuses_a_folder_of_other_files(name: str, whose: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=f"holds other files than {whose}: 'notes.txt' .choose another folder, or"):
        run(tmp_path)
    assert path.read_text(encoding="utf-8") == "mine" and not (tmp_path / "cube").exists()


def test_the_demo_can_be_run_again_where_it_was_and_where_its_commands_write(demo: tuple[Path, str]) -> None:
    check_folder(demo[0], PARTS, "a demo's")
    check_folder(demo[0] / "report", WRITTEN, "a report's")
    commands = [line.split() for line in demo[1].splitlines() if " --out " in line]
    assert [Path(words[words.index("--out") + 1]).name for words in commands] == ["compared"]
    assert "compared" in PARTS


def test_the_demo_counts_the_ways_that_its_table_shows(demo: tuple[Path, str]) -> None:
    shown = demo[1].split("the methods at hand")[1].split("loose: ")[0]
    rows = [line.split()[0] for line in shown.splitlines() if line.split()[:1] and line.split()[0] in c2n.METHODS]
    (ways,) = re.findall(r"(\d+) (?:other )?ways", demo[1].split("Verdict: ")[1].split("Written to")[0])
    assert rows[0] == "none" and len(rows) - 1 == int(ways)


def test_the_demo_shows_its_cells_its_network_and_every_method(demo: tuple[Path, str]) -> None:
    _, said = demo
    for word in ("year", "venue", "topic", "gain", "jaccard", *c2n.METHODS, "woven", "Verdict: ", "Written to"):
        assert word in said


def test_the_network_of_the_demo_can_be_made_again_from_its_cube(demo: tuple[Path, str]) -> None:
    out, said = demo
    cube = c2n.open_cube(out / "cube")
    network = c2n.construct(cube, c2n.read_query(cube, out / "query.csv"), "greedy", 20)
    assert repr(network) in said
    graph = nx.read_graphml(out / "network.graphml")
    assert (len(graph), graph.number_of_edges()) == (len(network), len(network.source))
    assert sum(kept["in_query"] for _, kept in graph.nodes(data=True)) == 116


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_the_picture_of_a_network(demo: tuple[Path, str], tmp_path: Path) -> None:
    cube = c2n.open_cube(demo[0] / "cube")
    picture, shot = tmp_path / "n.svg", tmp_path / "shot.png"
    c2n.draw_network(c2n.construct(cube, c2n.load_labs(), "greedy", 3), picture, title="three cells")
    flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    flags += " --disable-sync --no-first-run --hide-scrollbars --window-size=800,700"
    command = ["chromium", *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}"]
    subprocess.run([*command, picture.as_uri()], check=True, capture_output=True, timeout=120)
    from matplotlib.image import imread

    pixels = imread(shot)[..., :3]
    assert pixels.min() < 0.3
    assert pixels.mean() > 0.8
    assert pixels.std(axis=2).max() > 0.2
