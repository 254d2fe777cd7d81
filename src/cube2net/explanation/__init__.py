"""Why objects and cells are in a network or not, what tells sets of objects apart, and which cells hold them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
