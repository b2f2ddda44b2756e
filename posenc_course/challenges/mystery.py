"""Mystery checkpoint: a model whose encoding nobody tells, and the measurements that one may ask for.

The model has two heads of attention with weights drawn by the seed. Each measurement is computed when it is
asked for, with the encodings of `posenc_lib`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posenc_course.challenges.draws import Draws
from posenc_course.translation import _
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.biased.alibi import alibi_bias
from posenc_lib.biased.kerple import kerple_bias
from posenc_lib.biased.shaw import shaw_bias
from posenc_lib.biased.t5 import t5_bias
from posenc_lib.rotated.rotary import apply_rotary

HEADS, WIDTH, VOCABULARY = 2, 16, 12
DIM = HEADS * WIDTH
LENGTH = 64
"""Of the texts that the model was made for: a learned table has so many rows."""
CLIP = 8
"""Shaw's relative keys tell so many distances apart."""
NEAR = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 63)
FAR = (*NEAR, 96, 128, 192, 256, 384, 511)
STARTS = (0, 1, 7, 20, 31)
TOKENS = 32
"""Of the text that is shifted, and whose words change places."""
TEXT = tuple(7 * place % VOCABULARY for place in range(TOKENS))
SEEN = 1e-6
"""What is smaller is taken for rounding."""
POINTS, COST_OF_A_QUESTION, COST_OF_A_WRONG_NAME = 10, 1, 3
LEAST_QUESTIONS = 2
"""Before a name is taken: without evidence it would be a guess."""


class OutOfRange(Exception):
    """The model has no encoding for such a position."""


class Model:
    """One layer of attention over drawn words, with one of the encodings.

    Args:
        encoding: a name of `ENCODINGS`.
        draws: its weights.
    """

    def __init__(self, encoding: str, draws: Draws) -> None:
        self.encoding = encoding
        self._words = draws.normal(VOCABULARY, DIM)
        self._q, self._k, self._v = (draws.normal(DIM, DIM) / np.sqrt(DIM) for _ in range(3))
        self._places = draws.normal(LENGTH, DIM) / 2
        self._buckets = draws.normal(16, HEADS)
        self._relative = draws.normal(2 * CLIP + 1, WIDTH)
        self._r1, self._r2 = (np.array([draws.between(20, 60) / 20 for _ in range(HEADS)]) for _ in range(2))

    def scores(self, tokens: Sequence[int], positions: np.ndarray, asks: int = -1) -> np.ndarray:
        """(heads, keys): what the token at place `asks` makes of all, before the softmax.

        Raises:
            OutOfRange: a learned table has no row for one of the positions.
        """
        x = self._placed(tokens, positions)
        q, k = self._heads(x[[asks]] @ self._q), self._heads(x @ self._k)
        here = positions[[asks]]
        if self.encoding == "rope":
            q, k = apply_rotary(q, here), apply_rotary(k, positions)
        scores = np.asarray(q @ k.swapaxes(-1, -2)) / np.sqrt(WIDTH)
        return np.asarray((scores + self._bias(q, here, positions))[:, 0])

    def output(self, tokens: Sequence[int], positions: np.ndarray) -> np.ndarray:
        """(dim,) of the last token."""
        scores = self.scores(tokens, positions)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        values = self._heads(self._placed(tokens, positions) @ self._v)
        return np.asarray((weights[:, None] @ values).ravel())

    def _placed(self, tokens: Sequence[int], positions: np.ndarray) -> np.ndarray:
        words: np.ndarray = self._words[np.asarray(tokens)]
        if self.encoding == "sinusoidal":
            return np.asarray(words + sinusoidal(positions, DIM))
        if self.encoding == "learned":
            if positions.max() >= LENGTH:
                raise OutOfRange
            return np.asarray(words + self._places[positions])
        return words

    def _bias(self, q: np.ndarray, here: np.ndarray, positions: np.ndarray) -> np.ndarray:
        if self.encoding == "alibi":
            return np.asarray(alibi_bias(HEADS, here, positions, causal=False))
        if self.encoding == "kerple":
            return np.asarray(kerple_bias(self._r1, self._r2, here, positions))
        if self.encoding == "t5":
            return np.asarray(t5_bias(self._buckets, here, positions, max_distance=128, bidirectional=False))
        if self.encoding == "shaw":
            return np.asarray(shaw_bias(q, self._relative, here, positions))
        return np.zeros((HEADS, 1, len(positions)))

    @staticmethod
    def _heads(x: np.ndarray) -> np.ndarray:
        return x.reshape(len(x), HEADS, WIDTH).swapaxes(0, 1)


@dataclass(frozen=True)
class Measurement:
    """What came out: numbers to be drawn, and the same in a sentence."""

    sentence: str
    names: tuple[str, ...] = ()
    """Of the lines that are drawn."""
    x: tuple[float, ...] = ()
    lines: tuple[tuple[float, ...], ...] = ()
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True)
class Question:
    """A measurement that may be asked for."""

    name: str
    title: str
    how: str
    measure: Callable[[Model], Measurement]


# --- Measurements


def falls(model: Model, distances: Sequence[int], token: int = 0) -> np.ndarray:
    """(heads, distances): the score of the same word so far back, less that of the word itself."""
    positions = max(distances) - np.asarray(distances)
    scores = model.scores([token] * len(distances), positions, asks=0)
    return np.asarray(scores - scores[:, :1])


def _by_distance(model: Model) -> Measurement:
    return _drawn(falls(model, NEAR), NEAR, _("Between these distances the scores spread over {spread}."))


def _far(model: Model) -> Measurement:
    try:
        lines = falls(model, FAR)
    except OutOfRange:
        return Measurement(
            _("The model stops with an error: it has nothing for position {position}.").format(
                position=LENGTH
            )
        )
    beyond = lines[:, FAR.index(128) :]
    said = _("The model runs. From distance 128 on, the scores spread over {spread}.")
    return _drawn(lines, FAR, said, float(np.ptp(beyond, axis=1).max()))


def _drawn(
    lines: np.ndarray, distances: Sequence[int], said: str, spread: float | None = None
) -> Measurement:
    spread = float(np.ptp(lines, axis=1).max()) if spread is None else spread
    return Measurement(
        said.format(spread=_number(spread)),
        tuple(_("head {number}").format(number=number + 1) for number in range(HEADS)),
        tuple(map(float, distances)),
        tuple(tuple(map(float, line)) for line in lines),
        _("distance back"),
        _("score minus the score at distance 0"),
    )


def shift_change(model: Model) -> list[float]:
    """How far the output of the last token moves, for each of `STARTS`."""
    outputs = [model.output(TEXT, start + np.arange(TOKENS)) for start in STARTS]
    return [float(np.abs(each - outputs[0]).max()) for each in outputs]


def _shifted(model: Model) -> Measurement:
    changes = shift_change(model)
    return Measurement(
        _("The output changes by at most {change}.").format(change=_number(max(changes))),
        (_("change of the output"),),
        tuple(map(float, STARTS)),
        (tuple(changes),),
        _("position at which the text begins"),
        _("change of the output"),
    )


def reorder_change(model: Model) -> float:
    """How far the output of the last token moves when two words before it change places."""
    swapped = [*TEXT]
    swapped[TOKENS - 3], swapped[2] = swapped[2], swapped[TOKENS - 3]
    places = np.arange(TOKENS)
    return float(np.abs(model.output(swapped, places) - model.output(TEXT, places)).max())


def _reordered(model: Model) -> Measurement:
    change = _number(reorder_change(model))
    return Measurement(_("The output of the last word changes by {change}.").format(change=change))


def content_difference(model: Model) -> float:
    """How much the curve of scores by distance hangs on the word that is repeated."""
    curves = np.stack([falls(model, NEAR, token) for token in range(3)])
    return float(np.ptp(curves, axis=0).max())


def _content(model: Model) -> Measurement:
    curves = [falls(model, NEAR, token)[0] for token in range(3)]
    return Measurement(
        _("The three curves differ by at most {difference}, over both heads.").format(
            difference=_number(content_difference(model))
        ),
        tuple(_("word {number}").format(number=number + 1) for number in range(3)),
        tuple(map(float, NEAR)),
        tuple(tuple(map(float, curve)) for curve in curves),
        _("distance back"),
        _("score minus the score at distance 0"),
    )


def _number(value: float) -> str:
    return _("0, up to rounding") if abs(value) < SEEN else f"{value:.3g}"


QUESTIONS = (
    Question(
        "distance",
        _("Score by distance"),
        _("A text of one word again and again: how does the score fall or rise with the distance?"),
        _by_distance,
    ),
    Question(
        "far",
        _("Far beyond the trained length"),
        _("The same, up to distance 511. The model was made for texts of 64."),
        _far,
    ),
    Question(
        "shift",
        _("Shift the text"),
        _("The same text, at later positions: does the output of its last word change?"),
        _shifted,
    ),
    Question(
        "reorder",
        _("Reorder the text"),
        _("Two earlier words are swapped: does the output of the last word change?"),
        _reordered,
    ),
    Question(
        "content",
        _("Different words, same distances"),
        _("The score by distance for three different words: is it the same curve?"),
        _content,
    ),
)


@dataclass(frozen=True)
class Encoding:
    """One that the model may have."""

    name: str
    title: str
    because: str
    """Why the evidence decides."""
    decisive: tuple[str, ...]
    """The names of the questions that decide."""


ENCODINGS = (
    Encoding(
        "none",
        _("No encoding"),
        _(
            "Swapping two words leaves the output as it was: to this model a text is a bag of words. Only a "
            "model without an encoding does that."
        ),
        ("reorder",),
    ),
    Encoding(
        "sinusoidal",
        _("Sinusoidal, added to the input"),
        _(
            "The output changes when the text is shifted, so the position itself enters, and not only "
            "distances: something is added to the input. The model runs far beyond its length, which it "
            "could not do with a learned table."
        ),
        ("shift", "far"),
    ),
    Encoding(
        "learned",
        _("Learned table, added to the input"),
        _(
            "Beyond its length the model has nothing to add: its table has ended. Of the eight, only a "
            "learned table has an end."
        ),
        ("far",),
    ),
    Encoding(
        "rope",
        _("RoPE, rotated into queries and keys"),
        _(
            "A shift of the text changes nothing, so only distances count. Different words give different "
            "curves, so the distance works on the queries and keys. And far away the curve still moves, "
            "while Shaw's relative keys are all the same beyond their clipping distance."
        ),
        ("shift", "content", "far"),
    ),
    Encoding(
        "shaw",
        _("Shaw's relative keys, a bias on the scores"),
        _(
            "A shift of the text changes nothing, and different words give different curves: the query "
            "meets a vector for each distance. From the clipping distance on, the curve is flat; RoPE's "
            "would keep moving."
        ),
        ("shift", "content", "far"),
    ),
    Encoding(
        "alibi",
        _("ALiBi, a bias on the scores"),
        _(
            "All words give the same curve, so it is a bias that does not look at them. It is a straight "
            "line: each step back costs the same, however far it goes."
        ),
        ("content", "far"),
    ),
    Encoding(
        "kerple",
        _("KERPLE with a logarithm, a bias on the scores"),
        _(
            "All words give the same curve, so it is a bias that does not look at them. The curve falls all "
            "the way, steeply at first and ever more gently: a logarithm of the distance."
        ),
        ("content", "far"),
    ),
    Encoding(
        "t5",
        _("T5's buckets, a bias on the scores"),
        _(
            "All words give the same curve, so it is a bias that does not look at them. It has steps, up and "
            "down as they were learned, and is flat from distance 91 on, where the last bucket begins."
        ),
        ("content", "far"),
    ),
)


@dataclass(frozen=True)
class Checkpoint:
    """A model and what it hides."""

    seed: int
    encoding: Encoding

    @cached_property
    def model(self) -> Model:
        return Model(self.encoding.name, Draws("weights", self.seed))

    def ask(self, question: str) -> Measurement:
        """What comes out of the question of this name."""
        return next(each for each in QUESTIONS if each.name == question).measure(self.model)

    def why(self) -> list[str]:
        """What decides, with the numbers of this model: those too that nobody asked for."""
        decisive = [each for each in QUESTIONS if each.name in self.encoding.decisive]
        found = [
            _("{question}: {found}").format(question=each.title, found=each.measure(self.model).sentence)
            for each in decisive
        ]
        return [self.encoding.because, *found]


def draw(seed: int) -> Checkpoint:
    """The checkpoint of a seed."""
    return Checkpoint(seed, Draws("mystery", seed).choice(ENCODINGS))


def points(questions: int, wrong: int) -> int:
    """From 1 to 10, where it was named: each question costs one, each wrong name three."""
    return max(1, POINTS - COST_OF_A_QUESTION * questions - COST_OF_A_WRONG_NAME * wrong)
