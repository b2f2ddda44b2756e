"""Which edition of the book a page belongs to, and the way to the same page of the others.

The English book is built first. It keeps what the others need in `_build/edition.json`: the words in what its
cells show, to be translated, and the fingerprints of its predictions and questions, so that what a reader has
answered counts in every language. `book/editions.py` builds the others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from babel.core import Locale
from docutils import nodes
from live_figure import live_figure
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

from book import picture_words
from book.catalogues import PICTURES, ROOT, folder_of, languages, tag_of, words_of_pictures
from book.editions import COUNTED
from posenc_course.translation import ENGLISH

KEPT = "edition.json"
ANCHOR = re.compile(r"<!-- anchor: (?P<slug>\S*) (?P<name>\S*) -->")
"""Of a heading, as book/passages.py writes it: what links call it, and its id."""
WORDS, FINGERPRINTS = "posenc_picture_words", "posenc_fingerprints"
"""What is remembered of a page that was read."""


class KeepAddresses(SphinxTransform):
    """Gives a translated heading the address of the English one, which stands below it."""

    default_priority = 10

    def apply(self, **kwargs: Any) -> None:
        slugs, again = getattr(self.document, "myst_slugs", {}), 0
        for section in self.document.findall(nodes.section):
            written = section[1] if len(section) > 1 else None
            found = ANCHOR.fullmatch(written.astext().strip()) if isinstance(written, nodes.raw) else None
            if written is None or found is None:
                continue
            section.remove(written)
            slug, name = found["slug"], found["name"]
            taken = self.document.ids.get(name)
            labelled = isinstance(taken, nodes.target)  # the label before it will give it that id
            if taken is not None and not labelled:
                again += 1
                name = f"id{again}"  # as docutils calls a heading whose words are there already
            section["ids"] = [] if labelled else [name]
            self.document.ids.setdefault(name, section)
            if "slug" in section:
                line, _old, title = slugs.pop(section["slug"])
                while slug in slugs:
                    slug += "-1"
                section["slug"] = slug
                slugs[slug] = line, name, title


def _change_pictures(doctree: nodes.document, change: Callable[[str], str]) -> None:
    """What cells show as HTML, pictures and tables, and the pictures of live figures."""
    for raw in doctree.findall(nodes.raw):
        if raw.parent.get("mime_type") == "text/html" or "<svg" in raw.astext():
            changed = change(raw.astext())
            raw.children, raw.rawsource = [nodes.Text(changed)], changed
    for figure in doctree.findall(live_figure):
        figure["svg"] = change(figure["svg"])


def _read(app: Sphinx, doctree: nodes.document) -> None:
    """Gather the words of what is shown; in another edition, put them in its language."""
    if app.config.language == ENGLISH:
        found: dict[str, None] = {}

        def gather(html: str) -> str:
            found.update(dict.fromkeys(picture_words.words(html)))
            return html

        _change_pictures(doctree, gather)
        app.env.metadata[app.env.docname][WORDS] = list(found)
        return
    app.env.note_dependency(str(PICTURES.path(ROOT, app.config.language)))
    known = _words(app.config.language)
    _change_pictures(doctree, lambda html: picture_words.replaced(html, known))


@cache
def _words(language: str) -> Callable[[str], str | None]:
    return words_of_pictures(language)


def _keep(app: Sphinx, problem: Exception | None) -> None:
    """For `make messages`, and for the other editions."""
    if problem is not None or app.config.language != ENGLISH or app.builder.format != "html":
        return
    pages = sorted(app.env.metadata.items())
    kept = {
        "picture_words": {page: about[WORDS] for page, about in pages if about.get(WORDS)},
        "fingerprints": {page: about[FINGERPRINTS] for page, about in pages if FINGERPRINTS in about},
    }
    (Path(app.outdir).parent / KEPT).write_text(json.dumps(kept, indent=0, ensure_ascii=False) + "\n")


@cache
def _english(path: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(Path(path).read_text())["fingerprints"]
    return found


def fingerprint(env: BuildEnvironment, name: str, own: str) -> str:
    """The fingerprint of a prediction or question: its own, or in another edition the English one's."""
    if english := getattr(env.config, "posenc_english", ""):  # questions may be used without editions
        return _english(english)[env.docname][name]
    env.metadata[env.docname].setdefault(FINGERPRINTS, {})[name] = own
    return own


def _offer(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The same page in the other languages: `posenc_editions`, each with its address, tag and name.

    A search engine wants the whole address, which is there where `html.baseurl` of _config.yml says it.
    """
    here, home = app.config.language, "" if app.config.language == ENGLISH else "../"
    root = context["pathto"]("index.html", 1).removesuffix("index.html")
    page = "book/index" if pagename == COUNTED else pagename  # English has no such page
    found = []
    for language in (ENGLISH, *languages()):
        if language != here:
            folder = "" if language == ENGLISH else f"{folder_of(language)}/"
            name = Locale.parse(language).language_name or language
            href = f"{root}{home}{folder}{page}.html"
            whole = urljoin(context["pageurl"], href) if context.get("pageurl") else ""
            found.append({"href": href, "whole": whole, "tag": tag_of(language), "name": name})
    context["posenc_editions"] = found
    context["language"] = tag_of(here)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("posenc_english", "", "env", [str])
    app.add_transform(KeepAddresses)
    app.connect("doctree-read", _read)
    app.connect("html-page-context", _offer)
    app.connect("build-finished", _keep)
    app.add_js_file("language.js", loading_method="defer")
    app.add_css_file("language.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
