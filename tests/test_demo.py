"""The main job, run as a stranger would, on the data that ships."""

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import cube2net as c2n
from cube2net._util.files import check_folder
from cube2net.api.compare import WRITTEN
from cube2net.apps.cli.demo import OUTPUT_NAMES, run
from cube2net.errors import InputError
from cube2net.evaluation.configurations import DEFAULT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-m", "cube2net", "demo", "--out", str(out), "--quiet"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return out, ended.stdout


def test_the_demo_leaves_a_cube_a_query_a_network_a_picture_and_a_report(demo: tuple[Path, str]) -> None:
    out, _ = demo
    found = sorted(path.name for path in out.iterdir())
    assert found == ["cube", "network.graphml", "network.png", "query.csv", "report"]
    assert {"report.html", "results.json", "scores.csv"} <= {path.name for path in (out / "report").iterdir()}
    assert c2n.open(out / "cube").verify()
    with (out / "query.csv").open(encoding="utf-8") as file:
        assert {row["object"]: row["label"] for row in csv.DictReader(file)} == c2n.load_areas()


@pytest.mark.parametrize(("name", "whose"), [("notes.txt", "a demo's"), ("report/notes.txt", "a report's")])
def test_the_demo_refuses_a_folder_of_other_files(name: str, whose: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=f"holds other files than {whose}: 'notes.txt' .choose another folder, or"):
        run(tmp_path)
    assert path.read_text(encoding="utf-8") == "mine" and not (tmp_path / "cube").exists()


def test_the_demo_can_be_run_again_where_it_was_and_where_its_commands_write(demo: tuple[Path, str]) -> None:
    check_folder(demo[0], OUTPUT_NAMES, "a demo's")
    check_folder(demo[0] / "report", WRITTEN, "a report's")
    commands = [line.split() for line in demo[1].splitlines() if " --out " in line]
    assert [Path(words[words.index("--out") + 1]).name for words in commands] == ["compared"]
    assert "compared" in OUTPUT_NAMES


def test_the_default_network_surely_helps_by_labels_and_by_hidden_links(demo: tuple[Path, str]) -> None:
    said = dict(re.findall(r"^(By labels|Without labels): (.*)\.$", demo[1], flags=re.MULTILINE))
    for judge, measure in (("By labels", "F1"), ("Without labels", "AUC")):
        assert said[judge].startswith(f"{DEFAULT.title} helps: {measure} +0."), said[judge]
        assert "pagerank at the same size: " in said[judge]
    assert re.search(r"pagerank at the same size: 0\.\d+ lower", said["By labels"])


def test_the_report_speaks_of_the_network_that_won(demo: tuple[Path, str]) -> None:
    out, said = demo
    told = json.loads((out / "report" / "results.json").read_text(encoding="utf-8"))["verdict"]
    assert f"By labels: {told['sentence']}." in said
    assert (told["best"]["name"], told["helps"]) == (DEFAULT.name, True)
    cube = c2n.open(out / "cube")
    network = c2n.construct(cube, c2n.load_areas())
    with (out / "report" / "cells.csv").open(encoding="utf-8") as file:
        cells = [(row["year"], row["venue"], row["topic"]) for row in csv.DictReader(file)]
    assert cells == list(network.labels)


def test_the_demo_shows_its_cells_and_what_was_compared_and_a_line_on_labs(demo: tuple[Path, str]) -> None:
    _, said = demo
    networks = ("the query alone", "pagerank, same size")
    for word in ("year", "venue", "topic", "gain", "F1", "NMI", "AUC", *networks, "Written to"):
        assert word in said
    (line,) = [line for line in said.splitlines() if "116 authors of four institutions" in line]
    assert re.search(r"alone has F1 0\.\d{3}, the default network 0\.\d{3}, difference (not )?significant \[", line)


def test_the_demo_says_why_somebody_is_there(demo: tuple[Path, str]) -> None:
    assert re.search(
        r"Why is one of the neighbours included\? .+ is in the network as a neighbour, rank [\d,]+ of [\d,]+ by",
        demo[1],
    )


def test_the_network_of_the_demo_can_be_made_again_from_its_cube(demo: tuple[Path, str]) -> None:
    out, said = demo
    cube = c2n.open(out / "cube")
    network = c2n.construct(cube, c2n.read_query(cube, out / "query.csv"))
    assert repr(network) in said
    graph = nx.read_graphml(out / "network.graphml")
    assert (len(graph), graph.number_of_edges()) == (len(network), len(network.source))
    assert sum(kept.get("in_query", False) for _, kept in graph.nodes(data=True)) == len(c2n.load_areas())


def test_no_paper_of_the_volumes_that_tell_the_areas_is_in_the_cube(demo: tuple[Path, str]) -> None:
    cube = c2n.open(demo[0] / "cube")
    whole, left = c2n.load_bundled(), c2n.load_bundled(without_sigs=c2n.api.AREA_SIGS)
    assert len(cube.objects) == left.objects.num_rows < whole.objects.num_rows


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_a_browser_shows_the_picture_of_a_network(demo: tuple[Path, str], tmp_path: Path) -> None:
    cube = c2n.open(demo[0] / "cube")
    picture, shot = tmp_path / "n.svg", tmp_path / "shot.png"
    c2n.construct(cube, c2n.load_labs(), "greedy", 3).plot(picture, title="three cells")
    flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
    flags += " --disable-sync --no-first-run --hide-scrollbars --window-size=800,700"
    command = ["chromium", *flags.split(), f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={shot}"]
    subprocess.run([*command, picture.as_uri()], check=True, capture_output=True, timeout=120)
    from matplotlib.image import imread

    pixels = imread(shot)[..., :3]
    assert pixels.min() < 0.3
    assert pixels.mean() > 0.8
    assert pixels.std(axis=2).max() > 0.2
