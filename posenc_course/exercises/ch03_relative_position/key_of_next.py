"""A head that looks one back: The key of the next place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import ONE_BACK_HEAD, Generator, key_matrix
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import shift_matrix, sinusoidal
from posenc_lib.angles import frequencies


def _width_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, base in (
        ("dim 2, base 10000", 2, 10000.0),
        ("dim 4, base 10000", 4, 10000.0),
        ("dim 8, base 100", 8, 100.0),
        ("dim 64, base 10000", 64, 10000.0),
        ("random width and base", int(2 * rng.integers(3, 17)), float(rng.integers(50, 20_000))),
    ):
        yield Case(label, (dim, base))


def _key_matrix_by_products(dim: int, base: float) -> np.ndarray:
    turn = np.exp(1j * frequencies(dim, base=base))
    quarter = np.asarray([[0.0, -1.0], [1.0, 0.0]])
    return np.asarray(np.kron(np.diag(turn.real), np.eye(2)) + np.kron(np.diag(turn.imag), quarter))


def _key_matrix_in_loops(dim: int, base: float) -> list[list[float]]:
    matrix = [[0.0] * dim for _ in range(dim)]
    for even in range(0, dim, 2):
        angle = base ** (-even / dim)
        matrix[even][even] = matrix[even + 1][even + 1] = float(np.cos(angle))
        matrix[even][even + 1] = -float(np.sin(angle))
        matrix[even + 1][even] = float(np.sin(angle))
    return matrix


def _key_blocks(dim: int, base: float, block: Callable[[float, float], list[list[float]]]) -> np.ndarray:
    matrix = np.zeros((dim, dim))
    for pair, rate in enumerate(frequencies(dim, base=base)):
        here = slice(2 * pair, 2 * pair + 2)
        matrix[here, here] = block(float(np.cos(rate)), float(np.sin(rate)))
    return matrix


KEY_OF_NEXT = Exercise(
    id="03-relative-position.key_of_next",
    title="The key of the next place",
    step_of=ONE_BACK_HEAD,
    signature="key_of_next(dim: int, base: number) -> array of shape (dim, dim)",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda dim, base: key_matrix(dim, base),
    make_cases=_width_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0], args[0]),
            "The matrix must have dim rows and dim columns.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.tile([0.0, 1.0], args[0] // 2) @ value,
                    sinusoidal(2, args[0], base=args[1])[1],
                    atol=1e-3,
                )
            ),
            "The row of position 0 is 0, 1, 0, 1, ... Times your matrix it must be the row of position 1.",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    sinusoidal(3, args[0], base=args[1])[1] @ value,
                    sinusoidal(3, args[0], base=args[1])[2],
                    atol=1e-3,
                )
            ),
            "The row of position 1, times your matrix, must be the row of position 2. The matrix must be "
            "right at every position, so it turns each pair by its own frequency.",
        ),
    ),
    mistakes=(
        Mistake(
            "keys-of-the-place-before",
            lambda dim, base: key_matrix(dim, base, -1),
            "With your matrix the key of place p is the row of place p - 1. Rows are on the left of the "
            "product, x @ w_k, so the matrix that moves a column has to be transposed.",
        ),
        Mistake(
            "usual-base",
            lambda dim, base: key_matrix(dim, 10000.0),
            "The base is taken to be 10000, whatever is given. The frequency of pair i is base to the "
            "power -2i/dim.",
        ),
        Mistake(
            "unturned",
            lambda dim, base: np.eye(dim),
            "With the identity each key is the row of its own place, so every query finds itself. Turn "
            "each pair by one step.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda dim, base: _key_blocks(dim, 1.0, lambda c, s: [[c, -s], [s, c]]),
            "Every pair is turned by 1 radian. Each pair has its own frequency, and that is its turn for "
            "one step.",
        ),
        Mistake(
            "no-minus",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, s], [s, c]]),
            "Both sines are positive, so this is not a turn. The cosine of a sum is cos cos - sin sin: one "
            "of the sines gets a minus sign.",
        ),
        Mistake(
            "mirror",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, s], [s, -c]]),
            "The minus sign is at a cosine. That makes a mirror, which does not turn anything. Put it at "
            "the sine that brings the old sine into the new cosine.",
        ),
        Mistake(
            "split-layout",
            lambda dim, base: shift_matrix(1, dim, base=base, layout="split").T,
            "Your matrix is for rows with all sines first. Here the two of a pair are side by side, so "
            "every pair has a block of two rows and two columns on the diagonal.",
        ),
        Mistake(
            "exponent-without-the-two",
            lambda dim, base: _key_blocks(dim, base**0.5, lambda c, s: [[c, -s], [s, c]]),
            "The exponent is i/dim where it should be 2i/dim.",
        ),
        Mistake(
            "doubled-twice",
            lambda dim, base: _key_blocks(dim, base**2, lambda c, s: [[c, -s], [s, c]]),
            "The exponent is 4i/dim where it should be 2i/dim: the factor 2 is taken twice, as happens "
            "when i counts columns in steps of two and is doubled again.",
        ),
        Mistake(
            "sine-and-cosine-exchanged",
            lambda dim, base: _key_blocks(dim, base, lambda c, s: [[s, -c], [c, s]]),
            "Sine and cosine are swapped. A turn by a small angle changes little, so the cosines "
            "belong on the diagonal.",
        ),
        Mistake(
            "two-steps",
            lambda dim, base: key_matrix(dim, base, 2),
            "Your matrix goes two places on. It should go one.",
        ),
        Mistake(
            "degrees",
            lambda dim, base: key_matrix(dim, base, np.pi / 180),
            "The angles were taken as degrees and converted. They are in radians already.",
        ),
        Mistake(
            "two-pi",
            lambda dim, base: key_matrix(dim, base, 2 * np.pi),
            "The angles were multiplied by 2 pi, as if the frequency counted turns. It counts radians per "
            "position.",
        ),
    ),
    alternatives=(
        _key_matrix_in_loops,
        _key_matrix_by_products,
        lambda dim, base: _key_blocks(dim, base, lambda c, s: [[c, -s], [s, c]]),
    ),
    hints=(
        "Write down the new sine and the new cosine of one pair by angle addition. The turn is the "
        "frequency itself, since it is one step.",
        "In `row @ matrix` the first row of a block says where the old sine goes: into the new sine with "
        "one factor, and into the new cosine with another.",
        "Start from `np.zeros((dim, dim))`. Pair i fills rows and columns 2i and 2i + 1, with the angle "
        "base ** (-2 * i / dim).",
    ),
)
