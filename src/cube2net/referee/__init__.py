"""Methods × seeds → scores, tests, a verdict and a report."""

from cube2net.referee.auto import ByHiddenLinks, ByLabels, choose_by_hidden_links, choose_by_labels
from cube2net.referee.hidden_runs import HiddenRuns
from cube2net.referee.illustrations import Illustrator
from cube2net.referee.journal import Journal
from cube2net.referee.race import Marks, Race
from cube2net.referee.report.closeups import CloseUp, close_ups
from cube2net.referee.report.page import Report
from cube2net.referee.report.result_tables import cell_table
from cube2net.referee.report.write import FILES, results, write
from cube2net.referee.setups import AS_LARGE, DEFAULT, SHORT_LIST, Maker, setups_of, several, with_peers
from cube2net.referee.statistics import ENOUGH, all_estimates
from cube2net.referee.trials import Make, Trials, read_comparison
from cube2net.referee.verdict import Verdict, verdict_of

__all__ = [
    "AS_LARGE",
    "DEFAULT",
    "ENOUGH",
    "FILES",
    "SHORT_LIST",
    "ByHiddenLinks",
    "ByLabels",
    "CloseUp",
    "HiddenRuns",
    "Illustrator",
    "Journal",
    "Make",
    "Maker",
    "Marks",
    "Race",
    "Report",
    "Trials",
    "Verdict",
    "all_estimates",
    "cell_table",
    "choose_by_hidden_links",
    "choose_by_labels",
    "close_ups",
    "read_comparison",
    "results",
    "setups_of",
    "several",
    "verdict_of",
    "with_peers",
    "write",
]
