"""`02-the-formula.formula_of`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from posenc_course.exercises.ch02_the_formula.formula_of import _formula_of

NOT_KNOWN = (
    ("formula_of", lambda rows: ("paper", 10000.0), "Test your answer"),
    ("formula_of", lambda rows: (_formula_of(rows)[0], _formula_of(rows)[1] / 10), "ten times too small"),
)
