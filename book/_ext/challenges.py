"""The directives `challenge` and `certificate`: places that scripts of book/web/src fill.

    ```{challenge} break
    ```

What is drawn, and how it is judged, stands in posenc_course/challenges. The kind "bug" brings the solutions
along that its bugs are put into; a site that publishes no solutions has a sentence in its place. The kind
"trained" brings the text that its models read.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from lab import TEXTS
from live_exercise import python_of, read_exercises
from quiz import chapter_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from posenc_course.challenges.bugs import all_bugs
from posenc_course.exercises import all_exercises, exercise, exercises_of, wholes
from posenc_course.translation import _

KINDS = ("break", "bug", "mystery", "trained")
TEXT, BYTES = "python.txt", 512
"""What a trained model reads, of book/texts/, and how much of it."""


class challenge(nodes.General, nodes.Element):
    """The place of one kind; `data` is what its script needs to know."""


class certificate(nodes.General, nodes.Element):
    """Where the certificate is made."""


class ChallengeDirective(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        kind = self.arguments[0]
        if kind not in KINDS:
            raise self.error(f"there is no challenge {kind!r}; there are {', '.join(KINDS)}")
        if kind == "trained":
            return [challenge(kind=kind, data={"text": _beginning(TEXTS / TEXT)})]
        if kind != "bug":
            return [challenge(kind=kind, data=None)]
        if not self.config.posenc_publish_solutions:
            text = _("This site shows no solutions, so there is nothing here to find a bug in.")
            return [nodes.paragraph(text, text)]
        try:
            return [challenge(kind=kind, data=self._bugs())]
        except ValueError as error:
            raise self.error(str(error)) from error

    def _bugs(self) -> dict[str, Any]:
        """All bugs, and of each of their exercises what is shown and run."""
        root = Path(self.env.srcdir)
        exercises: dict[str, Any] = {}
        for bug in all_bugs():
            asked = exercise(bug.exercise)
            written = read_exercises(root, asked.chapter)
            self.env.note_dependency(str(root / "solutions" / f"{asked.chapter}.md"))
            bug.planted(written[asked.function].solution)  # or it says what is wrong with it
            before = [
                each for each in exercises_of(asked.chapter) if each.in_page and each.kind == "function"
            ]
            for each in before[: before.index(asked) + 1]:
                exercises[each.id] = {
                    "title": _(each.title),
                    "setup": written[each.function].setup,
                    "code": written[each.function].solution,
                }
        return {"bugs": [[b.exercise, b.right, b.wrong] for b in all_bugs()], "exercises": exercises}


def _beginning(file: Path) -> str:
    """Of a text in ASCII, so that bytes are characters."""
    return file.read_bytes()[:BYTES].decode("ascii")


class CertificateDirective(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        return [certificate()]


def _visit_challenge(self: Any, node: challenge) -> None:
    data = {"data-challenge": node["kind"], **python_of(self.builder.app)}
    attributes = " ".join(f'{name}="{html.escape(value)}"' for name, value in data.items())
    script = f'<script type="application/json">{_in_script(node["data"])}</script>' if node["data"] else ""
    self.body.append(f'<div class="posenc-challenge" {attributes}>{script}</div>\n')
    raise nodes.SkipNode


def _visit_certificate(self: Any, node: certificate) -> None:
    env = self.builder.env
    pages = {chapter_of(page): page for page in env.found_docs if page.startswith("book/")}
    chapters = [
        {"title": env.titles[pages[name]].astext(), "exercises": list(_counted(name))}
        for name in dict.fromkeys(each.chapter for each in all_exercises())
        if name in pages
    ]
    data = {"course": self.builder.config.html_title or self.builder.config.project, "chapters": chapters}
    script = f'<script type="application/json">{_in_script(data)}</script>'
    self.body.append(f'<div class="posenc-certificate-maker">{script}</div>\n')
    raise nodes.SkipNode


def _counted(chapter: str) -> Iterator[dict[str, Any]]:
    """Of each exercise that a page can check: its title, and the ids of its steps."""
    for steps in wholes(exercises_of(chapter)):
        if ids := [each.id for each in steps if each.in_page]:
            yield {"title": _(steps[0].step_of or steps[0].title), "ids": ids}


def _in_script(data: Any) -> str:
    """JSON that ends no script."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _skip(self: Any, node: nodes.Element) -> None:
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.setup_extension("live_exercise")
    app.add_directive("challenge", ChallengeDirective)
    app.add_directive("certificate", CertificateDirective)
    others: dict[str, Any] = {"latex": (_skip, None), "text": (_skip, None)}
    app.add_node(challenge, html=(_visit_challenge, None), **others)
    app.add_node(certificate, html=(_visit_certificate, None), **others)
    app.add_css_file("challenges.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
