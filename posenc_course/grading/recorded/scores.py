"""What nbgrader's gradebook keeps of an assignment, and the scores there that a grade gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode

from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.verdicts import ExerciseGrade


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


def tracked(release: Release, cells: tuple[Cell, ...]) -> list[tuple[int, NotebookNode]]:
    """Position and node of each cell that the gradebook knows; of doubles the last that was written in."""
    last: dict[str, int] = {}
    for number, cell in enumerate(cells):
        released = release.cells.get(cell.grade_id or "")
        if released and (released.name not in last or cell.source.strip() != released.source.strip()):
            last[released.name] = number
    found = []
    for name, number in last.items():
        released = release.cells[name]
        cell = cells[number]
        node = node_of(released, released.source if released.locked else cell.source)
        node.metadata.place = cell.place
        if cell.attachments and node.cell_type == "markdown":
            node.attachments = cell.attachments
        found.append((number, node))
    return found


def node_of(released: ReleasedCell, source: str) -> NotebookNode:
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


def _nodes(release: Release, cells: tuple[Cell, ...]) -> list[NotebookNode]:
    return [node for _number, node in tracked(release, cells)]


def _auto_score(
    cell: ReleasedCell, node: NotebookNode | None, exercise: ExerciseGrade | None, *, readable: bool
) -> float | None:
    if cell.judged:
        return points_of(exercise, cell)
    if not readable or (cell.graded and cell.solution and _untouched(cell, node)):
        return 0.0
    return None


def points_of(exercise: ExerciseGrade | None, cell: ReleasedCell) -> float:
    """In the points that the cell was released with; none for a test that the judge does not know."""
    if exercise is None or not exercise.max_points:
        return 0.0
    return min(exercise.points / exercise.max_points, 1.0) * (cell.points or 0.0)


def _untouched(cell: ReleasedCell, node: NotebookNode | None) -> bool:
    from nbgrader.utils import compute_checksum

    return node is not None and cell.checksum is not None and compute_checksum(node) == cell.checksum
