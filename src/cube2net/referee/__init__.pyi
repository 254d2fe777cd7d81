from .auto import (
    ByLabels as ByLabels,
    choose_by_hidden_links as choose_by_hidden_links,
    choose_by_labels as choose_by_labels,
)
from .hidden_runs import HiddenRuns as HiddenRuns
from .illustrations import Illustrator as Illustrator
from .journal import Journal as Journal
from .race import Marks as Marks, Race as Race
from .report.closeups import CloseUp as CloseUp, close_ups as close_ups
from .report.page import Report as Report
from .report.result_tables import cell_table as cell_table
from .report.write import FILES as FILES, results as results, write as write
from .setups import (
    AS_LARGE as AS_LARGE,
    DEFAULT as DEFAULT,
    SHORT_LIST as SHORT_LIST,
    Maker as Maker,
    setups_of as setups_of,
    several as several,
    with_peers as with_peers,
)
from .statistics import ENOUGH as ENOUGH, all_estimates as all_estimates
from .trials import Make as Make, Trials as Trials, read_comparison as read_comparison
from .verdict import Verdict as Verdict, verdict_of as verdict_of
