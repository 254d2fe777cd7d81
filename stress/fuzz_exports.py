"""Damaged citation exports: those of the tests, and real ones in the folder ``exports`` of CUBE2NET_DATA."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import cube2net as c2n
from cube2net.io.bibliography.references import is_reference_file
from cube2net.model.corpus import Corpus
from stress import ROOT
from stress.fuzz_sources import SAMPLES, Sample


@dataclass(frozen=True)
class Export(Sample):
    """A citation export from which a cube is built."""

    def check(self, corpus: Corpus) -> None:
        """Check the corpus and build its cube."""
        super().check(corpus)
        c2n.build(corpus, ["title"], min_objects=1)


def find_exports() -> dict[str, Export]:
    """Return the exports by target name."""
    folders = (ROOT / "tests" / "io" / "exports", Path(os.environ.get("CUBE2NET_DATA", "/nowhere")) / "exports")
    files = [path for folder in folders for path in sorted(folder.rglob("*"))]
    paths = [path for path in files if path.is_file() and is_reference_file(path)]
    return {f"export {path.name}": Export("references", {path.name: path.read_bytes()}, (path.name,)) for path in paths}


EXPORTS: dict[str, Sample] = {
    **{name: sample for name, sample in SAMPLES.items() if name.startswith("references ")},
    **find_exports(),
}
