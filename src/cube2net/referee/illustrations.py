"""What a report shows beside its numbers: the network that helps, drawn and in close-ups, and its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cube2net.array_types import Array
from cube2net.errors import Cube2netError
from cube2net.records import Drawing, Network, Setup
from cube2net.referee.report.closeups import CloseUp, close_ups
from cube2net.referee.report.page import Report
from cube2net.referee.report.result_tables import cell_table
from cube2net.referee.trials import Make

# Larger networks are not drawn: nobody could read them.
MOST_DRAWN = 4_000

# Vectors of so many runs say which pairs are drawn closer or apart.
LOOKS = 5


@dataclass(frozen=True, eq=False)
class Illustrator:
    """Adds to a report what there is to look at.

    ``make`` makes networks of setups, ``layout(network)`` gives every node a place, and ``embed(network, miner, seed)``
    a vector.
    """

    make: Make
    layout: Callable[[Network], Array]
    embed: Callable[[Network, str, int], Array]

    def illustrated(self, report: Report) -> Report:
        """Return the report with the network that it speaks of; as it is where that cannot be made."""
        setup = report.verdict.shown
        if setup is None:
            return report
        trials = [trial for miner in report.comparison.miners for trial in report.comparison.of(setup, miner)]
        first = min(trials, key=lambda trial: trial.seed)
        try:
            network = self.make(setup, first.seed, first.nodes if setup.like else None)
        except Cube2netError:
            return report
        return replace(
            report,
            drawings=self._drawings(report, setup, network),
            close_ups=self._close_ups(report, network),
            cells=cell_table(network) if len(network.selection.cells) else None,
        )

    def _drawings(self, report: Report, setup: Setup, network: Network) -> tuple[Drawing, ...]:
        """Return the network that helps; where nothing is surely better, the one to look at and the query alone."""
        comparison, said, title = report.comparison, report.verdict, setup.title
        if not said.helps:
            own = "the default" if setup.name == comparison.settings.get("default") else "the best of the others"
            title += f", {own}" if setup != said.best or own == "the default" else ""
        drawn = [(title, network)]
        if not said.helps:
            drawn.append(("the query alone", self.make(comparison.alone, min(comparison.seeds), None)))
        return tuple(Drawing(each, self.layout(each), title=name) for name, each in drawn if len(each) <= MOST_DRAWN)

    def _close_ups(self, report: Report, network: Network) -> list[CloseUp]:
        """Return the pairs that the network draws closer and apart, by the vectors of the first miner."""
        comparison, query = report.comparison, network.query
        if comparison.task != "clustering" or len(network) > MOST_DRAWN:
            return []
        alone, miner = self.make(Setup(method="none"), 0, None), comparison.miners[0]
        before, after = (
            np.stack([self.embed(one, miner, seed)[: len(query)] for seed in range(LOOKS)]) for one in (alone, network)
        )
        return close_ups(network, before, after, query.labels)
