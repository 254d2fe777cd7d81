"""Check the steps of a release in order, and do those that a program can do with --do.

    python scripts/release.py 0.2.0         print for each step whether it is done, and what is missing
    python scripts/release.py 0.2.0 --do    do the open steps, up to the first that fails or needs a person

It can be interrupted and run again: finished steps are skipped. Results of long checks are stored with the checksum of
all files in .git/release.json, so a change of any file repeats them. Nothing is pushed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:(a|b|rc)(\d+))?")
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
SOURCE = "src/cube2net/__init__.py"
PAGES = {
    "reference": ("scripts/make_pages.py",),
    "types": ("scripts/make_types.py",),
    "manual": ("scripts/make_man.py",),
}
"""What is made from the program, and the words that make it; with --check they compare."""
CHECKS = {
    "tests": ("make", "test"),
    "lowest versions": ("make", "test-lowest"),
    "site": ("make", "docs"),
    "packages": ("make", "packages"),
}
"""What takes long, and must have passed on exactly these files."""
NOT_YET = re.compile(r"not on PyPI|from the first release on", re.IGNORECASE)
"""What pages say as long as there was no release."""


@dataclass(frozen=True)
class Step:
    """One step: what is wrong with it now, if anything, and a function that fixes it, if there is one."""

    name: str
    fault: Callable[[], str]
    do: Callable[[], None] | None = None


class Release:
    """The steps of a release of a repository."""

    def __init__(
        self,
        root: Path,
        version: str,
        date: str,
        pages: Mapping[str, Sequence[str]] = PAGES,
        checks: Mapping[str, Sequence[str]] = CHECKS,
    ) -> None:
        if not VERSION.fullmatch(version):
            raise SystemExit(f"the version is {version!r}, expected three numbers, as 0.2.0, or with a1, b1 or rc1")
        self.root, self.version, self.date = root, version, date
        speed = {"speed": ("make", "bench-compare", f"BASE={self._last()}")} if self._last() else {}
        self.steps = [
            Step("branch", self._branch_fault),
            Step("remote", self._remote_fault),
            Step("order", self._order_fault),
            Step("address", self._address_fault),
            Step("words", self._words_fault),
            Step("changelog", self._changelog_fault, self._date_changelog),
            Step("version", self._version_fault, self._set_version),
            Step("citation", self._citation_fault, self._set_citation),
            *(Step(name, self._page_fault(words), self._make_page(words)) for name, words in pages.items()),
            Step("commit", self._commit_fault, self._commit),
            *(
                Step(name, self._check_fault(name, words), self._check(name, words))
                for name, words in {**checks, **speed}.items()
            ),
            Step("tag", self._tag_fault, self._tag),
        ]

    # What is asked of git ------------------------------------------------------------------------------------------

    def git(self, *words: str) -> str:
        """Return the output of git."""
        ended = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise SystemExit(f"git {' '.join(words)} ended with {ended.returncode}: {ended.stderr.strip()}")
        return ended.stdout.rstrip()

    @property
    def _notes(self) -> Path:
        return self.root / self.git("rev-parse", "--git-path", "release.json")

    def _changed(self) -> list[str]:
        return [line[3:] for line in self.git("status", "--porcelain").splitlines()]

    # The steps -----------------------------------------------------------------------------------------------------

    def _branch_fault(self) -> str:
        branch = self.git("rev-parse", "--abbrev-ref", "HEAD")
        if branch != "main":
            return f"releases are made on main, and this is {branch}: git switch main"
        ours = {SOURCE, "CITATION.cff", "CHANGELOG.md", "man/cube2net.1", "web/src/types.ts"}
        others = [name for name in self._changed() if name not in ours and not name.startswith("docs/reference/")]
        return f"not committed: {', '.join(others[:3])}{', …' * (len(others) > 3)}" if others else ""

    def _remote_fault(self) -> str:
        if "origin" not in self.git("remote").splitlines():
            return ""
        self.git("fetch", "--quiet", "--tags", "origin", "main")
        missing = self.git("rev-list", "--count", "HEAD..FETCH_HEAD")
        return "" if missing == "0" else f"origin's main has {missing} commits that are not here: git pull"

    def _tagged(self) -> list[str]:
        tags = [tag.removeprefix("v") for tag in self.git("tag", "--list", "v*").splitlines()]
        return sorted((tag for tag in tags if VERSION.fullmatch(tag)), key=_key)

    def _last(self) -> str:
        """Return the tag of the previous release, or an empty text."""
        before = [tag for tag in self._tagged() if _key(tag) < _key(self.version)]
        return f"v{before[-1]}" if before else ""

    def _order_fault(self) -> str:
        later = [tag for tag in self._tagged() if _key(tag) > _key(self.version)]
        return f"{later[-1]} is released already, which is later" if later else ""

    def _address_fault(self) -> str:
        project = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if not project.get("urls"):
            return "pyproject.toml has no [project.urls]: PyPI's page would lead nowhere"
        links = re.findall(r"\]\((?!https?://|#)[^)]*\)", (self.root / "README.md").read_text(encoding="utf-8"))
        said = f"README.md has {len(links)} links that PyPI's page cannot follow: write whole addresses"
        return said if links else ""

    def _words_fault(self) -> str:
        texts = [self.root / "README.md", *sorted((self.root / "docs").rglob("*.md"))]
        texts += sorted((self.root / "docs").rglob("*.ipynb"))
        found = [str(path.relative_to(self.root)) for path in texts if NOT_YET.search(path.read_text(encoding="utf-8"))]
        return f"not true any more once it is on PyPI: {', '.join(found)}" if found else ""

    def _changelog(self) -> str:
        return (self.root / "CHANGELOG.md").read_text(encoding="utf-8")

    def _changelog_fault(self) -> str:
        text = self._changelog()
        headings = list(HEADING.finditer(text))
        if not headings:
            return "CHANGELOG.md has no heading: write ## Unreleased and what is new under it"
        first = headings[0]
        rest = text[first.end() : headings[1].start() if len(headings) > 1 else len(text)]
        if not re.search(r"^- ", rest, re.MULTILINE):
            return f"CHANGELOG.md says nothing under {first[1]!r}: write what is new, a line each"
        if first[1].startswith("Unreleased"):
            return f"CHANGELOG.md still says {first[1]!r}"
        return "" if first[1].partition(" ")[0] == self.version else f"CHANGELOG.md begins with {first[1]!r}"

    def _date_changelog(self) -> None:
        text = self._changelog()
        first = HEADING.search(text)
        if first is not None and "still says" in self._changelog_fault():
            text = text[: first.start()] + f"## {self.version} ({self.date})" + text[first.end() :]
            (self.root / "CHANGELOG.md").write_text(text, encoding="utf-8")

    def _version_fault(self) -> str:
        said = re.search(r'^__version__ = "(.+)"$', (self.root / SOURCE).read_text(encoding="utf-8"), re.MULTILINE)
        if said is None:
            return f"{SOURCE} has no line __version__"
        return "" if said[1] == self.version else f"{SOURCE} says {said[1]}"

    def _set_version(self) -> None:
        _replace(self.root / SOURCE, r'^__version__ = ".*"$', f'__version__ = "{self.version}"')

    def _citation_fault(self) -> str:
        text = (self.root / "CITATION.cff").read_text(encoding="utf-8")
        lines = text.splitlines()
        if f"version: {self.version}" not in lines:
            return "CITATION.cff says another version"
        return "" if re.search(r"^date-released: ", text, re.MULTILINE) else "CITATION.cff has no date-released"

    def _set_citation(self) -> None:
        place = self.root / "CITATION.cff"
        _replace(place, r"^date-released: .*\n", "")
        _replace(place, r"^version: .*$", f"version: {self.version}\ndate-released: {self.date}")

    def _page_fault(self, words: Sequence[str]) -> Callable[[], str]:
        return lambda: "" if self._run([sys.executable, *words, "--check"]) == 0 else f"{words[0]} would change it"

    def _make_page(self, words: Sequence[str]) -> Callable[[], None]:
        def make() -> None:
            self._run([sys.executable, *words])

        return make

    def _commit_fault(self) -> str:
        changed = self._changed()
        return f"to be committed: {', '.join(changed)}" if changed else ""

    def _commit(self) -> None:
        self.git("commit", "--all", "--message", f"Version {self.version}")

    def _check_fault(self, name: str, words: Sequence[str]) -> Callable[[], str]:
        def fault() -> str:
            passed = self._passed().get(name) == self.git("rev-parse", "HEAD^{tree}") and not self._changed()
            return "" if passed else f"not run on these files: {' '.join(words)}"

        return fault

    def _check(self, name: str, words: Sequence[str]) -> Callable[[], None]:
        def check() -> None:
            if self._run(words, seen=True) == 0:
                notes = {**self._passed(), name: self.git("rev-parse", "HEAD^{tree}")}
                self._notes.write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")

        return check

    def _passed(self) -> dict[str, str]:
        try:
            notes = json.loads(self._notes.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return notes if isinstance(notes, dict) else {}

    def _tag_fault(self) -> str:
        tag = f"v{self.version}"
        if tag not in self.git("tag", "--list").splitlines():
            return f"there is no tag {tag}"
        here = self.git("rev-parse", "HEAD") == self.git("rev-list", "-n", "1", tag)
        return "" if here else f"the tag {tag} is on another commit: git tag --delete {tag}, if it was never pushed"

    def _tag(self) -> None:
        if f"v{self.version}" not in self.git("tag", "--list").splitlines():
            self.git("tag", "--annotate", f"v{self.version}", "--message", f"cube2net {self.version}")

    def _run(self, words: Sequence[str], seen: bool = False) -> int:
        return subprocess.run(words, cwd=self.root, capture_output=not seen, check=False).returncode

    # All of them ---------------------------------------------------------------------------------------------------

    def go(self, do: bool, say: Callable[[str], object]) -> bool:
        """Print for each step whether it is done, after doing it if requested; return whether all are done."""
        done = True
        for step in self.steps:
            fault = step.fault()
            if fault and do and step.do is not None:
                say(f"     {step.name}: {fault}; doing it")
                step.do()
                fault = step.fault()
            say(f"{'open' if fault else 'done'} {step.name}{': ' + fault if fault else ''}")
            done &= not fault
            if fault and do:
                break
        return done


def _key(version: str) -> tuple[int, int, int, str, int]:
    """Return a sort key of a version; a pre-release comes before its release."""
    found = VERSION.fullmatch(version)
    assert found is not None
    major, minor, patch, kind, number = found.groups()
    return int(major), int(minor), int(patch), kind or "z", int(number or 0)


def _replace(place: Path, pattern: str, text: str) -> None:
    """Replace the only line that matches a pattern."""
    before = place.read_text(encoding="utf-8")
    place.write_text(re.sub(pattern, lambda _: text, before, count=1, flags=re.MULTILINE), encoding="utf-8")


BY_HAND = """
A person must do the rest:
  1. git push origin main v{version}: the workflow checks the tag, builds the packages from it and publishes them;
  2. in a fresh environment: pip install cube2net=={version}, cube2net --version, cube2net demo;
  3. write "## Unreleased" at the top of CHANGELOG.md.
"""


def main() -> int:
    """Print or do the steps; return 1 if one is open."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", help="the version to be released, as 0.2.0")
    parser.add_argument("--do", action="store_true", help="do the steps that are open")
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    parser.add_argument("--date", default=today, help="the day of the release; without, today")
    asked = parser.parse_args()
    release = Release(Path(__file__).parents[1], asked.version, asked.date)
    if not release.go(asked.do, print):
        return 1
    sys.stdout.write(BY_HAND.format(version=asked.version))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
