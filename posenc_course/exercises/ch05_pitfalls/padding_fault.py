"""Mystery padding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator, softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
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


def _right_about(fault: str) -> Callable[[tuple[Summariser], str], bool]:
    """Whether this fault is not taken for another one."""
    return lambda args, value: args[0].fault != fault or value == fault or value not in _FAULTS


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
    properties=(
        Property(lambda args, value: value in _FAULTS, "Return one of the four words.", about="form"),
        Property(
            _right_about("none"),
            "This model is right: alone and padded, on either side, its vector is the same to twelve digits.",
        ),
        Property(
            _right_about("seen"),
            "In this model attention sees padding: put other tokens into the padding, and the vector changes "
            "again. Do your tests do that?",
        ),
        Property(
            _right_about("moved"),
            "In this model padding takes up positions: padding before the tokens changes the vector, padding "
            "behind them does not, and what is in the padding makes no difference. The new vector is "
            "not a multiple of the old one.",
        ),
        Property(
            _right_about("counted"),
            "In this model the mean counts padding. What is in the padding makes no difference, and the "
            "padded vector is exactly a multiple of the other: for t tokens and p of padding, t / (t + p) of "
            "it.",
        ),
    ),
    mistakes=(
        Mistake(
            "any-change-is-seen",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "seen",
            "You blame attention for every change that padding makes. If attention saw padding, other words "
            "in the padding would change the vector again: try that.",
        ),
        Mistake(
            "any-change-is-moved",
            lambda model: "none" if np.allclose(_padded(model, []), _padded(model, [0, 0])) else "moved",
            "You blame the positions for every change that padding makes. Which changes are left when the "
            "padding is behind the tokens?",
        ),
        Mistake(
            "behind-the-tokens-alone",
            lambda model: _behind_alone(model),
            "You take moved positions for no fault. Do you put padding behind the tokens, where it moves "
            "nobody? Put it before them, too, and compare with the sentence alone.",
        ),
        Mistake(
            "mean-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "counted" else _padding_fault(model),
            "You recognise attention. But you take a mean that counts padding for moved positions. Such a "
            "mean makes all numbers smaller by the same factor.",
        ),
        Mistake(
            "positions-not-suspected",
            lambda model: "counted" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You recognise attention. But you take moved positions for a mean that counts padding. Such a "
            "mean changes nothing but the size of the vector: compare the whole vectors, not their lengths.",
        ),
        Mistake(
            "attention-not-suspected",
            lambda model: "moved" if _padding_fault(model) == "seen" else _padding_fault(model),
            "You take attention that sees padding for moved positions. Put other words into the padding: "
            "only attention notices. Do you ask for that before you say moved?",
        ),
        Mistake(
            "moved-taken-for-seen",
            lambda model: "seen" if _padding_fault(model) == "moved" else _padding_fault(model),
            "You find the mean that counts padding, and blame attention for everything else. Put other words "
            "into the padding: only attention notices.",
        ),
        Mistake(
            "seen-and-counted-confused",
            lambda model: {"seen": "counted", "counted": "seen"}.get(
                _padding_fault(model), _padding_fault(model)
            ),
            "You see that something is wrong, but confuse attention that sees padding with a mean that "
            "counts it. For which of the two does it matter which words are in the padding?",
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
        "If they differ, put other tokens into the padding. The vector changes again only where attention "
        "sees padding.",
        "Two suspects are left. One of them only divides by too large a number. Then the padded vector is a "
        "multiple of the other: 5/7 of it, for five tokens and two of padding. Or put the padding behind the "
        "tokens, where it moves nobody.",
    ),
)


def _behind_alone(model: Summary) -> str:
    alone, padded, other = (_padded(model, each, left=False) for each in ([], [0, 0], [7, 9]))
    if np.allclose(padded, alone):
        return "none"
    return "counted" if np.allclose(padded, other) else "seen"
