"""What tells sets of objects apart, and where they are: mixed cells, exact tests, and the few cells that say most."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
