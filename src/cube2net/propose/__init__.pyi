from .cell_counts import score as score, tally as tally
from .proposing import (
    covers_with_own_design as covers_with_own_design,
    propose as propose,
    text_of as text_of,
    with_text as with_text,
)
from .table_proposals import columns_in_words as columns_in_words, propose_for_tables as propose_for_tables
