"""`cube2net info` without a cube: what a report of a fault needs, and nothing that says whose machine it is."""

import json
import platform
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

import cube2net
from cube2net._util import packages
from cube2net._util.packages import EXTRAS
from cube2net.apps.cli import info

Tool = Callable[..., tuple[int, str, str]]


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking torch for a GPU imports it, which the tests of other things can do without."""
    monkeypatch.setattr(info, "_get_gpu_name", lambda: None)


@pytest.mark.usefixtures("no_gpu")
def test_info_without_a_cube_tells_the_versions_of_all_that_takes_part(tool: Tool) -> None:
    status, out, err = tool("info", "--json")
    assert (status, err) == (0, "")
    about = json.loads(out)["installation"]
    assert about["cube2net"] == cube2net.__version__
    assert about["python"] == f"{platform.python_implementation()} {platform.python_version()}"
    assert about["packages"]["numpy"] == metadata.version("numpy")
    assert about["packages"]["lazy_loader"] == metadata.version("lazy-loader")
    assert set(about["extras"]) == set(EXTRAS)
    assert about["extras"]["graph"]["torch_geometric"] == metadata.version("torch-geometric")
    assert about["cores"] >= 1


@pytest.mark.usefixtures("no_gpu")
def test_info_without_a_cube_says_what_is_not_installed(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "EXTRAS", {"wings": ("feathers_of_wax",)})
    status, out, _ = tool("info")
    assert status == 0
    assert ["wings", "feathers_of_wax", "not", "installed"] in [
        row.replace("│", " ").split() for row in out.splitlines()
    ]
    assert json.loads(tool("info", "--json")[1])["installation"]["extras"] == {"wings": {"feathers_of_wax": None}}


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("words", [["info"], ["info", "--json"]])
def test_info_without_a_cube_tells_no_path_no_user_and_no_host(
    tool: Tool, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("USER", "a-user-of-this-name")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setattr(platform, "node", lambda: "a-host-of-this-name")
    out = tool(*words)[1]
    assert "OMP_NUM_THREADS" in out
    for secret in ("/", "\\\\", "a-user-of-this-name", "a-host-of-this-name", str(Path.home())):
        assert secret not in out


@pytest.mark.usefixtures("no_gpu")
def test_info_of_a_cube_carries_the_installation_along(tool: Tool, cube: Path) -> None:
    about = json.loads(tool("info", cube, "--json")[1])
    assert about["cells"] > 0
    assert about["installation"] == json.loads(tool("info", "--json")[1])["installation"]


def test_a_time_without_a_cube_is_refused(tool: Tool) -> None:
    status, _, err = tool("info", "--between", "1990")
    assert status == 2
    assert err == "cube2net: --between '1990' needs a cube: cube2net info CUBE --between 1990\n"


def test_a_torch_that_cannot_be_imported_is_told_and_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert info.describe_installation()["gpu"] == "torch does not answer (ModuleNotFoundError)"
    monkeypatch.setattr(metadata, "version", lambda name: {}[name] if name != "torch" else _raise(name))
    assert info._get_gpu_name() is None


def _raise(name: str) -> str:
    raise metadata.PackageNotFoundError(name)


def test_memory_is_unknown_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(info.os, "sysconf", raising=False)  # type: ignore[attr-defined]
    assert info._get_memory_bytes() is None
