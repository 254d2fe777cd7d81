"""The public names: one list, each found and documented."""

import ast
import inspect
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import cube2net as c2n

STUB = Path(c2n.__file__).with_suffix(".pyi")


def listed() -> list[str]:
    """Return the names of the list, in its order."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    return [
        alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module for alias in node.names
    ]


def test_the_list_makes_all_and_dir() -> None:
    assert sorted(listed()) == sorted({*c2n.__all__, "open"})
    assert set(listed()) <= set(dir(c2n)) and len(dir(c2n)) <= 40


def test_every_name_of_methods_loads_and_no_other() -> None:
    assert {name for name in c2n.methods.__all__ if getattr(c2n.methods, name) is None} == set()
    assert dir(c2n.methods) == sorted(c2n.methods.__all__)
    with pytest.raises(AttributeError, match=r"module 'cube2net\.methods' has no attribute 'Gredy'"):
        c2n.methods.Gredy  # type: ignore[attr-defined]  # noqa: B018


def test_every_public_name_is_documented() -> None:
    things = {name: getattr(c2n, name) for name in listed()}
    assert [name for name, thing in things.items() if not thing.__doc__ or thing.__doc__ == dict.__doc__] == []


def test_no_public_name_hides_one_of_pythons_own() -> None:
    import builtins

    assert not set(c2n.__all__) & set(dir(builtins))


def test_a_public_name_is_given_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(getattr(c2n, name) is not None for name in c2n.__all__)


def test_a_star_brings_the_public_names_and_nothing_else() -> None:
    program = "before = set(globals()); from cube2net import *; print(*sorted(set(globals()) - before - {'before'}))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == sorted(c2n.__all__)


def public_functions() -> list[str]:
    """Return the public names that are functions."""
    return [name for name in listed() if inspect.isfunction(getattr(c2n, name))]


def sections(name: str) -> dict[str, str]:
    """Return the numpydoc sections of a public function's docstring, title → text."""
    titled = re.split(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", inspect.getdoc(getattr(c2n, name)) or "", flags=re.MULTILINE)
    return dict(zip(titled[1::2], titled[2::2], strict=True))


def test_a_public_function_explains_every_parameter_and_no_other() -> None:
    differing = {}
    for name in public_functions():
        lines = sections(name).get("Parameters", "").splitlines()
        explained = {word for line in lines if re.match(r"\w", line) for word in line.split(", ")}
        differing[name] = explained ^ set(inspect.signature(getattr(c2n, name)).parameters)
    assert not {name: names for name, names in differing.items() if names}


def test_a_public_function_says_what_comes_back_and_shows_it_in_an_example_that_runs() -> None:
    for name in public_functions():
        assert sections(name)["Returns"].strip(), name
        assert ">>> " in sections(name)["Examples"] and "+SKIP" not in sections(name)["Examples"], name
