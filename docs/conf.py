"""How Sphinx makes the site of these pages (``make docs``). Nothing on it is fetched from elsewhere when it is read."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import cube2net

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent / "scripts")]

project = "cube2net"
author = "The cube2net developers"
project_copyright = author
version = release = cube2net.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "public_pages",
    "known_names",
    "forge_links",
]
exclude_patterns = ["**/data/**", "_extensions"]

# Pages are Markdown, tutorials are notebooks whose results are stored: `make tutorials` runs them anew.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4

# Signature, types and docstring of every public name; each name in a docstring or a type leads somewhere.
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 90
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = "cube2net"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "logo": {"text": "cube2net", "alt_text": "cube2net, to the first page"},
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Sphinx) -> None:
    """Have myst-nb write what notebooks show where Sphinx keeps its own files, not in the folder above the site."""

    def move(app: Sphinx) -> None:
        place = str(Path(app.doctreedir) / "shown_by_notebooks")
        app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=place)

    app.connect("builder-inited", move, priority=900)  # myst-nb sets its own at 500
