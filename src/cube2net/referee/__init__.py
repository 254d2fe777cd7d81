"""Methods × seeds → scores, tests, a verdict and a report."""

from cube2net.referee.choice import ByHiddenLinks, ByLabels
from cube2net.referee.journal import Journal
from cube2net.referee.race import Marks, Race
from cube2net.referee.report.closeups import CloseUp, close_ups
from cube2net.referee.report.page import Report
from cube2net.referee.report.result_tables import cell_table
from cube2net.referee.report.write import FILES, results, write
from cube2net.referee.statistics import ENOUGH, all_estimates
from cube2net.referee.trials import Trials, fingerprint
from cube2net.referee.verdict import Verdict, judge

__all__ = [
    "ENOUGH",
    "FILES",
    "ByHiddenLinks",
    "ByLabels",
    "CloseUp",
    "Journal",
    "Marks",
    "Race",
    "Report",
    "Trials",
    "Verdict",
    "all_estimates",
    "cell_table",
    "close_ups",
    "fingerprint",
    "judge",
    "results",
    "write",
]
