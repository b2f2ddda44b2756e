"""The words an exercise is written in. Inputs and outputs are plain data: numbers, text, arrays."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from posenc_course.exercises.drawing import Draws

BASIC = ""
"""The group of cases that must be right before any other group counts."""
LEAST_OF_EACH = 8
"""Where few answers are possible, each is right for so many cases: to guess them all is hopeless."""
ORDER = 1
"""Beside a seed: makes the order of the calls independent of the random inputs."""

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Case:
    """One call of the learner's function: what goes in, and how the report calls it."""

    label: str
    args: tuple[Any, ...] = ()
    """Plain data; or callables from plain data to plain data, which are answered from outside in grading."""
    group: str = BASIC
    """Which part of the credit it decides, where the exercise gives partial credit."""


@dataclass(frozen=True)
class Property:
    """What every right answer has; told to a learner whose answer breaks it."""

    holds: Callable[[tuple[Any, ...], Any], bool]
    """From (arguments of the case, returned value) to whether it holds."""
    message: str
    about: Literal["numbers", "form"] = "numbers"
    """What it looks at. Numbers: it is only asked of a value in the form of the right one (an array of its
    shape), made of finite numbers, with what is close enough to be right made exactly right. Form: it is
    asked whatever the shape and the numbers are."""


@dataclass(frozen=True)
class Mistake:
    """A mistake that people make: an answer that makes it, and the words that name it."""

    name: str
    answer: Callable[..., Any]
    message: str


@dataclass(frozen=True)
class Exercise:
    """What is asked, and all that is needed to judge an answer and to say why it is wrong."""

    id: str
    """`<chapter>.<function>`."""
    title: str
    signature: str
    """With shapes, as the learner reads it."""
    points: int
    minutes: int
    difficulty: Literal[1, 2, 3, 4, 5]
    reference: Callable[..., Any]
    make_cases: Callable[[np.random.Generator], Iterable[Case]]
    """All cases of one run, the nasty ones too; random numbers from the given generator only."""
    mistakes: tuple[Mistake, ...]
    hints: tuple[str, ...]
    """A ladder: each says a little more than the one before."""
    alternatives: tuple[Callable[..., Any], ...] = ()
    """Right answers that are written differently; the tests hold that they pass."""
    properties: tuple[Property, ...] = ()
    where_not_finite: str = ""
    """Advice for whoever returns NaN or infinity where a number should be; the judge says where it stands."""
    kind: Literal["function", "value"] = "function"
    """A value is handed over as it is: a predicted number, say. Its reference takes no argument."""
    array_library: Literal["numpy", "torch"] = "numpy"
    """Which arrays the function is given."""
    dtype: str = ""
    """The type that the numbers of an array must have, such as "float16"; by default any will do."""
    relative_tolerance: float = 1e-4
    absolute_tolerance: float = 1e-5
    """By default as much as float32 needs. Whole numbers above ten thousand need less, to be exact."""
    credit: tuple[tuple[str, float], ...] = ((BASIC, 1.0),)
    """Share of the points for each group of cases, the basic one first. By default all or nothing."""
    lends: tuple[str, ...] = ()
    """Names of `posenc_lib` that an answer may call in grading; a hint tells to call each."""
    step_of: str = ""
    """The title of the exercise that this is a step of. Its steps stand one after another."""
    adds: str = ""
    """What the learner's own decoder gets by it, as one sentence."""
    afterwards: Callable[[Callable[..., Any]], str] | None = None
    """What a right answer is good for: called with it once it has passed, it gives a text to read."""
    draws: Draws | None = None
    """How a right answer draws the chapter's figure: shown once it has passed."""
    lacks: Callable[[Sequence[Any]], Sequence[str | None]] | None = None
    """Where many answers are right: from what it returned in all cases, what it lacks in each, as a sentence,
    and None where nothing. It takes the place of the comparison with the reference."""
    seen: Callable[[Any], Any] | None = None
    """Where not all of a returned value has an effect: what has. Mistakes are known by that."""
    parts: tuple[str, ...] = ()
    """Of an answer that is several values: what each is called in a report, as in “without a mask”."""

    def __post_init__(self) -> None:
        shares = [share for _, share in self.credit]
        if self.credit[0][0] != BASIC or min(shares) <= 0 or not math.isclose(sum(shares), 1.0):
            raise ValueError(
                f"{self.id}: credit is {self.credit}; give the basic group {BASIC!r} first, every group "
                "a share above 0, and let the shares sum to 1"
            )

    @property
    def chapter(self) -> str:
        return self.id.partition(".")[0]

    @property
    def function(self) -> str:
        return self.id.partition(".")[2]

    def steps_before(self, exercises: Iterable[Exercise]) -> tuple[Exercise, ...]:
        """The earlier steps, out of these, whose functions its answer may call: a right one can stand in."""
        steps = steps_of(self, exercises) if self.kind == "function" else (self,)
        return tuple(each for each in steps[: steps.index(self)] if each.kind == "function")

    @property
    def in_page(self) -> bool:
        """Whether a page can check it: there is no PyTorch in a browser."""
        return self.array_library == "numpy"

    def cases(self, seed: int = 0) -> tuple[Case, ...]:
        """The cases of one run: the same seed gives the same cases."""
        return tuple(self.make_cases(np.random.default_rng(seed)))

    def calling_order(self, seed: int = 0) -> tuple[int, ...]:
        """In which order the cases of a seed are called, so that to count calls tells nothing.

        Reports keep the order of `cases`, the simplest first.
        """
        order = np.random.default_rng((seed, ORDER)).permutation(len(self.cases(seed)))
        return tuple(order.tolist())

    def asks_outside(self, seed: int = 0) -> bool:
        """Whether, in grading, an answer may call what is answered from outside: lent names, or callables."""
        given = (each for case in self.cases(seed) for each in case.args)
        return self.kind == "function" and (bool(self.lends) or any(map(callable, given)))


def wholes(exercises: Iterable[Exercise]) -> list[tuple[Exercise, ...]]:
    """The exercises as a learner counts them, each as its steps: most have one."""
    return [
        tuple(steps) for _, steps in groupby(exercises, lambda each: (each.chapter, each.step_of or each.id))
    ]


def steps_of(asked: Exercise, exercises: Iterable[Exercise]) -> tuple[Exercise, ...]:
    """All steps of the exercise that `asked` is one of, out of these."""
    if not asked.step_of:
        return (asked,)
    return next((steps for steps in wholes(exercises) if asked in steps), (asked,))


def enough_of_each(rng: np.random.Generator, *groups: Sequence[Kind]) -> list[Kind]:
    """All members of all groups, then more of the small groups, drawn: each gets at least `LEAST_OF_EACH`.

    Args:
        groups: one for each answer that is possible, of the kinds of case for which it is the right one.
    """
    more = [rng.integers(len(group), size=max(0, LEAST_OF_EACH - len(group))) for group in groups]
    drawn = (group[n] for group, numbers in zip(groups, more, strict=True) for n in numbers)
    return [*chain(*groups), *drawn]


def in_order(package: str, *names: str) -> tuple[Exercise, ...]:
    """The exercises of these functions, each of which stands in a module of its name, as THE_NAME."""
    return tuple(getattr(importlib.import_module(f"{package}.{name}"), name.upper()) for name in names)
