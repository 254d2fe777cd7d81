"""Records as HTML, a network as a picture, and the page as a widget: what a notebook shows.

Nothing here is loaded before something is shown. HTML is such that JupyterLab keeps it in a notebook that is not
trusted: plain tables, pictures as data of an ``<img>``, no script, and colours that are the notebook's own.
"""

from cube2net.notebook.html_pages import page_of
from cube2net.notebook.pictures import Picture, plot_of
from cube2net.notebook.progress_bars import progress_bars

__all__ = ["Picture", "page_of", "plot_of", "progress_bars"]
