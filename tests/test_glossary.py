"""The words of docs/reference/glossary.md, and that the code keeps to them."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import cube2net

ROOT = Path(cube2net.__file__).parent
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
# Here others' words are spoken: those of libraries and formats; and bins, boxes and texts have edges too.
THEIRS = {
    "edge": "network/ cube/building/labels kernels/topic_models kernels/force_layout io/ topics/ evaluation/report "
    "model/tables",
    "graph": "model/tables io/ network/ api/read selection/rl kernels/rollout",
    "subgraph": "model/tables",
    "backend": "model/tables",
    "document": "io/ topics/",
    "feature": "api/embedding",  # scikit-learn
}


def lines() -> list[tuple[str, str, list[str]]]:
    """Return the words of the page, what each is, and what it is not called."""
    rows = [line.strip("|\n").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in row] for row in rows[2:]]
    return [(word, meaning, [other.strip() for other in nots.split(",") if other]) for word, meaning, nots in cells]


@cache
def collect_names() -> tuple[dict[str, set[str]], Counter[str]]:
    """Return the places of every name that the package defines, and how often each public class is defined."""
    places: dict[str, set[str]] = {}
    classes: Counter[str] = Counter()
    for path in ROOT.rglob("*.py"):
        place = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                name = node.name
                classes[name] += isinstance(node, ast.ClassDef) and not name.startswith("_")
            elif isinstance(node, ast.arg):
                name = node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                name = node.id
            else:
                continue
            places.setdefault(name, set()).add(place)
    return places, classes


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


def test_the_code_uses_our_words() -> None:
    faults = [
        f"{place}: {name}: say {NOT[other]!r}, not {other!r}"
        for name, places in collect_names()[0].items()
        for other in words(name) & set(NOT)
        for place in places
        if not place.startswith(tuple(THEIRS.get(other, "none").split()))
    ]
    assert not faults, "\n".join(sorted(faults))


def test_a_class_name_stands_for_one_thing() -> None:
    assert [name for name, count in collect_names()[1].items() if count > 1] == []
