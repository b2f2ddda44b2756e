"""The mystery checkpoint: Which formula, which base?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    BASE,
    EXPONENTS,
    LAYOUTS,
    MYSTERY,
    _three_rows,
    any_rows,
    layout_of,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.angles import SPACINGS, frequencies


def _turns_of_row_1(rows: np.ndarray) -> np.ndarray:
    """The angle of each pair at position 1, which is its frequency."""
    half = rows.shape[1] // 2
    sines, cosines = {
        "interleaved": (rows[1, 0::2], rows[1, 1::2]),
        "split": (rows[1, :half], rows[1, half:]),
        "cosines first": (rows[1, half:], rows[1, :half]),
    }[layout_of(rows)]
    return np.asarray(np.arctan2(sines, cosines))


def _is_round(base: float) -> bool:
    exponent = np.log10(base)
    return bool(abs(exponent - round(exponent)) < 1e-6)


def _formula_of(rows: np.ndarray) -> tuple[str, float]:
    rates = _turns_of_row_1(rows)
    count = len(rates)
    paper, tensor2tensor = rates[1] ** -count, rates[1] ** (1 - count)
    return ("paper", float(paper)) if _is_round(paper) else ("tensor2tensor", float(tensor2tensor))


def _formula_by_trying(rows: np.ndarray) -> tuple[str, int]:
    rates = _turns_of_row_1(rows)
    for formula in SPACINGS:
        for exponent in EXPONENTS:
            if np.allclose(
                frequencies(2 * len(rates), base=10.0**exponent, spacing=formula),  # type: ignore[arg-type]
                rates,
                rtol=1e-6,
            ):
                return formula, 10**exponent
    raise ValueError("no formula fits")


def _formula_by_the_last(rows: np.ndarray) -> list[Any]:
    rates = _turns_of_row_1(rows)
    base, ratio = 1 / rates[-1], rates[-2] / rates[-1]
    return ["tensor2tensor", base] if _is_round(base) else ["paper", base * ratio]


def _formula_by_slope(rows: np.ndarray) -> tuple[str, float]:
    rates = _turns_of_row_1(rows)
    step = -np.polyfit(np.arange(len(rates)), np.log10(rates), 1)[0]
    exponent = step * len(rates)
    if abs(exponent - round(exponent)) < 1e-4:
        return "Paper", 10.0 ** round(exponent)
    return "Tensor2Tensor", 10.0 ** round(step * (len(rates) - 1))


def _told_otherwise(
    rule: Callable[[str, float, np.ndarray], tuple[str, float]],
) -> Callable[[np.ndarray], Any]:
    """What the rule makes of (the right formula, the right base, the frequencies)."""
    return lambda rows: rule(*_formula_of(rows), _turns_of_row_1(rows))


def _gives_back(rows: np.ndarray, formula: Any, base: float) -> bool:
    turns = _turns_of_row_1(rows)
    return base > 0 and np.allclose(frequencies(2 * len(turns), base=base, spacing=formula), turns, rtol=1e-3)


def _ten_times_too_small(formula: str, base: float, said: Any, found: float) -> bool:
    """With the other formula, another base would be the right one."""
    return said == formula and bool(np.isclose(found * 10, base, rtol=1e-3))


def _formula_cases(rng: np.random.Generator) -> Iterator[Case]:
    for layout in LAYOUTS:
        for formula in SPACINGS:
            for _ in range(2):
                yield any_rows(rng, layout, formula)
    for formula in SPACINGS:  # so wide that the two formulas are nearly one
        yield Case("three rows of width 1024", (_three_rows("interleaved", formula, 100.0, 1024),))


FORMULA_OF = Exercise(
    id="02-the-formula.formula_of",
    title="Which formula, which base?",
    signature='formula_of(rows: array of shape (3, dim)) -> ("paper" or "tensor2tensor", the base)',
    step_of=MYSTERY,
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda rows: _formula_of(rows),
    make_cases=_formula_cases,
    relative_tolerance=1e-4,
    parts=("the formula", "the base"),
    properties=(
        Property(
            lambda args, value: not isinstance(value[0], str) or value[0].strip().lower() in SPACINGS,
            "The first value must be one of the words paper and tensor2tensor.",
            about="form",
        ),
        Property(
            lambda args, value: _is_round(float(value[1])),
            "The base must be a power of ten. If yours is not, try the other formula.",
        ),
        Property(
            lambda args, value: not _ten_times_too_small(*_formula_of(args[0]), *value),
            "Your base is ten times too small, as happens when int() cuts an exponent of 4.9999 down to 4. "
            "Round it instead.",
        ),
        Property(
            lambda args, value: value[0] not in SPACINGS or _gives_back(args[0], value[0], float(value[1])),
            "Test your answer: compute the frequencies with your formula and your base. They must be the "
            "angles of row 1, and yours are not.",
        ),
    ),
    mistakes=(
        Mistake(
            "always-the-paper",
            _told_otherwise(lambda formula, base, rates: ("paper", rates[1] ** -len(rates))),
            "Every table was taken to be made by the paper's formula, and so some bases are not round "
            "numbers. A base that is not a power of ten is the sign that the other formula made the table.",
        ),
        Mistake(
            "always-tensor2tensor",
            _told_otherwise(lambda formula, base, rates: ("tensor2tensor", 1 / rates[-1])),
            "Every table was taken to be made by tensor2tensor's formula, and so some bases are not round "
            "numbers. A base that is not a power of ten is the sign that the other formula made the table.",
        ),
        Mistake(
            "formulas-confused",
            _told_otherwise(
                lambda formula, base, rates: ("tensor2tensor" if formula == "paper" else "paper", base)
            ),
            "The bases are right, and the names of the two formulas are swapped. With tensor2tensor's, the "
            "last frequency is exactly 1/base; the paper's stops one step short of it.",
        ),
        Mistake(
            "base-from-the-last-frequency",
            _told_otherwise(lambda formula, base, rates: (formula, 1 / rates[-1])),
            "The base was taken as 1 over the last frequency. That holds for tensor2tensor's formula; the "
            "paper's stops one step short of 1/base.",
        ),
        Mistake(
            "columns-for-pairs",
            _told_otherwise(lambda formula, base, rates: (formula, base**2)),
            "The base came out squared, as happens when you count dim steps instead of dim/2: a frequency "
            "belongs to each pair of columns.",
        ),
        Mistake(
            "root-of-the-base",
            _told_otherwise(lambda formula, base, rates: (formula, base**0.5)),
            "The base came out as its square root. The exponent of pair i is 2i/dim, with a factor 2.",
        ),
        Mistake(
            "upside-down",
            _told_otherwise(lambda formula, base, rates: (formula, 1 / base)),
            "This is 1 over the base. The frequencies fall, so the base has a negative exponent.",
        ),
        Mistake(
            "exponent",
            _told_otherwise(lambda formula, base, rates: (formula, float(np.log10(base)))),
            "This is the exponent of the base, as a power of ten. Give the base itself: 10000, and not 4.",
        ),
        Mistake(
            "longest-wavelength",
            _told_otherwise(lambda formula, base, rates: (formula, 2 * np.pi * base)),
            "The base is too large by the factor 2 pi: you compared wavelengths, and they contain that "
            "factor.",
        ),
        Mistake(
            "always-10000",
            _told_otherwise(lambda formula, base, rates: (formula, BASE)),
            "The base was taken as 10000 everywhere. Work it out from the frequencies.",
        ),
    ),
    alternatives=(_formula_by_trying, _formula_by_the_last, _formula_by_slope),
    hints=(
        "At position 1 the angle of a pair is its frequency. `np.arctan2(sine, cosine)` gives the angle; "
        "your `layout_of` says which columns make a pair.",
        "The frequencies fall by the same factor from pair to pair. With dim/2 pairs, that factor is the "
        "base to the power -1/(dim/2) in the paper, and to the power -1/(dim/2 - 1) in tensor2tensor's code.",
        "Solve both for the base. One of the two comes out as a power of ten: test it with `np.log10`, and "
        "leave room for rounding.",
    ),
)
