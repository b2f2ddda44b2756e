"""What a frame of sound hears: Who feels the edge?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import SOUND, Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _edge_cases(rng: Generator) -> Iterator[Case]:
    yield Case("12 tokens, 3 taps, 2 layers", (12, 3, 2))
    yield Case("one tap", (6, 1, 4))
    yield Case("4 taps, 2 layers", (14, 4, 2))
    yield Case("2 taps, 3 layers", (9, 2, 3))
    yield Case("so deep that all feel it", (10, 5, 4))
    for _ in range(4):
        taps, layers = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        yield Case("drawn", (layers * (taps - 1) + int(rng.integers(3, 15)), taps, layers))


def _edge_with(
    reach: Callable[[int, int], tuple[int, int]],
) -> Callable[[int, int, int], Array]:
    """From how many tokens at the beginning and at the end feel it."""

    def feels(length: int, taps: int, layers: int) -> Array:
        at = np.arange(length)
        front, back = reach(taps, layers)
        return (at < front) | (at >= length - back)

    return feels


def _edge_reach(taps: int, layers: int) -> tuple[int, int]:
    return layers * (taps // 2), layers * (taps - 1 - taps // 2)


def _more(by: int, front: int, back: int) -> tuple[int, int]:
    return max(front + by, 0), max(back + by, 0)


_edge = _edge_with(_edge_reach)


def _edge_by_trying(length: int, taps: int, layers: int) -> Array:
    """Which outputs hang on what is added at the ends."""
    before = taps // 2
    touched = np.zeros(length, dtype=bool)
    for _ in range(layers):
        padded = np.concatenate([np.ones(before), touched, np.ones(taps - 1 - before)])
        touched = np.array([padded[t : t + taps].any() for t in range(length)])
    return touched


def _edge_by_numbers(length: int, taps: int, layers: int) -> Array:
    """Positive weights on a text of ones: what stands in the middle of a text without ends is 1."""
    weights = np.linspace(1, 2, taps) / np.linspace(1, 2, taps).sum()
    x = np.ones(length)
    for _ in range(layers):
        padded = np.pad(x, (taps // 2, taps - 1 - taps // 2))
        x = np.array([padded[t : t + taps] @ weights for t in range(length)])
    return np.abs(x - 1) > 1e-12


def _end_cut(front: int, back: int) -> tuple[int, int]:
    return front, max(back - 1, 0)


FEELS_THE_EDGE = Exercise(
    id="09-beyond-text.feels_the_edge",
    title="Who feels the edge?",
    step_of=SOUND,
    signature="feels_the_edge(length: int, taps: int, layers: int) -> array of shape (length,) of booleans",
    points=3,
    minutes=14,
    difficulty=3,
    draws=Draws(
        lambda feels_the_edge, rows, columns: heat_map(
            np.stack([feels_the_edge(32, 4, layers) for layers in range(1, 8)]),
            rows=rows,
            columns=columns,
            starts=(1, 0),
        ),
        axes=("layers", "token"),
        look="With 4 taps, each layer reaches two more tokens from the beginning and one more from the end.",
    ),
    reference=lambda length, taps, layers: _edge(length, taps, layers),
    make_cases=_edge_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[0],),
            "There must be one answer for each token.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "one-layer",
            _edge_with(lambda taps, layers: _edge_reach(taps, 1)),
            "You count one layer. The next one passes on what this one felt.",
        ),
        Mistake(
            "both-sides-alike",
            _edge_with(lambda taps, layers: (layers * (taps // 2),) * 2),
            "With an odd number of taps yours is right. With an even number, there is one tap fewer "
            "after the token than before it.",
        ),
        Mistake(
            "sides-swapped",
            _edge_with(lambda taps, layers: _edge_reach(taps, layers)[::-1]),
            "The two sides are swapped: with an even number of taps, the extra one is before the token.",
        ),
        Mistake(
            "whole-kernels",
            _edge_with(lambda taps, layers: (layers * (taps - 1),) * 2),
            "You let each layer look as far as all its taps reach, on both sides. The taps are shared "
            "between the two sides.",
        ),
        Mistake(
            "one-side",
            _edge_with(lambda taps, layers: (layers * (taps - 1), 0)),
            "All your taps are before the token, as in a causal convolution. Here they are on both sides "
            "of it, and the text has two ends.",
        ),
        Mistake(
            "one-too-many",
            _edge_with(lambda taps, layers: _more(1, *_edge_reach(taps, layers))),
            "Yours are one too many on each side. A token that sees the very last token, and nothing "
            "beyond it, does not feel the edge.",
        ),
        Mistake(
            "one-too-few",
            _edge_with(lambda taps, layers: _more(-1, *_edge_reach(taps, layers))),
            "Yours are one too few on each side. The token that sees just one step beyond the end feels it.",
        ),
        Mistake(
            "who-does-not",
            lambda *args: ~_edge(*args),
            "Your answers are reversed: True is for a token that feels an end.",
        ),
        Mistake(
            "layers-doubled",
            _edge_with(
                lambda taps, layers: (taps // 2 * 2 ** (layers - 1), (taps - 1) // 2 * 2 ** (layers - 1))
            ),
            "Your reach doubles from layer to layer. Each layer adds the same number of tokens.",
        ),
        Mistake(
            "front-alone",
            _edge_with(lambda taps, layers: (_edge_reach(taps, layers)[0], 0)),
            "You look at the beginning only. The text has an end as well.",
        ),
        Mistake(
            "end-alone",
            _edge_with(lambda taps, layers: (0, _edge_reach(taps, layers)[1])),
            "You look at the end only. The text has a beginning as well.",
        ),
        Mistake(
            "smaller-side-for-both",
            _edge_with(lambda taps, layers: (layers * ((taps - 1) // 2),) * 2),
            "With an odd number of taps yours is right. With an even number, there is one tap more "
            "before the token than after it.",
        ),
        Mistake(
            "half-of-everything",
            _edge_with(lambda taps, layers: (layers * (taps - 1) // 2,) * 2),
            "You halve what all the layers reach. Halve for each layer: with an even number of taps, "
            "every layer reaches further back than ahead.",
        ),
        Mistake(
            "to-the-power",
            _edge_with(lambda taps, layers: ((taps // 2) ** layers, (taps - 1 - taps // 2) ** layers)),
            "You raise the reach to the power of the layers. Each layer adds the same number of tokens.",
        ),
        Mistake(
            "one-too-many-in-front",
            _edge_with(lambda taps, layers: (_edge_reach(taps, layers)[0] + 1, _edge_reach(taps, layers)[1])),
            "At the beginning yours are one too many. If n tokens feel it, they are at 0 to n - 1: "
            "number n is not one of them.",
        ),
        Mistake(
            "one-too-few-at-the-end",
            _edge_with(lambda taps, layers: _end_cut(*_edge_reach(taps, layers))),
            "At the end yours are one too few. The last n of all tokens begin at length - n, and that "
            "token is one of them.",
        ),
        Mistake(
            "both-ends-at-once",
            lambda length, taps, layers: (
                _edge_with(lambda *_: (_edge_reach(taps, layers)[0], 0))(length, taps, layers)
                & _edge_with(lambda *_: (0, _edge_reach(taps, layers)[1]))(length, taps, layers)
            ),
            "A token feels the edge if it feels either end. You ask for both: use | and not &.",
        ),
        Mistake(
            "one-layer-short",
            _edge_with(lambda taps, layers: _edge_reach(taps, layers - 1)),
            "You count one layer too few. The first one finds zeros already.",
        ),
        Mistake(
            "one-too-few-in-front",
            _edge_with(
                lambda taps, layers: (max(_edge_reach(taps, layers)[0] - 1, 0), _edge_reach(taps, layers)[1])
            ),
            "At the beginning yours are one too few. The token that sees just one step before the first "
            "one feels the edge.",
        ),
        Mistake(
            "one-too-many-at-the-end",
            _edge_with(lambda taps, layers: (_edge_reach(taps, layers)[0], _edge_reach(taps, layers)[1] + 1)),
            "At the end yours are one too many. The last n of all tokens begin at length - n, not one "
            "before.",
        ),
    ),
    alternatives=(_edge_by_trying, _edge_by_numbers, lambda *args: _edge(*args).tolist()),
    hints=(
        "Which tokens of the first layer have a tap beyond an end?",
        "In the next layer it is enough to see a token that has felt it. How much further does that "
        "reach, on each side?",
        "Before a token there are `taps // 2` taps, and after it `taps - 1 - taps // 2`. Each layer adds "
        "that many.",
    ),
)
