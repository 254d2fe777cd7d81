"""A corpus becomes dimensions: what its attributes are, which lie above which, and which make good cells together."""

from cube2net.propose.cell_counts import score, tally
from cube2net.propose.proposing import propose, text_of, with_text

__all__ = ["propose", "score", "tally", "text_of", "with_text"]
