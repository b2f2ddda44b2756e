"""Results of a search that can be read: whole words, and formulas that are typeset (search-results.js)."""

from __future__ import annotations

import json
from typing import Any

from sphinx.application import Sphinx


def _add_scripts(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if template == "search.html":
        app.add_js_file(None, body=f"window.MathJax = {json.dumps(app.config.mathjax3_config)}", priority=499)
        app.add_js_file(app.config.mathjax_path, priority=500)
        app.add_js_file("search-results.js", loading_method="defer")  # after Sphinx's own


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
