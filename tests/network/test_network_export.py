"""Every export keeps the whole network, and nothing half-written stays behind."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube2net.errors import Cube2netError, InputError, MissingPackageError, ParameterError
from cube2net.model.network import Network
from cube2net.network.export.graphs import to_igraph, to_networkx, to_pyg, to_scipy
from cube2net.network.export.registry import EXPORTS, export_network
from cube2net.network.export.xml import escape

from bare_networks import bare_network
from network_readers import (
    READERS,
    drop_missing,
    list_expected,
    read_back,
    read_graph,
    read_igraph,
    restore,
    sort_links,
)
from workbook_sheets import titles

NAMES = ['Zoë "Z" Ångström', "a < b & c > d", "line\nbreak, comma\tand tab", "  孔子 ; 'x' ", "", "plain\r\nname"]


def hard_network(names: list[str] = NAMES, ids: list[str] | None = None) -> Network:
    """Return a network of five objects of six and two cells: odd names, labels, float weights, one isolated node."""
    return bare_network(
        [(0, 1), (0, 3), (3, 4), (3, 5), (4, 5), (0, 6)],
        query=3,
        objects=[0, 1, 2, 3, 5],
        cells=[("label <1>", "x & y"), ("label 0", "naïve")],
        labels=["left", 'r"<&', "left"],
        weights=[0.1, 2.0, 1e-7, 1.0, 1.0, 123456.79],
        held=[[1], [1], [], [0, 1], [0]],
        query_links=[1, 1, 0, 1, 0],
        ids=ids or ["a/1", "b & <b>", "c c", "d\nd", "e", "f,\"f'"],
        names=names,
        kinds=["author", "author", "thing & co"] * 2,
        numbers=[1, 0],
        dimensions=("group", "süß"),
    )


def lone_node() -> Network:
    return bare_network([], query=1)


def test_every_format_has_a_reader_here() -> None:
    assert {*READERS, ".vosviewer.json"} == {*EXPORTS}


@pytest.mark.parametrize("make", [hard_network, lone_node])
@pytest.mark.parametrize("suffix", READERS)
def test_a_written_network_reads_back_whole(suffix: str, make: Callable[[], Network], tmp_path: Path) -> None:
    network = make()
    paths = export_network(network, tmp_path / f"net{suffix}")
    assert sorted(tmp_path.iterdir()) == sorted(paths)
    assert read_back(paths, network) == list_expected(network)


@pytest.mark.filterwarnings("ignore:Could not add vertex ids:RuntimeWarning")
@pytest.mark.parametrize("ids", [None, ["a/1", "<b>", "c c", "d\nd", "e", "f\"'"]])
def test_igraph_reads_our_graphml_whole(ids: list[str] | None, tmp_path: Path) -> None:
    network = hard_network(ids=ids)
    export_network(network, tmp_path / "net.graphml")
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "net.graphml"))
    assert restore(read_igraph(graph), network) == list_expected(network)


@pytest.mark.parametrize("make", [hard_network, lone_node])
def test_networkx_and_igraph_graphs_hold_the_whole_network(make: Callable[[], Network]) -> None:
    network = make()
    assert restore(read_graph(to_networkx(network)), network) == list_expected(network)
    assert restore(read_igraph(to_igraph(network)), network) == list_expected(network)


def test_networkx_graph_and_files_say_which_cells_the_ranks_mean(tmp_path: Path) -> None:
    network = hard_network()
    selected = ["label <1> · x & y", "label 0 · naïve"]
    for suffix in (".graphml", ".gexf", ".xlsx", ".parquet", ".npz", ".json"):
        export_network(network, tmp_path / f"net{suffix}")
    assert to_networkx(network).graph["selected"] == selected
    assert nx.read_graphml(tmp_path / "net.graphml").graph["selected"].split("\n") == selected
    assert "label &lt;1&gt; · x &amp; y" in (tmp_path / "net.gexf").read_text(encoding="utf-8")
    assert titles(tmp_path / "net.xlsx") == [f"⟨{line}⟩" for line in selected]
    assert json.loads(pq.read_schema(tmp_path / "net.nodes.parquet").metadata[b"cube2net"])["selected"] == selected
    assert np.load(tmp_path / "net.npz")["selected"].tolist() == selected
    assert json.loads((tmp_path / "net.json").read_text(encoding="utf-8"))["graph"]["selected"] == selected


def test_scipy_adjacency_is_symmetric_with_every_link_on_both_ends() -> None:
    network = hard_network()
    matrix = to_scipy(network)
    assert matrix.shape == (7, 7) and matrix.nnz == 12 and matrix.dtype == np.float32
    dense = matrix.toarray()
    assert np.array_equal(dense, dense.T)
    assert dense[0, 1] == np.float32(0.1) and dense[2].sum() == 0


def test_pyg_data_holds_the_whole_network() -> None:
    network = hard_network()
    nodes, links = list_expected(network)
    data = to_pyg(network)
    assert data.num_nodes == 7 and data.is_undirected() and data.validate()
    ids = data.ids
    pairs = data.edge_index.T.tolist()
    kinds = [data.edge_kind_names[code] for code in data.edge_kind.tolist()]
    weights = data.edge_weight.numpy().astype(str).astype(float).tolist()
    both = [
        {"source": ids[a], "target": ids[b], "weight": weight, "kind": kind}
        for (a, b), weight, kind in zip(pairs, weights, kinds, strict=True)
    ]
    assert sort_links(both) == sort_links(links * 2)
    assert data.label_names == ["left", 'r"<&']
    assert data.y.tolist() == [0, 1, 0, -1, -1, -1, -1]
    columns = {
        "id": ids,
        "name": data.names,
        "kind": [data.kind_names[code] for code in data.kind.tolist()],
        "in_query": data.seed_mask.tolist(),
        "label": [data.label_names[code] if code >= 0 else "" for code in data.y.tolist()],
        "cells": data.cells,
        "query_links": data.query_links.tolist(),
    }
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    assert list(map(drop_missing, rows)) == nodes


def test_tensors_of_one_node_can_be_made() -> None:
    data = to_pyg(lone_node())
    assert data.edge_index.shape == (2, 0) and data.y.tolist() == [-1] and data.label_names == []
    assert to_scipy(lone_node()).nnz == 0


XML_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(c) for c in range(32)] + ["\ufffe", "\uffff"])
)


@given(st.lists(XML_TEXT | st.sampled_from(["\n", "\r", "\t", "]]>", "<!--", "&amp;"]), min_size=6, max_size=6))
def test_xml_formats_give_any_text_back(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    folder = tmp_path_factory.mktemp("xml")
    network = hard_network(names)
    for suffix in (".graphml", ".gexf", ".xlsx"):
        assert read_back(export_network(network, folder / f"net{suffix}"), network) == list_expected(network)


def test_control_characters_that_xml_forbids_become_their_pictures(tmp_path: Path) -> None:
    network = hard_network(["nul\x00", "bell\x07", "esc\x1b", "\uffff", "", ""])
    for suffix in (".graphml", ".gexf", ".xlsx"):
        nodes, _ = read_back(export_network(network, tmp_path / f"net{suffix}"), network)
        assert [row["name"] for row in nodes[:4]] == ["nul␀", "bell␇", "esc␛", "\ufffd"]
    assert escape("\t\n\r") == "&#9;&#10;&#13;"


def test_ids_that_would_become_one_node_are_refused(tmp_path: Path) -> None:
    network = hard_network(ids=["x\uffff", "x\ufffe", "c", "d", "e", "f"])
    with pytest.raises(InputError, match=r"several nodes of the network have the same id: 'x.' \(XML cannot tell"):
        export_network(network, tmp_path / "net.graphml")
    assert list(tmp_path.iterdir()) == []
    assert read_back(export_network(network, tmp_path / "net.json"), network) == list_expected(network)


def test_csv_and_parquet_make_a_pair_of_files(tmp_path: Path) -> None:
    assert export_network(hard_network(), tmp_path / "my.net.csv") == [
        tmp_path / "my.net.nodes.csv",
        tmp_path / "my.net.links.csv",
    ]
    assert export_network(hard_network(), str(tmp_path / "p.PARQUET"))[1] == tmp_path / "p.links.PARQUET"


@pytest.mark.parametrize("suffix", EXPORTS)
def test_the_same_network_makes_the_same_bytes(suffix: str, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in export_network(hard_network(), tmp_path / f"a{suffix}")]
    assert [path.read_bytes() for path in export_network(hard_network(), tmp_path / f"b{suffix}")] == first


def test_an_unknown_suffix_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(ParameterError) as error:
        export_network(hard_network(), tmp_path / "net.grapml")
    assert str(error.value) == (
        "unknown suffix of a network file '.grapml': choose one of "
        ".csv, .cyjs, .gexf, .graphml, .json, .neo4j.csv, .npz, .parquet, .vosviewer.json, .xlsx "
        "(did you mean '.graphml'?)"
    )


def test_a_missing_folder_and_a_folder_in_the_way_are_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write '.*net\.json': there is no folder '.*nowhere', make it first"):
        export_network(hard_network(), tmp_path / "nowhere" / "net.json")
    (tmp_path / "net.links.csv").mkdir()
    with pytest.raises(InputError, match=r"cannot write '.*net\.links\.csv': it is a folder"):
        export_network(hard_network(), tmp_path / "net.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["net.links.csv"]


@contextmanager
def files_end_at(size: int) -> Iterator[None]:
    """Make every write past a size fail, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("suffix", EXPORTS)
def test_a_disk_that_fills_up_leaves_the_old_file_and_says_one_sentence(suffix: str, tmp_path: Path) -> None:
    old = {path: path.read_bytes() for path in export_network(lone_node(), tmp_path / f"net{suffix}")}
    with pytest.raises(Cube2netError, match=r"^cannot write '.*net.*': file too large$"), files_end_at(100):
        export_network(hard_network(), tmp_path / f"net{suffix}")
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == old


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(network: Network, path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setitem(EXPORTS, ".csv", {**EXPORTS[".csv"], ".links": stop})
    with pytest.raises(KeyboardInterrupt):
        export_network(hard_network(), tmp_path / "net.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("convert", "module", "text"),
    [
        (
            to_networkx,
            "networkx",
            "a NetworkX graph needs the package 'networkx': pip install networkx (extra 'graph')",
        ),
        (to_igraph, "igraph", "an igraph graph needs the package 'igraph': pip install igraph (extra 'graph')"),
        (to_pyg, "torch", "a PyTorch Geometric graph needs the package 'torch': pip install torch (extra 'learn')"),
        (
            to_pyg,
            "torch_geometric",
            "a PyTorch Geometric graph needs the package 'torch-geometric': pip install torch-geometric "
            "(extra 'graph')",
        ),
    ],
)
def test_a_missing_package_says_how_to_get_it(
    convert: Any, module: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError) as error:
        convert(hard_network())
    assert str(error.value) == text
