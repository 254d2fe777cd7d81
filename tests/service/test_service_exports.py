"""Files to keep: every format, the same bytes each time, and a command and Python that give the same network."""

from __future__ import annotations

import csv
import io
import json
import shlex
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import cube2net as c2n
from cube2net._util import packages as extras
from cube2net.apps.cli.app import app
from cube2net.apps.service.exports import list_formats
from cube2net.apps.service.service import CubeService
from cube2net.errors import CubeError, MissingPackageError, ParameterError
from cube2net.io.tables.dialects import Conventions
from cube2net.io.tables.read_rows import read_rows
from cube2net.model.node_names import cell_title
from cube2net.network.export.recipes import read_recipe

NetworkRequest = dict[str, Any]


@pytest.mark.parametrize("ending", list_formats())
def test_every_format_comes_whole_and_with_the_same_bytes_each_time(
    folder: Path, network_request: NetworkRequest, ending: str
) -> None:
    first, second = (
        CubeService(c2n.open(folder)).file({"request": network_request, "format": ending}) for _ in range(2)
    )
    assert first == second
    assert first.content
    assert ending in first.name
    assert "/" in first.media_type
    assert repr(first) == f"ExportedFile({first.name}, {len(first.content):,} bytes)"


def test_tables_come_together_in_one_archive(service: CubeService, network_request: NetworkRequest) -> None:
    file = service.file({"request": network_request, "format": ".csv"})
    assert (file.name, file.media_type) == ("network.csv.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(file.content)) as archive:
        assert archive.namelist() == ["network.nodes.csv", "network.links.csv", "network.recipe.json"]
        rows = list(csv.DictReader(io.StringIO(archive.read("network.nodes.csv").decode())))
    assert [row["id"] for row in rows] == service.answer("construct", {"request": network_request})["nodes"]["id"]


def test_a_network_in_a_file_knows_its_recipe(
    service: CubeService, network_request: NetworkRequest, tmp_path: Path
) -> None:
    path = tmp_path / "network.graphml"
    path.write_bytes(service.file({"request": network_request, "format": ".graphml"}).content)
    made = service.answer("construct", {"request": network_request})
    assert read_recipe(path).made["checksum"] == made["fingerprint"]
    recipe = json.loads(service.file({"request": network_request, "format": "recipe.json"}).content)
    assert recipe["made"]["checksum"] == made["fingerprint"]
    assert recipe["cube"]["checksum"] == service.checksum


def test_the_file_of_the_query_is_read_as_the_query(
    service: CubeService, network_request: NetworkRequest, tmp_path: Path
) -> None:
    for own in (network_request, {"query": ["o4", "o1", "o0"]}, {"query": ["o4"], "labels": ['say "a", then b']}):
        path = tmp_path / "query.csv"
        path.write_bytes(service.file({"request": own, "format": "query.csv"}).content)
        read, asked = c2n.read_query(service.cube, path), service.cube.query(own["query"], own.get("labels"))
        assert read.objects.tolist() == asked.objects.tolist()
        assert read.labels == asked.labels


WAYS: list[NetworkRequest] = [
    {},
    {"n_cells": 3, "r": 2, "n_neighbors": 4, "seed": 7},
    {"form": "objects", "n_cells": 4},
    {"levels": ["one", "venue,topic"]},
    {"method": "hops 2", "options": {"fan_out": 3}},
    {"method": "pagerank", "options": {"top": 9}},
    {"objective": "fbeta", "options": {"beta": 2.0, "by": "price"}, "form": "objects", "n_cells": 3},
    {"options": {"least": 1, "membership_weights": "even", "cell_weight": 0.5, "neighbor_weight": 0.25}},
    {"between": "1990..2010", "where": {"venue": ["venue 0", "venue 1"]}, "roll_up": {"year": "decades"}},
    {"where": {"decades": ["199X", "200X"]}, "kind": ["object"], "max_nodes": 40},
    {"prefer": ["o150"], "bans": [{"object": "o152"}], "pins": [{"object": "o153"}], "bound": True},
]


@pytest.mark.parametrize("words", WAYS, ids=str)
def test_the_command_gives_the_same_network(
    service: CubeService,
    network_request: NetworkRequest,
    words: NetworkRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pins = (
        [{"cell": service.answer("construct", {"request": network_request})["cells"][-1]["labels"]}]
        if words == WAYS[1]
        else []
    )
    asked = network_request | words | ({"pins": pins} if pins else {})
    monkeypatch.chdir(tmp_path)
    Path("query.csv").write_bytes(service.file({"request": asked, "format": "query.csv"}).content)
    command = service.file({"request": asked, "format": "command.txt"}).content.decode()
    name, *arguments = shlex.split(command)
    assert name == "cube2net"
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    made = service.answer("construct", {"request": asked})["fingerprint"]
    assert read_recipe(Path("network.graphml")).made["checksum"] == made


@pytest.mark.parametrize("words", WAYS, ids=str)
@pytest.mark.parametrize("few", [True, False])
def test_the_lines_of_python_give_the_same_network(
    service: CubeService,
    network_request: NetworkRequest,
    words: NetworkRequest,
    few: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    short = (
        {"query": network_request["query"][8:16], "labels": network_request["labels"][8:16]} if few else network_request
    )
    pins = (
        [{"cell": service.answer("construct", {"request": network_request})["cells"][-1]["labels"]}]
        if words == WAYS[1]
        else []
    )
    asked = short | words | ({"pins": pins} if pins else {})
    monkeypatch.chdir(tmp_path)
    if not few:
        Path("query.csv").write_bytes(service.file({"request": asked, "format": "query.csv"}).content)
    text = service.file({"request": asked, "format": "python.txt"}).content.decode()
    names: dict[str, Any] = {}
    exec(compile(text, "python.txt", "exec"), names)
    assert names["network"].recipe.made["checksum"] == service.answer("construct", {"request": asked})["fingerprint"]


def test_a_cube_in_memory_is_the_cube_of_who_made_it(folder: Path, network_request: NetworkRequest) -> None:
    planted = c2n.make_planted(objects=60, communities=2, noise=0)
    cube = c2n.build(planted.corpus)
    service, asked = CubeService(cube), {"query": planted.query(0)[:5]}
    text = service.file({"request": asked, "format": "python.txt"}).content.decode()
    assert "c2n.open" not in text
    names: dict[str, Any] = {"cube": cube}
    exec(compile(text, "python.txt", "exec"), names)
    assert names["network"].recipe.made["checksum"] == service.answer("construct", {"request": asked})["fingerprint"]
    command = service.file({"request": asked, "format": "command.txt"}).content.decode()
    assert command.splitlines()[0] == "# CUBE is a folder: cube.save('CUBE') in Python makes it"
    assert shlex.split(command, comments=True)[:3] == ["cube2net", "query", "CUBE"]
    saved = CubeService(c2n.open(folder)).file({"request": network_request, "format": "python.txt"}).content.decode()
    assert f"cube = c2n.open({str(folder)!r})" in saved


def test_hostile_names_are_quoted_for_the_shell_and_for_python(service: CubeService) -> None:
    wild = "'; rm -rf ~ #"
    asked = {"query": ["o1"], "where": {"venue": [wild, "$(id)"]}, "prefer": ["--help"], "pins": [{"object": "`id`"}]}
    command = service.file({"request": asked, "format": "command.txt"}).content.decode()
    parts = shlex.split(command)
    assert f"venue={wild}" in parts
    assert "venue=$(id)" in parts
    assert "--prefer=--help" in parts
    assert parts[parts.index("--pin") + 1] == "`id`"
    text = service.file({"request": asked, "format": "python.txt"}).content.decode()
    compile(text, "python.txt", "exec")
    assert repr([wild, "$(id)"]) in text


def test_what_cannot_be_kept_is_refused(
    service: CubeService, network_request: NetworkRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ParameterError, match=r"^unknown format '.graphmls': .*did you mean '.graphml'"):
        service.file({"request": network_request, "format": ".graphmls"})
    with pytest.raises(ParameterError, match=r"^unknown format '../../etc/passwd'"):
        service.file({"request": network_request, "format": "../../etc/passwd"})
    with pytest.raises(CubeError, match="another cube"):
        service.file({"request": network_request | {"cube": "f00"}, "format": "command.txt"})
    assert service.answer("cube", {})["unmade"] == {}
    monkeypatch.setattr(extras, "_is_installed", lambda package: package != "matplotlib")
    assert list(service.answer("cube", {})["unmade"]) == [".png", ".pdf"]
    light = service.file({"request": network_request, "format": ".svg"})
    assert (light.name, light.content[:4]) == ("network.svg", b"<svg")
    with pytest.raises(
        MissingPackageError, match=r"needs the package 'matplotlib': pip install matplotlib \(extra 'report'\)"
    ):
        service.file({"request": network_request, "format": ".png"})


def test_a_workbook_holds_the_nodes_and_links_and_runs_no_formula(
    service: CubeService, network_request: NetworkRequest, tmp_path: Path
) -> None:
    file = service.file({"request": network_request, "format": ".xlsx"})
    assert file.content == service.file({"request": network_request, "format": ".xlsx"}).content
    assert file.name == "network.xlsx" and file.media_type.endswith("spreadsheetml.sheet")
    path = tmp_path / file.name
    path.write_bytes(file.content)
    names = service.answer("construct", {"request": network_request})["nodes"]["name"]
    assert c2n.read_tables(path).objects.num_rows == len(names)
    told = read_rows(path, conventions=Conventions(sheet="nodes")).table
    assert told["in_query"].to_pylist().count(True) == len(network_request["query"])
    chosen = {cell_title(labels) for labels in service.network(network_request).labels}
    assert {title for held in told["cells"].to_pylist() if held for title in held.split("; ")} <= chosen
    assert any(told["cells"].to_pylist())
    with zipfile.ZipFile(path) as parts:
        assert b"<f>" not in b"".join(parts.read(name) for name in parts.namelist())
    assert read_recipe(path) == service.network(network_request).recipe


def test_a_workbook_is_offered_once() -> None:
    assert [ending for ending in list_formats() if "xlsx" in ending] == [".xlsx"]
