"""What a process does that looks at tables and makes cubes of them: it answers lines of JSON, and can be killed.

It writes only into a folder that others remove. Where a cube is to be kept, it says at which place.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cube2net import pipeline
from cube2net.errors import Cube2netError
from cube2net.explorer.address import asked_for, packed_ask
from cube2net.explorer.worker import answer_lines
from cube2net.progress import Progress
from cube2net.records import Corpus
from cube2net.records.spec import MIN_OBJECTS

EXAMPLE = "nlp-papers-cube"
"""What the cube of the example is called."""


def main() -> None:
    """Answer questions until there are no more."""
    answer_lines(lambda about, asked, progress: [{"answer": answered(asked["name"], asked["question"], progress)}])


def answered(name: str, question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return what tables hold; or where the cube is that was made or is there already, and the place to keep it at."""
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
        reading = pipeline.read_spreadsheet(reader, paths, **options, progress=progress)
        return {"read": reading.record(), "choices": reading.choices(), "uses": reading.uses()}
    identity = pipeline.identify_reading(reader, paths, **options, uploaded=True)
    kept = question.get("keep")
    place, known = pipeline.cube_beside(paths, identity, Path(kept) if kept else None, say=progress.note)
    if known is not None and kept:
        return {"folder": str(place), "place": None, "begin": ""}
    reading = pipeline.read_spreadsheet(reader, paths, **options, progress=progress)
    made = Path(question["made"]) / place.name
    pipeline.build_from_reading(reading, made, identity=identity, progress=progress)
    return {"folder": str(made), "place": str(place) if kept else None, "begin": ""}


def _example(question: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Return where the cube of the bundled papers is, and the question for the network of the authors of four labs."""
    corpus, kept, folder = pipeline.load_bundled(), question.get("keep"), Path(question["made"]) / EXAMPLE
    place = example_place(Path(kept), corpus) if kept else None
    if place is not None and place.exists():
        folder, place = place, None
    else:
        pipeline.build_cube(corpus, out=folder, progress=progress)
    cube = pipeline.open_cube(folder)
    query = cube.query(pipeline.load_labs(), skip_missing=True)
    begin = f"#q={packed_ask(asked_for(cube, query))}"
    return {"folder": str(folder), "place": None if place is None else str(place), "begin": begin}


def example_place(home: Path, corpus: Corpus) -> Path:
    """Return the folder of ``home`` that has the cube of the example, or the first that is free for it.

    A folder that is something else is left as it is, and another name taken.
    """
    said = {
        "dimensions": [str(spec) for spec in corpus.dimensions],
        "items": corpus.items.num_rows,
        "attribution": corpus.attribution,
        "min_objects": MIN_OBJECTS,
        "seed": 0,
    }
    places = pipeline.NumberedPlaces(home, EXAMPLE)
    for place in places.taken():
        with suppress(Cube2netError):
            settings = pipeline.read_manifest(place)["settings"]
            if all(settings.get(name) == value for name, value in said.items()):
                return place
    return places.free()
