"""What a process does that looks at tables and makes cubes of them: it answers lines of JSON, and can be killed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.explorer.address import asked_for, packed_ask
from cube2net.explorer.worker import answer_lines
from cube2net.progress import Progress

EXAMPLE = "nlp-papers-cube"
"""What the cube of the example is called."""


def main() -> None:
    """Answer questions until there are no more."""
    answer_lines(lambda about, asked, progress: [{"answer": answered(asked["name"], asked["question"], progress)}])


def answered(name: str, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return what tables hold, or where the cube is that was made."""
    if question.get("example"):
        return _example(question, progress)
    paths = [Path(path) for path in question["paths"]]
    columns = question.get("columns") or {}
    reader = pipeline.sheet_reader(paths, {"columns": columns} if columns else {})
    options: dict[str, Any] = {
        "dimensions": question.get("dimensions") or (),
        "min_objects": question.get("min_objects"),
    }
    if name == "tables":
        look = pipeline.look_at(reader, paths, **options, progress=progress)
        return {"read": look.record(), "choices": look.choices()}
    identity = pipeline.identify_reading(reader, paths, **options, uploaded=True)
    kept = question.get("keep")
    place, known = pipeline.cube_beside(
        paths, identity, Path(kept) if kept else None, say=lambda sentence: progress(sentence, 1, 1)
    )
    if known is None or not kept:
        look = pipeline.look_at(reader, paths, **options, progress=progress)
        made = Path(question["made"])
        cube = pipeline.make_cube(look, made / place.name, identity=identity, progress=progress)
        if kept:
            pipeline.save_cube(cube, place)
        else:
            place = made / place.name
    return {"folder": str(place), "begin": ""}


def _example(question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return where the cube of the bundled papers is, and the question for the network of the authors of four labs."""
    kept, made = question.get("keep"), Path(question["made"]) / EXAMPLE
    place = Path(kept) / EXAMPLE if kept else made
    if not (place / "manifest.json").exists():
        cube = pipeline.build_cube(pipeline.load_bundled(), out=made, progress=progress)
        if kept:
            pipeline.save_cube(cube, place)
    cube = pipeline.open_cube(place)
    query = cube.query(pipeline.load_labs(), skip_missing=True)
    return {"folder": str(place), "begin": f"#q={packed_ask(asked_for(cube, query))}"}
