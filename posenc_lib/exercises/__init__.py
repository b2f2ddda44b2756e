"""Every exercise of the course, once: what is asked, reference, inputs, known wrong answers, hints.

One module a chapter, named after it (`ch02_the_formula` for `02-the-formula`), with a tuple
`EXERCISES`. Nothing here needs more than NumPy, and nothing here checks anything: a judge in another
process can import it, and so can a browser.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from posenc_lib.exercises.exercise import BASIC, Case, Exercise, Mistake, Property

__all__ = ["BASIC", "Case", "Exercise", "Mistake", "Property", "all_exercises", "exercise"]


@cache
def all_exercises() -> tuple[Exercise, ...]:
    """All exercises, in the order of the chapters."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("ch"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(each for module in modules for each in module.EXERCISES)


def exercise(exercise_id: str) -> Exercise:
    """The exercise of that id, "<chapter>.<function>"; ValueError names the nearest where none is."""
    by_id = {each.id: each for each in all_exercises()}
    if exercise_id not in by_id:
        import difflib

        near = difflib.get_close_matches(str(exercise_id), by_id, n=3, cutoff=0.4) or sorted(by_id)
        raise ValueError(
            f"there is no exercise {exercise_id!r}; did you mean {' or '.join(map(repr, near))}?"
        )
    return by_id[exercise_id]
