"""What the commands do, between the texts of a command line and the functions of the pipeline."""

from cube2net.commands.answering import answer, certificate, consists, levels, methods, show_network, view
from cube2net.commands.building import about, build, read, show_about, show_homeless, task, update
from cube2net.commands.comparing import compare, miners, names_in, show_comparison, split, told
from cube2net.commands.tables import check_safe, warn_of_formulas

__all__ = [
    "about",
    "answer",
    "build",
    "certificate",
    "check_safe",
    "compare",
    "consists",
    "levels",
    "methods",
    "miners",
    "names_in",
    "read",
    "show_about",
    "show_comparison",
    "show_homeless",
    "show_network",
    "split",
    "task",
    "told",
    "update",
    "view",
    "warn_of_formulas",
]
