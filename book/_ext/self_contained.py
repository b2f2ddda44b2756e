"""Keep every page free of requests to other sites, and of scripts that are included twice."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def _drop_outside_scripts(
    app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    kept, seen = [], set()
    for script in context["script_files"]:
        name = str(getattr(script, "filename", script) or "")
        body = (getattr(script, "attributes", None) or {}).get("body", "")
        # thebe (live code against a server) is loaded from elsewhere, and is not used here.
        if "thebe" in name or "THEBE_JS_URL" in body or "thebe_selector" in body or (name, body) in seen:
            continue
        seen.add((name, body))
        kept.append(script)
    context["script_files"] = kept


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", _drop_outside_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
