"""Cube + query → selection: which cells to bring, what they are worth, and how far that is from the best.

Choosing is at the top; ``exact`` finds the best selection and bounds on it, ``rl`` learns to choose.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
