"""What grading gives: a verdict and points for each exercise of each submission, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from posenc_course.translation import N_


class Verdict(StrEnum):
    """How one exercise, or a whole submission, came out: as it is stored. People read it translated."""

    RIGHT = N_("right")
    PARTLY = N_("partly")
    WRONG = N_("wrong")
    UNWRITTEN = N_("unwritten")
    """There is no answer yet: it still raises NotImplementedError, or nothing has its name."""
    ERROR = N_("error")
    """The learner's own code raised."""
    TIME_LIMIT = N_("time limit")
    MEMORY_LIMIT = N_("memory limit")
    OUTPUT_LIMIT = N_("output limit")
    CRASHED = N_("crashed")
    """The learner's process ended before it was told to."""
    MALFORMED = N_("malformed")
    """A file that is no notebook, or an answer that is no plain data."""
    TAMPERED = N_("tampered")
    """The learner's process did what no answer needs: it forged messages, or called the reference."""


NOT_GRADED = N_("not graded")
"""Handed in, but no grading run has got to it."""
ELSEWHERE = N_("graded elsewhere")
"""In the gradebook, but not by this course's grading."""
NO_SUBMISSION = N_("no submission")


@dataclass(frozen=True)
class ExerciseGrade:
    """One exercise of one submission."""

    exercise_id: str
    verdict: Verdict
    points: float
    max_points: float
    feedback: str = ""
    """What the learner reads, as text. It never holds a hidden input."""
    feedback_html: str = ""
    mistake: str | None = None
    """Name of the known mistake that the answer makes, where it is certain."""


@dataclass(frozen=True)
class SubmissionGrade:
    """One submission, graded."""

    student: str
    assignment: str
    verdict: Verdict
    """RIGHT, PARTLY or WRONG by its points; any other verdict where all exercises got it."""
    seed: int
    """Chooses the hidden inputs; the same seed gives the same ones again."""
    digest: str
    """SHA-256 of the submitted file: tells whether the same file was graded before."""
    exercises: tuple[ExerciseGrade, ...]
    outputs: Mapping[int, list[dict[str, Any]]] = field(default_factory=dict)
    """What each cell printed and showed, in nbformat's form, by the cell's place in the notebook."""
    notes: tuple[str, ...] = ()
    """What the instructor and the learner should know: a cell was doubled, a check was changed."""
    seconds: float = 0.0

    @property
    def points(self) -> float:
        return sum(each.points for each in self.exercises)

    @property
    def max_points(self) -> float:
        return sum(each.max_points for each in self.exercises)

    @property
    def tampered(self) -> tuple[str, ...]:
        """The answers that got the verdict TAMPERED, by name."""
        return tuple(
            each.exercise_id.partition(".")[2] for each in self.exercises if each.verdict is Verdict.TAMPERED
        )

    def to_json(self) -> dict[str, Any]:
        """As what `json` can write."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SubmissionGrade:
        """From what `to_json` gave, also after a way through a JSON file."""
        return cls(
            **{
                **data,
                "verdict": Verdict(data["verdict"]),
                "exercises": tuple(
                    ExerciseGrade(**{**each, "verdict": Verdict(each["verdict"])})
                    for each in data["exercises"]
                ),
                "outputs": {int(place): outputs for place, outputs in data["outputs"].items()},
                "notes": tuple(data["notes"]),
            }
        )
