"""The weights that a source gives its links come out again, whatever the form makes of them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cube2net as c2n
from cube2net.errors import InputError

from network_readers import READERS, list_expected, read_back
from toys import sent


def hybrid(weight: float = 5.1, **kwargs: object) -> c2n.Network:
    """Return a network of the default form around four of forty people, all of whose links weigh the same."""
    people = pd.DataFrame({"id": range(40), "city": ["Rome", "Oslo"] * 20})
    ends = [(a, b) for a in range(40) for b in (a + 1, a + 2, a + 7) if b < 40]
    knows = pd.DataFrame(ends, columns=["source", "target"]).assign(weight=weight)
    cube = c2n.build(people, links=knows, dimensions=["city"], **kwargs)
    network = c2n.construct(cube, [0, 2, 5, 9], "greedy", n_cells=2)
    assert network.form == "hybrid"
    return network


@pytest.mark.parametrize("travelled", [False, True])
def test_frames_have_the_weights_that_were_given_and_memberships_have_none(travelled: bool) -> None:
    network = sent(hybrid()) if travelled else hybrid()
    links = network.to_pandas()[1]
    assert list(links.columns) == ["source", "target", "weight", "kind", "given"]
    member = links.kind == "membership"
    assert member.any() and not member.all()
    assert links.given[member].isna().all()
    assert set(links.given[~member]) == {np.float32(5.1)} != set(links.weight[~member])


def test_links_given_twice_are_given_together() -> None:
    people = pd.DataFrame({"id": ["a", "b", "c", "d"], "city": ["Rome"] * 4})
    knows = pd.DataFrame({"source": list("abbc"), "target": list("bacd"), "weight": [1.5, 2.0, 4.0, 8.0]})
    cube = c2n.build(people, links=knows, dimensions=["city"], min_objects=1)
    links = c2n.construct(cube, ["a", "b"], "greedy", n_cells=1).links.to_arrow().to_pylist()
    given = {frozenset((row["source"], row["target"])): row["given"] for row in links if row["kind"] == "link"}
    assert given[frozenset("ab")] == 3.5 and given[frozenset("bc")] == 4.0


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_and_tensors_have_the_weights_that_were_given(directed: bool) -> None:
    network = hybrid(directed=directed)
    graph, other, data = network.to_networkx(), network.to_igraph(), network.to_pyg()
    assert graph.is_directed() == directed
    for _, _, link in graph.edges.data():
        assert link.get("given") == (None if link["kind"] == "membership" else 5.1)
    member = [kind == "membership" for kind in other.es["kind"]]
    assert other.es["given"] == [None if one else 5.1 for one in member]
    kinds = np.array(data.edge_kind_names)[data.edge_kind.numpy()]
    assert np.array_equal(np.isnan(data.edge_given.numpy()), kinds == "membership")
    assert set(data.edge_given[kinds != "membership"].tolist()) == {np.float32(5.1)}
    hetero = network.to_hetero()
    assert set(hetero["node", "link", "node"].edge_given.tolist()) == {np.float32(5.1)}


def test_a_table_of_directed_links_has_both_ways_and_what_they_give_together() -> None:
    links = hybrid(directed=True).to_pandas()[1]
    links = links[links.kind != "membership"]
    assert np.allclose(links.given, links.forward + links.backward)


@pytest.mark.parametrize("suffix", READERS)
def test_every_file_but_a_map_of_vosviewer_has_the_weights_that_were_given(suffix: str, tmp_path: Path) -> None:
    network = hybrid()
    nodes, links = read_back(network.save(tmp_path / f"net{suffix}"), network)
    assert (nodes, links) == list_expected(network)
    assert {row.get("given") for row in links if row["kind"] == "link"} == {5.1}
    assert not any("given" in row for row in links if row["kind"] == "membership")


@pytest.mark.parametrize("form", ["objects", "cells+objects", "cells"])
def test_no_column_repeats_weights_that_no_form_has_changed(form: str) -> None:
    people = pd.DataFrame({"id": range(8), "city": ["Rome", "Oslo"] * 4})
    knows = pd.DataFrame({"source": range(7), "target": range(1, 8), "weight": 5.0})
    cube = c2n.build(people, links=knows, dimensions=["city"])
    links = c2n.construct(cube, [0, 1], "greedy", n_cells=1, form=form).to_pandas()[1]
    assert "given" not in links.columns and set(links.weight[links.kind == "link"]) == {5.0}


def test_what_was_given_is_said_of_links_between_objects_alone() -> None:
    network = hybrid()
    with pytest.raises(InputError, match="of every link between objects, and of no other, what was given"):
        replace(network, given=network.weight)
