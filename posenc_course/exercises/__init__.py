"""Every exercise of the course, once: what is asked, reference, inputs, known wrong answers, hints.

One folder per chapter, named after it (`ch02_the_formula` for `02-the-formula`), and in it one file per
exercise, named after its function; its `__init__.py` has their order, in `EXERCISES`. What several of them
share is in `_shared.py`. `capstone` is an assignment that belongs to no chapter. Nothing here needs more than
NumPy, and nothing here checks anything: a judge in another process can import it, and so can a browser.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from functools import cache

from posenc_course.exercises.exercise import BASIC, Case, Exercise, Mistake, Property, steps_of, wholes
from posenc_course.translation import _

__all__ = [
    "BASIC",
    "Case",
    "Exercise",
    "Mistake",
    "Property",
    "all_exercises",
    "assignments",
    "exercise",
    "exercises_of",
    "steps_of",
    "wholes",
]


BESIDE = ("capstone",)
"""Assignments beside the chapters, each a module of that name. No page counts their exercises."""


@cache
def all_exercises() -> tuple[Exercise, ...]:
    """All exercises of the chapters, in their order."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name.startswith("ch"))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(each for module in modules for each in module.EXERCISES)


def assignments() -> tuple[str, ...]:
    """All that is handed in and graded: the chapters, and what stands beside them."""
    return (*dict.fromkeys(each.chapter for each in all_exercises()), *BESIDE)


def exercises_of(assignment: str) -> tuple[Exercise, ...]:
    """The exercises of one chapter or other assignment; none where there is no such assignment."""
    # Its module alone: in a browser each one that is imported is waited for.
    name = f"{'' if assignment in BESIDE else 'ch'}{assignment.replace('-', '_')}"
    module = f"{__name__}.{name}"
    found: tuple[Exercise, ...] = ()
    if name.isidentifier() and importlib.util.find_spec(module):
        found = importlib.import_module(module).EXERCISES
    return found


def exercise(exercise_id: str) -> Exercise:
    """The exercise of that id, "<chapter>.<function>"; ValueError names the nearest where none is."""
    for each in exercises_of(str(exercise_id).partition(".")[0]):
        if each.id == exercise_id:
            return each
    import difflib

    ids = sorted(each.id for name in assignments() for each in exercises_of(name))
    near = difflib.get_close_matches(str(exercise_id), ids, n=3, cutoff=0.4) or ids
    told = _("there is no exercise {id!r}; did you mean {near}?")
    raise ValueError(told.format(id=exercise_id, near=_(" or ").join(map(repr, near))))
