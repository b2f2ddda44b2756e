"""The autograded notebook: what was submitted, as any program may show it, and a verdict at each check."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from nbformat import NotebookNode

from posenc_course.grading.handed_back.safe_html import inert, printable, with_plain_names
from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.recorded.scores import Release, ReleasedCell, node_of, points_of, tracked
from posenc_course.grading.untrusted import SHOWN, visible
from posenc_course.grading.verdicts import ExerciseGrade, SubmissionGrade, Verdict
from posenc_course.translation import _

ADDRESS = re.compile(r"^<!-- anchor: \S* \S* -->\n?", re.MULTILINE)
"""Below a heading of a translated notebook: for the book's pages, and nothing to read."""
MOST_CELLS = 300
"""That the learner added. The submitted notebook has all of them, and what the next limits leave out."""
MOST_CHARACTERS = 100_000
"""Of one cell, and of the text that one cell printed."""
MOST_LINES = 990
"""That one cell printed; nbgrader's own limit is 1000."""
MOST_OUTPUTS = 100
MOST_TRACEBACK = 99
MOST_NOTES = 200
MOST_TOTAL = 2_000_000
"""Characters of all cells and of all that they printed, pictures aside."""


def autograded_notebook(release: Release, entry: Entry) -> NotebookNode:
    """The submitted cells with what they printed, each check with its verdict; a lost check is put back.

    nbgrader reads the points of a check from its result, a number.
    """
    judged = {f"check-{e.exercise_id.partition('.')[2]}": e for e in entry.grade.exercises}
    cells = [_plain_node(cell, entry.grade) for cell in entry.cells]
    for place, node in tracked(release, entry.cells):
        cells[place] = node
    present = {c.metadata.nbgrader.grade_id for c in cells if "nbgrader" in c.metadata}
    for released in release.cells.values():
        if released.name not in present and (released.judged or (released.graded and entry.cells)):
            at = _place_of(cells, released.name.removeprefix("check-"))
            cells.insert(at, node_of(released, released.source if released.judged else _astray()))
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


def _astray() -> str:
    return _("This cell was not found in the notebook. If its text is in another cell, it counts here.")


def _place_of(cells: list[NotebookNode], answer: str) -> int:
    """Where a lost check belongs: after its answer, or else at the end."""
    for number, cell in enumerate(cells):
        if cell.metadata.get("nbgrader", {}).get("grade_id") == answer:
            return number + 1
    return len(cells)


def _verdict_output(exercise: ExerciseGrade | None, cell: ReleasedCell) -> NotebookNode:
    if exercise is None:
        told = _("This test belongs to no exercise of the course; your teacher grades it.")
        html = f"<p>{escape(told)}</p>"
    else:
        lines = exercise.feedback.splitlines()
        html = exercise.feedback_html or "".join(f"<p>{escape(line)}</p>" for line in lines)
    return NotebookNode(
        output_type="execute_result",
        execution_count=None,
        metadata=NotebookNode(),
        data=NotebookNode({"text/plain": str(points_of(exercise, cell)), "text/html": html}),
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
            cell.source = cut(cell.source, min(MOST_CHARACTERS, left), comment=cell.cell_type == "code")
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
        cell.source = ADDRESS.sub("", cell.source)
        cell.source, pasted = with_plain_names(cell.source, cell.get("attachments", {}))
        if pasted:
            cell.attachments = NotebookNode(pasted)
    if cell.cell_type != "code":
        cell.source = inert(cell.source)


def cut(text: str, most: int, *, comment: bool = False) -> str:
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
    return _("... (more was printed or shown than fits on this page)")


def _text_of(output: NotebookNode) -> Any:
    return output.get("text") or output.get("traceback") or output.get("data", {}).get("text/plain")


def _notes(grade: SubmissionGrade) -> str:
    """What learner and instructor should know, as the first cell of the notebook; empty if nothing."""
    items = list(grade.notes)
    if grade.verdict not in (Verdict.RIGHT, Verdict.PARTLY, Verdict.WRONG, Verdict.UNWRITTEN):
        items.insert(0, _("This submission got the verdict “{verdict}”.").format(verdict=_(grade.verdict)))
    if not items:
        return ""
    lines = [f"- {_as_markdown(visible(each))}" for each in items[:MOST_NOTES]]
    return "\n".join(["#### " + _("Notes from grading"), "", *lines])


def _as_markdown(text: str) -> str:
    """Markdown that shows this text."""
    return inert(re.sub(r"([\\`*_\[\]<>&$#~|])", r"\\\1", text))


def _markdown(source: str, cell_id: str) -> NotebookNode:
    return NotebookNode(cell_type="markdown", id=cell_id, metadata=NotebookNode(), source=source)
