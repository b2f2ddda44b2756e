"""Symmetry detective."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.attention import attention

_Layer = Callable[[Array], Array]


ALL, MIRROR, SHIFT, NONE = "all", "mirror", "shift", "none"


def _attends(rng: Generator, **options: Any) -> _Layer:
    w_q, w_k, w_v = rng.normal(size=(3, 4, 4)) / 2
    return lambda x: attention(x @ w_q, x @ w_k, x @ w_v, **options)


def _with_mlp(rng: Generator) -> _Layer:
    attend, inwards, outwards = _attends(rng), rng.normal(size=(4, 8)), rng.normal(size=(8, 4))
    return lambda x: x + attend(x) + np.maximum(x @ inwards, 0.0) @ outwards


def _between(places: int) -> Array:
    """Key minus query, (places, places)."""
    return np.arange(places)[None, :] - np.arange(places)[:, None]


def _round_a_ring(rng: Generator, places: int) -> Array:
    return 2.0 * rng.normal(size=places)[_between(places) % places]


def _neighbours(x: Array) -> Array:
    around = np.pad(x, ((1, 1), (0, 0)))
    return x + (around[:-2] + around[2:]) / 3


def _marked_ends(x: Array) -> Array:
    marked = x.copy()
    marked[[0, -1]] += 1.0
    return marked


def _by_parity(rng: Generator) -> _Layer:
    size = 1.0 + rng.random()
    return lambda x: x + size * (np.arange(len(x)) % 2)[:, None]


_PLACES = 6


# From what the report calls it to how the box is made.
_BOXES: dict[str, dict[str, Callable[[Generator], _Layer]]] = {
    ALL: {
        "attention without positions": _attends,
        "attention, residual and MLP": _with_mlp,
        "each row less the mean of all": lambda rng: lambda x: x - x.mean(axis=0),
        "the mean of all rows, in place of every row": lambda rng: (
            lambda x: np.repeat(x.mean(axis=0, keepdims=True), len(x), axis=0)
        ),
        "each row by itself": lambda rng: lambda x: np.tanh(x),
        "the largest number of each column, added to every row": lambda rng: lambda x: x + x.max(axis=0),
    },
    MIRROR: {
        "attention with a penalty on distance": lambda rng: _attends(rng, bias=-0.7 * abs(_between(_PLACES))),
        "attention with a very small penalty on distance": lambda rng: _attends(
            rng, bias=-3e-5 * abs(_between(_PLACES))
        ),
        "each row with a part of its neighbours": lambda rng: _neighbours,
        "a mark on the first and the last row": lambda rng: _marked_ends,
    },
    SHIFT: {
        "each row with half of the row before it, round a ring": lambda rng: (
            lambda x: x + np.roll(x, 1, axis=0) / 2
        ),
        "each row with half of the row two places on, round a ring": lambda rng: (
            lambda x: x + np.roll(x, -2, axis=0) / 2
        ),
        "attention with a bias for each signed offset, round a ring": lambda rng: _attends(
            rng, bias=_round_a_ring(rng, _PLACES)
        ),
    },
    NONE: {
        "attention with a causal mask": lambda rng: _attends(rng, causal=True),
        "attention with a bias by signed offset": lambda rng: _attends(rng, bias=0.5 * _between(_PLACES)),
        "attention with a table added": lambda rng: _on_table(rng),
        "each row less the first one": lambda rng: lambda x: x - x[0],
        "each column in order of size": lambda rng: lambda x: np.sort(x, axis=0),
        "the mean of the first two rows, added to every row": lambda rng: lambda x: x + x[:2].mean(axis=0),
        "a mark on every second row": _by_parity,
    },
}


_BOX_OF = {label: make for boxes in _BOXES.values() for label, make in boxes.items()}


def _on_table(rng: Generator) -> _Layer:
    attend, table = _attends(rng), rng.normal(size=(_PLACES, 4))
    return lambda x: attend(x + table)


@dataclass(frozen=True)
class _Box:
    """A black box; two of one kind and one seed do the same."""

    kind: str
    seed: int

    def __call__(self, x: Array) -> Array:
        return _BOX_OF[self.kind](np.random.default_rng(self.seed))(x)


def _symmetry_cases(rng: Generator) -> Iterator[Case]:
    for kind in enough_of_each(rng, *(list(boxes) for boxes in _BOXES.values())):
        yield Case(kind, (_Box(kind, int(rng.integers(2**32))), rng.normal(size=(_PLACES, 4))))


_Holds = Callable[[_Layer, Array, Array], bool]


def _moves_along(layer: _Layer, x: Array, order: Array, limit: float = 1e-9) -> bool:
    return bool(np.abs(layer(x[order]) - layer(x)[order]).max() < limit)


def _turned_by(places: int, by: int = 1) -> Array:
    return np.roll(np.arange(places), by)


def _swapped(places: int, first: int) -> Array:
    order = np.arange(places)
    order[[first, first + 1]] = order[[first + 1, first]]
    return order


def _detect(
    layer: _Layer,
    x: Array,
    holds: _Holds = _moves_along,
    *,
    swaps: int | None = None,
    by: int = 1,
    names: Sequence[str] = (ALL, MIRROR, SHIFT),
) -> str:
    """The first of `names` that holds; all is all swaps of neighbours, or the first `swaps` of them."""
    n = len(x)
    orders = {
        ALL: [_swapped(n, first) for first in range(n - 1)][:swaps],
        MIRROR: [np.arange(n)[::-1]],
        SHIFT: [_turned_by(n, by)],
    }
    return next((name for name in names if all(holds(layer, x, each) for each in orders[name])), NONE)


def _detect_by_drawing(layer: _Layer, x: Array) -> str:
    rng, n = np.random.default_rng(0), len(x)
    if all(_moves_along(layer, x, rng.permutation(n)) for _ in range(20)):
        return ALL
    for name, order in ((MIRROR, np.arange(n)[::-1]), (SHIFT, (np.arange(n) + 1) % n)):
        if np.allclose(layer(x[order]), layer(x)[order], rtol=0, atol=1e-9):
            return name
    return NONE


def _detect_by_two(layer: _Layer, x: Array) -> str:
    """No box has both, unless it has all."""
    mirror = _moves_along(layer, x, np.arange(len(x))[::-1])
    shift = _moves_along(layer, x, _turned_by(len(x), -1))
    return {(True, True): ALL, (True, False): MIRROR, (False, True): SHIFT}.get((mirror, shift), NONE)


def _detect_by_two_generators(layer: _Layer, x: Array) -> str:
    """Every order is made of shifts and of swaps of the first two."""
    shift = _moves_along(layer, x, _turned_by(len(x)))
    if shift:
        return ALL if _moves_along(layer, x, _swapped(len(x), 0)) else SHIFT
    return MIRROR if _moves_along(layer, x, np.arange(len(x))[::-1]) else NONE


def _never(words: Sequence[str], *, for_a_box_of: Sequence[str]) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: value not in words or _detect(*args) not in for_a_box_of


SYMMETRY_LEFT = Exercise(
    id="01-why-order-matters.symmetry_left",
    title="Symmetry detective",
    signature="symmetry_left(layer: a function from (n, width) to (n, width), x: (n, width)) "
    '-> "all", "mirror", "shift" or "none"',
    points=3,
    minutes=15,
    difficulty=4,
    reference=lambda layer, x: _detect(layer, x),
    make_cases=_symmetry_cases,
    properties=(
        Property(
            lambda args, value: value in (ALL, MIRROR, SHIFT, NONE),
            "Answer with one of four words, in small letters: all, mirror, shift or none.",
            about="form",
        ),
        Property(
            _never((ALL,), for_a_box_of=(MIRROR, SHIFT, NONE)),
            "You say all, and this box does not follow every order. One swap is not enough: a box may "
            "treat two rows alike and no others. Try each pair of neighbours.",
        ),
        Property(
            _never((MIRROR, SHIFT, NONE), for_a_box_of=(ALL,)),
            "This box follows every order. If it did not pass your test of all, did you leave room for "
            "rounding, and compare with layer(x)[order]?",
        ),
        Property(
            _never((SHIFT, NONE), for_a_box_of=(MIRROR,)),
            "Turn the rows of x back to front, and the rows of this box's output turn back to front as well. "
            "(The rows are the first axis: x[::-1].)",
        ),
        Property(
            _never((MIRROR, NONE), for_a_box_of=(SHIFT,)),
            "Move the rows of x on by one place, the last one to the front, and the rows of this box's "
            "output move on by one place as well. (In np.roll, give axis=0: without it the numbers move, "
            "not the rows.)",
        ),
        Property(
            _never((MIRROR, SHIFT), for_a_box_of=(NONE,)),
            "This box follows neither the mirror nor the shift. Compare layer(x[order]) with "
            "layer(x)[order], row by row.",
        ),
    ),
    mistakes=(
        Mistake(
            "invariance",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: bool(np.abs(layer(x[order]) - layer(x)).max() < 1e-9)
            ),
            "You ask whether the output stays as it was. That is invariance, and hardly any box has it. Ask "
            "whether the rows move along: compare with layer(x)[order].",
        ),
        Mistake(
            "exactly",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: bool(np.array_equal(layer(x[order]), layer(x)[order]))
            ),
            "You ask for exact equality. A sum taken in another order is rounded differently in its last "
            "digits: let differences below 1e-9 pass.",
        ),
        Mistake(
            "too-coarse",
            lambda layer, x: _detect(
                layer, x, lambda layer, x, order: _moves_along(layer, x, order, limit=0.05)
            ),
            "You let differences pass that are far above rounding. A very small penalty on distance "
            "breaks the symmetry too: the limit is 1e-9.",
        ),
        Mistake(
            "first-two-swapped",
            lambda layer, x: _detect(layer, x, swaps=1),
            "You swap the first two rows, and conclude that all orders are allowed. A box may treat these "
            "two alike and no others: try more orders.",
        ),
        Mistake(
            "mirror-before-all",
            lambda layer, x: _detect(layer, x, names=(MIRROR, SHIFT, ALL)),
            "A box that lets all orders pass lets the mirror pass too, and you stop there. Ask for all "
            "first.",
        ),
        Mistake(
            "shift-before-all",
            lambda layer, x: _detect(layer, x, names=(SHIFT, ALL, MIRROR)),
            "A box that lets all orders pass lets the shift pass too, and you stop there. Ask for all first.",
        ),
        Mistake(
            "shift-by-two",
            lambda layer, x: _detect(layer, x, by=2),
            "You shift by two places. A box may treat even and odd places in two ways: then a shift by two "
            "leaves it as it is, and a shift by one does not.",
        ),
        Mistake(
            "pooled",
            lambda layer, x: _detect(
                layer,
                x,
                lambda layer, x, order: bool(
                    np.abs(layer(x[order]).sum(axis=0) - layer(x).sum(axis=0)).max() < 1e-9
                ),
            ),
            "You add the rows up before you compare, and a sum forgets which row was where. Compare row with "
            "row.",
        ),
        Mistake(
            "no-shift",
            lambda layer, x: _detect(layer, x, names=(ALL, MIRROR)),
            "You find all and mirror, and never the shift. If you do test for it, look at which way the "
            "output is moved: with order = np.roll(np.arange(n), 1), compare layer(x[order]) with "
            "layer(x)[order], and not with the rows moved back.",
        ),
    ),
    alternatives=(_detect_by_drawing, _detect_by_two, _detect_by_two_generators),
    hints=(
        "Write a small function first: for one `order`, the largest difference of `layer(x[order])` and "
        "`layer(x)[order]`. Below 1e-9 it is rounding.",
        "The mirror is `np.arange(n)[::-1]`, and the shift by one place is `np.roll(np.arange(n), 1)`.",
        "You need not try all orders to know that all are allowed: every order is made of swaps of two "
        "neighbours.",
        "A box that allows all orders allows the mirror and the shift as well. Which question comes first?",
    ),
)
