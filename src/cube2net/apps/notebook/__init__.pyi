from .html import Picture as Picture, page_of as page_of, plot_of as plot_of
from .progress_bars import progress_bars as progress_bars
