"""Results of a search that can be read: whole words, and formulas as they are set (search-results.js)."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def _add_scripts(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if template == "search.html":
        app.add_js_file("search-results.js", loading_method="defer")  # after Sphinx's own


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
