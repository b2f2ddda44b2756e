"""The mystery checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import BASE, Generator, Rotate
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.rotated.rotary import apply_rotary

MYSTERY_DIM = 16


_LAYOUTS = ("interleaved", "half")


@dataclass(frozen=True)
class _Rotation:
    """A checkpoint's rotation, of which nobody says how it was made."""

    layout: str
    base: float
    columns: int

    def __call__(self, x: Array, positions: Array) -> Array:
        turned = apply_rotary(
            np.asarray(x, dtype=np.float64),
            np.asarray(positions),
            base=self.base,
            layout=self.layout,  # type: ignore[arg-type]
            rotary_dim=self.columns,
        )
        return np.asarray(turned)


def _checkpoint_cases(rng: Generator) -> Iterator[Case]:
    facts = [
        ("half", 10_000.0, MYSTERY_DIM),
        ("interleaved", 10_000.0, MYSTERY_DIM),
        ("half", 1_000_000.0, MYSTERY_DIM),  # its slowest pair is slower than any of the drawn
        ("interleaved", 10_000.0, 4),
        ("half", 500_000.0, 8),
        ("interleaved", 300.0, 12),
        ("half", 10_000.0, 4),
    ]
    for _ in range(3):
        layout, columns = str(rng.choice(_LAYOUTS)), int(2 * rng.integers(2, 9))
        facts.append((layout, float(rng.integers(1000, 1_000_000)), columns))
    for number, each in enumerate(facts, start=1):
        yield Case(f"checkpoint {number}", (_Rotation(*each), MYSTERY_DIM))
    yield Case("a wider head", (_Rotation("half", 20_000.0, 24), 24))
    yield Case("a narrower head", (_Rotation("interleaved", 5_000.0, 6), 8))


def _angle_of_pair(rotate: Rotate, head_dim: int, first: int, second: int, position: float = 1.0) -> float:
    x = np.eye(head_dim)[[first]]
    row = rotate(x, np.array([position]))[0]
    return float(np.arctan2(row[second], row[first]))


Facts = tuple[str, float, int]


def _facts(rotate: Rotate, head_dim: int) -> Facts:
    basis = np.eye(head_dim)
    turned = rotate(basis, np.ones(head_dim))
    columns = int((np.abs(turned - basis).max(axis=1) > 1e-9).sum())
    partner = int(np.abs(turned[0, 1:]).argmax()) + 1
    layout = "interleaved" if partner == 1 else "half"
    # Pair 1 turns by base ** (-2 / columns) in one position.
    first, second = (2, 3) if layout == "interleaved" else (1, 1 + columns // 2)
    return layout, _angle_of_pair(rotate, head_dim, first, second) ** (-columns / 2), columns


def _facts_but(change: Callable[[str, float, int], Facts]) -> Callable[[Rotate, int], Facts]:
    """The facts, with some of them told otherwise."""
    return lambda rotate, head_dim: change(*_facts(rotate, head_dim))


def _facts_of_a_head_but(change: Callable[[int, str, float, int], Facts]) -> Callable[[Rotate, int], Facts]:
    """The same, where it matters how wide the head is."""
    return lambda rotate, head_dim: change(head_dim, *_facts(rotate, head_dim))


def _partner_half_a_head_away(rotate: Rotate, head_dim: int) -> Facts:
    """In the half layout the partner is looked for half of the head away, whatever turns."""
    layout, base, columns = _facts(rotate, head_dim)
    if layout == "half":
        angle = _angle_of_pair(rotate, head_dim, 1, 1 + head_dim // 2)
        base = angle ** (-columns / 2)
    return layout, base, columns


def _other_layout(layout: str) -> str:
    return "half" if layout == "interleaved" else "interleaved"


def _seen_to_move(base: float, columns: int, least: float = 1e-3) -> int:
    """Columns whose pair turns by at least so many radians at position 1."""
    pairs = np.arange(columns // 2)
    return int(2 * (base ** (-2 * pairs / columns) > least).sum())


def _facts_far_away(rotate: Rotate, head_dim: int) -> Facts:
    """Layout and share from a far position, the base from the slowest pair."""
    turned = rotate(np.eye(head_dim), np.full(head_dim, 1000.0))
    columns = int((np.abs(turned - np.eye(head_dim)).max(axis=1) > 1e-9).sum())
    interleaved = abs(turned[0, 1]) > 1e-9
    last = (columns - 2, columns - 1) if interleaved else (columns // 2 - 1, columns - 1)
    slowest = _angle_of_pair(rotate, head_dim, *last)
    return "interleaved" if interleaved else "half", slowest ** (-columns / (columns - 2)), columns


def _facts_by_trying(rotate: Rotate, head_dim: int) -> Facts:
    """The share from one random row; the layout by trying both; the base from where each pair has come."""
    x = np.random.default_rng(1).normal(size=(1, head_dim))
    moved = rotate(x, np.array([1.0]))
    columns = int((np.abs(moved - x) > 1e-9).sum())
    tried = []
    for layout in _LAYOUTS:
        first, second = (
            (slice(0, columns, 2), slice(1, columns, 2))
            if layout == "interleaved"
            else (slice(0, columns // 2), slice(columns // 2, columns))
        )
        ratio = (moved[0, first] + 1j * moved[0, second]) / (x[0, first] + 1j * x[0, second])
        tried.append((float(np.abs(np.abs(ratio) - 1).max()), layout, np.angle(ratio)))
    _, layout, angles = min(tried, key=lambda each: each[0])
    return layout, float(angles[1] ** (-columns / 2)), columns


CHECKPOINT_FACTS = Exercise(
    id="06-rotary.checkpoint_facts",
    title="The mystery checkpoint",
    signature="checkpoint_facts(rotate: a function from x of shape (n, head_dim) and positions of shape "
    "(n,) to an array of shape (n, head_dim), head_dim: int) -> layout, base, columns",
    points=4,
    minutes=18,
    difficulty=4,
    parts=("the layout", "the base", "the number of columns that turn"),
    reference=_facts,
    make_cases=_checkpoint_cases,
    relative_tolerance=5e-3,  # a base to three digits
    where_not_finite="An angle of 0 gives an infinite base. Do you read the pair that really turns? In the "
    "half layout column 1 goes with 1 plus half of the columns that turn, and not half of head_dim.",
    properties=(
        Property(
            lambda args, value: not isinstance(value[0], str) or value[0].strip().lower() in _LAYOUTS,
            "The layout is one of two words: interleaved or half.",
            about="form",
        ),
        Property(
            lambda args, value: isinstance(value[0], str) or not any(isinstance(each, str) for each in value),
            "The layout comes first, then the base, then the number of columns.",
            about="form",
        ),
        Property(
            lambda args, value: value[2] >= args[0].columns,
            "You miss columns that turn very slowly. At position 1 the slowest pair may move by less than a "
            "thousandth, and then its cosine is 1 to six digits: look at the sine, for any change at all.",
        ),
        Property(
            lambda args, value: value[2] <= args[0].columns,
            "You count more columns than turn. A column turns where its row of the identity matrix changes.",
        ),
    ),
    mistakes=(
        Mistake(
            "other-layout",
            _facts_but(lambda layout, base, columns: (_other_layout(layout), base, columns)),
            "Base and columns are right, and the layout is the other one. Put a 1 into column 0 alone: into "
            "which second column does the turn carry some of it? If that is its neighbour, the layout is "
            "interleaved.",
        ),
        Mistake(
            "columns-before-base",
            _facts_but(lambda layout, base, columns: (layout, columns, base)),  # type: ignore[arg-type,return-value]
            "The base and the number of columns are swapped: the base comes before the number of columns.",
        ),
        Mistake(
            "always-half",
            _facts_but(lambda layout, base, columns: ("half", base, columns)),
            "You call every layout half. Put a 1 into column 0 alone: into which second column does the turn "
            "carry some of it?",
        ),
        Mistake(
            "always-the-usual-base",
            _facts_but(lambda layout, base, columns: (layout, BASE, columns)),
            "You answer base 10,000 for every checkpoint. Measure how far a pair other than the first turns "
            "in one position.",
        ),
        Mistake(
            "slow-columns-missed",
            _facts_but(lambda layout, base, columns: (layout, base, _seen_to_move(base, columns))),
            "You miss columns that turn very slowly. At position 1 the slowest pair may move by less than a "
            "hundred-thousandth: look at a far position, or for any change at all.",
        ),
        Mistake(
            "whole-head",
            _facts_of_a_head_but(lambda head, layout, base, columns: (layout, base, head)),
            "You answer for every checkpoint that the whole head turns. Some columns may come out as they "
            "went in.",
        ),
        Mistake(
            "pairs-counted",
            _facts_but(lambda layout, base, columns: (layout, base, columns // 2)),
            "You count pairs. Count the columns: each pair has two.",
        ),
        Mistake(
            "columns-that-pass",
            _facts_of_a_head_but(lambda head, layout, base, columns: (layout, base, head - columns)),
            "You count the columns that pass. Count those that turn.",
        ),
        Mistake(
            "exponent-of-the-whole-head",
            _facts_of_a_head_but(
                lambda head, layout, base, columns: (layout, base ** (head / columns), columns)
            ),
            "The base is right where the whole head turns. Where only a part does, divide by the number of "
            "columns that turn, and not by head_dim.",
        ),
        Mistake(
            "exponent-without-the-two",
            _facts_but(lambda layout, base, columns: (layout, base**2, columns)),
            "Your base is the square of the right one. Pair 1 has the frequency base to the power "
            "-2/columns.",
        ),
        Mistake(
            "upside-down",
            _facts_but(lambda layout, base, columns: (layout, 1 / base, columns)),
            "Your base is 1 divided by the right one: a sign is missing in the exponent.",
        ),
        Mistake(
            "wavelength",
            _facts_but(lambda layout, base, columns: (layout, 2 * np.pi * base ** (2 / columns), columns)),
            "This is the wavelength of pair 1, in positions. Solve its frequency, base to the power "
            "-2/columns, for the base.",
        ),
        Mistake(
            "always-interleaved",
            _facts_but(lambda layout, base, columns: ("interleaved", base, columns)),
            "You call every layout interleaved. Put a 1 into column 0 alone: into which second column does "
            "the turn carry some of it?",
        ),
        Mistake(
            "partner-half-a-head-away",
            _partner_half_a_head_away,
            "It is right where the whole head turns. Where only a part does, you look for the partner of "
            "column 1 in the half layout at 1 + head_dim/2, find nothing there, and read an angle of 0. "
            "Column j's partner is j plus half of the columns that turn.",
        ),
        Mistake(
            "angle-for-base",
            _facts_but(lambda layout, base, columns: (layout, base ** (2 / columns), columns)),
            "Your base is 1 divided by the angle of pair 1. That angle is base to the power -2/columns: "
            "solve this for the base.",
        ),
        Mistake(
            "sine-for-angle",
            _facts_but(
                lambda layout, base, columns: (
                    layout,
                    float(np.sin(base ** (-2 / columns))) ** (-columns / 2),
                    columns,
                )
            ),
            "You took the sine for the angle itself, which is close only where a pair turns slowly. "
            "np.arctan2 of sine and cosine is the angle.",
        ),
    ),
    alternatives=(
        _facts_far_away,
        _facts_by_trying,
        lambda rotate, head_dim: list(_facts(rotate, head_dim)),
        _facts_but(lambda layout, base, columns: (layout, float(f"{base:.3g}"), columns)),
    ),
    hints=(
        "Feed it rows that have a single 1, `np.eye(head_dim)`, all at position 1. Row c of the result says "
        "where column c has gone.",
        "A column that turns leaves a cosine on the diagonal, and puts a sine into the column of its "
        "partner. Slow pairs hide well: their cosine is 1 to ten digits, but their sine is not 0.",
        "Pair 0 turns by 1 radian, whatever the base. Pair 1 turns by base to the power -2/columns: "
        "`np.arctan2` of its sine and cosine is that number.",
    ),
)
