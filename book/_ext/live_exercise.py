"""The directive `exercise`: an exercise in the page, from its text notebook in `solutions/`.

    ```{exercise} 02-the-formula.frequencies
    ```

An exercise of several steps is named by its first one, and shown with all of them.

The page holds all of it, text, starter, hints and solution, and reads and prints as it is: one row that
opens. `book/web` turns the starter into an editor whose answer is checked in the page.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from edition import fingerprint
from nbgrader.preprocessors import ClearSolutions
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective
from traitlets.config import PyFileConfigLoader

from posenc_course.exercises import Exercise, exercise, exercises_of, steps_of
from posenc_course.grading.answer_cell import BEGIN, END
from posenc_course.grading.release import ReleaseError, card, cost, cost_of_all, hints, source_notebook
from posenc_course.translation import _

RELEASE = json.loads(Path(__file__).with_name("pyodide.json").read_text())
PYODIDE = RELEASE["network"].format(**RELEASE)
PACKED = RELEASE["packed"]
"""Bytes of those files there that servers send packed: without, how much is to come cannot be told."""
STEP = "\n### "
"""How the heading of a step begins, in the text notebook."""


@dataclass(frozen=True)
class Written:
    """What the text notebook says of one exercise."""

    text: str
    """Markdown, without the heading."""
    setup: str
    """The imports and the like that stand before it."""
    starter: str
    solution: str
    introduction: str = ""
    """Of all steps, before the first."""

    @property
    def mark(self) -> str:
        """Changes when the starter does: whoever began with the old one is told."""
        return hashlib.sha256(self.starter.encode()).hexdigest()[:8]


def read_exercises(root: Path, chapter: str) -> dict[str, Written]:
    """Function -> what `solutions/<chapter>.md` says of its exercise.

    Raises:
        ReleaseError: the text notebook is malformed.
    """
    path = root / "solutions" / f"{chapter}.md"
    return _read(root, path, path.stat().st_mtime_ns)


@cache
def _read(root: Path, path: Path, changed: int) -> dict[str, Written]:
    source, starters = source_notebook(path), source_notebook(path)
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    ClearSolutions(config=config).preprocess(starters, {})
    found: dict[str, Written] = {}
    setup: list[str] = []
    text = introduction = ""
    for cell, starter in zip(source.cells, starters.cells, strict=True):
        settings = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "markdown":
            text = cell.source if cell.source.startswith("#") else f"{text}\n\n{cell.source}"
            if cell.source.startswith("## "):
                introduction = cell.source.partition(STEP)[0].partition("\n")[2].strip()
        elif settings.get("solution"):
            asked = exercise(f"{path.stem}.{settings['grade_id']}")
            solution = "\n".join(line for line in cell.source.split("\n") if line.strip() not in (BEGIN, END))
            text = text.rpartition(STEP)[2] if asked.step_of else text
            found[asked.function] = Written(
                _body(text, asked), "\n".join(setup), starter.source, solution, introduction
            )
        elif not settings:
            setup.append(cell.source)
    return found


def _body(text: str, asked: Exercise) -> str:
    """The text alone: the directive shows title, cost and hints in its own way."""
    text = text.partition("\n")[2]
    return text.replace(card(asked), "").replace(hints(asked), "").strip()


class live_exercise(nodes.General, nodes.Element):
    """An exercise of the page; `asked` is its id."""


class steps_box(nodes.General, nodes.Element):
    """An exercise of several steps, around them; `asked` are their ids."""


class exercise_row(nodes.General, nodes.TextElement):
    """The title of an exercise, which opens what follows; on it stand its `minutes` and its `difficulty`."""


class folded(nodes.General, nodes.Element):
    """What a reader unfolds: `summary` is what stands on it."""


class ExerciseDirective(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = False

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        try:
            asked = exercise(self.arguments[0])
            steps = steps_of(asked, exercises_of(asked.chapter))
            if asked != steps[0]:
                raise ValueError(f"{asked.id} is a step of “{asked.step_of}”; name the first: {steps[0].id}")
            written = [read_exercises(root, each.chapter)[each.function] for each in steps]
        except (ReleaseError, ValueError) as error:
            raise self.error(str(error)) from error
        except (KeyError, OSError) as error:
            raise self.error(
                f"solutions/ has no exercise {self.arguments[0]!r}; write it there first ({error})"
            ) from error
        self.env.note_dependency(str(root / "solutions" / f"{asked.chapter}.md"))
        if len(steps) == 1:
            heading = _("Exercise: {title}").format(title=_(asked.title))
            return [self._box(asked, written[0], heading, self._row(heading, steps))]
        title = _("Exercise: {title}").format(title=_(asked.step_of))
        whole = steps_box(title=title, asked=" ".join(each.id for each in steps))
        whole += self._row(title, steps)
        self._parse(f"{cost_of_all(steps)}\n\n{written[0].introduction}", whole)
        for number, (each, text) in enumerate(zip(steps, written, strict=True), start=1):
            step = _("Step {number} of {count}: {title}").format(
                number=number, count=len(steps), title=_(each.title)
            )
            whole += self._box(each, text, step, self._paragraph(step, "admonition-title"))
        return [whole]

    def _row(self, title: str, steps: Sequence[Exercise]) -> exercise_row:
        minutes = _("{minutes} min").format(minutes=sum(each.minutes for each in steps))
        if len(steps) > 1:
            minutes = _("{minutes}, {count} steps").format(minutes=minutes, count=len(steps))
        made = exercise_row(title, title, minutes=minutes, difficulty=max(each.difficulty for each in steps))
        self.set_source_info(made)
        return made

    def _box(self, asked: Exercise, written: Written, heading: str, title: nodes.Node) -> nodes.Node:
        box = live_exercise(
            asked=asked.id,
            title=_(asked.title),
            heading=heading,
            setup=written.setup,
            live=asked.in_page,
            starter=fingerprint(self.env, f"starter {asked.id}", written.mark),
            ids=[f"exercise-{asked.function.replace('_', '-')}"],
        )
        box += title
        if asked.adds:
            box += self._paragraph(_(asked.adds), "posenc-adds")
        self._parse(f"{cost(asked)}\n\n{written.text}", box)
        if not asked.in_page:
            box += self._paragraph(
                _(
                    "This exercise needs PyTorch, which a browser does not have. "
                    "Do it in the notebook, in Jupyter on a machine that has PyTorch. "
                    "When it has passed there, mark it here. What is counted of your progress leaves it out."
                ),
                "posenc-elsewhere",
            )
        box += self._folded(_("What runs before your code"), "posenc-setup", self._code(written.setup))
        editor = nodes.container(classes=["posenc-editor"])
        editor += self._code(written.starter)
        box += editor
        for number, hint in enumerate(asked.hints, start=1):
            summary = _("Hint {number}").format(number=number)
            box += self._folded(summary, "posenc-hint", self._hint(_(hint)))
        if self.config.posenc_publish_solutions:
            box += self._folded(_("Solution"), "posenc-solution", self._code(written.solution))
        box += self._notebook(asked)
        return box

    def _parse(self, markdown: str, into: nodes.Element) -> None:
        self.state.nested_parse(StringList(markdown.split("\n")), 0, into)

    def _paragraph(self, text: str, *classes: str) -> nodes.paragraph:
        made = nodes.paragraph(text, text, classes=list(classes))
        self.set_source_info(made)
        return made

    def _hint(self, text: str) -> nodes.paragraph:
        """Words, with `code` between backticks."""
        made = self._paragraph("")
        for number, part in enumerate(text.split("`")):
            made += nodes.literal(part, part) if number % 2 else nodes.Text(part)
        made.rawsource = text
        return made

    def _code(self, text: str) -> nodes.literal_block:
        made = nodes.literal_block(text, text, language="python")
        self.set_source_info(made)
        return made

    def _folded(self, summary: str, kind: str, *content: nodes.Node) -> folded:
        return folded("", *content, summary=summary, classes=[kind])

    def _notebook(self, asked: Exercise) -> nodes.paragraph:
        """Where the exercise can be done without this page."""
        file = f"/exercises/{asked.chapter}/{asked.chapter}.ipynb"
        link = addnodes.download_reference(
            "",
            "",
            nodes.Text(_("Download the notebook of this chapter's exercises")),
            reftarget=file,
            refdoc=self.env.docname,
            refexplicit=True,
            refdomain="",
            reftype="download",
        )
        made = self._paragraph("", "posenc-notebook")
        made += link
        return made


def python_of(app: Sphinx) -> dict[str, str]:
    """Where the Python of a page comes from, and how long it may run, as attributes of an element."""
    config = app.config
    return {
        "data-pyodide": config.posenc_pyodide,
        "data-library": config.posenc_library,
        **({"data-words": config.posenc_words} if config.posenc_words else {}),
        "data-sizes": json.dumps(config.posenc_sizes),
        "data-seconds": str(config.posenc_seconds),
    }


def _open_box(self: Any, node: live_exercise) -> None:
    data = {
        "data-exercise": node["asked"],
        "data-title": node["title"],
        "data-setup": node["setup"],
        "data-live": "yes" if node["live"] else "no",
        "data-starter": node["starter"],
        **python_of(self.builder.app),
    }
    attributes = " ".join(f'{name}="{html.escape(str(value))}"' for name, value in data.items())
    name = html.escape(node["heading"])
    self.body.append(
        f'<section class="posenc-exercise admonition" id="{node["ids"][0]}" aria-label="{name}" '
        f"{attributes}>\n"
    )


def _open_steps(self: Any, node: steps_box) -> None:
    title, asked = (html.escape(node[name]) for name in ("title", "asked"))
    self.body.append(f'<section class="posenc-steps admonition" aria-label="{title}" data-steps="{asked}">\n')


def _close_box(self: Any, node: live_exercise | steps_box) -> None:
    self.body.append("</details>\n</section>\n" if isinstance(node[0], exercise_row) else "</section>\n")


def _open_row(self: Any, node: exercise_row) -> None:
    self.body.append('<details class="posenc-fold"><summary class="admonition-title">')


def _close_row(self: Any, node: exercise_row) -> None:
    """Dots show how hard it is, and those who listen hear it as a number."""
    hard = _("difficulty {difficulty} of 5").format(difficulty=node["difficulty"])
    dots = "●" * node["difficulty"] + "○" * (5 - node["difficulty"])
    self.body.append(
        f' <span class="posenc-cost">{html.escape(node["minutes"])} '
        f'<span role="img" aria-label="{html.escape(hard)}">{dots}</span></span></summary>\n'
    )


def _open_folded(self: Any, node: folded) -> None:
    self.body.append(
        f'<details class="{node["classes"][0]}"><summary>{html.escape(node["summary"])}</summary>\n'
    )


def _close_folded(self: Any, node: folded) -> None:
    self.body.append("</details>\n")


def _nothing(self: Any, node: nodes.Element) -> None:
    """Other builders show what is inside."""


def _choose_pyodide(app: Sphinx, config: Config) -> None:
    """A copy beside the pages (`book/build.py` puts it there) goes before any other address."""
    config.posenc_pyodide = config.posenc_pyodide.rstrip("/") + "/"
    config.posenc_sizes = PACKED if config.posenc_pyodide == PYODIDE else {}
    config.posenc_pictures = True
    for core in (Path(app.srcdir) / "_build" / "web" / "pyodide").glob("*/pyodide.mjs"):
        copy = core.parent  # its name is the digest of what it holds: what is kept of it never gets old
        config.posenc_pyodide = f"_static/pyodide/{copy.name}/"
        config.posenc_sizes = {name: (copy / name).stat().st_size for name in PACKED}
        config.posenc_pictures = any(copy.glob("matplotlib-*.whl"))


def _find_library(app: Sphinx, config: Config) -> None:
    """The addresses of what pages load of ours, with fingerprints, so that no browser keeps an old one."""
    folder = Path(app.srcdir) / "_build" / "web" / "library"
    archives = sorted(folder.glob("posenc_*.tar.gz"))
    words = folder / f"{config.language}.tar.gz"
    config.posenc_library = _address(archives[-1]) if archives else ""
    config.posenc_words = _address(words) if words.exists() else ""


def _address(archive: Path) -> str:
    fingerprint = hashlib.sha256(archive.read_bytes()).hexdigest()[:8]
    return f"_static/library/{archive.name}?v={fingerprint}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("posenc_publish_solutions", True, "env", [bool])
    app.add_config_value("posenc_pyodide", PYODIDE, "html", [str])
    app.add_config_value("posenc_library", "", "html", [str])
    app.add_config_value("posenc_words", "", "html", [str])
    app.add_config_value("posenc_sizes", {}, "html", [dict])
    app.add_config_value("posenc_pictures", True, "html", [bool])
    app.add_config_value("posenc_seconds", 20, "html", [int, float])
    app.add_directive("exercise", ExerciseDirective)
    others: dict[str, Any] = {"latex": (_nothing, _nothing), "text": (_nothing, _nothing)}
    app.add_node(live_exercise, html=(_open_box, _close_box), **others)
    app.add_node(steps_box, html=(_open_steps, _close_box), **others)
    app.add_node(exercise_row, html=(_open_row, _close_row), **others)
    app.add_node(folded, html=(_open_folded, _close_folded), **others)
    app.add_js_file("posenc/main.js", type="module")
    app.add_css_file("exercises.css")
    app.connect("config-inited", _choose_pyodide)
    app.connect("config-inited", _find_library)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
