"""Raw data becomes a corpus.

    readers/   one file for every data set
    io/        how all of them are read: paths, archives, lines, records, and what is left out
    tables/    networks in tables of any usual format
    made/      corpora that come with the package or are made up, and tasks of link prediction

What is listed here is what others may use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
