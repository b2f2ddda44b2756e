"""One base away, or a thousand: A model that reads both strands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import GENOME, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.strands import reverse_complement


@dataclass(frozen=True)
class StrandModel:
    """Of bases, (n,) numbers from 0 to 3: what it says of each place, (n,). It reads one strand."""

    seed: int

    def __call__(self, bases: Any) -> np.ndarray:
        given = np.asarray(bases)
        if given.ndim != 1 or given.dtype.kind not in "iu" or ((given < 0) | (given > 3)).any():
            raise ValueError("give bases as one array of whole numbers from 0 to 3")
        taps = np.random.default_rng(self.seed).normal(size=(4, 5))
        seen = sum(np.convolve(np.pad(given == base, 2), taps[base], "valid") for base in range(4))
        return np.asarray(np.tanh(seen) + np.arange(len(given)) / 20)


def _strand_cases(rng: Generator) -> Iterator[Case]:
    def model() -> StrandModel:
        return StrandModel(int(rng.integers(1000)))

    yield Case("AACG", (model(), np.array([0, 0, 1, 2])))
    yield Case("a piece that is its own other strand: ACGT", (model(), np.array([0, 1, 2, 3])))
    yield Case("one base", (model(), np.array([2])))
    for _ in range(4):
        yield Case("drawn", (model(), rng.integers(0, 4, size=int(rng.integers(6, 14)))))


Model = Callable[[Any], Any]


def _strands_with(
    other: Callable[[Array], Array] = lambda bases: 3 - bases[::-1],
    back: Callable[[Array], Array] = lambda values: values[::-1],
    join: Callable[[Array, Array], Array] = lambda one, two: (one + two) / 2,
) -> Callable[[Model, Array], Array]:
    def both(model: Model, bases: Array) -> Array:
        return np.asarray(join(np.asarray(model(bases)), back(np.asarray(model(other(bases))))))

    return both


_both_strands = _strands_with()


def _strands_by_words(model: Model, bases: Array) -> list[float]:
    partner = {"A": "T", "C": "G", "G": "C", "T": "A"}
    word = "".join("ACGT"[base] for base in bases)
    other = np.array(["ACGT".index(partner[letter]) for letter in reversed(word)])
    here, there = model(bases), model(other)
    return [(here[i] + there[len(word) - 1 - i]) / 2 for i in range(len(word))]


BOTH_STRANDS = Exercise(
    id="09-beyond-text.both_strands",
    title="A model that reads both strands",
    step_of=GENOME,
    signature="both_strands(model: function from (n,) bases to (n,) numbers, bases: array of shape (n,) of 0 "
    "to 3) -> array of shape (n,)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_both_strands,
    make_cases=_strand_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[1]),
            "There must be one number for each base.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "not-turned-back",
            _strands_with(back=lambda values: values),
            "What the model says about the other strand is still in the order of that strand: its first "
            "number is about the last base of this one.",
        ),
        Mistake(
            "not-complemented",
            _strands_with(other=lambda bases: bases[::-1]),
            "You read this strand backwards. The other one is made of the partners: T for A, G for C.",
        ),
        Mistake(
            "not-reversed",
            _strands_with(other=lambda bases: 3 - bases),
            "You replace the bases by their partners and read them forwards. The other strand is read from "
            "its other end.",
        ),
        Mistake(
            "complement-in-place",
            _strands_with(other=lambda bases: 3 - bases, back=lambda values: values),
            "You only replace the bases by their partners. The other strand is read from its other end, "
            "and what the model says about it has to be reversed again.",
        ),
        Mistake(
            "reversed-in-place",
            _strands_with(other=lambda bases: bases[::-1], back=lambda values: values),
            "You read this strand backwards and average by place. The other strand is made of the "
            "partners, and its numbers have to be reversed again.",
        ),
        Mistake(
            "summed",
            _strands_with(join=lambda one, two: one + two),
            "You add the two. Return their mean.",
        ),
        Mistake(
            "one-strand",
            lambda model, bases: model(bases),
            "This is the model as it is. Reading the other strand, it would say something else about the "
            "same place.",
        ),
        Mistake(
            "other-strand-alone",
            _strands_with(join=lambda one, two: two),
            "You use only the other strand. Take the mean of both.",
        ),
        Mistake(
            "larger-of-both",
            _strands_with(join=lambda one, two: np.maximum(one, two)),
            "You take the larger of the two. That treats both strands alike too, but here you should "
            "return the mean.",
        ),
        Mistake(
            "wrong-partners",
            _strands_with(other=lambda bases: (bases ^ 1)[::-1]),
            "Your partners are A with C, and G with T. A is across from T, and C from G.",
        ),
        Mistake(
            "one-number",
            lambda model, bases: float(np.mean(model(bases)) + np.mean(model(3 - bases[::-1]))) / 2,
            "One number for the whole piece is the same for both strands, and no longer says where. Give one "
            "for each base.",
        ),
        Mistake(
            "difference",
            _strands_with(join=lambda one, two: (one - two) / 2),
            "You subtract the two. Return their mean.",
        ),
        Mistake(
            "half-of-the-second",
            _strands_with(join=lambda one, two: one + two / 2),
            "You halve only the second of the two: Python divides before it adds. Put the sum in brackets.",
        ),
        Mistake(
            "partners-two-apart",
            _strands_with(other=lambda bases: (bases[::-1] + 2) % 4),
            "Your partners are A with G, and C with T. A is across from T, and C from G.",
        ),
    ),
    alternatives=(
        _strands_by_words,
        _strands_with(other=lambda bases: np.asarray(reverse_complement(bases))),
        lambda model, bases: np.mean([model(bases), np.flip(model(3 - np.flip(bases)))], axis=0),
    ),
    hints=(
        "With A, C, G, T as 0 to 3, the partner of a base is `3 - base`. The other strand is read from its "
        "end: `[::-1]`.",
        "Call the model for both strands. Which number of the second is about the first base of this strand?",
        "The last one. So reverse the second array with `[::-1]` before you take the mean.",
    ),
)
