"""What a network is, as numbers and texts that JSON can carry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cube2net.records import Network
from cube2net.records.explanation import counted


def summary(network: Network) -> dict[str, Any]:
    """Return what a network is, as numbers and texts that JSON can carry."""
    selection, settings = network.selection, network.settings
    gains = selection.gains(settings["empty_value"]).tolist()
    of_query = network.brought_by.indices[: network.brought_by.indptr[len(network.query)]]
    in_query = np.bincount(of_query, minlength=len(selection.cells)).tolist()
    brought = np.union1d(network.query.objects, selection.objects)
    held = network.brought_by.sizes[: len(network.query)] > 0
    joined = np.zeros(len(network), dtype=bool)
    joined[network.source] = joined[network.target] = True
    return {
        "method": settings["method"],
        "m": settings["m"],
        "objective": settings["objective"],
        "form": network.form,
        "levels": settings["levels"],
        "near": settings["near"],
        "near_weight": settings["near_weight"],
        "keep": settings["keep"],
        "membership": settings["membership"],
        "trust": settings["trust"],
        "agreement": settings["agreement"],
        "value": selection.value if len(selection.cells) else None,
        "bound": selection.bound,
        "gap": selection.gap,
        "proven": None if selection.bound is None else selection.proven,
        "note": selection.note or None,
        "cells": [
            {
                "labels": dict(zip(network.dimensions, labels, strict=True)),
                "gain": gain,
                "objects": size,
                "query_objects": shared,
            }
            for labels, gain, size, shared in zip(network.labels, gains, network.cell_objects, in_query, strict=True)
        ],
        "nodes": len(network),
        "links": len(network.source),
        "left_out": 0 if network.form in ("cells", "woven") else len(brought) - len(network.objects),
        "directed": settings.get("directed", False),
        "query_found": len(network.query),
        "query_missing": len(network.query.missing),
        "query_held": int(held.sum()),
        "query_loose": int((~joined[: len(network.query)]).sum()),
        "chosen": settings.get("chosen"),
        "tried": settings.get("tried"),
        **{word: settings.get(word, []) for word in ("pins", "bans", "like", "unlike")},
        "seconds": dict(network.seconds),
        "seed": settings["seed"],
    }


def certificate(bound: float, gap: float, proven: bool, *, whole: bool = False) -> str:
    """Return the sentence for an upper bound; its numbers are rounded up, so that they stay true.

    >>> certificate(0.12341, 0.0228, False)
    'at most 0.1235 is possible: within 2.3 % of the best'
    >>> certificate(348.0, 0.0517, False, whole=True)
    'at most 348 is possible: within 5.2 % of the best'
    >>> certificate(0.1234, 0.0, True)
    'proven best: no choice within the limits is worth more'
    """
    if proven:
        return "proven best: no choice within the limits is worth more"
    most, share = math.ceil(bound * 1e4 - 1e-6) / 1e4, math.ceil(gap * 1e3 - 1e-6) / 10
    said = f"{bound:,.0f}" if whole else f"{most:.4f}"
    return f"at most {said} is possible" + (f": within {max(share, 0.1):.1f} % of the best" if share < 100 else "")


def certificate_of(about: Mapping[str, Any]) -> str:
    """Return how far from the best possible a choice of cells is, where that is known."""
    if about["bound"] is None or not about["cells"]:
        return ""
    return certificate(about["bound"], about["gap"], about["proven"], whole=about["objective"] == "cover")


def said_of_network(network: Network, about: Mapping[str, Any]) -> str:
    """Return what is in a network and why it is good, in one sentence."""
    count, cells = len(network.query), len(network.selection.cells)
    others = len(network.objects) - count
    nodes = [f"{counted(count, 'object')} of the query"]
    if others and network.form == "woven":
        nodes.append(counted(others, "near object"))
    elif others:
        by = f" that {counted(cells, 'cell')} bring{'s' * (cells == 1)}" if cells and not len(network.cells) else ""
        nodes.append(f"{others:,} more{by}")
    nodes += [counted(len(network.cells), "cell")] if len(network.cells) else []
    listed = f"{', '.join(nodes[:-1])}{' and ' if nodes[1:] else ''}{nodes[-1]}"
    said = [f"{listed}, {counted(len(network.source), 'link')}"]
    if cells:
        hold = "the cells hold" if cells > 1 else "the cell holds"
        said.append(f"{hold} {about['query_held']:,} of the {count:,}, {about['objective']} {_worth(about)}")
    return "; ".join(filter(None, [*said, certificate_of(about)]))


def _worth(about: Mapping[str, Any]) -> str:
    return f"{about['value']:,.0f}" if about["objective"] == "cover" else f"{about['value']:.4f}"
