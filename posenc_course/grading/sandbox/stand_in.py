"""What both packages of ours are inside the walls. No encoding, no exercise and no judge is in there."""

from __future__ import annotations

from typing import Any

from posenc_course.grading.sandbox.borrowed import Borrowed, given

__all__ = ["attention", "catalogue", "check", "frequencies"]  # noqa: F822 - as in the real ones; __getattr__ gives them


def check(exercise_id: str, answer: Any, *, seed: int = 0) -> None:
    """Remember the answer. It is judged when all cells have run, and not in here."""
    given[exercise_id] = answer


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return Borrowed(f"{__name__}.{name}")
