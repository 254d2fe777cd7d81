"""Corpus and topics become a cube: it grows by the plan in an engine, is kept on disk, and is seen from many sides."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
