"""Suggestions for misspelled names."""

from __future__ import annotations

import difflib
import heapq
import unicodedata
from collections.abc import Sequence
from typing import Any

MAX_NAMES_COMPARED = 300
"""Up to this many names are all compared; of more, those with the most letters in common."""
MAX_NAMES_BY_LETTERS, MAX_NAMES_BY_DIFFLIB = 2_000, 50
MAX_TEXT_LETTERS = 120
"""Longer texts get no suggestions."""
MAX_LETTERS_SCANNED = 12_000_000
"""If names have more letters, only those that begin or end like the text are compared."""

OTHER_NAMES: dict[str, dict[str, str]] = {
    "method": {
        "none": "nothing, nocube, query alone, induced, induced subgraph",
        "hops": "ego, egonet, ego graph, ego network, khop, k-hop, k-hop subgraph, n-hop, neighbours, neighbors, "
        "neighbourhood, neighborhood, bfs, snowball, nocube+, nocube++",
        "pagerank": "ppr, personalised pagerank, personalized pagerank, rwr, random walk, random walk with restart, "
        "nibble, pagerank-nibble, local clustering, diffusion",
        "steiner": "steiner tree, pcst, connectors, connection subgraph, shortest paths",
        "maxdisc": "discrepancy, max discrepancy, community, community search, local community",
        "random": "cuberandom, random cells",
        "greedy": "cubegreedy, max coverage, maximum coverage, set cover, submodular",
        "anneal": "annealing, simulated annealing",
        "exact": "optimal, ilp, mip, milp, branch and bound, brute force",
        "cube2net": "ppo, rl, reinforcement learning, drl",
    },
    "form": {"objects": "paper"},
    "parameter": {
        "seed": "random_state, random_seed, rng",
        "n_cells": "k, m, n, cells, max_cells, num_cells, budget, top, top_k, n_clusters, n_components",
        "n_neighbors": "k, neighbors, neighbours, n_neighbours, num_neighbors, top_k",
        "max_nodes": "n, size, nodes, n_nodes, max_size, limit",
        "links": "edges, edge_list, edgelist, relations",
        "query": "objects, nodes, seeds, seed_nodes, sources, ids, names, q, X",
        "data": "df, frame, dataframe, corpus, path, paths, X",
        "dimensions": "dims, columns, features, attributes, by, facets",
        "method": "algorithm, strategy, solver, kind",
        "methods": "algorithms, strategies",
        "models": "model, estimators, estimator, embeddings",
        "runs": "n_runs, repeats, trials, n_init, cv, n_iter",
        "out": "path, folder, directory, output, filename, save, to",
        "folder": "path, directory, out, output, to",
        "path": "file, filename, folder, out, to",
        "workers": "n_jobs, num_workers, processes, threads",
        "progress": "verbose, tqdm, callback",
        "pins": "include, keep, required, must_include, fixed",
        "bans": "exclude, drop, forbidden, without, remove",
        "node": "object, cell, name, id, target",
        "against": "other, others, rest, versus, baseline, y",
    },
    "query parameter": {"query=cube.query(objects, labels)": "label, labels, y_true"},
    "attribute": {
        "links": "edges, edge_list, number_of_edges, n_edges",
        "nodes": "vertices, n_nodes, number_of_nodes",
        "dimensions": "dims, columns, features, attributes, axes",
        "objects": "nodes, vertices",
        "recipe": "method, seed, parameters, params, get_params",
        "save": "write, dump, export, to_csv, to_disk, to_graphml, to_file, to_parquet, to_json, write_network, "
        "write_gexf, write_graphml, write_csv",
        "plot": "draw, show, visualize, visualise, display",
        "to_pandas": "to_df, to_frame, to_dataframe, df, frame, cells_frame, as_frame, results, value_counts, "
        "unique, mean",
        "to_networkx": "to_nx, nx, graph, networkx",
        "to_scipy": "to_numpy, adjacency, adjacency_matrix, to_sparse, to_coo, toarray",
        "summary": "describe, info, stats, to_dict",
        "describe": "summary",
        "including": "include, with_, add, pin",
        "without": "exclude, drop, remove, ban",
        "verdict": "best, winner, conclusion",
        "write_report": "report, to_html",
        "query": "find, search, select, subset",
    },
    "name": {
        "build": "fit, create, make_cube, build_cube, build_from, Builder",
        "open": "load, read, load_cube, read_cube, open_cube",
        "read_tables": "read_csv, read_parquet, read_excel, from_pandas, from_dataframe, read_frame, read_dataframe",
        "from_networkx": "from_nx, from_graph",
        "construct": "network, extract, make_network, construct_network, build_network, subgraph, run",
        "replay": "load_network, read_network, open_network",
        "compare": "evaluate, benchmark, score, cross_validate",
        "update": "add, append, update_cube, partial_fit",
        "explore": "show, app, ui, serve, dashboard",
        "load_bundled": "load_data, load_dataset, load_acl, datasets, load_example, get_data_home",
        "make_planted": "make_blobs, make_data, make_classification",
    },
    "cube2net": {
        "network.plot()": "plot, draw, visualize, visualise, display",
        "network.save(path)": "save, write, dump, export, write_graphml, write_gexf, to_csv",
        "network.to_networkx()": "to_networkx",
        "methods.METHODS": "list_methods, get_methods, available_methods",
        "cube2net.__version__": "show_versions, version",
        "methods.OBJECTIVES": "list_objectives, objectives",
    },
    "cube": {
        "cube2net.construct(cube, …)": "construct, network, subgraph, extract, sample",
        "cube2net.compare(cube, …)": "compare, evaluate",
        "cube2net.contrast(cube, …)": "contrast",
        "cube2net.drill(cube, …)": "drill",
        "cube2net.pivot(cube, …)": "pivot, pivot_table, crosstab",
        "cube2net.explore(cube, …)": "explore, plot, draw",
        "cube2net.update(cube, …)": "update, append, partial_fit",
        "cube2net.cube.dice(cube, …)": "dice, filter, where, loc, isin",
        "cube2net.cube.slice_cube(cube, …)": "slice, slice_cube, sel, isel",
        "cube2net.cube.roll_up(cube, …)": "roll_up, rollup, groupby, aggregate, agg, resample",
        "cube2net.cube.drill_down(cube, …)": "drill_down",
        "cube2net.cube.between(cube, …)": "between, truncate",
        "copy.copy(cube)": "copy",
        "list(cube)": "keys, columns",
        "len(cube.cells)": "n_cells",
        "len(cube.objects)": "n_objects, n_nodes, number_of_nodes",
        "cube.links.count": "n_links, n_edges, number_of_edges, edges",
        "cube.links.neighbours(row)": "neighbors, neighbours, adj",
        "cube2net.construct(cube, …).to_networkx()": "to_networkx, to_nx",
    },
    "network": {
        "network.degree": "degrees",
        "network.neighbors": "neighbours",
        "network.to_networkx()": "add_node, add_nodes_from, add_edge, add_edges_from, remove_node, remove_nodes_from, "
        "remove_edge, remove_edges_from",
        "cube2net.compare(cube, …)": "compare, evaluate",
        "network.nodes and network.links": "head, shape",
    },
    "comparison": {"comparison.verdict()": "summary"},
}
"""Names used in other fields: kind of name → name or expression in cube2net → other names."""


def suggest_name(text: str, names: Sequence[str]) -> str | None:
    """Return the name that a misspelled text most likely means, or None.

    Names within one edit (insertion, deletion, substitution, swap of neighbours) per three letters come first.

    >>> [suggest_name(text, ["anneal", "greedy"]) for text in ("rgeedy", "Anneal", "best")]
    ['greedy', 'anneal', None]
    """
    return next(iter(suggest_names(text, names, 1)), None)


def translate_name(what: str, text: str, names: Sequence[str] | None = None) -> str | None:
    """Return the name in cube2net of something that other fields name differently, or None.

    Only some ``names`` are returned, if given.

    >>> [translate_name("method", text) for text in ("PPR", "k_hop", "gredy")]
    ['pagerank', 'hops', None]
    >>> translate_name("parameter", "k"), translate_name("parameter", "k", ["n_neighbors"])
    ('n_cells', 'n_neighbors')
    """
    typed = _normalise(text)
    for name, others in OTHER_NAMES.get(what, {}).items():
        if typed in map(_normalise, others.split(", ")) and (names is None or name in names):
            return name
    return None


def _normalise(text: str) -> str:
    return "".join(sign for sign in text[:MAX_TEXT_LETTERS].casefold() if sign not in " -_")


def suggest_names(text: str, names: Sequence[str], most: int = 3) -> list[str]:
    """Return the names that a misspelled text most likely means, the likeliest first.

    >>> suggest_names("Gent", ["Ghent", "Genk", "Turin", "gent"])
    ['gent', 'Ghent', 'Genk']
    """
    if len(text) > MAX_TEXT_LETTERS:
        return []
    typed = text.casefold()
    names = preselect_names(typed, names)
    edits = {
        name: count
        for name in names
        if abs(len(name) - len(text)) <= (allowed := max(len(name), len(text)) // 3)
        and (count := count_edits(typed, name.casefold())) <= allowed
    }
    if edits:
        ranked = sorted(edits, key=lambda name: (edits[name], name != text, -_likeness(typed, name), name))
        return ranked[:most]
    return difflib.get_close_matches(text, [name for name in names if len(name) <= MAX_TEXT_LETTERS], n=most)


def list_normal_forms(text: str) -> list[str]:
    """Return the other Unicode normal forms of a text (NFC, NFD), if they differ from it.

    >>> [len(form) for form in list_normal_forms("Jos\u00e9")], [len(form) for form in list_normal_forms("Jose\u0301")]
    ([5], [4])
    >>> list_normal_forms("Jose")
    []
    """
    if text.isascii():
        return []
    return [form for form in (unicodedata.normalize(kind, text) for kind in ("NFC", "NFD")) if form != text]


def reorder_name(text: str) -> list[str]:
    """Return ``First Last`` for a name written ``Last, First``, and both orders for two cells with a tab between.

    >>> reorder_name("Fuchs, Sabine"), reorder_name("Fuchs\\tSabine"), reorder_name("Sabine Fuchs")
    (['Sabine Fuchs'], ['Sabine Fuchs', 'Fuchs Sabine'], [])
    """
    for separator in ("\t", ","):
        parts = [" ".join(part.split()) for part in text.split(separator)]
        if len(parts) == 2 and all(parts):
            first, last = parts
            return [f"{last} {first}", *[f"{first} {last}"] * (separator == "\t")]
    return []


def list_variants(text: str) -> list[str]:
    """Return other ways to write a name: in other normal forms, or with first and last name swapped.

    >>> list_variants("Fuchs, Sabine"), list_variants("Fuchs")
    (['Sabine Fuchs'], [])
    """
    names = reorder_name(text)
    return [*list_normal_forms(text), *(form for name in names for form in (name, *list_normal_forms(name)))]


def preselect_names(text: str, names: Sequence[str]) -> Sequence[str]:
    """Return all names if they are few, else the few that can be most similar to a text."""
    if len(names) <= MAX_NAMES_COMPARED:
        return names
    return _preselect(text.casefold(), names) if 1 < len(text) <= MAX_TEXT_LETTERS else []


def _likeness(typed: str, name: str) -> float:
    return difflib.SequenceMatcher(None, typed, name.casefold()).ratio()


def count_edits(one: str, other: str) -> int:
    """Return the number of edits between two texts (their optimal string alignment distance).

    Among short names difflib alone would pick the wrong one: it rates ``belp`` as similar to ``dblp`` as to ``yelp``,
    and ``nene`` as unlike ``none``.

    >>> count_edits("nakeal", "anneal"), count_edits("linx", "line")
    (2, 1)
    """
    before, last = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            fewest = min(last[j + 1] + 1, row[j] + 1, last[j] + (letter != wanted))
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                fewest = min(fewest, before[j - 1] + 1)
            row.append(fewest)
        before, last = last, row
    return last[-1]


def _preselect(typed: str, names: Sequence[str]) -> list[str]:
    """Return the names that share the most letters with a text, and of these the most similar ones by difflib.

    The number of edits is at least the number of letters of the longer text that the other lacks, so the nearest names
    are among them unless more than ``MAX_NAMES_BY_LETTERS`` names share as many letters.
    """
    import numpy as np

    letters, first, lengths = _letters(names)
    shortest, longest = len(typed) - len(typed) // 3, len(typed) * 3 // 2
    fitting = np.flatnonzero((shortest <= lengths) & (lengths <= longest))
    if len(fitting) * longest > MAX_LETTERS_SCANNED:
        begin = [letters[first[fitting] + at] == ord(typed[at]) for at in (0, 1)]
        end = [letters[first[fitting] + lengths[fitting] + at] == ord(typed[at]) for at in (-2, -1)]
        fitting = fitting[begin[0] & begin[1] | end[0] & end[1]][: MAX_LETTERS_SCANNED // longest]
    if not len(fitting):
        return []
    first, lengths = first[fitting], lengths[fitting]
    coarse = _columns(letters.astype(np.uint8), first, lengths)
    shared = np.zeros(len(fitting), dtype=np.int64)
    for letter in sorted(set(typed)):
        there = np.add.reduce(coarse == ord(letter) % 256, axis=0, dtype=np.uint8)
        shared += np.minimum(there, typed.count(letter))
    kept = np.argsort(np.maximum(lengths, len(typed)) - shared, kind="stable")[:MAX_NAMES_BY_LETTERS]
    few = [names[at] for at in fitting[kept].tolist()]
    return heapq.nlargest(MAX_NAMES_BY_DIFFLIB, few, key=lambda name: _likeness(typed, name))


def _letters(names: Sequence[str]) -> tuple[Any, Any, Any]:
    """Return the code points of all names, case-folded, and the start and length of each name."""
    import numpy as np

    for between in "\n\x1f\x00\ue000":
        text = between.join(names).casefold()
        if text.count(between) == len(names) - 1:
            break
    else:
        between, text = "\n", "\n".join(name.replace("\n", " ") for name in names).casefold()
    letters = np.frombuffer(f"{text}{between}".encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.flatnonzero(letters == ord(between))
    first = np.append(0, ends[:-1] + 1)
    return letters, first, ends - first


def _columns(letters: Any, first: Any, lengths: Any) -> Any:
    """Return the letters of names as columns, padded with 0."""
    import numpy as np

    columns = np.empty((int(lengths.max()), len(first)), dtype=letters.dtype)
    for at in range(len(columns)):
        columns[at] = np.take(letters, first + at, mode="clip")
        columns[at] *= at < lengths
    return columns
