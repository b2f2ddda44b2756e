"""From a grade to what people read: the autograded notebook and the feedback page, as nbgrader makes them."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, cast

from nbformat import NotebookNode

from posenc_lib.checking.messages import _
from posenc_lib.grading.course import PART, Course, write_atomically
from posenc_lib.grading.grades import ExerciseGrade, SubmissionGrade, Verdict
from posenc_lib.grading.journal import Entry
from posenc_lib.grading.submission import Cell

MAX_OTHER_BYTES = 64 * 2**20
"""All other files of a submission together, of which copies are kept beside the autograded notebook."""
SHOWN_MIME_TYPES = ("text/plain", "text/latex", "image/png", "image/jpeg")
"""Of a learner's outputs. HTML and JavaScript would run in the browser of whoever reads them."""


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
    return page


def write_up(
    course: Course, release: Release, entry: Entry, standing: Standing, feedback: bool
) -> tuple[str, ...]:
    """Write the autograded notebook, and the feedback if asked; each wholly or not at all.

    Returns:
        A sentence for each file of the submission that was not copied.
    """
    student, assignment = entry.grade.student, entry.grade.assignment
    notebook = autograded_notebook(release, entry)
    autograded = course.autograded / student / assignment
    _remove_leftovers(autograded, course.feedback / student / assignment)
    # A submission that was not read may be a link to somebody else's.
    readable = bool(entry.cells)
    not_copied = _copy_other_files(course.submitted / student / assignment, autograded) if readable else ()
    write_atomically(
        autograded / f"{assignment}.ipynb", json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    )
    if feedback:
        folder = course.feedback / student / assignment
        page = feedback_page(notebook, assignment, standing)
        write_atomically(folder / f"{assignment}.html", page, mode=0o644)
        # What nbgrader's own feedback has too; its exchange finds the learner's copy by the secret.
        for name in ("timestamp.txt", "submission_secret.txt"):
            if (autograded / name).is_file():
                write_atomically(folder / name, (autograded / name).read_text(), mode=0o644)
    return not_copied


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
    if cell.kind == "markdown":
        node = NotebookNode(cell_type="markdown", metadata=NotebookNode(), source=cell.source)
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
        kept["data"] = {kind: data for kind, data in kept["data"].items() if kind in SHOWN_MIME_TYPES}
    return NotebookNode(kept)


def _notes(grade: SubmissionGrade) -> str:
    """What learner and instructor should know, as the first cell of the notebook; empty if nothing."""
    items = list(grade.notes)
    if grade.verdict not in (Verdict.RIGHT, Verdict.PARTLY, Verdict.WRONG):
        items.insert(0, _("This submission got the verdict “{verdict}”.").format(verdict=grade.verdict))
    if not items:
        return ""
    heading = escape(_("Notes from grading"))
    return f"<h4>{heading}</h4><ul>{''.join(f'<li>{escape(each)}</li>' for each in items)}</ul>"


def _markdown(source: str, cell_id: str) -> NotebookNode:
    return NotebookNode(cell_type="markdown", id=cell_id, metadata=NotebookNode(), source=source)


@cache
def _exporter() -> Any:
    """nbgrader's feedback template, made ready once a process."""
    import nbgrader
    from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
    from traitlets.config import Config

    from posenc_lib.grading.safe_html import SafeExporter

    formgrader = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader"
    config = Config()
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.extra_template_basedirs = [str(formgrader / "templates")]
    styles = formgrader / "static" / "node_modules" / "bootstrap" / "dist" / "css"
    config.HTMLExporter.extra_template_paths = [str(styles)]
    exporter: Any = cast(Any, SafeExporter)(config=config)
    exporter._preprocessors = []
    exporter.register_preprocessor(CSSHTMLHeaderPreprocessor, enabled=True)
    return exporter


def _remove_leftovers(*folders: Path) -> None:
    """What a run that was killed had begun to write."""
    for folder in folders:
        for part in folder.glob(f"{PART}*"):
            part.unlink(missing_ok=True)


def _copy_other_files(source: Path, destination: Path) -> tuple[str, ...]:
    """Copy what else was handed in, as nbgrader does, but follow no link and stop at a sensible size."""
    destination.mkdir(parents=True, exist_ok=True)
    not_copied, total = [], 0
    for folder, folders, names in os.walk(source):
        folders[:] = [each for each in folders if each not in (".ipynb_checkpoints", "__pycache__")]
        links = [each for each in folders if (Path(folder) / each).is_symlink()]
        for name in names + links:
            path = Path(folder) / name
            if name.endswith((".ipynb", ".pyc")):
                continue
            data = read_plain_file(path, MAX_OTHER_BYTES - total)
            if data is None:
                not_copied.append(
                    f"{path.relative_to(source)} was not copied: a link, no plain file, or too big"
                )
                continue
            total += len(data)
            target = destination / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.write_bytes(data)
    return tuple(not_copied)


def read_plain_file(path: Path, at_most: int) -> bytes | None:
    """The bytes of a plain file; None where there is none, for a link, a pipe, or one that is too big."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EACCES, errno.ENOENT):
            return None
        raise
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(handle)
        return file.read() if stat.S_ISREG(facts.st_mode) and facts.st_size <= at_most else None
