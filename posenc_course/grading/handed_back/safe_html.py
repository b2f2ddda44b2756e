"""Learners' text in pages that others open: it is read, and does nothing.

Whatever opens an autograded notebook (nbconvert, JupyterLab, Formgrader) renders its Markdown in its own
way, and some run what HTML it holds. So the notebook holds `inert` Markdown: text in which no renderer finds
a tag, a link to a script, or a picture from elsewhere. Pages that are made here are safe by construction
besides: the `filters` that nbgrader's templates use write each tag themselves. And each page has a
policy by which the browser runs nothing and loads nothing from anywhere (`templates/`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from posenc_course.grading.untrusted import without_unseen

WORD_JOINER = "\N{WORD JOINER}"
"""Takes no room and is not seen; behind a `<`, no letter follows any more, and no tag begins."""
MOST_TAGS = 200
"""Of the harmless ones, in one cell: more of them nest too deep for some renderers."""
MOST_RENDERED = 20_000
"""Characters of one cell; what Markdown and mathematics take can grow as the square."""
MOST_COLOURS = 1_000

POLICY = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"/>"
)
"""For the browser: run nothing, load nothing. The template of nbgrader's feedback has the same."""

HARMLESS = "b|br ?/?|del|details|em|i|kbd|s|small|strong|sub|summary|sup|u"
_TAG = re.compile(rf"<(?=[A-Za-z/!?])(?!/?(?:{HARMLESS})>)")
_ANY_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_ELSEWHERE = re.compile(r"!(\[[^\[\]\n]{0,1000}\])(?=[(\[])(?!\(attachment:picture-\d+\))")
"""A picture that is not pasted into the cell; so it shows as it was written, with its address."""
_PICTURE = r"\[[^\[\]\n]{0,1000}\]\(attachment:picture-\d+\)"
_ACTIVE = re.compile(
    "|".join(
        (
            rf"!(?=\[)(?!{_PICTURE})",
            # Links lead to other pages, and to nothing that runs.
            r"\](?=\()(?!\((?:https?://|mailto:|\#|attachment:picture-|[\w./-]+[)\#\s]))",
            r"\](?=:)(?!:[ \t]*(?:https?://|mailto:|\#))",
            # An entity is a way to write what is looked for here in other letters.
            r"&(?=\#|[A-Za-z]+;)(?!(?:amp|lt|gt|quot|nbsp);)",
            # A language that JupyterLab and nbconvert draw with a program.
            r"[`~][ \t]*(?=mermaid)",
            # What MathJax makes links and attributes of, or loads more of itself for.
            r"\\(?=(?:href|url|require|class|cssId|style|unicode|data|includegraphics|csname|mmlToken|bbox|html\w*)(?![a-z]))",
        )
    ),
    re.IGNORECASE,
)
_COLOUR = re.compile(r"\x1b\[[^A-Za-z]{0,64}[A-Za-z]")


def inert(source: str) -> str:
    """Markdown in which no renderer finds anything to run or to load; again is the same as once.

    It reads as before: a word joiner takes apart what would have an effect. A few tags without attributes
    stay, such as those of hints that fold out, and pictures that `with_plain_names` named.
    """
    text = without_unseen(source)
    few = len(_ANY_TAG.findall(text)) <= MOST_TAGS
    text = (_TAG if few else _ANY_TAG).sub(f"<{WORD_JOINER}", text)
    text = _ELSEWHERE.sub(rf"!{WORD_JOINER}\1{WORD_JOINER}", text)
    return _ACTIVE.sub(lambda found: found[0] + WORD_JOINER, text)


def with_plain_names(source: str, pasted: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A text and the pictures in it, named as `inert` lets them pass; of what is missing the text stays."""
    numbers = {name: number for number, name in enumerate(pasted, 1)}

    def named(found: re.Match[str]) -> str:
        number = numbers.get(found[1]) or numbers.get(unquote(found[1]))
        return f"(attachment:picture-{number})" if number else f"(attachment: {found[1]})"

    text = re.sub(r"\(attachment:([^\s()]{1,500})\)", named, source)
    return text, {f"picture-{numbers[name]}": dict(forms) for name, forms in pasted.items()}


def printable(text: str) -> str:
    """What a cell printed, without what no page can hold, and without colours that are too many."""
    clean = without_unseen(text)
    return _COLOUR.sub("", clean) if clean.count("\x1b") > MOST_COLOURS else clean


def plain(source: str) -> str:
    """Text as it was written."""
    return f"<pre>{escape(without_unseen(source))}</pre>"


def settings() -> dict[str, Any]:
    """What makes nbconvert's `HTMLExporter` write such pages: here, in nbgrader, and in Formgrader."""
    nbgrader = find_spec("nbgrader")
    assert nbgrader is not None
    assert nbgrader.origin is not None
    formgrader = Path(nbgrader.origin).parent / "server_extensions" / "formgrader"
    names = ("markdown2html", "highlight_code", "ansi2html", "strip_files_prefix")
    return {
        "filters": {name: f"{__package__}.filters.{name}" for name in names}
        | {"clean_html": f"{__name__}.plain"},
        "extra_template_basedirs": [str(Path(__file__).parent / "templates"), str(formgrader / "templates")],
    }
