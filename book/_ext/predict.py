"""Boxes that ask the reader to predict what the next cell shows, and cover it until the reader has said.

    ```{predict} rows-after-shuffle            ```{predict} clocks-not-round
    What will `attend(x[order])` be?           How many of them do not complete a turn?

    - [ ] The same three rows.                 = 23 ± 3
      > They are. But where is each of them?   ```
    - [x] The same rows in other places.
    ```

One option is marked. Below another one, after `>`, you may say why it is tempting: a reader who chose it
sees that. A number is right when it rounds to the one that is written, or lies within the tolerance, which
may be in percent. A cell of the page computes what comes out, mostly one that is removed:

    outcome("rows-after-shuffle", [np.allclose(b, a), np.allclose(b, a[order])])
    outcome("clocks-not-round", (turns < 1).sum())

The book does not build where the two disagree. Covered are the outputs of the cells that follow the box,
and the paragraph after these: a line is left of them (book/web/src/predict.js). Without scripts, and in
print, all can be read. `{surprises}` gathers the boxes of all chapters, for the review page to show those
where the reader was wrong.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from edition import fingerprint
from live_figure import live_figure
from myst_nb.core.variables import RetrievalError
from myst_nb.ext.glue.utils import retrieve_glue_data
from quiz import ID, chapter_of, link, mark, marked
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from tags import Tag, add_nodes

from book.predictions import NUMBER, OPTION
from posenc_course.checking.predictions import key_of
from posenc_course.translation import _

logger = logging.getLogger(__name__)

REASON = "> "
MOST_OPTIONS = 6
PROSE = (
    nodes.paragraph,
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.table,
    nodes.math_block,
    nodes.block_quote,
)
COVER_AT_ONCE = """{
  const page = document.documentElement;
  page.classList.add("posenc-covers");
  // By then the scripts are there, or they never come.
  addEventListener("load", () => "scripts" in page.dataset || page.classList.remove("posenc-covers"));
}"""


class PredictError(Exception):
    """A box is not as it must be; `line` counts from 0 within its body."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Choice:
    """Options with their lines, of which one is right; they count from 1."""

    options: tuple[tuple[str, int], ...]
    right: int
    reasons: dict[int, tuple[str, int]] = field(default_factory=dict, repr=False)
    """Of some wrong options, why they are tempting; no part of what the reader answers."""

    @property
    def attributes(self) -> dict[str, str]:
        return {"data-right": str(self.right)}

    def disagrees(self, came_out: object) -> str:
        """What is wrong with the mark, or nothing."""
        if not isinstance(came_out, list) or len(came_out) != len(self.options):
            return (
                f"it has {len(self.options)} options, and the cell says {came_out!r}; give one truth for each"
            )
        true = [number for number, truth in enumerate(came_out, start=1) if truth]
        return "" if true == [self.right] else f"option {self.right} is marked, and true are {true or 'none'}"


@dataclass(frozen=True)
class Number:
    """A number as it was written, and how far off a reader may be."""

    written: str
    within: Decimal | None

    @property
    def value(self) -> Decimal:
        return Decimal(self.written.replace(",", ""))

    @property
    def rounding(self) -> Decimal:
        """Half a unit of the last digit."""
        return Decimal(5).scaleb(int(self.value.as_tuple().exponent) - 1)

    @property
    def attributes(self) -> dict[str, str]:
        within = self.rounding if self.within is None else self.within
        return {"data-right": self.written, "data-value": f"{self.value:f}", "data-within": f"{within:f}"}

    def disagrees(self, came_out: object) -> str:
        if not isinstance(came_out, int | float) or isinstance(came_out, bool):
            return f"it asks for a number, and the cell says {came_out!r}"
        near = math.isfinite(came_out) and abs(Decimal(came_out) - self.value) <= self.rounding * Decimal(
            "1.000001"
        )
        return "" if near else f"{self.written} is written, and {came_out} came out"


@dataclass(frozen=True)
class Box:
    question: str
    answer: Choice | Number

    @property
    def fingerprint(self) -> str:
        """Changes when the box does: what was said of the old one says nothing about the new."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:8]


def read_box(body: str) -> Box:
    """A box as its author wrote it.

    Raises:
        PredictError: it is not as it must be; the message says what was given and what is allowed.
    """
    lines = body.rstrip().splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(("- [", "= "))]
    if not starts:
        raise PredictError(
            "a box ends with options, `- [ ] ...` and one `- [x] ...`, or with a number, `= 23`"
        )
    question = "\n".join(lines[: starts[0]]).strip()
    if not question:
        raise PredictError("the question is missing; write it before the answer")
    return Box(question, _number(lines, starts) if lines[starts[0]][0] == "=" else _choice(lines, starts))


def _number(lines: list[str], starts: list[int]) -> Number:
    found = NUMBER.fullmatch(lines[starts[0]].strip())
    if found is None or starts[0] != len(lines) - 1:
        what = "\n".join(lines[starts[0] :])
        raise PredictError(
            f"{what!r} is no answer; the last line is `= 23`, `= 23 ± 2` or `= 628 ± 5%`", starts[0]
        )
    value = found["value"]
    if found["within"] is None:
        return Number(value, None)
    within = Decimal(found["within"])
    return Number(value, within * abs(Decimal(value.replace(",", ""))) / 100 if found["percent"] else within)


def _choice(lines: list[str], starts: list[int]) -> Choice:
    options, right, reasons = [], [], {}
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), start=1):
        found = OPTION.fullmatch(lines[start])
        if found is None:
            raise PredictError(
                f"{lines[start]!r} is no option; write `- [ ] ...`, and `- [x] ...` once", start
            )
        for line in range(start + 1, end):
            if lines[line].strip() and not lines[line].startswith("  "):
                raise PredictError("nothing follows the options; indent what belongs to one", line)
        more = [line.strip() for line in lines[start + 1 : end]]
        said = next((place for place, line in enumerate(more) if line.startswith(REASON)), len(more))
        options.append(("\n".join([found["text"], *more[:said]]), start))
        if said < len(more):
            reason = "\n".join(line.removeprefix(">").strip() for line in more[said:])
            reasons[number] = (reason, start + 1 + said)
        right += [number] if found["mark"] == "x" else []
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise PredictError(f"a box has 2 to {MOST_OPTIONS} options, and here is {len(options)}", starts[0])
    if len(right) != 1:
        raise PredictError(
            f"one option is right, and marked are {right or 'none'}; write one `- [x] ...`", starts[0]
        )
    if right[0] in reasons:
        raise PredictError(
            "the right option has a reason for being tempting; the text below the cell explains it",
            reasons[right[0]][1],
        )
    return Choice(tuple(options), right[0], reasons)


class Prediction(Tag):
    """A box, ready to be answered. Its first child is its title."""


class Predict(SphinxDirective):
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        try:
            made = self._render(name, read_box("\n".join(self.content)))
        except PredictError as error:
            # Sphinx counts it as a warning, and the book does not build with one.
            location = (self.env.docname, self._line(error.line))
            logger.error("predict %s: %s", name, error, location=location)
            return []
        return [made]

    def _line(self, line: int) -> int:
        """Of the file, from one of the body, which counts from 0."""
        return int(self.lineno + self.content_offset + line + 1)

    def _render(self, name: str, box: Box) -> Prediction:
        if not ID.fullmatch(name):
            raise PredictError(f"the id is {name!r}; write small letters, digits and hyphens")
        known = self.env.metadata[self.env.docname].get("posenc_predict", {})
        if name in known:
            raise PredictError(f"two boxes of this page have the id {name!r}; give each its own")
        if problem := box.answer.disagrees(self._came_out(name)):
            raise PredictError(problem)
        mark(self.env, "predict", {**known, name: box.fingerprint})
        title = nodes.paragraph("", _("Predict"), classes=["admonition-title"])
        self.set_source_info(title)
        attributes = {
            "class": "posenc-predict admonition tip",
            "id": f"predict-{name}",
            "data-prediction": f"{chapter_of(self.env.docname)}.{name}",
            "data-text": fingerprint(self.env, f"predict {name}", box.fingerprint),
        }
        made = Prediction.make(
            "div",
            attributes | box.answer.attributes,
            title,
            *self._parse(box.question, 0),
            *self._options(box),
        )
        self.set_source_info(made)
        return made

    def _came_out(self, name: str) -> object:
        """What a cell of the page says that it is."""
        try:
            told = retrieve_glue_data(self.state.document, key_of(name))
        except RetrievalError as error:
            raise PredictError(
                f"no cell of this page computes it; write outcome({name!r}, ...) in one"
            ) from error
        return json.loads(told.data["application/json"])

    def _options(self, box: Box) -> Iterator[nodes.Node]:
        if isinstance(box.answer, Choice):
            listed = nodes.enumerated_list(
                enumtype="arabic", prefix="", suffix=".", classes=["posenc-options"]
            )
            for number, (text, line) in enumerate(box.answer.options, start=1):
                item = nodes.list_item("", self._paragraph(text, line, "an option is one paragraph"))
                if number in box.answer.reasons:
                    reason = self._paragraph(
                        *box.answer.reasons[number], "a reason for being tempting is one paragraph"
                    )
                    reason["classes"].append("posenc-why")
                    item += reason
                listed += item
            yield listed

    def _paragraph(self, text: str, line: int, otherwise: str) -> nodes.paragraph:
        parsed = self._parse(text, line)
        if len(parsed) != 1 or not isinstance(parsed[0], nodes.paragraph):
            raise PredictError(otherwise, line)
        return parsed[0]

    def _parse(self, text: str, line: int) -> list[nodes.Node]:
        source = self.env.doc2path(self.env.docname)
        lines = text.splitlines()
        holder = nodes.Element()
        content = StringList(lines, items=[(source, self._line(line))] * len(lines))
        self.state.nested_parse(content, self.content_offset + line, holder)
        return list(holder.children)


def outcome_of(box: Prediction) -> list[nodes.Element]:
    """What tells the answer: the outputs of the cells that follow, and the words after them.

    Words that end with a colon have not told it yet.
    """
    shown: list[nodes.Element] = []
    told: list[nodes.Element] = []
    for node in box.parent.children[box.parent.index(box) + 1 :]:
        outputs = _shown_by(node)
        if isinstance(node, nodes.section) or ((shown or told) and isinstance(node, Prediction)):
            break
        if outputs is not None and not told:
            shown += outputs
        elif shown and not isinstance(node, nodes.Invisible):
            if isinstance(node, PROSE):
                told.append(node)
            if not (isinstance(node, nodes.paragraph) and node.astext().rstrip().endswith(":")):
                break
    return shown + told


def _shown_by(node: nodes.Node) -> list[nodes.Element] | None:
    """What a cell or a live figure shows; None of anything else."""
    if isinstance(node, live_figure):
        return [node]
    if isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
        return [part for part in node.children if part.get("nb_element") == "cell_code_output"]
    return None


def _mark_outcomes(app: Sphinx, doctree: nodes.document) -> None:
    covered: dict[int, Any] = {}
    begins: set[int] = set()
    for box in list(doctree.findall(Prediction)):
        outcome = outcome_of(box)
        if not outcome:
            logger.error("predict: no cell with an output follows in this section", location=box)
        covered |= {id(node): node for node in outcome}  # boxes that follow each other share theirs
        begins |= {id(outcome[0])} if outcome else set()
    for node in covered.values():
        if isinstance(node, nodes.container):
            node["classes"].append("posenc-outcome")
            around = node
        else:
            around = Tag.make("div", {"class": "posenc-outcome"})
            node.replace_self(around)
            around += node
        if id(node) in begins:
            note = nodes.paragraph("", _("Covered until you have predicted it."), classes=["posenc-cover"])
            around.insert(0, note)


class Surprises(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        mark(self.env, "review")
        return [SurprisesPlace()]


class SurprisesPlace(nodes.General, nodes.Element):
    """Where the boxes of all chapters will stand."""


def predictions(env: BuildEnvironment) -> dict[str, list[Prediction]]:
    """The boxes of each page that has any, in the order of the chapters."""
    return {name: list(env.get_doctree(name).findall(Prediction)) for name in marked(env, "predict")}


class FillSurprises(SphinxPostTransform):
    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(SurprisesPlace)):
            place.replace_self(Tag.make("div", {"class": "posenc-surprises"}, *self._items()))

    def _items(self) -> Iterator[Tag]:
        for page, boxes in predictions(self.env).items():
            title = self.env.titles[page].astext()
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            for box in boxes:
                own = box["attributes"]
                copied = [child.deepcopy() for child in box.children[1:]]
                for reference in (each for child in copied for each in child.findall(addnodes.pending_xref)):
                    reference["refdoc"] = page
                text = _("From the chapter “{title}”").format(title=title)
                origin = Tag.make("p", {"class": "posenc-origin"}, link(f"{uri}#{own['id']}", text))
                kept = {name: value for name, value in own.items() if name.startswith("data-")}
                yield Tag.make("div", {"class": "posenc-surprise", **kept}, origin, *copied)


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("quiz")
    app.setup_extension("live_figure")
    add_nodes(app, Prediction)
    app.add_directive("predict", Predict)
    app.add_directive("surprises", Surprises)
    app.add_post_transform(FillSurprises)
    app.connect("doctree-read", _mark_outcomes)
    app.add_js_file(None, body=COVER_AT_ONCE, priority=100)
    app.add_css_file("predict.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
