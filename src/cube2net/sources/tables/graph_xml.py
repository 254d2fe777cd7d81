"""GraphML and GEXF, read element by element: nodes and links with their attributes, and no more than that in memory.

No entity is ever declared or fetched. Values are kept in pieces as they go by, and get their types at the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cube2net.errors import SourceError, quoted
from cube2net.safe_xml import SafeXml

MOST_COLUMNS = 10_000
ROWS = 2**16
"""So many rows are kept as Python's values before they are packed."""
TYPES = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "biginteger"), pa.int64()),
    **dict.fromkeys(("float", "double", "bigdecimal"), pa.float64()),
    "boolean": pa.bool_(),
}
ENDS = ("source", "target")
WEIGHT, KIND, TIME = "weight", "kind", "time"


class Columns:
    """Rows of texts by columns, which may come up at any row; the types of columns are applied at the end.

    >>> columns = Columns()
    >>> columns.add({"id": "a"}), columns.add({"id": "b", "age": "7"})
    (None, None)
    >>> columns.arrays({"age": "int"})[0]["age"].to_pylist()
    [None, 7]
    """

    def __init__(self) -> None:
        self.count = 0
        self._held: dict[str, list[str | None]] = {}
        self._packed: dict[str, list[pa.Array]] = {}
        self._before = 0

    def add(self, row: dict[str, str]) -> None:
        """Add a row."""
        here = self.count - self._before
        for name, value in row.items():
            held = self._held.get(name)
            if held is None:
                held = self._held[name] = []
                self._packed[name] = [pa.nulls(self._before, pa.string())] if self._before else []
                if len(self._held) > MOST_COLUMNS:
                    raise SourceError(f"the graph has more than {MOST_COLUMNS:,} attributes, expected less")
            if len(held) < here:
                held.extend([None] * (here - len(held)))
            held.append(value)
        self.count += 1
        if self.count - self._before == ROWS:
            self._pack()

    def _pack(self) -> None:
        size = self.count - self._before
        for name, held in self._held.items():
            self._packed[name].append(pa.array(held + [None] * (size - len(held)), pa.string()))
            held.clear()
        self._before = self.count

    def arrays(self, types: dict[str, str]) -> tuple[dict[str, pa.ChunkedArray], set[str]]:
        """Return the columns in their types, and the names of those with values of other types, which stay texts."""
        self._pack()
        columns, loose = {}, set()
        for name, parts in self._packed.items():
            column = pa.chunked_array(parts, pa.string())
            wanted = TYPES.get(types.get(name, "").casefold())
            if wanted is not None:
                try:
                    column = pc.cast(pc.utf8_trim_whitespace(column), wanted)
                except pa.ArrowInvalid:
                    loose.add(name)
            columns[name] = column
        return columns, loose


@dataclass
class XmlGraph:
    """What a file of a graph holds: nodes (``node`` is the id), links, the types of attributes, and what was odd."""

    nodes: Columns = field(default_factory=Columns)
    links: Columns = field(default_factory=Columns)
    node_types: dict[str, str] = field(default_factory=dict)
    link_types: dict[str, str] = field(default_factory=dict)
    directed: bool = False
    against: int = 0
    """Links that say of themselves that they are directed where the graph is not, or the other way round."""
    passed_over: int = 0
    """Elements that are no nodes and no links of two ends."""


def read_xml_graph(name: str, file: io.BufferedReader, tell: Callable[[], None]) -> XmlGraph:
    """Return the graph of a GraphML or GEXF file, told apart by its first element; ``tell`` is called after pieces."""
    reader = _Reader(name)
    reader.xml.read(file, tell=tell)
    return reader.graph


class _Reader:
    """Follows the elements of one file and hands them to the form that its first one names."""

    def __init__(self, name: str) -> None:
        self.graph = XmlGraph()
        self.form: _GraphMl | _Gexf | None = None
        self.text: list[str] | None = None
        self.xml = SafeXml(name, start=self.start, end=self.end, characters=self.characters)
        self.expat, self.error = self.xml.expat, self.xml.error
        self.expat.CharacterDataHandler = self.characters

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if self.form is None:
            if local not in FORMS:
                raise self.error(f"the first element is {quoted(tag)}, expected 'graphml' or 'gexf'")
            self.form = FORMS[local](self)
            return
        self.form.start(local, attributes)

    def end(self, tag: str) -> None:
        if self.form is not None:
            self.form.end(tag.rpartition(":")[2])

    def taken(self) -> str:
        """Return the text gathered since it was asked for, and gather no more."""
        text, self.text = "".join(self.text or ()), None
        return text

    def needed(self, attributes: dict[str, str], name: str, what: str) -> str:
        """Return an attribute that an element must have."""
        value = attributes.get(name, "").strip()
        if not value:
            article = "an" if what[0] in "aeiou" else "a"
            raise self.error(f"{article} {what} has no {name!r}")
        return value

    def add_node(self, key: str, row: dict[str, str]) -> None:
        """Add a node; an attribute of it that is called ``node`` gets another name."""
        if "node" in row:
            row["node_"] = row.pop("node")
        self.graph.nodes.add(row | {"node": key})

    def add_link(self, ends: dict[str, str], row: dict[str, str], said: str | None) -> None:
        """Add a link; ``said`` is what it says of its own direction."""
        if said is not None and (said in ("directed", "true")) != self.graph.directed:
            self.graph.against += 1
        self.graph.links.add(row | ends)


@dataclass
class _Key:
    name: str
    default: str | None = None
    graphics: bool = False


class _GraphMl:
    """GraphML: keys declare attributes, ``data`` of nodes and edges holds them; yEd hides names in its graphics."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.keys: dict[str, dict[str, _Key]] = {"node": {}, "edge": {}}
        self.declared: list[_Key] = []
        self.open: list[tuple[str, dict[str, str], dict[str, str]]] = []
        self.key: str | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        reader = self.reader
        if tag in ("node", "edge"):
            self.open.append((tag, attributes, {}))
        elif tag == "data":
            self.key, reader.text = attributes.get("key", ""), []
            if self.open and self._graphics():
                reader.text = None
        elif tag == "NodeLabel" and self.key is not None:
            reader.text = []
        elif tag == "graph":
            reader.graph.directed |= attributes.get("edgedefault") == "directed"
        elif tag == "key":
            self._declare(attributes)
        elif tag == "default" and self.declared:
            reader.text = []
        elif tag in ("hyperedge", "port"):
            reader.graph.passed_over += 1

    def end(self, tag: str) -> None:
        reader = self.reader
        if tag == "data":
            text = reader.taken()
            if self.open and self.key is not None:
                self._hold(text)
            self.key = None
        elif tag == "NodeLabel" and self.key is not None and self.open:
            text = reader.taken().strip()
            if text:
                self.open[-1][2].setdefault("label", text)
        elif tag in ("node", "edge") and self.open:
            self._close(*self.open.pop())
        elif tag == "default" and self.declared:
            text = reader.taken()
            for key in self.declared:
                key.default = text
        elif tag == "key":
            self.declared = []

    def _graphics(self) -> bool:
        key = self.keys[self.open[-1][0]].get(self.key or "")
        return key is not None and key.graphics

    def _declare(self, attributes: dict[str, str]) -> None:
        reader = self.reader
        name = attributes.get("attr.name") or reader.needed(attributes, "id", "key")
        key = _Key(name, graphics="yfiles.type" in attributes)
        of = attributes.get("for", "all")
        for owner, types in (("node", reader.graph.node_types), ("edge", reader.graph.link_types)):
            if of in (owner, "all"):
                self.keys[owner][attributes.get("id", "")] = key
                types[name] = attributes.get("attr.type", "string")
        self.declared = [key]

    def _hold(self, text: str) -> None:
        owner, _, row = self.open[-1]
        key = self.keys[owner].get(self.key or "")
        if key is None:
            raise self.reader.error(f"data of a {owner} has the key {quoted(self.key)}, which is not declared")
        if not key.graphics:
            row[key.name] = text

    def _close(self, owner: str, attributes: dict[str, str], row: dict[str, str]) -> None:
        reader = self.reader
        for key in self.keys[owner].values():
            if key.default is not None:
                row.setdefault(key.name, key.default)
        if owner == "node":
            reader.add_node(reader.needed(attributes, "id", "node"), row)
        else:
            ends = {end: reader.needed(attributes, end, "edge") for end in ENDS}
            reader.add_link(ends, row, attributes.get("directed"))


class _Gexf:
    """GEXF: titled attributes of nodes and edges, ``attvalue`` holds them; the label of a node is its name."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.titles: dict[str, dict[str, _Key]] = {"node": {}, "edge": {}}
        self.owner = "node"
        self.attribute: _Key | None = None
        self.open: list[tuple[str, dict[str, str], dict[str, str]]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        reader = self.reader
        if tag in ("node", "edge"):
            self.open.append((tag, attributes, {}))
        elif tag == "attvalue" and self.open:
            self._hold(attributes)
        elif tag == "attributes":
            self.owner = attributes.get("class", "node")
        elif tag == "attribute" and self.owner in self.titles:
            name = attributes.get("title") or reader.needed(attributes, "id", "attribute")
            self.attribute = self.titles[self.owner][attributes.get("id", "")] = _Key(name)
            types = reader.graph.node_types if self.owner == "node" else reader.graph.link_types
            types[name] = attributes.get("type", "string")
        elif tag == "default" and self.attribute is not None:
            reader.text = []
        elif tag == "graph":
            reader.graph.directed = attributes.get("defaultedgetype") == "directed"

    def end(self, tag: str) -> None:
        if tag == "default" and self.attribute is not None:
            self.attribute.default = self.reader.taken()
        elif tag == "attribute":
            self.attribute = None
        elif tag in ("node", "edge") and self.open:
            self._close(*self.open.pop())

    def _hold(self, attributes: dict[str, str]) -> None:
        owner, _, row = self.open[-1]
        number = attributes.get("for") or attributes.get("id", "")
        key = self.titles[owner].get(number)
        if key is None:
            raise self.reader.error(f"a {owner} has a value for {quoted(number)}, which is no declared attribute")
        row.setdefault(key.name, attributes.get("value", ""))

    def _close(self, owner: str, attributes: dict[str, str], row: dict[str, str]) -> None:
        reader = self.reader
        for key in self.titles[owner].values():
            if key.default is not None:
                row.setdefault(key.name, key.default)
        if owner == "node":
            if attributes.get("label"):
                row.setdefault("label", attributes["label"])
            reader.add_node(reader.needed(attributes, "id", "node"), row)
            return
        said = {WEIGHT: attributes.get("weight"), KIND: attributes.get("kind"), TIME: attributes.get("start")}
        for name, value in said.items():
            if value:
                row.setdefault(name, value)
        ends = {end: reader.needed(attributes, end, "edge") for end in ENDS}
        reader.add_link(ends, row, attributes.get("type"))


FORMS: dict[str, Any] = {"graphml": _GraphMl, "gexf": _Gexf}
