"""From a grade to what people read: the autograded notebook and the feedback page, as nbgrader makes them."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, ParamSpec, cast

from nbformat import NotebookNode

from posenc_lib.checking.messages import _
from posenc_lib.exercises import all_exercises
from posenc_lib.grading.course import PART, Course, write_atomically
from posenc_lib.grading.handed_back.safe_html import (
    POLICY,
    inert,
    plain,
    printable,
    settings,
    with_plain_names,
)
from posenc_lib.grading.handed_in.other_files import copy_other_files, read_plain_file
from posenc_lib.grading.handed_in.submission import Cell
from posenc_lib.grading.processes.aside import OverLimit, aside
from posenc_lib.grading.recorded.journal import Entry
from posenc_lib.grading.untrusted import SHOWN, visible
from posenc_lib.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict

MOST_CELLS = 300
"""That the learner added. The submitted notebook has all of them, and what the next limits leave out."""
MOST_CHARACTERS = 100_000
"""Of one cell, and of the text that one cell printed."""
MOST_LINES = 990
"""That one cell printed; nbgrader's own limit is 1000."""
MOST_OUTPUTS = 100
MOST_TRACEBACK = 99
MOST_NOTES = 200
MOST_PLAIN = 2_000
"""Characters of an answer where the notebook cannot be written as it is."""
MOST_REASON = 200

P = ParamSpec("P")
MOST_TOTAL = 2_000_000
"""Characters of all cells and of all that they printed, pictures aside."""


@dataclass(frozen=True)
class ReleasedCell:
    """A cell of the assignment that nbgrader keeps track of, as its gradebook has it."""

    name: str
    kind: str
    """`code` or `markdown`."""
    graded: bool
    solution: bool
    task: bool
    locked: bool
    points: float | None
    source: str
    checksum: str | None

    @property
    def judged(self) -> bool:
        """Whether the judge gives its points (and no person)."""
        return self.graded and not self.solution and self.kind == "code"


@dataclass(frozen=True)
class Release:
    """An assignment as it was released."""

    assignment: str
    kernelspec: Mapping[str, Any]
    cells: Mapping[str, ReleasedCell]


@dataclass(frozen=True)
class Standing:
    """What the gradebook says of one submission once its grade is in: manual marks and penalties included."""

    scores: Mapping[str, float]
    """By name of the graded cell."""
    comments: Mapping[str, str | None]
    penalty: float
    max_score: float

    @property
    def score(self) -> float:
        return sum(self.scores.values()) - self.penalty


def auto_scores(release: Release, entry: Entry) -> dict[str, float | None]:
    """What nbgrader calls the auto score of each graded cell; None where a person has to grade."""
    points = {f"check-{e.exercise_id.partition('.')[2]}": e for e in entry.grade.exercises}
    nodes = {n.metadata.nbgrader.grade_id: n for n in _nodes(release, entry.cells)}
    return {
        cell.name: _auto_score(cell, nodes.get(cell.name), points.get(cell.name), readable=bool(entry.cells))
        for cell in release.cells.values()
        if cell.graded or cell.task
    }


def auto_comments(release: Release, entry: Entry) -> dict[str, str | None]:
    """nbgrader's own comment on each answer: whether there is one at all."""
    nodes = {n.metadata.nbgrader.grade_id: n for n in _nodes(release, entry.cells)}
    return {
        cell.name: "No response." if cell.solution and _untouched(cell, nodes.get(cell.name)) else None
        for cell in release.cells.values()
        if cell.solution or cell.task
    }


def autograded_notebook(release: Release, entry: Entry) -> NotebookNode:
    """The submitted cells with what they printed, each check with its verdict; a lost check is put back.

    nbgrader reads the points of a check from its result, a number.
    """
    judged = {f"check-{e.exercise_id.partition('.')[2]}": e for e in entry.grade.exercises}
    cells = [_plain_node(cell, entry.grade) for cell in entry.cells]
    for place, node in _tracked(release, entry.cells):
        cells[place] = node
    present = {c.metadata.nbgrader.grade_id for c in cells if "nbgrader" in c.metadata}
    for released in release.cells.values():
        if released.judged and released.name not in present:
            at = _place_of(cells, released.name.removeprefix("check-"))
            cells.insert(at, _node(released, released.source))
    for cell in cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in release.cells and release.cells[name].judged:
            cell.outputs = [_verdict_output(judged.get(name), release.cells[name])]
        elif cell.cell_type == "code" and "place" in cell.metadata:
            cell.outputs = [_safe(each) for each in entry.grade.outputs.get(cell.metadata.place, [])]
    cells = _for_show(cells, release)
    for number, cell in enumerate(cells):
        cell.metadata.pop("place", None)
        cell.id = f"cell-{number}"
    if notes := _notes(entry.grade):
        cells.insert(0, _markdown(notes, "grading-notes"))
    return NotebookNode(
        cells=cells,
        metadata=NotebookNode({"kernelspec": dict(release.kernelspec)} if release.kernelspec else {}),
        nbformat=4,
        nbformat_minor=5,
    )


def feedback_page(notebook: NotebookNode, assignment: str, standing: Standing) -> str:
    """The page that nbgrader's own template makes of an autograded notebook."""
    for cell in notebook.cells:
        settings = cell.metadata.get("nbgrader")
        if settings is None:
            continue
        if settings.solution or settings.task:
            settings.comment = standing.comments.get(settings.grade_id)
        if settings.grade or settings.task:
            settings.score = standing.scores.get(settings.grade_id, 0.0)
    facts = {
        "notebook": assignment,
        "score": standing.score,
        "max_score": standing.max_score,
        "late_penalty": standing.penalty,
    }
    page: str = _exporter().from_notebook_node(notebook, {"nbgrader": facts})[0]
    return with_names(page, assignment)


def with_names(page: str, assignment: str) -> str:
    """The page with the exercises' names in its list of contents, where nbgrader writes "Test cell"."""
    for each in all_exercises():
        if each.chapter == assignment:
            link = f'<a href="#check-{each.function}">'
            page = page.replace(f"{link}Test cell</a>", f"{link}{escape(_(each.title))}</a>", 1)
    return page


def write_up(
    course: Course, release: Release, entry: Entry, standing: Standing, feedback: bool
) -> tuple[str, ...]:
    """Write the autograded notebook, and the feedback if asked; each wholly or not at all.

    What a submission makes too costly, or impossible, is written in a plain form, with the same marks.

    Returns:
        Sentences on what was not written, or not copied, as it was.
    """
    remarks = _written(_write_notebook, _write_plain_notebook, course, release, entry)
    if feedback:
        remarks += _written(_write_page, _write_plain_page, course, release, entry, standing)
    return remarks


def _written(
    usual: Callable[P, tuple[str, ...]],
    plainly: Callable[P, tuple[str, ...]],
    *arguments: P.args,
    **named: P.kwargs,
) -> tuple[str, ...]:
    try:
        return aside(usual, *arguments, **named)
    except OverLimit:
        reason = _("it took too long, or too much memory")
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        reason = visible(f"{type(error).__name__}: {error}", MOST_REASON)
    return (
        *plainly(*arguments, **named),
        _("Not everything could be written as usual: {reason}. A plain page has all marks.").format(
            reason=reason
        ),
    )


def _write_notebook(course: Course, release: Release, entry: Entry) -> tuple[str, ...]:
    student, assignment = entry.grade.student, entry.grade.assignment
    notebook = autograded_notebook(release, entry)
    autograded = course.autograded / student / assignment
    remarks = copy_others(course.submitted / student / assignment, autograded, entry)
    write_atomically(
        autograded / f"{assignment}.ipynb", json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    )
    return remarks


def _write_page(course: Course, release: Release, entry: Entry, standing: Standing) -> tuple[str, ...]:
    assignment = entry.grade.assignment
    _write_feedback(course, entry, feedback_page(autograded_notebook(release, entry), assignment, standing))
    return ()


def _write_plain_notebook(course: Course, release: Release, entry: Entry) -> tuple[str, ...]:
    """The released cells with their verdicts, and the beginning of each answer."""
    cells = tuple(
        replace(cell, source=_cut(cell.source, MOST_PLAIN, comment=cell.kind == "code"), attachments={})
        for cell in entry.cells
        if cell.grade_id in release.cells
    )
    return _write_notebook(
        course, release, replace(entry, cells=cells, grade=replace(entry.grade, outputs={}))
    )


def _write_plain_page(course: Course, release: Release, entry: Entry, standing: Standing) -> tuple[str, ...]:
    """Marks and messages alone, without the notebook."""
    rows = "".join(
        f"<tr><td>{escape(each.exercise_id)}</td><td>{each.points:g} / {each.max_points:g}</td>"
        f"<td>{escape(str(each.verdict))}</td><td>{plain(each.feedback)}</td></tr>"
        for each in entry.grade.exercises
    )
    notes = "".join(f"<li>{escape(visible(each))}</li>" for each in entry.grade.notes[:MOST_NOTES])
    explained = _("Your notebook could not be shown here, as it is too large or too intricate.")
    score = _("Score: {score:g} / {most:g}").format(score=standing.score, most=standing.max_score)
    title = escape(entry.grade.assignment)
    _write_feedback(
        course,
        entry,
        f"<!DOCTYPE html><html><head><meta charset='utf-8'>{POLICY}<title>{title}</title></head><body>"
        f"<h1>{title}</h1><p>{escape(score)}</p><p>{escape(explained)}</p><ul>{notes}</ul>"
        f"<table border='1'>{rows}</table></body></html>\n",
    )
    return ()


def _write_feedback(course: Course, entry: Entry, page: str) -> None:
    student, assignment = entry.grade.student, entry.grade.assignment
    folder = course.feedback / student / assignment
    for part in folder.glob(f"{PART}*"):  # what a run that was killed had begun to write
        if part.is_file():
            part.unlink()
    write_atomically(folder / f"{assignment}.html", page, mode=0o644)
    # What nbgrader's own feedback has too; its exchange finds the learner's copy by the secret.
    for name in ("timestamp.txt", "submission_secret.txt"):
        data = read_plain_file(course.autograded / student / assignment / name, 1000)
        if data is not None and data.isascii():
            write_atomically(folder / name, data.decode(), mode=0o644)


def copy_others(submitted: Path, autograded: Path, entry: Entry) -> tuple[str, ...]:
    """Copy what was handed in beside the notebook; nothing where that was not read, as it may be a link."""
    return copy_other_files(submitted if entry.cells else None, autograded)


def _auto_score(
    cell: ReleasedCell, node: NotebookNode | None, exercise: ExerciseGrade | None, *, readable: bool
) -> float | None:
    if cell.judged:
        return _points(exercise, cell)
    if not readable or (cell.graded and cell.solution and _untouched(cell, node)):
        return 0.0
    return None


def _points(exercise: ExerciseGrade | None, cell: ReleasedCell) -> float:
    """In the points that the cell was released with; none for a test that the judge does not know."""
    if exercise is None or not exercise.max_points:
        return 0.0
    return min(exercise.points / exercise.max_points, 1.0) * (cell.points or 0.0)


def _untouched(cell: ReleasedCell, node: NotebookNode | None) -> bool:
    from nbgrader.utils import compute_checksum

    return node is not None and cell.checksum is not None and compute_checksum(node) == cell.checksum


def _tracked(release: Release, cells: tuple[Cell, ...]) -> list[tuple[int, NotebookNode]]:
    """Position and node of each cell that the gradebook knows; of doubles the last, as in nbgrader."""
    last = {cell.grade_id: number for number, cell in enumerate(cells) if cell.grade_id in release.cells}
    found = []
    for name, number in last.items():
        released = release.cells[str(name)]
        cell = cells[number]
        node = _node(released, released.source if released.locked else cell.source)
        node.metadata.place = cell.place
        if cell.attachments and node.cell_type == "markdown":
            node.attachments = cell.attachments
        found.append((number, node))
    return found


def _nodes(release: Release, cells: tuple[Cell, ...]) -> list[NotebookNode]:
    return [node for _number, node in _tracked(release, cells)]


def _node(released: ReleasedCell, source: str) -> NotebookNode:
    settings = NotebookNode(
        cell_type=released.kind,
        checksum=released.checksum,
        grade=released.graded,
        grade_id=released.name,
        locked=released.locked,
        schema_version=3,
        solution=released.solution,
        task=released.task,
    )
    if released.points is not None:
        settings.points = released.points
    node = NotebookNode(cell_type=released.kind, metadata=NotebookNode(nbgrader=settings), source=source)
    if released.kind == "code":
        node.update(execution_count=None, outputs=[])
    return node


def _plain_node(cell: Cell, grade: SubmissionGrade) -> NotebookNode:
    if cell.kind != "code":
        node = NotebookNode(cell_type=cell.kind, metadata=NotebookNode(), source=cell.source)
        if cell.attachments:
            node.attachments = cell.attachments
        return node
    return NotebookNode(
        cell_type="code",
        execution_count=None,
        metadata=NotebookNode(place=cell.place),
        outputs=[],
        source=cell.source,
    )


def _place_of(cells: list[NotebookNode], answer: str) -> int:
    """Where a lost check belongs: after its answer, or else at the end."""
    for number, cell in enumerate(cells):
        if cell.metadata.get("nbgrader", {}).get("grade_id") == answer:
            return number + 1
    return len(cells)


def _verdict_output(exercise: ExerciseGrade | None, cell: ReleasedCell) -> NotebookNode:
    if exercise is None:
        html = (
            f"<p>{escape(_('No exercise of the course belongs to this test; your teacher grades it.'))}</p>"
        )
    else:
        lines = exercise.feedback.splitlines()
        html = exercise.feedback_html or "".join(f"<p>{escape(line)}</p>" for line in lines)
    return NotebookNode(
        output_type="execute_result",
        execution_count=None,
        metadata=NotebookNode(),
        data=NotebookNode({"text/plain": str(_points(exercise, cell)), "text/html": html}),
    )


def _safe(output: Mapping[str, Any]) -> NotebookNode:
    """A learner's output without what a browser would run."""
    kept = dict(output)
    if "data" in kept:
        kept["data"] = {kind: data for kind, data in kept["data"].items() if kind in SHOWN}
    return NotebookNode(kept)


def _for_show(cells: list[NotebookNode], release: Release) -> list[NotebookNode]:
    """The cells as any program may show them: what a learner wrote is inert, and not too much of it."""
    shown: list[NotebookNode] = []
    added, left = 0, MOST_TOTAL
    for cell in cells:
        released = release.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        added += released is None
        if added > MOST_CELLS and released is None:
            continue
        shown.append(cell)
        if released is None or cell.source != released.source:
            cell.source = _cut(cell.source, min(MOST_CHARACTERS, left), comment=cell.cell_type == "code")
            _take_apart(cell)
        left = max(left - len(cell.source), 0)
        if cell.cell_type == "code" and not (released and released.judged):
            cell.outputs = _cut_outputs(cell.outputs, min(MOST_CHARACTERS, left))
            left = max(left - sum(len(json.dumps(_text_of(each))) for each in cell.outputs), 0)
    if added > MOST_CELLS:
        sentence = _("{count} more cells are in the submitted notebook.").format(count=added - MOST_CELLS)
        shown.append(_markdown(sentence, ""))
    return shown


def _take_apart(cell: NotebookNode) -> None:
    if cell.cell_type == "markdown":
        cell.source, pasted = with_plain_names(cell.source, cell.get("attachments", {}))
        if pasted:
            cell.attachments = NotebookNode(pasted)
    if cell.cell_type != "code":
        cell.source = inert(cell.source)


def _cut(text: str, most: int, *, comment: bool = False) -> str:
    if len(text) <= most:
        return text
    rest = _("{count} more characters are in the submitted notebook.").format(count=len(text) - most)
    return f"{text[:most]}\n\n{'# ' if comment else ''}{rest}"


def _cut_outputs(outputs: list[NotebookNode], most: int) -> list[NotebookNode]:
    """What a cell printed and showed, up to so many characters of text and `MOST_LINES`."""
    kept, lines_left = [], MOST_LINES

    def cut(text: str) -> str:
        nonlocal most, lines_left
        clean = printable(text)
        short = "\n".join(clean.split("\n")[: max(lines_left, 0)])[: max(most, 0)]
        lines_left, most = lines_left - short.count("\n") - 1, most - len(short)
        return short if len(short) == len(clean) else f"{short}\n{_more_was_printed()}"

    for output in outputs[:MOST_OUTPUTS]:
        if most <= 0 or lines_left <= 0:
            break
        if output.output_type == "stream":
            output.text = cut(output.text)
        elif output.output_type == "error":
            output.traceback = cut("\n".join(output.traceback[:MOST_TRACEBACK])).split("\n")
            output.ename, output.evalue = visible(output.ename), visible(output.evalue)
        else:
            for kind in ("text/plain", "text/latex"):
                if kind in output.data:
                    output.data[kind] = cut(output.data[kind])
            if "text/latex" in output.data:
                output.data["text/latex"] = inert(output.data["text/latex"])
        kept.append(output)
    if len(kept) < len(outputs):
        kept.append(NotebookNode(output_type="stream", name="stderr", text=_more_was_printed()))
    return kept


def _more_was_printed() -> str:
    return _("... (more was printed or shown than this page holds)")


def _text_of(output: NotebookNode) -> Any:
    return output.get("text") or output.get("traceback") or output.get("data", {}).get("text/plain")


def _notes(grade: SubmissionGrade) -> str:
    """What learner and instructor should know, as the first cell of the notebook; empty if nothing."""
    items = list(grade.notes)
    if grade.verdict not in (Verdict.RIGHT, Verdict.PARTLY, Verdict.WRONG, Verdict.UNWRITTEN):
        items.insert(0, _("This submission got the verdict “{verdict}”.").format(verdict=grade.verdict))
    if not items:
        return ""
    lines = [f"- {_as_markdown(visible(each))}" for each in items[:MOST_NOTES]]
    return "\n".join([f"#### {_('Notes from grading')}", "", *lines])


def _as_markdown(text: str) -> str:
    """Markdown that shows this text."""
    return inert(re.sub(r"([\\`*_\[\]<>&$#~|])", r"\\\1", text))


def _markdown(source: str, cell_id: str) -> NotebookNode:
    return NotebookNode(cell_type="markdown", id=cell_id, metadata=NotebookNode(), source=source)


@cache
def _exporter() -> Any:
    """nbgrader's feedback template, made ready once a process."""
    from nbconvert.exporters import HTMLExporter
    from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
    from traitlets.config import Config

    config = Config()
    config.HTMLExporter.update(settings())
    config.HTMLExporter.template_name = "feedback"
    formgrader = Path(config.HTMLExporter.extra_template_basedirs[-1]).parent
    styles = formgrader / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    exporter: Any = cast(Any, HTMLExporter)(config=config)
    exporter._preprocessors = []
    exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return exporter
