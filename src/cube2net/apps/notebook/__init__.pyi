from .html import Picture as Picture, draw_picture as draw_picture, make_html as make_html
from .progress_bars import progress_bars as progress_bars
