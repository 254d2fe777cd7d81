"""How Sphinx makes the site of these pages (``make docs``). Nothing on it is fetched from elsewhere when it is read."""

from __future__ import annotations

import cube2net

project = "cube2net"
author = "The cube2net developers"
project_copyright = author
version = release = cube2net.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["**/data/**"]
nitpicky = False

# Pages are Markdown, tutorials are notebooks whose results are stored: `make tutorials` runs them anew.
nb_execution_mode = "off"
myst_enable_extensions = ["colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 4

autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "pydata_sphinx_theme"
html_title = "cube2net"
html_copy_source = False
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
