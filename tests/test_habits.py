"""What a developer, the workflows and the pages call is one and the same, and what is left out is said."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHECKS = "uses: $/.github/workflows/ci.yml"
(PHONY,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
TARGETS = PHONY.split()


@pytest.mark.parametrize("target", TARGETS)
def test_help_tells_of_every_target_that_there_is(target: str) -> None:
    assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)
    assert target == "help" or re.search(rf'^\t@echo "make {target} ', MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_the_workflows_run_what_a_developer_runs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    called = re.findall(r"\bmake ([a-z-]+)", text)
    assert called or CHECKS in text
    assert set(called) <= set(TARGETS)
    assert re.search(r"^permissions:\n  contents: read\n", text, re.MULTILINE)
    assert "secrets." not in text


def test_ci_tries_every_python_that_the_package_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    (tried,) = re.findall(r"python: \[(.+)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert re.findall(r'"([\d.]+)"', tried) == named


def test_what_is_left_out_of_the_habits_is_said_with_a_reason() -> None:
    left = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["repo-review"]["ignore"]
    rows = re.findall(
        r"^\| ((?:[A-Z]{2,3}\d{3}(?:, )?)+) \|", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    assert sorted(check for row in rows for check in row.split(", ")) == sorted(left)


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_keeps_no_traces_of_the_machine_that_ran_it(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec"}
    assert {key for cell in notebook["cells"] for key in cell["metadata"]} <= {"tags", "editable", "slideshow"}


def test_a_workflow_keeps_only_packages_that_it_built() -> None:
    for path in WORKFLOWS:
        for job in re.split(r"^  (?=[a-z]+:\n)", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if "upload-artifact" in job and re.search(r"path: dist$", job, re.MULTILINE):
                assert job.index("make dist") < job.index('make packages PACKAGES="--dist dist"'), path.name


def test_what_is_published_is_what_all_checks_passed_on() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = dict(re.findall(r"^  ([a-z]+):\n((?:    .*\n|\n)+)", text.partition("\njobs:\n")[2], re.MULTILINE))
    assert "needs: checks" in jobs["publish"] and CHECKS in jobs["checks"] and "needs: tag" in jobs["checks"]
    assert "merge-base --is-ancestor HEAD origin/main" in jobs["tag"]
    called = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "  workflow_call:\n" in called
    # A workflow and the one that calls it wait for one another where their groups have one name.
    groups = [re.search(r"^  group: (.+)$", each, re.MULTILINE) for each in (text, called)]
    assert len({each[1] for each in groups if each is not None}) == 2


def test_clean_removes_every_folder_that_git_ignores_but_those_of_other_tools() -> None:
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()]
    cleaned = re.findall(r"\S+", MAKEFILE.partition("\nclean:\n")[2])
    left = {name for name in ignored if name not in cleaned and f"web/{name}" not in cleaned}
    assert left == {"*.egg-info", "build"}


def test_contributing_says_where_every_package_and_top_level_module_belongs() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## Where things are")[2].partition("\n## ")[0]
    package = ROOT / "src" / "cube2net"
    modules = {f"`{path.name}`" for path in package.glob("[a-z]*.py")}
    packages = {f"`{path.parent.name}/`" for path in package.glob("*/__init__.py")}
    assert not [name for name in sorted(modules | packages) if name not in table]


def test_contributing_names_the_files_that_hold_the_registries() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`([A-Z]{4,})`\s+\(`([a-z_/.]+)`\)", text)
    assert {"METHODS", "SOURCES", "ENGINES", "EXPORTS", "TOOLS", "VIEWS"} <= {name for name, _ in named}
    for name, place in named:
        at = ROOT / "src" / "cube2net" / place
        files = [at] if at.suffix else sorted(at.rglob("*.py"))
        assert any(re.search(rf"^{name}\b.* = ", path.read_text("utf-8"), re.MULTILINE) for path in files), (
            name,
            place,
        )
