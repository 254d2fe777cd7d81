"""Network + Question → why: what brought an object, what a cell adds, and what was missed; nothing is chosen here."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
