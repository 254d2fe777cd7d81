"""How much an answer has without a word, and at most: the same over HTTP, in a notebook and for an assistant."""

FEW_CELLS, MOST_CELLS = 10, 100
"""Cells of a contrast and of a drill."""
FEW_LABELS, MOST_LABELS = 40, 100
"""Rows and columns of a table, each."""
FEW_NAMES, MOST_NAMES = 10, 100
"""Names that begin as somebody types."""
MOST_MEMBERS = 20_000
"""Objects of cells; so many an ask may have over HTTP."""
