"""Names that people search for lead to the page that answers: the site's own search and its index know them.

On ``explanation/known-as`` every heading, and every name in the line below that begins with *Also:*, is a main entry of
the index; an exact one comes first in the search. Other pages get words that they do not say themselves from ``WORDS``,
and every page the other spelling, British or American, of words that it says.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import index
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "explanation/known-as"
ALSO = "Also: "

WORDS = {
    "index": "subgraph, network construction, graph, sampling, query, data cube",
    "start/explore": "gui, no code, visualisation, visualization, browser, clicks",
    "howto/sources": "csv, excel, spreadsheet, import, bibliographic data, edge list, loader",
    "howto/frames": "dataframe, pandas, polars, jupyter, adjacency",
    "howto/exports": "gnn, pytorch geometric, gephi, cytoscape, vosviewer, neo4j, save, download, edge list",
    "howto/text": "llm, rag, prompt, tokens, graphrag",
    "howto/assistant": "llm, mcp, rag, tool use, chat",
    "howto/mining": "node2vec, deepwalk, embedding, clustering, recommender, link prediction",
    "howto/spark": "cluster, distributed, big data, scale out",
    "howto/gpu": "cuda, graphics card",
    "explanation/cube": "olap, rollup, slice, dice, hierarchy, datacube",
    "explanation/choosing": "submodular, optimisation, optimization, integer programming, reinforcement learning",
    "explanation/evaluation": "evaluation, benchmark, significance, baseline, ablation",
    "reference/methods": "ego, ppr, rwr, khop, walk, algorithm",
    "reference/glossary": "vertex, edge, entity, feature, facet, bucket",
    "findings/performance": "speed, memory, benchmark, scalability",
}
"""Words by which a page is found beside its own."""

STEMS = (
    *("custom", "general", "initial", "maxim", "minim", "normal", "optim"),
    *("organ", "personal", "random", "summar", "token", "visual"),
)
SPELLINGS = (
    *((f"{stem}is{end}", f"{stem}iz{end}") for stem in STEMS for end in ("e", "ing", "ation")),
    *((f"{stem}our", f"{stem}or") for stem in ("behavi", "col", "neighb")),
    *((f"{stem}l{end}", f"{stem}{end}") for stem in ("cancel", "label", "model", "travel") for end in ("ed", "ing")),
    *(("centre", "center"), ("licence", "license")),
)
"""How words begin in British and in American spelling."""


def other_spellings(text: str) -> list[str]:
    """Return the words of a text that are spelled in two ways, each in the way in which the text does not have it."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    pairs = [*SPELLINGS, *((american, british) for british, american in SPELLINGS)]
    found = {there + word.removeprefix(here) for here, there in pairs for word in words if word.startswith(here)}
    return sorted(found - words)


class KnownNames(SphinxTransform):
    """Puts index entries and keywords into a page, before Sphinx collects both."""

    default_priority = 600

    def apply(self, **kwargs: Any) -> None:
        """Change the page."""
        name = self.env.docname
        words = [*WORDS.get(name, "").replace(",", "").split(), *other_spellings(self.document.astext())]
        if words:
            self.document.insert(0, nodes.meta(name="keywords", content=", ".join(dict.fromkeys(words))))
        if name == PAGE:
            for section in self.document.findall(nodes.section):
                if isinstance(section.parent, nodes.section):
                    enter(section)


def enter(section: nodes.section) -> None:
    """Make a section's title and the other names that it gives entries of the index."""
    target = section["ids"][0]
    also = [part.astext() for part in section.findall(nodes.emphasis) if part.astext().startswith(ALSO)]
    names = also[0].removeprefix(ALSO).rstrip(".").replace("\n", " ").split(", ") if also else []
    entries = [("single", name, target, "main", None) for name in [section[0].astext(), *names]]
    section.insert(1, index(entries=entries, inline=False))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.add_transform(KnownNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
