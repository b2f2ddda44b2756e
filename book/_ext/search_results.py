"""Results of a search: terms and headings first, whole words and formulas below them (search-results.js)."""

from __future__ import annotations

import json
from typing import Any

from sphinx.application import Sphinx

from posenc_course.translation import _


def _add_scripts(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if template == "search.html":
        names = app.env.get_domain("std").get_objects()
        terms = [(term, page, anchor) for term, _shown, kind, page, anchor, _order in names if kind == "term"]
        none = _("No page has these words. Check the spelling, or try fewer words.")
        data = {"data-terms": json.dumps(terms), "data-none": none}
        app.add_js_file(
            "search-results.js", priority=500, loading_method="defer", **data
        )  # after Sphinx's own


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
