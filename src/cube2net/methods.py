"""Methods, objectives and forms of networks, for ``construct`` and ``compare``.

``METHODS``, ``OBJECTIVES`` and ``FORMS`` map names to them. A class loads when it is first used.

>>> from cube2net import methods
>>> methods.Greedy(by="price")
Greedy(among='touched', by='price')
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would delay the moment from which the command line handles signals
if TYPE_CHECKING:
    from typing import Any

    from cube2net.api.compare import Auto as Auto
    from cube2net.api.plan import METHODS as METHODS
    from cube2net.network.hops import Hops as Hops
    from cube2net.network.hops import Nothing as Nothing
    from cube2net.network.maxdisc import MaxDisc as MaxDisc
    from cube2net.network.pagerank import PageRank as PageRank
    from cube2net.network.steiner import Steiner as Steiner
    from cube2net.options import FORMS as FORMS
    from cube2net.selection.anneal import Anneal as Anneal
    from cube2net.selection.exact import Exact as Exact
    from cube2net.selection.greedy import Greedy as Greedy
    from cube2net.selection.objectives import OBJECTIVES as OBJECTIVES
    from cube2net.selection.random import Random as Random
    from cube2net.selection.rl.cube2net import Cube2net as Cube2net

_PLACES = {
    "METHODS": "api.plan",
    "OBJECTIVES": "selection.objectives",
    "FORMS": "options",
    "Greedy": "selection.greedy",
    "Exact": "selection.exact",
    "Anneal": "selection.anneal",
    "Random": "selection.random",
    "Cube2net": "selection.rl.cube2net",
    "PageRank": "network.pagerank",
    "Hops": "network.hops",
    "Steiner": "network.steiner",
    "MaxDisc": "network.maxdisc",
    "Nothing": "network.hops",
    "Auto": "api.compare",
}
"""The module of every name, in the order of the documentation."""
__all__ = list(_PLACES)


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # a type checker would take every name for one of this module

    def __getattr__(name: str) -> Any:
        if name not in _PLACES:
            raise AttributeError(f"module 'cube2net.methods' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"cube2net.{_PLACES[name]}"), name)
