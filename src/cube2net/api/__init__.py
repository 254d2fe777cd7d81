"""The only part that wires rooms: from raw data to a network and a verdict, one function a step."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
