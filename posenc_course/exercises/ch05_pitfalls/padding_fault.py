"""Mystery padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator, softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, enough_of_each
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal


@dataclass(frozen=True)
class Summariser:
    """A model, (n,) tokens and their mask to one vector: the mean of what one layer makes of the tokens."""

    fault: str
    seed: int

    def __call__(self, tokens: Array, mask: Array) -> Array:
        tokens, real = np.asarray(tokens), np.asarray(mask) == 1
        rng = np.random.default_rng(self.seed)
        words, places = rng.normal(size=(2, 64, 8))
        w_q, w_k, w_v = rng.normal(size=(3, 8, 8)) / np.sqrt(8)
        counted = np.where(real, np.cumsum(real) - 1, 0)
        at = np.arange(len(tokens)) if self.fault == "moved" else counted
        h = words[tokens] + (places[at] if self.seed % 2 else sinusoidal(at, 8))
        scores = (h @ w_q) @ (h @ w_k).T / np.sqrt(8)
        if self.fault != "seen":
            scores = np.where(real, scores, -np.inf)
        rows = softmax(scores) @ (h @ w_v)
        number = len(tokens) if self.fault == "counted" else real.sum()
        return np.asarray((rows * real[:, None]).sum(axis=0) / number)


_FAULTS = {
    "none": "nothing is wrong",
    "seen": "attention sees padding",
    "moved": "padding takes up positions",
    "counted": "the mean counts padding",
}


def _summariser_cases(rng: Generator) -> Iterator[Case]:
    for fault in enough_of_each(rng, *([each] for each in _FAULTS)):
        yield Case(_FAULTS[fault], (Summariser(fault, int(rng.integers(2**32))),))


Summary = Callable[[Array, Array], Array]


_WORDS = np.array([3, 1, 4, 1, 5])


def _padded(model: Summary, padding: Sequence[int], *, left: bool = True) -> Array:
    tokens = [*padding, *_WORDS] if left else [*_WORDS, *padding]
    real = [0] * len(padding) + [1] * len(_WORDS) if left else [1] * len(_WORDS) + [0] * len(padding)
    return np.asarray(model(np.array(tokens), np.array(real)))


def _padding_fault(model: Summary) -> str:
    alone, padded, other = (_padded(model, each) for each in ([], [0, 0], [7, 9]))
    if np.allclose(padded, alone):
        return "none"
    if not np.allclose(padded, other):
        return "seen"
    return "counted" if np.allclose(padded * 7, alone * 5) else "moved"


def _fault_by_both_sides(model: Summary) -> str:
    alone, left, right = (
        _padded(model, []),
        _padded(model, [2, 6, 8]),
        _padded(model, [2, 6, 8], left=False),
    )
    if np.allclose(alone, left) and np.allclose(alone, right):
        return "none"
    if np.allclose(alone, right):
        return "moved"  # behind the tokens, padding moves nobody
    return "seen" if not np.allclose(right, _padded(model, [9, 9, 9], left=False)) else "counted"


def _fault_by_cosine(model: Summary) -> str:
    alone, padded, other = (_padded(model, each) for each in ([], [0] * 5, [1] * 5))
    if np.abs(padded - other).max() > 1e-9:
        return "seen"
    if np.abs(padded - alone).max() < 1e-9:
        return "none"
    cosine = padded @ alone / np.linalg.norm(padded) / np.linalg.norm(alone)
    return "counted" if cosine > 1 - 1e-9 else "moved"


def _fault_by_the_amount(model: Summary) -> str:
    """What counts padding halves with twice the length."""
    alone, five, fifteen = (_padded(model, [4] * n) for n in (0, 5, 15))
    if np.allclose(alone, five):
        return "none"
    if not np.allclose(five, _padded(model, [5] * 5)):
        return "seen"
    return "counted" if np.allclose(five, 2 * fifteen) else "moved"


PADDING_FAULT = Exercise(
    id="05-pitfalls.padding_fault",
    title="Mystery padding",
    signature="padding_fault(model: function of (tokens (n,), mask (n,)) that returns a vector) "
    '-> "none", "seen", "moved" or "counted"',
    points=4,
    minutes=18,
    difficulty=4,
    reference=_padding_fault,
    make_cases=_summariser_cases,
    mistakes=(
        Mistake(
            "any-change-is-seen",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "seen",
            "You blame attention for every change that padding makes. If attention saw padding, other "
            "padding would make another change: try that.",
        ),
        Mistake(
            "any-change-is-moved",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "moved",
            "You blame the positions for every change that padding makes. Which changes remain when the "
            "padding stands behind the tokens?",
        ),
        Mistake(
            "behind-the-tokens-alone",
            lambda model: _behind_alone(model),
            "You put padding behind the tokens alone. There it moves nobody: put it before them, too.",
        ),
        Mistake(
            "mean-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "counted" else _padding_fault(model),
            "You tell attention from the rest. But a mean that counts padding is taken for moved positions: "
            "it makes all numbers smaller by one factor.",
        ),
        Mistake(
            "positions-not-suspected",
            lambda model: "counted" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You tell attention from the rest. But moved positions are taken for a mean that counts padding, "
            "which changes nothing but the size of the vector.",
        ),
        Mistake(
            "attention-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "seen" else _padding_fault(model),
            "You never ask whether the padding's own tokens matter. Where attention sees them, they do.",
        ),
        Mistake(
            "moved-taken-for-seen",
            lambda model: "seen" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You find the mean that counts padding, and blame attention for all the rest. Put other words "
            "into the padding: only attention would notice.",
        ),
        Mistake(
            "seen-and-counted-confused",
            lambda model: {"seen": "counted", "counted": "seen"}.get(
                _padding_fault(model), _padding_fault(model)
            ),
            "You find out that something is wrong, but confuse attention that sees padding with a mean that "
            "counts it. For which of the two does it matter what stands in the padding?",
        ),
        Mistake(
            "moved-and-counted-confused",
            lambda model: {"moved": "counted", "counted": "moved"}.get(
                _padding_fault(model), _padding_fault(model)
            ),
            "You confuse moved positions with a mean that counts padding. Which of the two only changes the "
            "size of the vector?",
        ),
    ),
    alternatives=(_fault_by_both_sides, _fault_by_cosine, _fault_by_the_amount),
    hints=(
        "Start with one sentence, alone and padded. Are the two vectors the same?",
        "If they differ: put other tokens into the padding. Only where attention sees padding does the "
        "vector change once more.",
        "Two suspects are left. One of them only divides by too large a number: then the padded vector is a "
        "multiple of the other, here 5/7 of it for five tokens and two paddings. Or put the padding behind "
        "the tokens, where it moves nobody.",
    ),
)


def _behind_alone(model: Summary) -> str:
    alone, padded, other = (_padded(model, each, left=False) for each in ([], [0, 0], [7, 9]))
    if np.allclose(padded, alone):
        return "none"
    return "counted" if np.allclose(padded, other) else "seen"
