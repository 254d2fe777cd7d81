"""Commands that make cubes and tell of them, as a person meets them: what they print, what they write, how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import ANY

import pytest

from cube2net.apps.cli import EXIT_STATUS


def test_a_build_says_that_it_took_the_place_of_another_cube(tool, tables: Path, tmp_path: Path) -> None:
    words = ["build", "tables", tables, "--out", tmp_path / "c", "--dimension", "city", "--min-objects", "2", "--quiet"]
    said = "the cube that was there is replaced"
    assert [said in tool(*words)[1] for _ in range(2)] == [False, True]


def test_build_says_what_it_made_and_which_columns_it_guessed(tool, tables: Path, tmp_path: Path) -> None:
    status, out, err = tool("build", "tables", tables / "nodes.csv", tables / "links.csv", "--out", tmp_path / "c")
    assert (status, (tmp_path / "c" / "manifest.json").is_file()) == (0, True)
    assert "Cube(" in out
    assert "guessed" in err
    status, out, err = tool("verify", tmp_path / "c")
    assert (status, "all as they were written" in out) == (0, True)


def test_a_folder_of_tables_makes_the_cube_of_its_files_and_grows_by_another(
    tool, tables: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("nodes.csv", "links.csv"):
        (data / name).write_bytes((tables / name).read_bytes())
    (data / "labels.csv").write_text("attribute,label,full_name,parent\ncity,Ghent,Gent,Flanders\n", encoding="utf-8")
    (data / "README.txt").write_text("nothing", encoding="utf-8")
    words = ("--dimension", "city/region", "--min-objects", 2)
    status, out, err = tool("build", "tables", data, *words, "--out", data / "cube")
    assert status == 0 and "Cube(city: 3 cells, 60 objects, 102 links)" in out
    assert "files: nodes='nodes.csv', links='links.csv', labels='labels.csv' (found)" in err
    assert "not read, having no name of a table: 'README.txt'" in err
    about = json.loads(tool("info", data / "cube", "--json")[1])
    assert [(entry["name"], entry["examples"][0]) for entry in about["dimensions"]][1] == ("region", "Flanders")
    more = tmp_path / "more"
    more.mkdir()
    (more / "nodes.csv").write_text("id,name,city,trade,born\nx1,New One,Ghent,baker,1950\n", encoding="utf-8")
    (more / "links.csv").write_text("source,target\n", encoding="utf-8")
    status, out, _ = tool("update", data / "cube", more, "--source", "tables", "--quiet")
    assert (status, "added: 1 items, 1 objects, 0 cells, 0 links" in out) == (0, True)
    (more / "nodes.csv").unlink()
    status, _, err = tool("update", data / "cube", more, "--source", "tables", "--quiet")
    assert (status, err.count("\n")) == (2, 1) and "holds links: expected nodes and links" in err


def test_info_tells_dimensions_counts_and_what_was_left_out(tool, cube: Path) -> None:
    status, out, _ = tool("info", cube)
    assert status == 0
    for word in ("city", "trade", "Ghent", "objects", "links", "left out", "min_objects"):
        assert word in out
    status, out, _ = tool("info", cube, "--json")
    about = json.loads(out)
    assert (about["objects"], about["cells"], [entry["name"] for entry in about["dimensions"]]) == (
        60,
        6,
        ["city", "trade"],
    )


def test_info_and_query_say_what_travels_and_that_methods_take_links_as_undirected(tool, tmp_path: Path) -> None:
    nodes, links, query = tmp_path / "nodes.csv", tmp_path / "links.csv", tmp_path / "query.txt"
    nodes.write_text("id,city,born\n1,Rome,1815\n2,Oslo,1900\n3,Rome,1950\n")
    links.write_text("source,target,type,year\n1,2,cites,2001\n2,1,knows,2003\n3,1,cites,2005\n")
    query.write_text("1\n2\n")
    cubes = {way: tmp_path / f"cube {way}" for way in ("true", "false")}
    for way, folder in cubes.items():
        build = ("build", "tables", nodes, links, "--dimension", "city", "--min-objects", "1", "--out", folder)
        assert tool(*build, "--set", f"directed={way}")[0] == 0
    _, out, _ = tool("info", cubes["true"])
    assert "objects carry city, born (0.00 MB)" in out
    assert "links say their direction, kind, time; methods take links as undirected" in out
    about = json.loads(tool("info", cubes["false"], "--json")[1])
    assert (about["ids"], about["attributes"]["names"], about["links_say"]) == (
        "texts",
        ["city", "born"],
        ["kind", "time"],
    )
    said = "links have a direction: the method took them as undirected"
    assert said in tool("query", cubes["true"], "--query", query, "--method", "hops")[1]
    assert said not in tool("query", cubes["false"], "--query", query, "--method", "hops")[1]
    given = ("--source", "tables", "--skip-known")  # the direction is remembered unless another is given
    more = tool("update", cubes["true"], nodes, links, *given, "--set", "directed=false")
    assert more[0] == 2
    assert "have none (--set directed=true gives one)" in more[2]


def test_a_cube_is_built_with_its_items_or_without(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "city", "--quiet")
    for option, index, attributes in (
        ((), True, True),
        (("--items", "index"), True, False),
        (("--items", "none"), False, False),
    ):
        assert tool(*words, *option, "--out", tmp_path / "cube")[0] == 0
        assert (tmp_path / "cube" / "items.arrow").exists() == index
        assert (tmp_path / "cube" / "items.attributes.arrow").exists() == attributes
        said = tool("info", tmp_path / "cube")[1]
        assert ("(of items: index 0.00 MB" in said, "attributes 0.00 MB)" in said) == (index, attributes)
    status, _, err = tool(*words, "--items", "some", "--out", tmp_path / "cube")
    assert (status, "unknown kind of items 'some': choose one of all, index, none" in err) == (2, True)


def test_a_cube_without_cells_is_said_to_have_none(tool, tables: Path, tmp_path: Path) -> None:
    words = ("build", "tables", tables / "nodes.csv", tables / "links.csv", "--dimension", "city", "--quiet")
    status, out, _ = tool(*words, "--min-objects", 999, "--out", tmp_path / "c")
    assert (status, "60 of 60 objects are in no cell, as a cell needs 999 objects" in out) == (0, True)


def test_levels_above_are_used_by_their_names(tool, tables: Path, names: Path, tmp_path: Path) -> None:
    words = ["build", "tables", tables / "nodes.csv", tables / "links.csv", "--min-objects", 1, "--quiet"]
    for path in ("born@years/decades/century=born@width:100", "born@years/fives@width:5", "born@years/trade"):
        words += ["--dimension", path]
    assert tool(*words, "--out", tmp_path / "c") == (0, ANY, "")
    about = json.loads(tool("info", tmp_path / "c", "--json")[1])
    levels = [(entry["name"], entry["above"]) for entry in about["dimensions"]]
    assert levels == [
        ("born", None),
        ("decades", "born"),
        ("century", "decades"),
        ("fives", "born"),
        ("trade", "born"),
    ]
    shown = tool("info", tmp_path / "c")[1]
    assert "  ↑ decades" in shown and "  ↑   ↑ century" in shown and "  ↑ fives" in shown

    def labels(*options: str) -> set[tuple[str, ...]]:
        status, out, err = tool("query", tmp_path / "c", "--query", names, "--method", "random", *options, "--json")
        assert (status, err) == (0, "")
        return {(*cell["labels"], *cell["labels"].values()) for cell in json.loads(out)["cells"]}

    assert {label[:3] for _, label in labels("--where", "decades=198X")} == {"198"}
    assert labels("--roll-up", "born=decades", "--where", "decades=198X") == {("decades", "198X")}
    assert {label for _, label in labels("--roll-up", "born=century")} <= {"1900–1999", "2000–2099"}
    assert labels("--roll-up", "born=fives", "--roll-up", "fives=*") == {("fives", "∗")}

    def refusal(*options: str) -> str:
        status, _, err = tool("query", tmp_path / "c", "--query", names, *options)
        assert status == 2
        return err

    assert refusal("--roll-up", "born") == (
        "cube2net: dimension 'born' has 'decades', 'fives' and 'trade' above it: name the one to roll up to "
        "(--roll-up born=LEVEL)\n"
    )
    assert "only ∗ (--roll-up 'fives=∗')" in refusal("--roll-up", "born=fives", "--roll-up", "fives")
    assert "'decades' is a level above 'born': roll 'born' up first (--roll-up born=decades)" in refusal(
        "--roll-up", "decades"
    )
    assert "unknown level above 'born' 'city': choose one of century, decades, fives" in refusal(
        "--roll-up", "born=city"
    )


def test_topics_are_found_in_texts_and_roll_up_to_groups(tool, tmp_path: Path) -> None:
    sorts = ("grammar of trees and parsers", "audio of speech signals", "votes of elections", "cells of tissue")
    nodes = ["id,text", *(f"n{i},{sorts[i % 4]} number{i % 4} word{i % 4}" for i in range(120))]
    (tmp_path / "nodes.csv").write_text("\n".join(nodes) + "\n")
    (tmp_path / "links.csv").write_text("source,target\n" + "".join(f"n{i},n{i + 4}\n" for i in range(116)))
    (tmp_path / "q.txt").write_text("n0\nn4\nn8\n")
    words = ("build", "tables", tmp_path / "nodes.csv", tmp_path / "links.csv", "--dimension", "topic", "--quiet")
    status, _, err = tool(*words, "--topics", 4, "--topic-groups", 2, "--out", tmp_path / "c")
    assert (status, err) == (0, "")
    about = json.loads(tool("info", tmp_path / "c", "--json")[1])
    assert [(entry["name"], entry["labels"]) for entry in about["dimensions"]] == [("topic", 4), ("topic group", 2)]
    assert len(about["topic_words"]) == 4
    rolled = json.loads(tool("query", tmp_path / "c", "--query", tmp_path / "q.txt", "--roll-up", "topic", "--json")[1])
    assert set(rolled["cells"][0]["labels"]) == {"topic group"}


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)]


@pytest.mark.parametrize(("sent", "status"), SIGNALS)
def test_ctrl_c_and_kill_in_the_middle_of_a_build_leave_the_old_cube(
    cube: Path, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    fifo = tmp_path / "papers.txt"
    os.mkfifo(fifo)
    before = {path.name: path.read_bytes() for path in cube.iterdir()}
    command = [sys.executable, "-m", "cube2net", "build", "aminer", str(fifo)]
    process = subprocess.Popen(
        [*command, "--out", str(cube)],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in EXIT_STATUS],  # noqa: PLW1509
    )
    with fifo.open("wb", buffering=0) as pipe:
        pipe.write(b"#*A paper\n#@Ann\n#t2001\n#cKDD\n#index1\n\n")
        time.sleep(0.2)
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    assert ("interrupted, nothing was left half-written\n" in err) == (status > 0), "nothing was finished by then"
    assert {path.name: path.read_bytes() for path in cube.iterdir()} == before
    assert [path.name for path in cube.parent.iterdir()] == [cube.name]


def test_what_only_spark_can_do_needs_the_engine_spark(tool, tmp_path: Path) -> None:
    for words, sentence in (
        (["--memory", "much"], "memory is 'much', expected a number and a unit, such as 512MB or 4GB"),
        (["--staging", "s3a://b/f"], "--staging is for the engine 'spark', and the engine is 'duckdb'"),
    ):
        status, _, err = tool("build", "bundled", "--out", tmp_path / "cube", *words)
        assert status == 2
        assert sentence in err
    assert list(tmp_path.iterdir()) == []
