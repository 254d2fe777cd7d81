import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.api.build import build
from cube2net.api.construct import construct
from cube2net.errors import Cube2netError, SourceError
from cube2net.io.graphs import from_igraph, from_networkx
from cube2net.model.corpus import Corpus


def links(corpus: Corpus) -> dict[tuple[str, str], float]:
    ids = corpus.objects["object"].to_pylist()
    return {(ids[row["source"]], ids[row["target"]]): row["weight"] for row in corpus.links.to_pylist()}


def test_node_attributes_become_the_attributes_of_items():
    graph = nx.Graph()
    graph.add_node(1, name="Ada", kind="person", text="on engines", year=1843, fields=["maths", "poetry"])
    graph.add_node(2, name="Bob", kind="robot", year=1999, fields={"b", "a"})
    graph.add_edge(1, 2, weight=3)
    corpus = from_networkx(graph)
    assert corpus.objects.to_pylist() == [
        {"object": "1", "name": "Ada", "kind": "person"}
        | {"year": 1843, "fields": ["maths", "poetry"], "text": "on engines"},
        {"object": "2", "name": "Bob", "kind": "robot"} | {"year": 1999, "fields": ["a", "b"], "text": None},
    ]
    assert corpus.items["fields"].to_pylist() == [["maths", "poetry"], ["a", "b"]]
    assert corpus.items["year"].to_pylist() == [1843, 1999]
    assert corpus.items["text"].to_pylist() == ["on engines", None]
    assert corpus.mentions.to_pylist() == [{"item": 0, "object": 0}, {"item": 1, "object": 1}]


def test_other_attributes_can_be_the_name_the_kind_the_text_and_the_weight():
    graph = nx.Graph()
    graph.add_node("a", title="A", sort="x", about="y")
    graph.add_edge("a", "b", n=5)
    corpus = from_networkx(graph, name="title", kind="sort", text="about", weight="n")
    assert corpus.objects.to_pylist()[0] == {"object": "a", "name": "A", "kind": "x", "text": "y"}
    assert corpus.objects.to_pylist()[1] == {"object": "b", "name": "b", "kind": "node", "text": None}
    assert corpus.items["text"].to_pylist() == ["y", None]
    assert links(corpus) == {("a", "b"): 5}


def test_several_links_of_two_nodes_add_their_weights():
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", weight=2)
    graph.add_edge("b", "a")
    graph.add_edge("b", "c", weight=0.5)
    assert links(from_networkx(graph)) == {("a", "b"): 3.0, ("b", "c"): 0.5}


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_links_of_a_directed_graph_keep_their_direction(kind):
    graph = kind()
    graph.add_edge("a", "b", weight=2)
    graph.add_edge("b", "a")
    graph.add_edge("c", "b", weight=0.5)
    corpus = from_networkx(graph)
    assert corpus.directed
    assert links(corpus) == {("a", "b"): 2.0, ("b", "a"): 1.0, ("c", "b"): 0.5}


def test_kinds_and_times_of_links_are_kept_and_a_key_that_is_a_text_is_a_kind():
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", key="knows", time=2001)
    graph.add_edge("a", "b", kind="likes", time=2003)
    graph.add_edge("b", "c")
    corpus = from_networkx(graph)
    assert not corpus.directed
    assert corpus.links["kind"].to_pylist() == ["knows", "likes", None]
    assert corpus.links["time"].to_pylist() == [2001, 2003, None]


def test_nodes_that_are_whole_numbers_stay_such_and_others_become_texts_which_is_said():
    said = []
    whole = from_networkx(nx.path_graph([np.int64(3), -2, 40]))
    assert whole.whole_ids
    assert whole.objects["object"].to_pylist() == ["3", "-2", "40"]
    for nodes in ([1, "x"], [(1, 2), (3, 4)], [True, 5], [2**70, 1], [1.5, 2]):
        mixed = from_networkx(nx.path_graph(nodes), progress=lambda stage, done, total=None: said.append(stage))
        assert not mixed.whole_ids
        assert said.pop(0).startswith("the graph: nodes that are no texts become such: ")
        said.clear()
    assert not from_networkx(nx.path_graph(["1", "2"])).whole_ids


def test_what_a_node_is_comes_back_with_every_network():
    graph = nx.DiGraph([(10, 20, {"kind": "cites"}), (20, 30), (30, 10)])
    for node, city in zip((10, 20, 30), ("Rome", "Oslo", "Rome"), strict=True):
        graph.add_node(node, city=city, born=1900 + node, text=f"a long story of {node}")
    cube = build(from_networkx(graph), ["city"], min_objects=1)
    network = construct(cube, [10, 30], "hops")
    rows = {row["id"]: row for row in network.nodes.to_arrow().to_pylist()}
    assert set(rows) == {10, 20, 30}
    assert rows[20]["city"] == "Oslo"
    assert rows[20]["born"] == 1920
    assert rows[20]["text"] == "a long story of 20"
    ways = {
        (row["source"], row["target"]): (row["forward"], row["kind"]) for row in network.links.to_arrow().to_pylist()
    }
    assert ways == {(10, 30): (0.0, "link"), (10, 20): (1.0, "cites"), (30, 20): (0.0, "link")}


def test_the_corpus_has_the_links_of_the_graph():
    graph = nx.karate_club_graph()
    corpus = from_networkx(graph)
    assert corpus.objects.num_rows == 34
    assert links(corpus) == {(str(a), str(b)): data["weight"] for a, b, data in graph.edges(data=True)}


def test_links_of_a_node_to_itself_are_dropped_and_counted():
    graph = nx.Graph([("a", "a"), ("a", "b")])
    corpus = from_networkx(graph)
    assert corpus.dropped == {"links of an object to itself": 1}
    assert links(corpus) == {("a", "b"): 1.0}


@pytest.mark.parametrize("weight", [-1, None, "heavy", float("nan"), float("inf"), 1e-320, 1e39])
def test_a_bad_weight_is_counted_or_stops_when_strict(weight):
    graph = nx.Graph([("b", "c")])
    graph.add_edge("a", "b", weight=weight)
    corpus = from_networkx(graph)
    assert corpus.dropped == {"links with a bad weight": 1}
    with pytest.raises(
        SourceError, match=r"link 'b' – 'a': 'weight' is .*, expected 0, or a number from 1e-30 to 1e30"
    ):
        from_networkx(graph, strict=True)


def test_two_nodes_with_the_same_text_are_an_error():
    graph = nx.Graph([(1, "1")])
    with pytest.raises(SourceError) as error:
        from_networkx(graph)
    assert str(error.value) == "nodes 1 and '1' are both '1' as text, expected different ids (relabel one)"


def test_a_thing_that_is_no_graph_and_an_empty_graph_are_errors():
    with pytest.raises(SourceError, match="cannot read a list as a graph, expected a NetworkX graph"):
        from_networkx([1, 2])
    with pytest.raises(SourceError, match="the graph has no nodes, expected one or more"):
        from_networkx(nx.Graph())


def test_attributes_with_fields_inside_are_left_out_and_said():
    said = []
    graph = nx.Graph()
    graph.add_node("a", place={"city": "Rome"}, node="x", item="y")
    graph.add_node("b", node="z", item="y")
    corpus = from_networkx(graph, progress=lambda stage, done, total=None: said.append(stage))
    assert corpus.attributes == ("node_", "item_")
    assert "the graph: left out attributes with fields inside: 'place'" in said


def test_numpy_values_and_mixed_kinds_are_understood():
    graph = nx.Graph()
    graph.add_node("a", size=np.int64(3), code=1, ok=True, tags=np.array(["x"]))
    graph.add_node("b", size=np.float64(2.5), code="x", ok=False, tags="y")
    corpus = from_networkx(graph)
    assert corpus.items["size"].to_pylist() == [3.0, 2.5]
    assert corpus.items["code"].to_pylist() == ["1", "x"]
    assert corpus.items["ok"].to_pylist() == [True, False]
    assert corpus.items["tags"].to_pylist() == [["x"], ["y"]]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(
    st.dictionaries(
        st.integers(0, 5) | st.text(st.characters(), max_size=2),
        st.dictionaries(st.sampled_from(["name", "kind", "text", "x", "item"]), VALUES),
        max_size=6,
    ),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), VALUES), max_size=5),
)
def test_whatever_the_graph_holds_a_corpus_or_a_clear_error_comes_back(nodes, edges):
    graph = nx.MultiDiGraph()
    for node, data in nodes.items():
        graph.add_node(node, **data)
    for one, other, weight in edges:
        graph.add_edge(one, other, weight=weight)
    try:
        corpus = from_networkx(graph)
    except Cube2netError as error:
        assert "\n" not in str(error)
    else:
        assert isinstance(corpus, Corpus)
        corpus.items.validate(full=True)


def test_a_weight_too_large_for_a_float_is_rounded_not_refused() -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=2**53 + 1)
    links = from_networkx(graph).links
    assert links is not None
    assert links["weight"].to_pylist() == [pytest.approx(2.0**53)]


def test_attributes_of_links_that_are_not_used_are_said():
    said: list[str] = []
    graph = nx.MultiDiGraph()
    graph.add_edge("a", "b", weight=2, kind="knows", time=2001, since=1999, **{"place of it": "Rome"})
    graph.add_edge("b", "a", note="x")

    def tell(stage, done, total=None):
        said.append(stage)

    from_networkx(graph, progress=tell)
    assert [stage for stage in said if "links" in stage] == [
        "the graph: not used of links 'since', 'place of it', 'note'"
    ]
    said.clear()
    from_networkx(graph, time="since", progress=tell)
    assert "the graph: not used of links 'time', 'place of it', 'note'" in said
    said.clear()
    from_networkx(nx.karate_club_graph(), progress=tell)
    assert not [stage for stage in said if "not used" in stage]
    other = igraph.Graph([(0, 1)], edge_attrs={"weight": [2.0], "since": [1999], "kind": ["knows"]})
    from_igraph(other, progress=tell)
    assert "the graph: not used of links 'since', 'kind'" in said
