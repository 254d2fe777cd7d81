from .auto import (
    ByLabels as ByLabels,
    Marks as Marks,
    Race as Race,
    choose_by_hidden_links as choose_by_hidden_links,
    choose_by_labels as choose_by_labels,
)
from .hidden_links import HiddenRuns as HiddenRuns
from .journal import Journal as Journal
from .report.closeups import CloseUp as CloseUp, close_ups as close_ups
from .report.page import (
    FILES as FILES,
    Illustrator as Illustrator,
    Report as Report,
    results as results,
    write as write,
)
from .report.tables import cell_table as cell_table
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
