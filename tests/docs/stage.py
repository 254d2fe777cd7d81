"""The example files, created by the page that explains how to create them, and copied for each page.

docs/start/examples.md has one section for people and one for papers; each is run once per session, when a page uses one
of its files.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from cube2net.cube.storage.reader import read_manifest

from page_blocks import ROOT, blocks
from page_runs import PageRun

EXAMPLES = ROOT / "docs" / "start" / "examples.md"

SECTIONS = {
    "People": ("nodes.csv", "links.csv", "names.txt", "labels.csv", "people"),
    "Papers": ("acl", "labs.csv", "areas.csv"),
}
"""What each section of the page makes."""

PAPERS_SEEN = "d11bc23e66df882f"
"""The checksum of the cells of ``acl`` that the pages show: topics may come out otherwise with other libraries."""


@dataclass
class Stage:
    """Creates the files once, and copies those that a page uses into its folder."""

    folder: Path
    drifts: dict[str, list[str]] = field(default_factory=dict)
    """Of every section that was made, where it shows other than what came."""

    def make(self, section: str) -> list[str]:
        """Run a section of the page once; return the differences in its output."""
        if section not in self.drifts:
            with PageRun(self.folder) as run:
                for block in blocks(EXAMPLES):
                    if block.section == section:
                        run.run(block)
            self.drifts[section] = run.drifts
        return self.drifts[section]

    def set(self, text: str, folder: Path) -> bool:
        """Copy the files that a page uses into its folder; return whether they equal those shown on the pages."""
        for section, names in SECTIONS.items():
            wanted = [name for name in names if named(name, text)]
            if wanted:
                self.make(section)
            for name in wanted:
                place = self.folder / name
                (shutil.copytree if place.is_dir() else shutil.copy)(place, folder / name)
        return self.usual if named("acl", text) or finds_topics(text) else True

    @property
    def usual(self) -> bool:
        """Whether the papers have the topics that the pages show."""
        self.make("Papers")
        members = read_manifest(self.folder / "acl")["files"]["cells.members.indices.npy"]
        return str(members["sha256"]).startswith(PAPERS_SEEN)


def put_data(page: Path, text: str, folder: Path) -> None:
    """Copy the files of the folder ``data`` beside a page that it uses into its folder."""
    for path in (page.parent / "data").glob("*"):
        if path.is_file() and named(path.name, text):
            shutil.copy(path, folder / path.name)


def finds_topics(text: str) -> bool:
    """Return whether blocks find topics in the papers, also by building a cube without dimensions.

    >>> finds_topics("papers = c2n.load_bundled()\\ncube = c2n.build(papers)")
    True
    >>> finds_topics("c2n.build(c2n.load_bundled(), ['year', 'venue'])"), finds_topics("c2n.build(people)")
    (False, False)
    """
    proposed = re.search(r"c2n\.build\((\w+|c2n\.load_bundled\([^()]*\))\)", text)
    return "find_topics" in text or ("load_bundled" in text and proposed is not None)


def named(name: str, text: str) -> bool:
    """Return whether a text names a file as a whole word, not as part of another path.

    >>> named("acl", "cube2net info acl"), named("acl", "Path('data/acl.xml')"), named("acl", "pacl")
    (True, False, False)
    """
    return re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w.-])", text) is not None
