"""Run the notebooks of docs/tutorials and store their outputs.

    python scripts/run_tutorials.py [NAME ...]          run all notebooks, or these, and store the outputs
    python scripts/run_tutorials.py --check [NAME ...]  run them, and exit with 1 if an output differs

Cells with the tag ``varies`` (times, ports) are run but not compared. Pictures and HTML are not compared, because fonts
differ between machines. Messages about compiling are not stored.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from cube2net._util.progress import COMPILING

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"


def ran(path: Path) -> nbformat.NotebookNode:
    """Return a notebook with its outputs after running it in its own folder."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if COMPILING not in text_of(output)]
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[tuple[str, list[str]]]:
    """Return the code cells that do not vary, with their outputs as text."""
    return [
        (cell.source, [text_of(output) for output in cell.outputs])
        for cell in notebook.cells
        if cell.cell_type == "code" and "varies" not in cell.metadata.get("tags", ())
    ]


def text_of(output: Any) -> str:
    """Return an output as text."""
    if output.output_type == "stream":
        return str(output.text)
    return str(output.get("data", {}).get("text/plain", output.get("evalue", "")))


def differences(path: Path) -> list[str]:
    """Return one text per cell whose output differs from the stored one."""
    stored, now = shown(nbformat.read(path, as_version=4)), shown(ran(path))
    return [
        f"{path.name}: the cell\n{source}\nshows\n{''.join(new)}\nand stored is\n{''.join(old)}"
        for (source, old), (_, new) in zip(stored, now, strict=True)
        if old != new
    ]


def main() -> None:
    """Run or compare the requested notebooks."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    reader.add_argument("names", nargs="*")
    reader.add_argument("--check", action="store_true")
    asked = reader.parse_args()
    paths = [TUTORIALS / f"{name}.ipynb" for name in asked.names] or sorted(TUTORIALS.glob("*.ipynb"))
    for path in paths:
        print(path.stem, file=sys.stderr)
        if not asked.check:
            nbformat.write(ran(path), path)
        elif found := differences(path):
            raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
