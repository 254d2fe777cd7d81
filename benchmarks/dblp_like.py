"""Compare the generated bibliography with the ACL Anthology, distribution by distribution.

    python benchmarks/dblp_like.py ARCHIVE [--cube FOLDER] [--plot FILE.png]

ARCHIVE is the tar.xz or folder of the Anthology, FOLDER its cube; without it, topics are found first, which takes
minutes. A bibliography with as many papers, years and authors per paper is generated. Distributions are compared by the
Kolmogorov–Smirnov distance and by the Wasserstein distance of the logarithms (0.1 is about a tenth of the value).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import cube2net as c2n
from cube2net._util.arrays import Array
from cube2net.model.corpus import Corpus
from cube2net.model.cube import Cube
from dblp_like_corpus import make_dblp_like

WHAT = {
    "authors of a paper": "authors",
    "papers of an author": "papers",
    "links of an author": "links",
    "papers of a link": "papers together",
    "cells of an author": "cells",
    "authors of a cell": "authors, 10 or more",
    "papers of a venue": "papers",
    "years of an author": "years, first to last paper",
}
Figures = dict[str, Array]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("archive", type=Path)
    parser.add_argument("--cube", type=Path)
    parser.add_argument("--plot", type=Path)
    asked = parser.parse_args()
    compare(asked.archive, asked.cube, asked.plot)


def compare(archive: Path, folder: Path | None, plot: Path | None) -> None:
    """Print the distances of all distributions, and draw them."""
    corpus = c2n.api.read_acl(archive)
    cube = c2n.build(corpus, corpus.dimensions) if folder is None else c2n.open(folder)
    real = figures(corpus, cube)
    years = corpus.items["year"].to_numpy()
    mean = float(real["authors of a paper"].mean())
    ours = make_dblp_like(corpus.items.num_rows, years=(int(years.min()), int(years.max())), authors=mean)
    like = c2n.build(ours, ours.dimensions)
    drawn = figures(ours, like)
    for name, one, table in (("ACL", corpus, cube), ("made up", ours, like)):
        print(f"{name:8} {one}, {table}")
    print("\n| | KS | W of logs | ACL: mean | 50 % | 99 % | most | made up: mean | 50 % | 99 % | most |")
    print("| --- " + "| --: " * 10 + "|")
    for name in WHAT:
        pair = real[name], drawn[name]
        said = " | ".join(
            f"{x.mean():,.2f} | {np.median(x):,.0f} | {np.quantile(x, 0.99):,.0f} | {x.max():,.0f}" for x in pair
        )
        print(f"| {name} | {gap(*pair):.3f} | {apart(*pair):.3f} | {said} |")
    if plot is not None:
        draw(real, drawn, corpus.items.num_rows, plot)


def figures(corpus: Corpus, cube: Cube) -> Figures:
    """Return the numbers whose distributions are compared."""
    item, thing = (corpus.mentions[end].to_numpy() for end in ("item", "object"))
    teams = np.bincount(item)
    venue = corpus.items["venue"].combine_chunks()
    flat = venue.flatten() if pa.types.is_list(venue.type) else venue
    year = corpus.items["year"].to_numpy()[item]
    first, last = np.full(corpus.objects.num_rows, 9999), np.zeros(corpus.objects.num_rows, dtype=int)
    np.minimum.at(first, thing, year)
    np.maximum.at(last, thing, year)
    links = cube.links
    once = links.indices > np.repeat(np.arange(len(links)), np.diff(links.indptr))
    return {
        "authors of a paper": teams[teams > 0],
        "papers of an author": np.bincount(thing),
        "links of an author": np.diff(links.indptr),
        "papers of a link": links.weights[once],
        "cells of an author": cube.object_cells.sizes,
        "authors of a cell": cube.cells.members.sizes,
        "papers of a venue": pc.struct_field(pc.value_counts(flat), "counts").to_numpy(zero_copy_only=False),
        "years of an author": (last - first + 1)[last > 0],
    }


def gap(one: Array, other: Array) -> float:
    """Return the Kolmogorov–Smirnov distance."""
    values = np.union1d(one, other)
    shares = [np.searchsorted(np.sort(x), values, side="right") / len(x) for x in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


def apart(one: Array, other: Array) -> float:
    """Return the Wasserstein distance of the natural logarithms; 0 counts as 0.5."""
    at = (np.arange(100_000) + 0.5) / 100_000
    logs = [np.log(np.maximum(np.quantile(x, at, method="inverted_cdf"), 0.5)) for x in (one, other)]
    return float(np.abs(logs[0] - logs[1]).mean())


def draw(real: Figures, ours: Figures, papers: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(12, 6), layout="constrained")
    for axis, (name, unit) in zip(axes.flat, WHAT.items(), strict=True):
        for label, found, style in (
            ("ACL Anthology", real, {"color": "#444444", "linewidth": 3.2, "alpha": 0.55}),
            ("made up", ours, {"color": "#d1495b", "linewidth": 1.5}),
        ):
            values, counts = np.unique(found[name], return_counts=True)
            beyond = counts[::-1].cumsum()[::-1] / counts.sum()
            axis.loglog(values[values > 0], beyond[values > 0], label=label, **style)
        axis.set_title(f"{name}   (KS {gap(real[name], ours[name]):.3f})", fontsize=10)
        axis.set_xlabel(unit, fontsize=9)
        axis.tick_params(labelsize=8)
        axis.grid(alpha=0.25)
    for axis in axes[:, 0]:
        axis.set_ylabel("share with as many or more", fontsize=9)
    figure.suptitle(f"A made-up literature beside the ACL Anthology, {papers:,} papers each", fontsize=12)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
