"""Whether there is an answer at all: decided here, for a notebook, a page and grading alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from posenc_course.checking.run import Outcome
from posenc_course.exercises import Exercise

Lack = Literal["missing", "uncallable"]


def lack(asked: Exercise, names: Mapping[str, Any]) -> Lack | None:
    """Why nothing can be called: there is no such name, or no function by it. None where there is one."""
    if asked.function not in names:
        return "missing"
    return None if fits(asked, names[asked.function]) else "uncallable"


def fits(asked: Exercise, answer: Any) -> bool:
    """Whether it is a function, where one is asked for."""
    return asked.kind == "value" or callable(answer)


def unwritten(asked: Exercise, outcomes: Sequence[Outcome]) -> bool:
    """Whether a function does what the released one does, whatever it is given; or a value is None.

    A function that returns None is written, and forgot its `return`.
    """
    if asked.kind == "value":
        return all(each.kind == "value" and each.value is None for each in outcomes)
    return bool(outcomes) and all(stops_as_released(asked, each.error_type) for each in outcomes)


def stops_as_released(asked: Exercise, error_type: str, text: str = "") -> bool:
    """Whether an unwritten notebook stops so: in the released code, or at a `check` of what it lacks."""
    undefined = error_type == "NameError" and f"'{asked.function}'" in text
    return undefined or error_type == "NotImplementedError"
