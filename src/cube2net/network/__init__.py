"""Cube + Selection → Network: methods that follow links, a network's links and forms, and its ways out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
