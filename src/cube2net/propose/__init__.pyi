from .cell_counts import score as score, tally as tally
from .proposing import propose as propose, text_of as text_of, with_text as with_text
