"""Trigonometry in row 1 only: Two positions make a third."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    ROW_ONE,
    _halves,
    by_parts,
    clock_hands,
    paired,
    parted,
    row_of_sum,
)
from posenc_course.exercises.ch02_the_formula.sinusoidal import _table
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _row_of_sum_by_loop(here: np.ndarray, there: np.ndarray) -> list[float]:
    row = []
    for even in range(0, len(here), 2):
        (sa, ca), (sb, cb) = here[even : even + 2], there[even : even + 2]
        row += [sa * cb + ca * sb, ca * cb - sa * sb]
    return row


def _row_of_sum_by_complex(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    turned = (here[1::2] + 1j * here[0::2]) * (there[1::2] + 1j * there[0::2])
    return np.column_stack([turned.imag, turned.real]).ravel()


def _row_of_sum_by_angles(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    theta = np.arctan2(*parted(here)) + np.arctan2(*parted(there))
    return paired(np.sin(theta), np.cos(theta))


def _row_of_sum_by_matrices(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    sines, cosines = parted(there)
    turns = np.stack([np.stack([cosines, sines], -1), np.stack([-sines, cosines], -1)], -2)
    return np.asarray(np.einsum("pij,pj->pi", turns, np.asarray(here).reshape(-1, 2)).ravel())


def _sum_cases(rng: np.random.Generator) -> Iterator[Case]:
    still = clock_hands(0, 0)
    yield Case("positions 1 and 1 at width 4", (_table(np.arange(2), 4)[1], _table(np.arange(2), 4)[1]))
    yield Case("positions 2 and 3 at width 8", tuple(_table(np.asarray([2, 3]), 8)))
    yield Case("position 0 and another one", (still, clock_hands(2.0, 0.3)))
    yield Case("another one and position 0", (clock_hands(-1.2, 3.0), still))
    yield Case("two positions before the start", tuple(_table(np.asarray([-5, -2]), 6)))
    for dim in (2, *(int(2 * rng.integers(3, 12)) for _ in range(3))):
        here, there = (clock_hands(*rng.uniform(-np.pi, np.pi, size=dim // 2)) for _ in range(2))
        yield Case(f"clocks of any speed, width {dim}", (here, there))


ROW_OF_SUM = Exercise(
    id="02-the-formula.row_of_sum",
    title="Two positions make a third",
    signature="row_of_sum(here: shape (dim,), there: shape (dim,)) -> array of shape (dim,)",
    step_of=ROW_ONE,
    points=2,
    minutes=10,
    difficulty=3,
    reference=lambda here, there: row_of_sum(here, there),
    make_cases=_sum_cases,
    properties=(
        Property(
            lambda args, value: bool(np.allclose(value[0::2] ** 2 + value[1::2] ** 2, 1, atol=1e-3)),
            "Each pair of the result must be a point on its circle: the squares of its sine and its cosine "
            "add up to 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "difference",
            by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb + sa * sb)),
            "This is the row of the difference of the two positions: both signs are wrong. Look up sin(a + "
            "b) and cos(a + b).",
        ),
        Mistake(
            "plus-in-the-cosine",
            by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb + sa * sb)),
            "The sines are right, and the cosines are those of the difference: the sign in cos(a + b) is a "
            "minus.",
        ),
        Mistake(
            "minus-in-the-sine",
            by_parts(lambda sa, ca, sb, cb: (sa * cb - ca * sb, ca * cb - sa * sb)),
            "The cosines are right, and the sines are those of the difference: the sign in sin(a + b) is a "
            "plus.",
        ),
        Mistake(
            "rows-added",
            lambda here, there: here + there,
            "The two rows were added. The sine of a sum is not the sum of the sines: it takes the sine "
            "and the cosine of both angles.",
        ),
        Mistake(
            "rows-multiplied",
            lambda here, there: here * there,
            "The two rows were multiplied number by number. Sines must also meet cosines: sin(a + b) has two "
            "terms, and each is made of both.",
        ),
        Mistake(
            "half-way",
            by_parts(
                lambda sa, ca, sb, cb: (
                    (sa + sb) / np.hypot(sa + sb, ca + cb),
                    (ca + cb) / np.hypot(sa + sb, ca + cb),
                )
            ),
            "This hand points half-way between the two. Adding arrows and correcting their length gives the "
            "mean of the angles, not their sum.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            by_parts(lambda sa, ca, sb, cb: (ca * cb - sa * sb, sa * cb + ca * sb)),
            "The two numbers of each pair are swapped: even columns hold the sine, odd ones the cosine.",
        ),
        Mistake(
            "cosine-negated",
            by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, sa * sb - ca * cb)),
            "The sines are right, and the cosines have the wrong sign: cos(a + b) is cos a cos b - sin a "
            "sin b.",
        ),
        Mistake(
            "sine-negated",
            by_parts(lambda sa, ca, sb, cb: (-(sa * cb + ca * sb), ca * cb - sa * sb)),
            "The cosines are right, and the sines have the wrong sign: sin(a + b) is sin a cos b + cos a "
            "sin b.",
        ),
        Mistake(
            "overwritten",
            by_parts(lambda sa, ca, sb, cb: (sa * cb + ca * sb, ca * cb - (sa * cb + ca * sb) * sb)),
            "The new sines are right, but the new cosines were made from them. You write into a row that you "
            "still read from: keep the old sines, or write into a new row.",
        ),
        Mistake(
            "angle-from-the-sine-alone",
            by_parts(
                lambda sa, ca, sb, cb: (
                    np.sin(np.arcsin(sa) + np.arcsin(sb)),
                    np.cos(np.arcsin(sa) + np.arcsin(sb)),
                )
            ),
            "The angles were taken from the sines alone. Each sine comes twice in a turn, and np.arcsin "
            "gives only the angles up to a quarter turn. Use the cosines too: np.arctan2(sine, cosine), or "
            "no angle at all.",
        ),
        Mistake(
            "angle-from-the-cosine-alone",
            by_parts(
                lambda sa, ca, sb, cb: (
                    np.sin(np.arccos(np.clip(ca, -1, 1)) + np.arccos(np.clip(cb, -1, 1))),
                    np.cos(np.arccos(np.clip(ca, -1, 1)) + np.arccos(np.clip(cb, -1, 1))),
                )
            ),
            "The angles were taken from the cosines alone, which are the same for an angle and for its "
            "opposite. Use the sines too: np.arctan2(sine, cosine), or no angle at all.",
        ),
        Mistake(
            "angle-from-the-quotient",
            by_parts(
                lambda sa, ca, sb, cb: (
                    np.sin(np.arctan(sa / ca) + np.arctan(sb / cb)),
                    np.cos(np.arctan(sa / ca) + np.arctan(sb / cb)),
                )
            ),
            "The angles were taken from sine / cosine with np.arctan, which cannot tell an angle from the "
            "one half a turn further. np.arctan2(sine, cosine) can; or use no angle at all.",
        ),
        Mistake(
            "sine-from-the-cosine",
            by_parts(
                lambda sa, ca, sb, cb: (
                    np.sqrt(np.maximum(1 - (ca * cb - sa * sb) ** 2, 0)),
                    ca * cb - sa * sb,
                )
            ),
            "The sines were taken from the cosines by a square root, which is never negative. A sine may "
            "be: add up its own two terms.",
        ),
        Mistake(
            "halves-returned",
            lambda here, there: np.concatenate(parted(row_of_sum(here, there))),
            "The numbers are right, but all sines come first and all cosines after them. Give them back "
            "interleaved: sine, cosine, sine, cosine, ...",
        ),
        Mistake(
            "first-row-alone",
            lambda here, there: here,
            "This is the row of position a, as it was given. Each of its pairs must turn further, by the "
            "angle of the same pair in there.",
        ),
        Mistake(
            "sine-as-the-real-part",
            by_parts(lambda sa, ca, sb, cb: (sa * sb - ca * cb, sa * cb + ca * sb)),
            "The pairs were multiplied as complex numbers whose real part is the sine. The real part is the "
            "cosine, which is column 2i + 1.",
        ),
        Mistake(
            "wrong-partners",
            by_parts(lambda sa, ca, sb, cb: (sa * ca + sb * cb, ca * cb - sa * sb)),
            "In the sine, each sine met the cosine of its own position. It takes the cosine of the other "
            "one: sin a cos b + cos a sin b.",
        ),
        Mistake(
            "one-term-only",
            by_parts(lambda sa, ca, sb, cb: (sa * cb, ca * cb)),
            "Only the first term of each sum is there. Both sin(a + b) and cos(a + b) have a second one.",
        ),
        Mistake(
            "halves",
            _halves(row_of_sum),
            "The rows were read as all sines first and all cosines after them. Here they are interleaved: "
            "columns 2i and 2i + 1 are one pair.",
        ),
        Mistake(
            "cosine-from-the-sine",
            by_parts(
                lambda sa, ca, sb, cb: (
                    sa * cb + ca * sb,
                    np.sqrt(np.maximum(1 - (sa * cb + ca * sb) ** 2, 0)),
                )
            ),
            "The cosines were taken from the sines by a square root, which is never negative. A cosine may "
            "be: add up its own two terms.",
        ),
    ),
    alternatives=(
        _row_of_sum_by_loop,
        _row_of_sum_by_complex,
        _row_of_sum_by_angles,
        _row_of_sum_by_matrices,
    ),
    hints=(
        "Take one pair. You have sin a and cos a from `here`, sin b and cos b from `there`, and want sin(a + "
        "b) and cos(a + b).",
        "The sum of two angles: sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a "
        "sin b.",
        "`here[0::2]` holds all its sines and `here[1::2]` all its cosines. Fill the same columns of a new "
        "row.",
    ),
)
