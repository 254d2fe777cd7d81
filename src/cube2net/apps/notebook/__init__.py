"""Records as HTML, a network as a picture, and the page as a widget: what a notebook shows.

Nothing here is loaded before something is shown. HTML is such that JupyterLab keeps it in a notebook that is not
trusted: plain tables, pictures as data of an ``<img>``, no script, and colours that are the notebook's own.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
