from .html_pages import page_of as page_of
from .pictures import Picture as Picture, plot_of as plot_of
from .progress_bars import progress_bars as progress_bars
