"""The words of docs/reference/glossary.md, and that the code keeps to them."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import cube2net

ROOT = Path(cube2net.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
# Here others' words are spoken: those of libraries and formats; and bins, boxes and texts have edges too.
THEIRS = {
    "edge": "network/ cube/grow/attribute_labels kernels/topic_models kernels/force_layout sources/ topics/ "
    "referee/report pipeline/cell_sampler",
    "graph": "sources/ network/ pipeline/reading select/learn kernels/rollout",
    "document": "sources/ topics/",
}


def lines() -> list[tuple[str, str, list[str]]]:
    """Return the words of the page, what each is, and what it is not called."""
    rows = [line.strip("|\n").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in row] for row in rows[2:]]
    return [(word, meaning, [other.strip() for other in nots.split(",") if other]) for word, meaning, nots in cells]


def names(path: Path) -> Iterator[str]:
    """Give every name that a file of the package makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def words(name: str) -> set[str]:
    """Return the words of a name, in the singular as far as an s makes the plural."""
    found = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return found | {word.removesuffix("s") for word in found}


NOT = {other: word for word, _, nots in lines() for other in nots}


def test_every_word_stands_once_and_none_is_both_ours_and_not() -> None:
    ours = [word for word, _, _ in lines()]
    assert len(ours) == len(set(ours))
    assert all(meaning for _, meaning, _ in lines())
    assert not set(ours) & set(NOT)


@pytest.mark.parametrize("other", sorted(NOT))
def test_the_code_uses_our_word(other: str) -> None:
    theirs = tuple(THEIRS.get(other, "none").split())
    places = [(str(path.relative_to(ROOT)), name) for path in ROOT.rglob("*.py") for name in names(path)]
    found = sorted({(place, name) for place, name in places if other in words(name) and not place.startswith(theirs)})
    assert not found, f"say {NOT[other]!r}, not {other!r}"


def test_a_class_name_stands_for_one_thing() -> None:
    classes = Counter(
        node.name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_a_file_name_stands_for_one_thing() -> None:
    files = Counter(path.name for path in ROOT.rglob("*.py") if path.name != "__init__.py")
    assert [name for name, count in files.items() if count > 1] == []
