"""A release is a list of steps: each is seen to be open, done once, and passed over when it is done."""

import json
import subprocess
from pathlib import Path

import pytest

from release import BY_HAND, Release

CHANGELOG = "# Changelog\n\n## Unreleased\n\n- Something new.\n\n## 0.1.0 (2026-01-01)\n\n- The first.\n"
PAGE = """
import sys
from pathlib import Path

source = Path("src/cube2net/__init__.py").read_text()
if "--check" in sys.argv:
    sys.exit(Path("man/cube2net.1").read_text() != source)
Path("man/cube2net.1").write_text(source)
"""


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with the least that is released."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A. Turing")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    files = {
        "src/cube2net/__init__.py": '__version__ = "0.1.0"\n',
        "CITATION.cff": "title: cube2net\nversion: 0.1.0\nauthors: []\n",
        "CHANGELOG.md": CHANGELOG,
        "man/cube2net.1": '__version__ = "0.1.0"\n',
        "page.py": PAGE,
        "pyproject.toml": '[project]\nname = "cube2net"\nurls.Source = "https://example.org/cube2net"\n',
        "README.md": "# cube2net\n\n[Start](https://example.org/start), [below](#size)\n",
        "docs/start.md": "# Start\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "The first")
    return tmp_path


def release(root: Path, version: str = "0.2.0", check: str = "true") -> Release:
    return Release(root, version, "2026-11-20", {"manual": ("page.py",)}, {"tests": ("sh", "-c", check)})


def open_steps(made: Release) -> list[str]:
    said: list[str] = []
    made.go(False, said.append)
    return [line.split()[1].rstrip(":") for line in said if line.startswith("open")]


def test_what_is_to_do_is_said_and_nothing_is_done(toy: Path) -> None:
    assert open_steps(release(toy)) == ["changelog", "version", "citation", "tests", "tag"]
    assert git(toy, "status", "--porcelain") == ""


def test_a_release_is_made_step_by_step_and_a_second_call_finds_all_done(toy: Path) -> None:
    made, said = release(toy, check="echo x >> ../runs.txt"), list[str]()
    assert made.go(True, said.append)
    assert (toy / "CHANGELOG.md").read_text().startswith("# Changelog\n\n## 0.2.0 (2026-11-20)\n\n- Something new.\n")
    assert (
        toy / "CITATION.cff"
    ).read_text() == "title: cube2net\nversion: 0.2.0\ndate-released: 2026-11-20\nauthors: []\n"
    assert (toy / "man" / "cube2net.1").read_text() == '__version__ = "0.2.0"\n'
    assert git(toy, "log", "--format=%s", "-1") == "Version 0.2.0" and git(toy, "status", "--porcelain") == ""
    assert git(toy, "rev-list", "-n", "1", "v0.2.0") == git(toy, "rev-parse", "HEAD")
    before = git(toy, "rev-parse", "HEAD")
    assert made.go(True, said.append) and open_steps(made) == []
    assert git(toy, "rev-parse", "HEAD") == before
    assert (toy.parent / "runs.txt").read_text() == "x\n"
    (toy.parent / "runs.txt").unlink()


@pytest.mark.parametrize(
    ("name", "text", "step"),
    [
        ("pyproject.toml", "[project]\n", "open address: pyproject.toml has no [project.urls]: PyPI's page would"),
        ("README.md", "[Start](docs/start.md)", "open address: README.md has 1 links that PyPI's page cannot follow"),
        ("docs/start.md", "It is not on PyPI yet.", "open words: not true any more once it is on PyPI: docs/start.md"),
        ("docs/a.ipynb", "From the first release on", "open words: not true any more once it is on PyPI: docs/a.ipynb"),
    ],
)
def test_what_would_be_false_on_pypi_is_named(toy: Path, name: str, text: str, step: str) -> None:
    (toy / name).write_text(text, encoding="utf-8")
    git(toy, "add", "--all")
    git(toy, "commit", "--quiet", "--message", "Otherwise")
    said: list[str] = []
    release(toy).go(False, said.append)
    assert any(line.startswith(step) for line in said), said


def test_commits_of_others_are_taken_in_first(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("origin") / "cube2net"
    git(toy, "clone", "--quiet", "--bare", str(toy), str(home))
    git(toy, "remote", "add", "origin", str(home))
    assert "remote" not in open_steps(release(toy))
    git(toy, "commit", "--quiet", "--allow-empty", "--message", "Somebody else's")
    git(toy, "push", "--quiet", "origin", "main")
    git(toy, "reset", "--quiet", "--hard", "HEAD~1")
    said: list[str] = []
    release(toy).go(False, said.append)
    assert "open remote: origin's main has 1 commits that are not here: git pull" in said


def test_speed_is_compared_with_the_release_before(toy: Path) -> None:
    assert "speed" not in open_steps(release(toy))
    git(toy, "tag", "v0.1.9")
    git(toy, "tag", "v0.0.9")
    said: list[str] = []
    release(toy).go(False, said.append)
    assert "open speed: not run on these files: make bench-compare BASE=v0.1.9" in said


def test_a_check_that_fails_stops_before_the_tag_and_the_next_call_goes_on_there(toy: Path) -> None:
    said: list[str] = []
    assert not release(toy, check="exit 1").go(True, said.append)
    assert said[-1] == "open tests: not run on these files: sh -c exit 1"
    assert git(toy, "tag") == ""
    said.clear()
    assert release(toy).go(True, said.append)
    assert [line for line in said if "doing it" in line] == [
        "     tests: not run on these files: sh -c true; doing it",
        "     tag: there is no tag v0.2.0; doing it",
    ]


def test_a_change_after_the_checks_opens_them_again(toy: Path) -> None:
    assert release(toy).go(True, lambda _: None)
    (toy / "page.py").write_text(PAGE + "\n", encoding="utf-8")
    git(toy, "commit", "--quiet", "--all", "--message", "A change")
    assert open_steps(release(toy)) == ["tests", "tag"]
    notes = toy / ".git" / "release.json"
    assert list(json.loads(notes.read_text())) == ["tests"]
    notes.write_text("no JSON")
    assert "tests" in open_steps(release(toy))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("CHANGELOG.md", "# Changelog\n"), "CHANGELOG.md has no heading"),
        (("CHANGELOG.md", "# C\n\n## Unreleased\n\n## 0.1.0\n\n- x\n"), "CHANGELOG.md says nothing under 'Unreleased'"),
        (("CHANGELOG.md", "# C\n\n## 0.1.0 (2026-01-01)\n\n- x\n"), "CHANGELOG.md begins with '0.1.0 (2026-01-01)'"),
        (("src/cube2net/__init__.py", "x = 1\n"), "src/cube2net/__init__.py has no line __version__"),
        (("other.txt", "x"), "not committed: other.txt"),
    ],
)
def test_what_a_person_must_mend_is_said_and_stops(toy: Path, change: tuple[str, str], sentence: str) -> None:
    (toy / change[0]).write_text(change[1], encoding="utf-8")
    said: list[str] = []
    assert not release(toy).go(True, said.append)
    assert sentence in said[-1] and git(toy, "tag") == ""


def test_a_release_is_made_on_main_and_after_those_before(toy: Path) -> None:
    git(toy, "tag", "v0.3.0")
    assert open_steps(release(toy, "0.3.0rc1"))[0] == "order"
    assert "order" not in open_steps(release(toy, "0.3.1"))
    git(toy, "switch", "--quiet", "--create", "other")
    assert open_steps(release(toy, "0.3.1"))[0] == "branch"
    with pytest.raises(SystemExit, match="^the version is '1.0', expected three numbers"):
        release(toy, "1.0")


def test_what_is_left_for_a_person_names_the_tag() -> None:
    assert "git push origin main v0.2.0" in BY_HAND.format(version="0.2.0")
