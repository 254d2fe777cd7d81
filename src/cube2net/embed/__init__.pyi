from .cell_vectors import (
    VECTORS as VECTORS,
    STOP_WORDS as STOP_WORDS,
    LabelVectors as LabelVectors,
    MemberVectors as MemberVectors,
    WordVectors as WordVectors,
    label_vectors as label_vectors,
    read_names as read_names,
)
from .nearest_cells import Nearest as Nearest
from .word_table import WordTable as WordTable, default_words as default_words, read_words as read_words
