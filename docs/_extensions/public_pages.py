"""Generates a page for each public name, and resolves references to these names.

The names and their order are those of ``src/cube2net/__init__.pyi``. Each gets ``reference/names/NAME.rst`` with the
signature, types and docstring of the installed package; other names are on the page of their module,
``reference/modules/MODULE.rst``. Every build writes these files again; they are not in git.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Iterable
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from sphinx.addnodes import desc, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

import cube2net
import cube2net._util.arrays

cube2net._util.arrays.Array = np.ndarray  # what people know, in every type that is shown: before all other imports
from make_pages import MODULES, public_names  # noqa: E402

ANSWERS = {
    "evaluation.verdict": "Verdict ConfigurationResult Baseline",
    "evaluation.statistics": "Difference",
    "model.change": "Change NamedNode",
    "model.contrast": "Contrast SeparatingCell Description Drilled DrilledCell",
    "model.node_names": "MixedCell",
    "model.explanation": "QueryLink BringingCell LinkPath NearMiss SharedItem Lift OnlyObject AddedCell",
    "model.suggestion": "Suggestion Proposal Attribute Dependency Held CellCounts SampleCell",
    "model.network": "NodesAndLinks",
    "model.dimension": "LevelSpec",
    "model.objects": "Found Lookup",
    "model.items": "ItemAttributes",
    "model.query": "ReadNames",
    "cube.window": "Window",
    "cube.views": "PivotCounts",
    "mining.clustering": "Clusters",
    "selection.rl.cube2net": "Trained",
    "selection.rl.episodes": "Preset",
    "api.datasets": "Planted",
    "io.reviews.link_tasks": "Task",
    "apps.notebook.widget": "Explorer",
    "_util.arrays": "Links Ragged",
    "_util.progress": "Progress",
    "io.tables.table_roles": "ColumnRole TableRoles",
}
"""Classes of results that are in no list of public names, because users do not create them."""

OUTSIDE = [
    "collections",
    "contextlib",
    "datetime",
    "igraph",
    "networkx",
    "numpy",
    "pandas",
    "pathlib",
    "pyarrow",
    "scipy",
    "sp",
    "torch_geometric",
]
OUTSIDE_NAMES = [
    "Array",
    "Asked",
    "AddedCounts",
    "Data",
    "HeteroData",
    "Lineage",
    "Origin",
    "Path",
    "Picture",
    "ProgressOption",
    "T",
    "TableReading",
]
"""Types that are internal or documented elsewhere: they are named without a link."""

TARGETS = {
    "func": ("function",),
    "class": ("class", "data"),
    "exc": ("exception",),
    "meth": ("method", "property"),
    "data": ("data",),
    "mod": ("module",),
    "obj": ("function", "class", "exception", "data"),
}
"""The types of objects that a name in a docstring can refer to, by role."""


def write_pages(app: Sphinx) -> None:
    """Write the pages of public names and of modules, and leave unchanged ones untouched."""
    names = {name for _, group in public_names() for name in group}
    pages = {f"names/{name}.rst": name_page(name) for name in names}
    pages |= {f"modules/{module}.rst": module_page(module, said, names) for module, said in MODULES.items()}
    pages["modules/answers.rst"] = answers_page()
    pages |= {f"groups/{slug(title)}.rst": group_page(title, group) for title, group in public_names()}
    reference = Path(app.srcdir) / "reference"
    for folder in ("names", "groups", "modules"):
        (reference / folder).mkdir(exist_ok=True)
        for stale in (reference / folder).iterdir():
            if f"{folder}/{stale.name}" not in pages:
                shutil.rmtree(stale) if stale.is_dir() else stale.unlink()
    for name, text in pages.items():
        page = reference / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def name_page(name: str) -> str:
    """Return the page of one public name, in reStructuredText."""
    thing = getattr(cube2net, name)
    head = f"{titled(name)}\n.. meta::\n   :description: cube2net.{name}: {plain_line(name)}\n\n"
    if not callable(thing):
        return f"{head}.. currentmodule:: cube2net\n\n.. py:data:: {name}\n\n{registry(name, thing)}"
    return f"{head}.. currentmodule:: cube2net\n\n{directive(thing, name)}"


def group_page(title: str, names: Iterable[str]) -> str:
    """Return the page of a group of public names, with the first line of each docstring."""
    rows = "".join(f":py:obj:`~cube2net.{name}`\n   {bars_escaped(first_words(name))}\n\n" for name in names)
    pages = "".join(f"   ../names/{name}\n" for name in names)
    return f"{titled(title)}\n{rows}.. toctree::\n   :hidden:\n\n{pages}"


def slug(title: str) -> str:
    """Return a title as the name of a file."""
    return "-".join(re.findall(r"\w+", title.lower()))


def first_words(name: str) -> str:
    """Return the first line of the docstring of a public name."""
    thing = getattr(cube2net, name)
    return (inspect.getdoc(thing) or "").partition("\n")[0] if callable(thing) else name_says(name)


def module_page(name: str, said: str, public: Iterable[str]) -> str:
    """Return the page of a module: its purpose, links to its public names, and all other names in full."""
    module = importlib.import_module(f"cube2net.{name}")
    every = getattr(module, "__all__", [name for name, thing in vars(module).items() if defines(module, thing)])
    elsewhere = {*public, "Auto"} if name == "api" else {*public}  # Auto is on the page of methods
    own = [name for name in every if name not in elsewhere]
    also = ", ".join(f":py:obj:`cube2net.{name}`" for name in every if name in public)
    things = [directive(getattr(module, name), name) for name in own if callable(getattr(module, name))]
    tables = [f".. py:data:: {name}\n   :no-typesetting:\n" for name in own if not callable(getattr(module, name))]
    begins = f"{titled(f'cube2net.{name}')}\n{said}\n\n"
    shared = f"Public names that it has as well: {also}.\n\n" if also else ""
    return f"{begins}{shared}.. currentmodule:: cube2net.{name}\n\n" + "\n".join([*tables, *things])


def defines(module: Any, thing: Any) -> bool:
    """Return whether a class is a module's own."""
    return inspect.isclass(thing) and thing.__module__ == module.__name__


def answers_page() -> str:
    """Return the page of the results of public functions."""
    parts = [
        f".. currentmodule:: cube2net.{module}\n\n{class_directive(name)}"
        for module, names in ANSWERS.items()
        for name in names.split()
    ]
    return f"{titled('Answers')}\nThe results of public functions.\n\n" + "\n".join(parts)


def titled(name: str) -> str:
    """Return a name as the title of a page."""
    safe = name.replace("_", "\\_")
    return f"{safe}\n{'=' * len(safe)}\n"


def plain_line(name: str) -> str:
    """Return the first line of the docstring of a public name, without markup."""
    return re.sub(r"[`*]|:\w+:", "", first_words(name))


def directive(thing: Any, name: str) -> str:
    """Return the autodoc directive of a function, a class or an exception."""
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return f".. autoexception:: {name}\n"
    if inspect.isclass(thing):
        inherits = any(base.__module__ == "cube2net.model.network_actions" for base in thing.__mro__)
        return class_directive(name) + ("   :inherited-members:\n" if inherits else "")
    return f".. autofunction:: {name}\n"


def class_directive(name: str) -> str:
    """Return the autodoc directive of a class with its properties and methods."""
    return f".. autoclass:: {name}\n   :members:\n"


def registry(name: str, things: Any) -> str:
    """Return the entries of a registry: each with its class and the first line of its docstring."""
    if not hasattr(things, "items"):
        return "   " + ", ".join(f"``{key}``" for key in things) + "\n"
    rows = "\n".join(f"   ``{key}``\n      {summary(kind)}\n" for key, kind in things.items())
    others = [kind for kind in things.values() if not hasattr(cube2net, kind.__name__)]
    full = [f".. currentmodule:: {kind.__module__}\n\n{class_directive(kind.__name__)}" for kind in others]
    return "\n".join([f"   {name_says(name)}\n\n{rows}", *full])


def summary(kind: Any) -> str:
    """Return the class of an entry as a link where it is public, and the first line of its docstring."""
    line = bars_escaped((inspect.getdoc(kind) or "").partition("\n")[0])
    return f":py:obj:`cube2net.{kind.__name__}`: {line}" if hasattr(cube2net, kind.__name__) else line


def name_says(name: str) -> str:
    """Return the description of a registry."""
    return {
        "METHODS": "All methods by name.",
        "OBJECTIVES": "All objectives by name.",
        "FORMS": "All forms by name.",
    }[name]


def link_names(app: Sphinx, docname: str, source: list[str]) -> None:
    """Make each name in the table of public names a link to its page, and list the pages for navigation."""
    if docname != "reference/api":
        return
    known = [name for _, names in public_names() for name in names]
    text = re.sub(
        r"^\| `(\w+)` \|",
        lambda row: f"| [`{row[1]}`](names/{row[1]}.rst) |" if row[1] in known else row[0],
        source[0],
        flags=re.MULTILINE,
    )
    groups = [f"groups/{slug(title)}" for title, _ in public_names()]
    listed = "\n".join([*groups, "modules/answers", *(f"modules/{module}" for module in MODULES)])
    source[0] = f"{text}\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```\n"


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Resolve a reference to a name of cube2net, whatever module it is in."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip(".~")
    if target.partition(".")[0] in OUTSIDE or target.rpartition(".")[2] in OUTSIDE_NAMES:
        return nodes.emphasis(text=target.rpartition(".")[2])
    wanted = target.rpartition(".")[2] if target.startswith("cube2net.") or "." not in target else target
    domain = env.domains.python_domain
    found = [name for name in domain.objects if name == wanted or name.endswith(f".{wanted}")]
    for name in sorted(found, key=lambda name: (name.count("."), name)):
        entry = domain.objects[name]
        if entry.objtype in TARGETS.get(node["reftype"], ()):
            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)
    return None


def prepare_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape bars, merge the attributes of a record with its typed fields, and give footnotes unique names."""
    if what == "class" and is_record(thing) and "Attributes" in lines:
        lines[lines.index("Attributes")] = "Parameters"
    cited = re.findall(r"\[(\d)\]_", "\n".join(lines))
    footnote = name.replace(".", "-")
    for number, line in enumerate(lines):
        linked = re.sub(r"\[(\d)\]_", rf"[#{footnote}-\1]_", line)
        lines[number] = re.sub(
            r"^\.\. \[(\d)\] ", lambda found: f".. [#{footnote}-{found[1]}] " if found[1] in cited else "#. ", linked
        )
    in_example = False
    for number, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            lines[number] = bars_escaped(line)
    if what in ("property", "attribute") and lines:
        lines[:0] = ["..", ""]  # a comment without words


def bare_records(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, None] | None:
    """Omit the signature of a record, which users do not create; its fields are listed with their types."""
    return ("", None) if what == "class" and is_record(thing) else None


def is_record(thing: Any) -> bool:
    """Return whether a class is a dataclass without documented parameters."""
    return is_dataclass(thing) and not re.search(r"^Parameters\n-+$", inspect.getdoc(thing) or "", re.MULTILINE)


def call_them_fields(app: Sphinx, doctree: nodes.document) -> None:
    """Call the parameters of a record fields."""
    for described in doctree.findall(desc):
        signature = described[0]
        if described.get("objtype") != "class" or not signature.get("module"):
            continue
        thing = importlib.import_module(signature["module"])
        for part in signature["fullname"].split("."):
            thing = getattr(thing, part)
        fields = [field for part in described[1].children if isinstance(part, nodes.field_list) for field in part]
        for field in fields:
            if is_record(thing) and field[0].astext() == "Parameters":
                field[0].children = [nodes.Text("Fields")]


def bars_escaped(line: str) -> str:
    """Escape the bars of a line outside literals."""
    return "``".join(part if number % 2 else part.replace("|", "\\|") for number, part in enumerate(line.split("``")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the functions to the events of Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", link_names)
    app.connect("missing-reference", resolve)
    app.connect("autodoc-process-signature", bare_records)
    app.connect("doctree-read", call_them_fields)
    app.connect("autodoc-process-docstring", prepare_docstring, priority=400)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
