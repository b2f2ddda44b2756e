"""A trained decoder, of your own functions: RoPE, as the file has it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch07_alibi_and_biases._decoder import WHOLE, Generator, _turned, turned_by_arrows
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _turn_cases(rng: Generator) -> Iterator[Case]:
    for label, heads, n, width, start, base in (
        ("one head, from the start", 1, 4, 4, 0, 100.0),
        ("two heads, from the start", 2, 5, 8, 0, 300.0),
        # The shape and the base of the second: angles that were kept for it are wrong here.
        ("two heads, after 17 rows that are kept", 2, 5, 8, 17, 300.0),
        ("one new row after six that are kept", 2, 1, 4, 6, 300.0),
        ("three new rows far in the text", 1, 3, 8, 1000, 2000.0),
        ("as many rows as heads", 3, 3, 6, 2, 50.0),
    ):
        yield Case(label, (rng.normal(size=(heads, n, width)), start, base))
    start, n = int(rng.integers(1, 50)), int(rng.integers(2, 7))
    yield Case("a random start", (rng.normal(size=(2, n, 8)), start, 300.0))


def _turned_by_matrices(x: Array, start: int, base: float) -> Array:
    out = np.empty(x.shape)
    for p in range(x.shape[-2]):
        for i in range(x.shape[-1] // 2):
            angle = (start + p) * base ** (-2 * i / x.shape[-1])
            matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            out[:, p, 2 * i : 2 * i + 2] = x[:, p, 2 * i : 2 * i + 2] @ matrix.T
    return out


def _turned_pair_by_pair(x: Array, start: int, base: float) -> Array:
    positions = start + np.arange(x.shape[-2])
    out = np.empty_like(x)
    for i in range(0, x.shape[-1], 2):
        angle = positions / base ** (i / x.shape[-1])
        a, b = x[..., i], x[..., i + 1]
        out[..., i] = a * np.cos(angle) - b * np.sin(angle)
        out[..., i + 1] = b * np.cos(angle) + a * np.sin(angle)
    return out


TURNED = Exercise(
    id="07-alibi-and-biases.turned",
    title="RoPE, as the file has it",
    step_of=WHOLE,
    adds="Your decoder gets its second door: queries and keys turn with their positions.",
    signature="turned(x: (heads, n, width), start: int, base: float) -> array of the shape of x",
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda x, start, base: _turned(x, start, base),
    make_cases=_turn_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The shape stays as it is: every pair of columns only turns.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose((np.asarray(value) ** 2).sum(axis=-1), (args[0] ** 2).sum(axis=-1), rtol=1e-4)
            ),
            "Turning does not change lengths: every row must be as long as it was.",
        ),
        Property(
            lambda args, value: args[1] > 0 or bool(np.allclose(np.asarray(value)[:, 0], args[0][:, 0])),
            "At position 0 nothing has turned yet, so the first row must stay as it is.",
        ),
    ),
    mistakes=(
        Mistake(
            "half-layout",
            lambda x, start, base: _turned(x, start, base, half=True),
            "Column j was paired with column j + width / 2. In this file, neighbours are a pair: columns 0 "
            "and 1, 2 and 3, and so on.",
        ),
        Mistake(
            "other-way-round",
            lambda x, start, base: _turned(x, start, base, sign=-1),
            "The pairs turn the wrong way. A positive angle takes (1, 0) to (cos, sin).",
        ),
        Mistake(
            "start-forgotten",
            lambda x, start, base: _turned(x, 0, base),
            "The first row was put at position 0. It is at start, behind everything that is kept.",
        ),
        Mistake(
            "start-for-all",
            lambda x, start, base: np.concatenate(
                [_turned(x[:, [row]], start, base) for row in range(x.shape[1])], axis=1
            ),
            "All rows turn by the angles of the first one. Each row is one position after the one before.",
        ),
        Mistake(
            "one-late",
            lambda x, start, base: _turned(x, start + 1, base),
            "Every row was turned one position too far. The very first row is at position 0.",
        ),
        Mistake(
            "base-10000",
            lambda x, start, base: (
                _turned(_turned(x, 0, base, turns=0), start, 12345.0)
                if base == 10000.0
                else _turned(x, start, 10000.0)
            ),
            "You used base 10,000. Use the base that is given: each file has its own.",
        ),
        Mistake(
            "column-for-pair",
            lambda x, start, base: _turned(x, start, base, rates=lambda width: np.arange(width // 2) / width),
            "The pairs turn too fast: pair i turns by base ** (-2 i / width), and the 2 is missing.",
        ),
        Mistake(
            "all-pairs-alike",
            lambda x, start, base: _turned(x, start, base, rates=lambda width: np.zeros(width // 2)),
            "All pairs turn equally fast. Pair i turns by base ** (-2 i / width) per position.",
        ),
        Mistake(
            "slowest-is-the-base",
            lambda x, start, base: _turned(
                x, start, base, rates=lambda width: np.arange(width // 2) / max(width // 2 - 1, 1)
            ),
            "The slowest pair turns by 1 / base. The exponents are 2 i / width, which never reaches 1.",
        ),
        Mistake(
            "heads-as-positions",
            lambda x, start, base: _turned(x.swapaxes(0, 1), start, base).swapaxes(0, 1),
            "You took the heads for positions. The rows of a head are on the middle axis.",
        ),
        Mistake(
            "full-turns",
            lambda x, start, base: _turned(x, start, base, turns=2 * np.pi),
            "The angles are too large by 2π: the frequencies count radians per position, not turns.",
        ),
        Mistake(
            "rising-frequencies",
            lambda x, start, base: _turned(
                x, start, base, rates=lambda width: -np.arange(0, width, 2) / width
            ),
            "The frequencies rise from pair to pair. The minus in the exponent is missing: base ** (-2 i / "
            "width).",
        ),
        Mistake(
            "slow-pairs-first",
            lambda x, start, base: _turned(
                x, start, base, rates=lambda width: np.arange(0, width, 2)[::-1] / width
            ),
            "The frequencies are in reverse order. Pair 0 is the fastest, with frequency 1.",
        ),
        Mistake(
            "doubled-twice",
            lambda x, start, base: _turned(
                x, start, base, rates=lambda width: 2 * np.arange(0, width, 2) / width
            ),
            "The exponent is -4 i / width and should be -2 i / width. That happens when the steps 0, 2, 4, "
            "... are doubled again.",
        ),
        Mistake(
            "one-early",
            lambda x, start, base: _turned(x, start - 1, base),
            "Every row was turned one position too little. The first row of each head is at position start.",
        ),
        Mistake(
            "first-head-alone",
            lambda x, start, base: np.concatenate([_turned(x[:1], start, base), x[1:]]),
            "Only the first head was turned. Index from the right, x[..., 0::2], and all heads are included.",
        ),
    ),
    alternatives=(turned_by_arrows, _turned_by_matrices, _turned_pair_by_pair),
    hints=(
        "Row number r of a head is at position start + r. Pair i there turns by that position times `base "
        "** (-2 * i / width)`.",
        "`x[..., 0::2]` are the first numbers of all pairs, `x[..., 1::2]` the second ones.",
        "The first becomes `a * cos - b * sin`, the second `a * sin + b * cos`. Put them back where they "
        "came from.",
    ),
)
