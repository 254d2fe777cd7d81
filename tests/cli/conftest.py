"""The command line in this process, and a cube of sixty people that it built."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cube2net.apps.cli import app, output

CITIES = ("Ghent", "Turin", "Malmö")
PEOPLE = [(f"p{i}", f"Person {i}", CITIES[i % 3], "baker" if i % 4 else "joiner", 1980 + i % 30) for i in range(60)]


@pytest.fixture
def tool(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """What runs the command line in this process and returns its status and what it wrote, without heartbeats."""
    monkeypatch.setattr(output, "FIRST_OUTPUT_SECONDS", 3600.0)
    monkeypatch.setattr(output, "MAX_SILENCE_SECONDS", 3600.0)

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["cube2net", *map(str, words)])
        status = 0
        try:
            app.main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    rows = ["id,name,city,trade,born", *(",".join(map(str, person)) for person in PEOPLE)]
    (folder / "nodes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ends = [(i, (i * 7 + 3) % 60) for i in range(60)] + [(i, (i + 3) % 60) for i in range(60)]
    links = ["source,target,weight", *(f"p{a},p{b},{1 + a % 3}" for a, b in ends if a != b)]
    (folder / "links.csv").write_text("\n".join(links) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def cube(tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cubes") / "people"
    command = ["build", "tables", str(tables / "nodes.csv"), str(tables / "links.csv"), "--out", str(out)]
    command += ["--dimension", "city", "--dimension", "trade", "--min-objects", "2"]
    subprocess.run([sys.executable, "-m", "cube2net", *command], check=True, capture_output=True)
    return out


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "query.csv"
    path.write_text("object,label\n" + "".join(f"p{i},{'even' if i % 4 == 0 else 'odd'}\n" for i in range(0, 24, 2)))
    return path
