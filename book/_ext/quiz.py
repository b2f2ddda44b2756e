"""Quizzes at the end of chapters, and the page that brings their questions back.

A chapter holds its questions, and nothing else does:

    ```{quiz}
    - id: pair-not-column
      question: What does $i$ count?
      options:
        - answer: The pairs.
          right: true
          feedback: Yes: both columns of a pair share one $i$.
        - answer: The columns.
          feedback: Then the two of a pair would get different frequencies.
    ```

Three to five questions; where several options are right, the reader must choose them all. Every option has a
feedback. Text is Markdown, with formulas and code. `{review}` gathers the questions of all chapters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from edition import fingerprint
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from tags import Tag, TextTag, add_nodes

from posenc_course.translation import _

logger = logging.getLogger(__name__)

FEWEST, MOST = 3, 5
LINE = object()  # key of the line that a mapping starts in
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class QuizError(Exception):
    """A quiz is not as it must be; `line` counts from 0 within its body."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Option:
    answer: str
    feedback: str
    right: bool
    line: int


@dataclass(frozen=True)
class Asked:
    """One question as its author wrote it."""

    id: str
    question: str
    options: tuple[Option, ...]
    line: int

    @property
    def several(self) -> bool:
        """Whether more than one option is right."""
        return sum(option.right for option in self.options) > 1

    @property
    def fingerprint(self) -> str:
        """Changes when the question does: an old answer then says nothing about the new options."""
        text = repr((self.question, [(option.answer, option.right) for option in self.options]))
        return _digest(text)[:8]


def read_questions(body: str) -> list[Asked]:
    """The questions of a quiz's YAML.

    Raises:
        QuizError: it is not as it must be; the message says what was given and what is allowed.
    """
    try:
        given = yaml.load(body, _LineLoader)  # a safe loader
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark or error.context_mark
        hint = "text that holds ': ' or ' #', or starts with a sign, goes in quotes or below a |"
        raise QuizError(f"this is no YAML: {error.problem}; {hint}", where.line if where else 0) from error
    if not isinstance(given, list) or not FEWEST <= len(given) <= MOST:
        what = f"{len(given)} questions" if isinstance(given, list) else f"a {type(given).__name__}"
        raise QuizError(f"a quiz is a list of {FEWEST} to {MOST} questions, and here is {what}")
    questions = [_question(each) for each in given]
    seen: set[str] = set()
    for each in questions:
        if each.id in seen:
            raise QuizError(f"two questions have the id {each.id!r}; give each its own", each.line)
        seen.add(each.id)
    return questions


class _LineLoader(yaml.SafeLoader):
    """Mappings know their line, and refuse a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _value in node.value:
            if key.value in seen:
                raise QuizError(f"{key.value!r} stands twice here; keep one", key.start_mark.line)
            seen.add(key.value)
        return {**super().construct_mapping(node, deep=True), LINE: node.start_mark.line}


def _question(given: object) -> Asked:
    fields = _fields(given, "a question", needed=("id", "question", "options"))
    line = fields[LINE]
    if not ID.fullmatch(fields["id"]):
        raise QuizError(f"the id is {fields['id']!r}; write small letters, digits and hyphens", line)
    if not isinstance(fields["options"], list) or len(fields["options"]) < 2:
        raise QuizError(f"question {fields['id']!r} needs a list of two or more options", line)
    options = tuple(_option(each) for each in fields["options"])
    right = sum(option.right for option in options)
    if not right:
        raise QuizError(f"question {fields['id']!r} has no right option; give one `right: true`", line)
    if right == len(options):
        raise QuizError(f"question {fields['id']!r} has no wrong option, so nothing is asked", line)
    return Asked(fields["id"], fields["question"], options, line)


def _option(given: object) -> Option:
    fields = _fields(given, "an option", needed=("answer", "feedback"), allowed=("right",))
    right = fields.get("right", False)
    if not isinstance(right, bool):
        raise QuizError(f"right is {right!r}; write true, or leave the line out", fields[LINE])
    return Option(fields["answer"], fields["feedback"], right, fields[LINE])


def _fields(
    given: object, what: str, *, needed: tuple[str, ...], allowed: tuple[str, ...] = ()
) -> dict[Any, Any]:
    """The mapping itself, once it has the fields that it must have, and no others."""
    if not isinstance(given, dict):
        raise QuizError(f"{what} is a mapping with {', '.join(needed)}, and here is {given!r}")
    line = given[LINE]
    for name in needed:
        if name not in given:
            raise QuizError(f"{what} needs {', '.join(needed)}; {name} is missing here", line)
        if name != "options" and not (isinstance(given[name], str) and given[name].strip()):
            raise QuizError(f"{name} is {given[name]!r}, and must be text; put it in quotes", line)
    unknown = [str(key) for key in given if key is not LINE and key not in (*needed, *allowed)]
    if unknown:
        raise QuizError(f"{what} has {', '.join((*needed, *allowed))}; {unknown[0]!r} is none of them", line)
    return given


class Question(Tag):
    """One question, ready to be answered."""


class Quiz(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            asked = read_questions("\n".join(self.content))
            made = [self._render(each, number, len(asked)) for number, each in enumerate(asked, start=1)]
        except QuizError as error:
            # Sphinx counts it as a warning, and the book does not build with one.
            logger.error("quiz: %s", error, location=(self.env.docname, self._line(error.line)))
            return []
        mark(self.env, "quiz", _digest("\n".join(self.content)))
        attributes = {"class": "posenc-quiz", "id": f"quiz-{asked[0].id}"}
        return [Tag.make("div", attributes, *made)]

    def _line(self, line: int) -> int:
        """Of the file, from one of the body, which counts from 0."""
        return int(self.lineno + self.content_offset + line + 1)

    def _render(self, asked: Asked, number: int, count: int) -> Question:
        name = f"{chapter_of(self.env.docname)}.{asked.id}"
        first, *rest = self._parse(asked.question, asked.line, f"the text of question {asked.id!r}")
        of_all = _("Question {number} of {count}").format(number=number, count=count)
        task = _("Choose every answer that is right.") if asked.several else _("Choose one answer.")
        text = fingerprint(self.env, f"question {asked.id}", asked.fingerprint)
        attributes = {"class": "posenc-question", "data-question": name, "data-text": text}
        return Question.make(
            "fieldset",
            attributes | ({"data-several": ""} if asked.several else {}),
            Tag.make(
                "legend",
                {},
                Tag.make("span", {"class": "posenc-question-number"}, of_all, " "),
                TextTag.from_paragraph("span", first),
            ),
            *rest,
            Tag.make("p", {"class": "posenc-task"}, task),
            *(self._render_option(each, name, asked.several, i) for i, each in enumerate(asked.options)),
        )

    def _render_option(self, option: Option, name: str, several: bool, number: int) -> Tag:
        first, *rest = self._parse(option.answer, option.line, "an answer")
        if rest:
            raise QuizError("an answer is one paragraph; put more into its feedback", option.line)
        feedback = f"{name}-{number}"
        kind = "checkbox" if several else "radio"
        chosen = {"type": kind, "name": name, "value": str(number), "aria-describedby": feedback}
        sign, word = ("✓", _("This is right.")) if option.right else ("✗", _("This is wrong."))
        return Tag.make(
            "div",
            {"class": "posenc-option"} | ({"data-right": ""} if option.right else {}),
            Tag.make(
                "label",
                {},
                Tag.make("input", chosen | {"autocomplete": "off"}),
                TextTag.from_paragraph("span", first),
            ),
            Tag.make(
                "details",
                {"class": "posenc-feedback", "id": feedback},
                Tag.make("summary", {}, _("About this answer")),
                Tag.make(
                    "p",
                    {"class": "posenc-judged"},
                    Tag.make("span", {"aria-hidden": "true"}, sign),
                    f" {word}",
                ),
                *self._parse(option.feedback, option.line, "a feedback"),
            ),
        )

    def _parse(self, text: str, line: int, what: str) -> list[nodes.Node]:
        """Markdown to nodes; it must begin with a paragraph."""
        source = self.env.doc2path(self.env.docname)
        lines = text.splitlines()
        holder = nodes.Element()
        content = StringList(lines, items=[(source, self._line(line))] * len(lines))
        self.state.nested_parse(content, self.content_offset + line, holder)
        if not holder.children or not isinstance(holder[0], nodes.paragraph):
            raise QuizError(f"{what} must begin with a sentence", line)
        return list(holder.children)


class Review(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        mark(self.env, "review")
        return [ReviewPlace()]


class ReviewPlace(nodes.General, nodes.Element):
    """Where the questions of all chapters will stand."""


def chapter_of(docname: str) -> str:
    """`02-the-formula` of `book/02-the-formula`."""
    return PurePosixPath(docname).name


def quiz_pages(env: BuildEnvironment) -> dict[str, list[Question]]:
    """The questions of each page that has any, in the order of the chapters."""
    return {name: list(env.get_doctree(name).findall(Question)) for name in marked(env, "quiz")}


class FillReview(SphinxPostTransform):
    """Copies the questions to the review page, before its references are resolved."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for place in list(self.document.findall(ReviewPlace)):
            place.replace_self(Tag.make("div", {"class": "posenc-review"}, *self._cards()))

    def _cards(self) -> Iterator[Tag]:
        for page, questions in quiz_pages(self.env).items():
            for question in questions:
                copied = question.deepcopy()
                for reference in copied.findall(addnodes.pending_xref):
                    reference["refdoc"] = page
                yield Tag.make("div", {"class": "posenc-card"}, self._origin(page, question), copied)

    def _origin(self, page: str, question: Question) -> Tag:
        """A link to the quiz in its chapter."""
        uri = self.app.builder.get_relative_uri(self.env.docname, page)
        fragment = question.parent["attributes"]["id"]
        title = self.env.titles[page].astext()
        text = _("From the chapter “{title}”").format(title=title)
        return Tag.make("p", {"class": "posenc-origin"}, link(f"{uri}#{fragment}", text))


def link(uri: str, text: str) -> Tag:
    return Tag.make("a", {"class": "reference internal", "href": uri}, text)


def mark(env: BuildEnvironment, what: str, value: Any = True) -> None:
    """Remember of the page that is being read what it holds; Sphinx forgets it when the page changes."""
    env.metadata[env.docname][f"posenc_{what}"] = value


def marked(env: BuildEnvironment, what: str) -> list[str]:
    """The pages that hold it, in order of their names."""
    return sorted(name for name, known in env.metadata.items() if f"posenc_{what}" in known)


def _write_again(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """The pages that gather from others, which no change of their own makes anew."""
    stamp = _stamp(app)
    if stamp.exists() and stamp.read_text() == _gathered(env):
        return []
    stamp.unlink(missing_ok=True)  # until this build has succeeded
    return marked(env, "review") + marked(env, "progress")


def _remember(app: Sphinx, exception: Exception | None) -> None:
    if exception is None:
        _stamp(app).write_text(_gathered(app.env))


def _gathered(env: BuildEnvironment) -> str:
    """Changes with the questions and the predictions, and with the titles and places of pages."""
    asked = [
        (name, what, env.metadata[name][f"posenc_{what}"])
        for what in ("quiz", "predict")
        for name in marked(env, what)
    ]
    titles = {name: title.astext() for name, title in env.titles.items()}
    return _digest(repr((asked, sorted(titles.items()), marked(env, "review"))))


def _stamp(app: Sphinx) -> Path:
    return Path(app.doctreedir) / "gathered.sha256"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def setup(app: Sphinx) -> dict[str, bool]:
    add_nodes(app, Tag, TextTag, Question)
    app.add_directive("quiz", Quiz)
    app.add_directive("review", Review)
    app.add_post_transform(FillReview)
    app.connect("env-updated", _write_again)
    app.connect("build-finished", _remember)
    app.add_css_file("quiz.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
