"""Batches for a graph neural network: cells against neighbour sampling and PageRank at equal size, on held-out labels.

python benchmarks/samplers.py [areas|labs] [RUNS] [EPOCHS]

What is fixed for all: the cube of the bundled ACL Anthology (for areas without the volumes that tell the labels); x is
the mean of the bundled word vectors over the words of the titles of an author's papers; 60 % of the labelled authors
train, 20 % choose the epoch, 20 % test, drawn anew in every run and the same for all; batches of 64 seeds and 512
nodes, with all links among these; two layers of GraphSAGE, 64 wide, dropout 0.5, Adam at 0.01 with weight decay 0.0005.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from scipy import stats
from sklearn.metrics import f1_score
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import SAGEConv
from torch_geometric.sampler import BaseSampler, SamplerOutput
from torch_geometric.utils import scatter

import cube2net as c2n
from cube2net.array_types import Array
from cube2net.embed.word_table import default_words
from cube2net.network import link_entries
from cube2net.pipeline import AREA_SIGS, weigh
from cube2net.records import Budget
from cube2net.seeding import number, stream

SEEDS, NODES, WIDTH, FAN = 64, 512, 64, (10, 10)
SHARES = (0.6, 0.2)


@BaseSampler.register
class Around:
    """Samples the nodes that a function brings beside the seeds, with all links among them; it is asked of nodes."""

    edge_permutation = None

    def __init__(self, cube: c2n.Cube, bring: Callable[[Array], Array]) -> None:
        self.cube, self.bring = cube, bring

    def sample_from_nodes(self, index, **_):
        """Return the seeds, what is brought, and the links among all."""
        seeds = index.node.numpy()
        nodes = np.concatenate([seeds, self.bring(seeds)]).astype(np.int64)
        tensors = (torch.from_numpy(part.astype(np.int64)) for part in (nodes, *link_entries(self.cube.links, nodes)))
        return SamplerOutput(*tensors, metadata=(index.input_id, None))


def neighbours(cube: c2n.Cube, seed: int) -> Callable[[Array], Array]:
    """Return what draws neighbours of the seeds and then neighbours of these, until a batch is full."""

    def bring(seeds: Array) -> Array:
        rng = stream(seed, "benchmark", "neighbours", *seeds.tolist())
        found: dict[int, None] = {}
        ring = seeds.tolist()
        inside = set(ring)
        for fan in FAN:
            drawn: list[int] = []
            for node in ring:
                others = cube.links.neighbours(node)
                drawn += rng.choice(others, size=min(fan, len(others)), replace=False).tolist()
            rng.shuffle(drawn)
            ring = [node for node in dict.fromkeys(drawn) if node not in inside]
            inside.update(ring)
            found.update(dict.fromkeys(ring))
        return np.array(list(found), dtype=np.int64)[: NODES - len(seeds)]

    return bring


def pagerank(cube: c2n.Cube) -> Callable[[Array], Array]:
    """Return what brings the objects where a walk from the seeds stays most."""

    def bring(seeds: Array) -> Array:
        query = c2n.Query(np.sort(seeds))
        method = c2n.PageRank(top=NODES - len(seeds))
        return method.select(cube, query, weights=weigh(cube, query), budget=Budget()).objects

    return bring


def samplers(cube: c2n.Cube, seed: int) -> dict[str, tuple[BaseSampler, bool]]:
    """Return every sampler by its name, and whether the model passes messages through the cells of a batch too."""
    cells = c2n.CellSampler(cube, max_nodes=NODES, seed=seed)
    half = c2n.CellSampler(cube, near=(NODES - SEEDS) // 2, max_nodes=NODES, seed=seed)
    return {
        "neighbours": (Around(cube, neighbours(cube, seed)), False),
        "PageRank": (Around(cube, pagerank(cube)), False),
        "cells": (cells, False),
        "near objects and cells, half each": (half, False),
        "cells, and messages through them": (cells, True),
        "seeds alone": (Around(cube, lambda seeds: np.empty(0, dtype=np.int64)), False),
    }


class Model(nn.Module):
    """Two layers of GraphSAGE; where it hears cells, each layer adds the mean of the cells that hold a node."""

    def __init__(self, inputs: int, classes: int, *, cells: bool) -> None:
        super().__init__()
        sizes = [(inputs, WIDTH), (WIDTH, classes)]
        self.convs = nn.ModuleList(SAGEConv(*size) for size in sizes)
        self.cells = nn.ModuleList(nn.Linear(*size) for size in sizes) if cells else None

    def forward(self, batch: Data) -> torch.Tensor:
        """Return the scores of the classes for every node."""
        h = batch.x
        for layer, conv in enumerate(self.convs):
            h = nn.functional.dropout(h, 0.5, self.training)
            out = conv(h, batch.edge_index)
            if self.cells is not None:
                node, cell = batch.cell_index
                means = scatter(h[node], cell, dim_size=len(batch.cells), reduce="mean")
                out = out + self.cells[layer](scatter(means[cell], node, dim_size=len(h), reduce="mean"))
            h = out.relu() if layer == 0 else out
        return h


def title_vectors(cube: c2n.Cube, corpus: c2n.Corpus) -> Array:
    """Return for every object the mean vector of the words in the titles of its items."""
    table = default_words()
    place = {word: row for row, word in enumerate(table.words.to_pylist())}
    titles = [
        [place[word] for word in re.findall(r"[a-z]+", title.lower()) if word in place]
        for title in corpus.items["title"].to_pylist()
    ]
    means = np.array([table.values[words].mean(axis=0) if words else np.zeros(table.width) for words in titles])
    item, mentioned = (corpus.mentions[name].to_numpy() for name in ("item", "object"))
    row = cube.objects.find(corpus.objects["object"].to_pylist()).rows[mentioned]
    total = np.zeros((len(cube.objects), table.width))
    np.add.at(total, row, means[item])
    count = np.bincount(row, minlength=len(cube.objects))
    mean = total / np.maximum(count, 1)[:, None]
    return ((mean - mean.mean(axis=0)) / mean.std(axis=0)).astype(np.float32)


def splits(rows: Array, seed: int) -> list[torch.Tensor]:
    """Return the rows that train, choose and test."""
    order = stream(seed, "benchmark", "split").permutation(rows)
    cuts = np.cumsum([round(share * len(rows)) for share in SHARES])
    return [torch.from_numpy(part.astype(np.int64)) for part in np.split(order, cuts)]


def one_run(data: Data, sampler: BaseSampler, parts: list[torch.Tensor], epochs: int, seed: int, *, cells: bool):
    """Return accuracy and macro F1 on the test part at the epoch that the second part chose, and seconds an epoch.

    Layers and dropout of torch draw from its own stream: that begins at the seed here, and goes on as before after it.
    """
    with torch.random.fork_rng(devices=[]):
        torch.random.set_rng_state(torch.Generator().manual_seed(seed).get_state())
        return _learned(data, sampler, parts, epochs, torch.Generator().manual_seed(seed), cells=cells)


def _learned(data: Data, sampler: BaseSampler, parts: list[torch.Tensor], epochs: int, generator, *, cells: bool):
    transform = sampler.with_cells if cells else None
    train, check, test = (
        NodeLoader(data, sampler, part, batch_size=SEEDS, shuffle=shuffle, generator=generator, transform=transform)
        for part, shuffle in zip(parts, (True, False, False), strict=True)
    )
    held = [list(check), list(test)]
    model = Model(data.num_features, int(data.y.max()) + 1, cells=cells)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, kept, seconds = -1.0, (0.0, 0.0), []
    for _ in range(epochs):
        begun = time.perf_counter()
        model.train()
        for batch in train:
            optimizer.zero_grad()
            seeds = slice(batch.batch_size)
            nn.functional.cross_entropy(model(batch)[seeds], batch.y[seeds]).backward()
            optimizer.step()
        seconds.append(time.perf_counter() - begun)
        model.eval()
        chosen, tested = (scores(model, batches) for batches in held)
        if chosen[0] > best:
            best, kept = chosen[0], tested
    return *kept, median(seconds)


@torch.no_grad()
def scores(model: Model, batches: list[Data]) -> tuple[float, float]:
    """Return accuracy and macro F1 on the seeds of batches."""
    pairs = [(model(batch)[: batch.batch_size].argmax(1), batch.y[: batch.batch_size]) for batch in batches]
    told, true = (torch.cat(part).numpy() for part in zip(*pairs, strict=True))
    return float((told == true).mean()), float(f1_score(true, told, average="macro"))


def links_of_seeds(data: Data, sampler: BaseSampler, rows: torch.Tensor) -> tuple[float, float]:
    """Return how many links of a batch a seed has, and which share of what is brought is linked to a seed."""
    links, linked = [], []
    for batch in NodeLoader(data, sampler, rows, batch_size=SEEDS):
        source, target = batch.edge_index
        seeds = batch.batch_size
        links.append(float((target < seeds).sum()) / seeds)
        linked.append(len(target[(source < seeds) & (target >= seeds)].unique()) / max(1, batch.num_nodes - seeds))
    return float(np.mean(links)), float(np.mean(linked))


def interval(values: Array) -> str:
    """Return a mean and the half of its 95 % interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.3f} ± {half:.3f}"


def main(task: str = "areas", runs: str = "10", epochs: str = "15") -> None:
    """Print a table of the samplers."""
    torch.set_num_threads(1)
    labels = {"areas": c2n.load_areas, "labs": c2n.load_labs}[task]()
    corpus = c2n.load_bundled(without_sigs=AREA_SIGS if task == "areas" else ())
    cube = c2n.build_cube(corpus)
    query = cube.query(labels)
    data = c2n.CellSampler(cube).data(query, title_vectors(cube, corpus))
    found: dict[str, list[tuple[float, float, float]]] = {}
    seen: dict[str, tuple[float, float]] = {}
    for run in range(int(runs)):
        parts = splits(query.objects, run)
        if run == 0:
            seen = {name: links_of_seeds(data, one, parts[0]) for name, (one, _) in samplers(cube, run).items()}
        for name, (sampler, cells) in samplers(cube, run).items():
            seed = number("benchmark", "model", run) % 2**31
            found.setdefault(name, []).append(one_run(data, sampler, parts, int(epochs), seed, cells=cells))
    print(f"{task}: {cube}, {len(query)} labelled, {runs} runs of {epochs} epochs, {data.num_features} inputs")
    base = np.array(found["neighbours"])
    titles = ("sampler", "accuracy", "macro F1", "macro F1 less that of neighbours", "time of an epoch")
    titles = (*titles, "links of a seed", "brought with a link to a seed")
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    for name, values in found.items():
        each = np.array(values)
        less = "" if name == "neighbours" else interval(each[:, 1] - base[:, 1])
        ratio = np.median(each[:, 2] / base[:, 2])
        measured = f"{name} | {interval(each[:, 0])} | {interval(each[:, 1])} | {less} | {ratio:.2f} ×"
        print(f"| {measured} | {seen[name][0]:.1f} | {seen[name][1]:.0%} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
