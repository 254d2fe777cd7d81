"""Read GraphML and GEXF files as columns of nodes and links."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from cube2net._util.xml import SafeXml
from cube2net.errors import SourceError, quote

LINK_ENDS = ("source", "target")
WEIGHT, KIND, TIME = "weight", "kind", "time"
MAX_COLUMNS = 10_000
ROWS_PER_CHUNK = 2**16
"""The number of rows kept as Python values before they are packed into arrays."""
ARROW_TYPES = {
    **dict.fromkeys(("int", "integer", "long", "short", "byte", "biginteger"), pa.int64()),
    **dict.fromkeys(("float", "double", "bigdecimal"), pa.float64()),
    "boolean": pa.bool_(),
}


class Columns:
    """Rows of texts by columns, which may first occur in any row; their types are applied at the end.

    >>> columns = Columns()
    >>> columns.add({"id": "a"}), columns.add({"id": "b", "age": "7"})
    (None, None)
    >>> columns.arrays({"age": "int"})[0]["age"].to_pylist()
    [None, 7]
    """

    def __init__(self) -> None:
        self.count = 0
        self._values: dict[str, list[str | None]] = {}
        self._packed: dict[str, list[pa.Array]] = {}
        self._packed_count = 0

    def add(self, row: dict[str, str]) -> None:
        """Add a row."""
        row_number = self.count - self._packed_count
        for name, value in row.items():
            values = self._values.get(name)
            if values is None:
                values = self._values[name] = []
                self._packed[name] = [pa.nulls(self._packed_count, pa.string())] if self._packed_count else []
                if len(self._values) > MAX_COLUMNS:
                    raise SourceError(f"the graph has more than {MAX_COLUMNS:,} attributes, expected less")
            if len(values) < row_number:
                values.extend([None] * (row_number - len(values)))
            values.append(value)
        self.count += 1
        if self.count - self._packed_count == ROWS_PER_CHUNK:
            self._pack()

    def _pack(self) -> None:
        size = self.count - self._packed_count
        for name, values in self._values.items():
            self._packed[name].append(pa.array(values + [None] * (size - len(values)), pa.string()))
            values.clear()
        self._packed_count = self.count

    def arrays(self, types: dict[str, str]) -> tuple[dict[str, pa.ChunkedArray], set[str]]:
        """Return the columns in their types, and the names of those with values of other types, which stay texts."""
        self._pack()
        columns, mixed = {}, set()
        for name, parts in self._packed.items():
            columns[name] = pa.chunked_array(parts, pa.string())
            if arrow_type := ARROW_TYPES.get(types.get(name, "").casefold()):
                try:
                    columns[name] = pc.cast(pc.utf8_trim_whitespace(columns[name]), arrow_type)
                except pa.ArrowInvalid:
                    mixed.add(name)
        return columns, mixed


@dataclass
class XmlGraph:
    """The content of a graph file: nodes (``node`` is the id), links, types of attributes, counts of odd elements."""

    nodes: Columns = field(default_factory=Columns)
    links: Columns = field(default_factory=Columns)
    node_types: dict[str, str] = field(default_factory=dict)
    link_types: dict[str, str] = field(default_factory=dict)
    directed: bool = False
    contradicting_links: int = 0
    """The number of links whose own direction contradicts that of the graph."""
    skipped_elements: int = 0
    """The number of hyperedges and ports, which are not read."""


def read_xml_graph(name: str, file: io.BufferedReader, report: Callable[[], None]) -> XmlGraph:
    """Return the graph of a GraphML or GEXF file, as its first element says; ``report`` is called after each piece."""
    reader = _Reader(name)
    reader.xml.read(file, report=report)
    return reader.graph


class _Reader:
    """Follows the elements of one file and hands them to the form that its first one names."""

    def __init__(self, name: str) -> None:
        self.graph = XmlGraph()
        self.form: _GraphMl | _Gexf | None = None
        self.text: list[str] | None = None
        self.xml = SafeXml(name, start=self.start, end=self.end, characters=self.characters)
        self.xml.expat.CharacterDataHandler = self.characters
        self.error = self.xml.error

    def characters(self, text: str) -> None:
        if self.text is not None:
            self.text.append(text)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        local_name = tag.rpartition(":")[2]
        if self.form is not None:
            self.form.start(local_name, attributes)
        elif local_name in XML_FORMS:
            self.form = XML_FORMS[local_name](self)
        else:
            raise self.error(f"the first element is {quote(tag)}, expected 'graphml' or 'gexf'")

    def end(self, tag: str) -> None:
        if self.form is not None:
            self.form.end(tag.rpartition(":")[2])

    def take_text(self) -> str:
        """Return the text collected so far, and stop collecting."""
        text, self.text = "".join(self.text or ()), None
        return text

    def require(self, attributes: dict[str, str], name: str, element: str) -> str:
        """Return an attribute that an element must have."""
        value = attributes.get(name, "").strip()
        if not value:
            article = "an" if element[0] in "aeiou" else "a"
            raise self.error(f"{article} {element} has no {name!r}")
        return value

    def add_node(self, key: str, row: dict[str, str]) -> None:
        """Add a node; an attribute of it that is called ``node`` gets another name."""
        if "node" in row:
            row["node_"] = row.pop("node")
        self.graph.nodes.add(row | {"node": key})

    def add_link(self, ends: dict[str, str], row: dict[str, str], direction: str | None) -> None:
        """Add a link; ``direction`` is its own."""
        if direction is not None and (direction in ("directed", "true")) != self.graph.directed:
            self.graph.contradicting_links += 1
        self.graph.links.add(row | ends)


@dataclass
class _Key:
    name: str
    default: str | None = None
    graphics: bool = False


class _Form:
    """What GraphML and GEXF share: declared attributes by id, and nodes and edges that are open."""

    direction = ""
    """The attribute of an edge that says its direction."""
    own_attributes: ClassVar[Mapping[str, Mapping[str, str]]] = {"node": {}, "edge": {}}
    """The columns read from XML attributes of node and edge elements."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.keys: dict[str, dict[str, _Key]] = {"node": {}, "edge": {}}
        self.open: list[tuple[str, dict[str, str], dict[str, str]]] = []

    def declare(self, owner: str, number: str, key: _Key, kind: str) -> None:
        graph = self.reader.graph
        self.keys[owner][number] = key
        (graph.node_types if owner == "node" else graph.link_types)[key.name] = kind

    def close(self) -> None:
        """Add the node or edge that ends here."""
        owner, attributes, row = self.open.pop()
        for key in self.keys[owner].values():
            if key.default is not None:
                row.setdefault(key.name, key.default)
        for name, attribute in self.own_attributes[owner].items():
            if attributes.get(attribute):
                row.setdefault(name, attributes[attribute])
        reader = self.reader
        if owner == "node":
            reader.add_node(reader.require(attributes, "id", "node"), row)
        else:
            ends = {end: reader.require(attributes, end, "edge") for end in LINK_ENDS}
            reader.add_link(ends, row, attributes.get(self.direction))


class _GraphMl(_Form):
    """GraphML: keys declare attributes, ``data`` of nodes and edges holds them; yEd hides names in its graphics."""

    direction = "directed"

    def __init__(self, reader: _Reader) -> None:
        super().__init__(reader)
        self.declared: _Key | None = None
        self.key: str | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        reader = self.reader
        if tag in ("node", "edge"):
            self.open.append((tag, attributes, {}))
        elif tag == "data":
            self.key, reader.text = attributes.get("key", ""), []
            if self.open:
                key = self.keys[self.open[-1][0]].get(self.key)
                reader.text = None if key is not None and key.graphics else []
        elif tag == "NodeLabel" and self.key is not None:
            reader.text = []
        elif tag == "graph":
            reader.graph.directed |= attributes.get("edgedefault") == "directed"
        elif tag == "key":
            name = attributes.get("attr.name") or reader.require(attributes, "id", "key")
            self.declared = _Key(name, graphics="yfiles.type" in attributes)
            for owner in ("node", "edge"):
                if attributes.get("for", "all") in (owner, "all"):
                    kind = attributes.get("attr.type", "string")
                    self.declare(owner, attributes.get("id", ""), self.declared, kind)
        elif tag == "default" and self.declared is not None:
            reader.text = []
        elif tag in ("hyperedge", "port"):
            reader.graph.skipped_elements += 1

    def end(self, tag: str) -> None:
        reader = self.reader
        if tag == "data":
            text = reader.take_text()
            if self.open and self.key is not None:
                self._set_value(self.key, text)
            self.key = None
        elif tag == "NodeLabel" and self.key is not None and self.open:
            text = reader.take_text().strip()
            if text:
                self.open[-1][2].setdefault("label", text)
        elif tag in ("node", "edge") and self.open:
            self.close()
        elif tag == "default" and self.declared is not None:
            self.declared.default = reader.take_text()
        elif tag == "key":
            self.declared = None

    def _set_value(self, number: str, text: str) -> None:
        owner, _, row = self.open[-1]
        key = self.keys[owner].get(number)
        if key is None:
            raise self.reader.error(f"data of a {owner} has the key {quote(number)}, which is not declared")
        if not key.graphics:
            row[key.name] = text


class _Gexf(_Form):
    """GEXF: titled attributes of nodes and edges, ``attvalue`` holds them; the label of a node is its name."""

    direction = "type"
    own_attributes: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "node": {"label": "label"},
        "edge": {WEIGHT: "weight", KIND: "kind", TIME: "start"},
    }

    def __init__(self, reader: _Reader) -> None:
        super().__init__(reader)
        self.owner = "node"
        self.attribute: _Key | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        reader = self.reader
        if tag in ("node", "edge"):
            self.open.append((tag, attributes, {}))
        elif tag == "attvalue" and self.open:
            owner, _, row = self.open[-1]
            number = attributes.get("for") or attributes.get("id", "")
            key = self.keys[owner].get(number)
            if key is None:
                raise reader.error(f"a {owner} has a value for {quote(number)}, which is no declared attribute")
            row.setdefault(key.name, attributes.get("value", ""))
        elif tag == "attributes":
            self.owner = attributes.get("class", "node")
        elif tag == "attribute" and self.owner in self.keys:
            self.attribute = _Key(attributes.get("title") or reader.require(attributes, "id", "attribute"))
            self.declare(self.owner, attributes.get("id", ""), self.attribute, attributes.get("type", "string"))
        elif tag == "default" and self.attribute is not None:
            reader.text = []
        elif tag == "graph":
            reader.graph.directed = attributes.get("defaultedgetype") == "directed"

    def end(self, tag: str) -> None:
        if tag == "default" and self.attribute is not None:
            self.attribute.default = self.reader.take_text()
        elif tag == "attribute":
            self.attribute = None
        elif tag in ("node", "edge") and self.open:
            self.close()


XML_FORMS: dict[str, Any] = {"graphml": _GraphMl, "gexf": _Gexf}
