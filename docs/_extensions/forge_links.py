"""Links that are right on a forge and on the site: to files at the top of the repository, which are pages here."""

from __future__ import annotations

import posixpath
import re

from sphinx.application import Sphinx

PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "reference/contributing.md",
    "SECURITY.md": "reference/security.md",
    "src/cube2net/data/NOTICE.md": "reference/notice.md",
}
"""Files outside of ``docs``, and the pages of the site that hold their text."""


def turn_links(app: Sphinx, docname: str, source: list[str]) -> None:
    """Let links to files at the top of the repository lead to their pages."""
    folder = posixpath.dirname(docname)

    def turned(link: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join("docs", folder, link["path"]))
        page = PAGES.get(file)
        return f"]({posixpath.relpath(page, folder or '.')}{link['anchor'] or ''})" if page else link[0]

    source[0] = re.sub(r"\]\((?P<path>(?:\.\./)+[^)#\s]+\.md)(?P<anchor>#[^)\s]*)?\)", turned, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx to do so as it reads a page."""
    app.connect("source-read", turn_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
