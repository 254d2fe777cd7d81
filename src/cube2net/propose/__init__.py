"""A corpus becomes dimensions: what its attributes are, which lie above which, and which make good cells together."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
