"""From the text notebooks in `solutions/` to the notebooks that learners get in `exercises/`.

    python -m posenc_course.grading.release

A text notebook is plain MyST Markdown. Two things mark an exercise in it: an answer cell holds
nbgrader's `### BEGIN SOLUTION` and `### END SOLUTION`, and the cell after it calls
`check("<chapter>.<function>", ...)`. Points and all other settings come from `posenc_course.exercises`.
A line `<!-- card: <function> -->` becomes the exercise's points, minutes and difficulty; its hints follow the
text, folded away. An exercise of several steps has a heading `##` of its own, and each step one of `###`.

A text cell with the same two lines is one that learners write and a person grades. Its line
`<!-- by hand: <name>, <points> -->` says what it is called in the gradebook, and its points.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config, PyFileConfigLoader

from posenc_course.exercises import Exercise, exercise, exercises_of, steps_of
from posenc_course.grading.answer_cell import BEGIN
from posenc_course.grading.course import find_own_programs
from posenc_course.grading.own_work import RELEASED, own_work_kept, state_of
from posenc_course.translation import _, ngettext

CHECK_CALL = re.compile(r'^check\("(?P<id>[^"]+)"', re.MULTILINE)
CARD = re.compile(r"^<!-- card: (?P<function>\w+) -->$", re.MULTILINE)
BY_HAND = re.compile(r"^<!-- by hand: (?P<name>[\w-]+), (?P<points>\d+) -->$", re.MULTILINE)
HINT_CODE = re.compile(r"`([^`]+)`")
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


class ReleaseError(Exception):
    """A text notebook or nbgrader's release of it is not as it must be."""


def release(root: Path) -> list[Path]:
    """Make `exercises/<chapter>/<chapter>.ipynb` of every `solutions/<chapter>.md`.

    The same input gives the same bytes. nbgrader's gradebook learns of each assignment.

    Raises:
        ReleaseError: a text notebook is malformed, or nbgrader refuses it.
    """
    find_own_programs()
    api = NbGraderAPI(config=_nbgrader_config(root))
    return [_release_chapter(root, text, api) for text in sorted((root / "solutions").glob("*.md"))]


def source_notebook(text: Path) -> NotebookNode:
    """The notebook that nbgrader takes as its source: one text notebook, with nbgrader's metadata.

    Raises:
        ReleaseError: a check has no answer cell before it, or none of that exercise's name exists; or a text
            to be written has no name and points.
    """
    notebook = jupytext.read(text)
    answer: NotebookNode | None = None
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
        if cell.cell_type == "markdown" and (found := CARD.search(cell.source)):
            asked = _exercise(text, found["function"])
            cell.source = cell.source.replace(found[0], card(asked)).rstrip() + "\n\n" + hints(asked)
        elif cell.cell_type == "markdown" and BEGIN in cell.source:
            by_hand = BY_HAND.search(cell.source)
            if by_hand is None:
                lacks = _("{file}: a text to write lacks <!-- by hand: name, points -->:").format(file=text)
                raise ReleaseError(f"{lacks}\n{cell.source}")
            points = int(by_hand["points"])
            worth = _("{points}, given by a person").format(points=_points(points))
            cell.source = cell.source.replace(by_hand[0], f"*{worth}*")
            cell.metadata["nbgrader"] = _settings(by_hand["name"], solution=True, grade=True, points=points)
        elif BEGIN in cell.source:
            if answer is not None:
                raise _unchecked(text, answer)
            answer = cell
        elif found := CHECK_CALL.search(cell.source):
            if answer is None:
                alone = _("{file}: the check of {id} has no answer cell before it")
                raise ReleaseError(alone.format(file=text, id=found["id"]))
            asked = _exercise(text, found["id"].partition(".")[2])
            answer.metadata["nbgrader"] = _settings(asked.function, solution=True)
            cell.metadata["nbgrader"] = _settings(f"check-{asked.function}", points=asked.points)
            answer = None
    if answer is not None:
        raise _unchecked(text, answer)
    return _tidy(notebook)


def _unchecked(text: Path, answer: NotebookNode) -> ReleaseError:
    told = _("{file}: an answer cell has no check after it:").format(file=text)
    return ReleaseError(f"{told}\n{answer.source}")


def cost(asked: Exercise) -> str:
    """Points, minutes and difficulty, as a learner reads them."""
    points = _points(asked.points)
    for group, share in asked.credit[1:]:
        more = _("{points} of them for {group}").format(points=f"{share * asked.points:g}", group=_(group))
        points += _(", ") + more
    dots = "●" * asked.difficulty + "○" * (5 - asked.difficulty)
    told = _("{points} · about {minutes} minutes · difficulty {dots} ({difficulty} of 5)").format(
        points=points, minutes=asked.minutes, dots=dots, difficulty=asked.difficulty
    )
    return f"*{told}*"


def _points(count: int) -> str:
    return ngettext("{count} point", "{count} points", count).format(count=count)


def cost_of_all(steps: Sequence[Exercise]) -> str:
    """Of an exercise of several steps."""
    points, minutes = sum(each.points for each in steps), sum(each.minutes for each in steps)
    told = _("{points} points · about {minutes} minutes, in {count} steps").format(
        points=points, minutes=minutes, count=len(steps)
    )
    return f"*{told}*"


def card(asked: Exercise) -> str:
    """What stands below the heading: which step it is, what it costs, and what the learner's decoder gets."""
    steps = steps_of(asked, exercises_of(asked.chapter))
    step = _("Step {number} of {count}").format(number=steps.index(asked) + 1, count=len(steps))
    shown = f"**{step}**" if len(steps) > 1 else ""
    return "\n\n".join(filter(None, (shown, cost(asked), asked.adds and _(asked.adds))))


def hints(asked: Exercise) -> str:
    """The ladder of hints, each folded away, with what stands between backticks as code."""
    numbered = enumerate(asked.hints, start=1)
    told = [(_("Hint {number}").format(number=number), _hint(_(hint))) for number, hint in numbered]
    return "\n".join(f"<details><summary>{name}</summary>{hint}</details>" for name, hint in told)


def _hint(text: str) -> str:
    return HINT_CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def _release_chapter(root: Path, text: Path, api: NbGraderAPI) -> Path:
    chapter = text.stem
    source = root / "solutions" / chapter / f"{chapter}.ipynb"
    source.parent.mkdir(exist_ok=True)
    nbformat.write(source_notebook(text), source)
    folder = root / "exercises" / chapter
    with own_work_kept(folder):
        result = api.generate_assignment(chapter, force=True, create=True)
        if not result["success"]:
            told = _("nbgrader could not release {chapter}:").format(chapter=chapter)
            raise ReleaseError(f"{told}\n{result.get('log') or result.get('error')}")
    released = folder / f"{chapter}.ipynb"
    notebook = _tidy(nbformat.read(released, as_version=4))
    notebook.metadata[RELEASED] = state_of(notebook)
    nbformat.write(notebook, released)
    return released


def _exercise(text: Path, function: str) -> Exercise:
    try:
        return exercise(f"{text.stem}.{function}")
    except ValueError as error:
        raise ReleaseError(f"{text}: {error}") from error


def _settings(
    grade_id: str, *, solution: bool = False, grade: bool | None = None, points: int | None = None
) -> dict[str, object]:
    settings: dict[str, object] = {
        "grade": not solution if grade is None else grade,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return settings if points is None else settings | {"points": points}


def _tidy(notebook: NotebookNode) -> NotebookNode:
    """Leave nothing that differs from run to run: ids from what the cell is, no outputs."""
    notebook.metadata = NotebookNode(KERNEL)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells):
        cell.id = cell.metadata.get("nbgrader", {}).get("grade_id", f"cell-{number}").replace("_", "-")
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _nbgrader_config(root: Path) -> Config:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(root.resolve())
    return config


if __name__ == "__main__":
    try:
        for path in release(Path.cwd()):
            print(_("released {path}").format(path=path.relative_to(Path.cwd())))
    except ReleaseError as error:
        sys.exit(_("error: {sentence}").format(sentence=error))
