"""Choose by rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch10_position_from_content._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _choice_cases(rng: Generator) -> Iterator[Case]:
    def case(
        label: str, losses: list[float], errors: list[float], admitted: list[bool], costs: list[float]
    ) -> Case:
        return Case(label, (np.array(losses), np.array(errors), np.array(admitted), np.array(costs)))

    yes, no = True, False
    yield case("one far below all", [1.5, 1.2, 1.6], [0.02, 0.02, 0.02], [yes] * 3, [1, 3, 2])
    yield case("the best is not admitted", [1.5, 1.2, 1.6], [0.02] * 3, [yes, no, yes], [2, 1, 3])
    yield case(
        "the best is not admitted, and is tied", [1.0, 1.02, 1.3], [0.02] * 3, [no, yes, yes], [1, 2, 3]
    )
    yield case("no run is admitted", [1.5, 1.2], [0.02, 0.02], [no, no], [1, 2])
    yield case("a tie, and the worse costs less", [1.5, 1.52, 1.9], [0.05] * 3, [yes] * 3, [3, 2, 1])
    yield case("exactly at the uncertainty", [0.5, 0.75, 4.0], [0.25, 0.0, 0.0], [yes] * 3, [2, 1, 0])
    yield case("tied with the second, not with the best", [1.0, 1.06, 1.12], [0.05] * 3, [yes] * 3, [3, 2, 1])
    yield case("one that is uncertain", [1.0, 1.4, 1.1], [0.01, 0.5, 0.01], [yes] * 3, [3, 1, 2])
    yield case("the best is uncertain", [1.0, 1.1, 1.2], [0.15, 0.01, 0.01], [yes] * 3, [3, 2, 1])
    yield case("a tie of equal costs", [1.03, 1.0, 1.01], [0.05] * 3, [yes] * 3, [1, 1, 1])
    yield case("not admitted, tied and cheap", [1.0, 1.01, 1.3], [0.05] * 3, [yes, no, yes], [2, 1, 3])
    yield case("the admitted come last", [0.9, 1.3, 1.2], [0.02] * 3, [no, yes, yes], [1, 3, 2])
    yield case(
        "tied by both errors, by neither alone", [1.0, 1.07, 1.2], [0.05, 0.05, 0.01], [yes] * 3, [2, 1, 3]
    )
    yield case(
        "tied only if errors were added up", [1.0, 1.09, 1.3], [0.05, 0.05, 0.01], [yes] * 3, [2, 1, 3]
    )
    yield case("a tie, and the worse costs more", [1.5, 1.52, 1.9], [0.05] * 3, [yes] * 3, [2, 3, 1])
    yield case("large errors", [1.0, 1.4, 1.6], [0.5] * 3, [yes] * 3, [3, 2, 1])
    for _ in range(8):
        n = int(rng.integers(4, 10))
        losses, errors = rng.uniform(1.0, 1.3, size=n), rng.uniform(0.01, 0.09, size=n)
        yield Case("drawn", (losses, errors, rng.random(n) < 0.7, rng.permutation(n).astype(float)))


Tie = Callable[[Array, Array, int], Array]


def _by_both(losses: Array, errors: Array, best: int) -> Array:
    return losses - losses[best] <= np.hypot(errors, errors[best])


def _choose_with(
    tie: Tie = _by_both,
    *,
    admit: Callable[[Array], Array] = lambda admitted: admitted,
    rank: Callable[[Array, Array], Array] = lambda losses, costs: np.lexsort((losses, costs)),
) -> Callable[[Array, Array, Array, Array], int]:
    """`tie`: which of all are no worse than the best; `rank`: all, the one to take first."""

    def choose(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
        allowed = admit(admitted)
        if not allowed.any():
            return -1
        best = int(np.argmin(np.where(allowed, losses, np.inf)))
        good = allowed & tie(losses, errors, best)
        return int(next((each for each in rank(losses, costs) if good[each]), -1))

    return choose


def _choose(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    return _choose_with()(losses, errors, admitted, costs)


def _choose_by_loop(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    runs = [each for each in range(len(losses)) if admitted[each]]
    if not runs:
        return -1
    best = min(runs, key=lambda each: losses[each])
    tied = [
        each
        for each in runs
        if losses[each] - losses[best] <= math.sqrt(errors[each] ** 2 + errors[best] ** 2)
    ]
    return min(tied, key=lambda each: (costs[each], losses[each]))


def _among_the_admitted(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    if not admitted.any():
        return -1
    return _choose(losses[admitted], errors[admitted], admitted[admitted], costs[admitted])


def _best_of_all(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    good = admitted & _by_both(losses, errors, int(np.argmin(losses)))
    return int(next((each for each in np.lexsort((losses, costs)) if good[each]), -1))


def _first_of_the_cheapest(losses: Array, errors: Array, admitted: Array, costs: Array) -> int:
    return _choose_with(rank=lambda losses, costs: np.argsort(costs, kind="stable"))(
        losses, errors, admitted, costs
    )


CHOOSE = Exercise(
    id="10-position-from-content.choose",
    title="Choose by rule",
    signature="choose(losses: array of shape (n,), errors: array of shape (n,), admitted: array of shape "
    "(n,) of booleans, costs: array of shape (n,)) -> int",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_choose,
    make_cases=_choice_cases,
    properties=(
        Property(
            lambda args, value: (int(value) == -1) == (not args[2].any()),
            "Return -1 if no run was admitted, and only then.",
        ),
        Property(
            lambda args, value: not 0 <= int(value) < len(args[2]) or bool(args[2][int(value)]),
            "The run that you chose was not admitted.",
        ),
    ),
    mistakes=(
        Mistake(
            "every-run",
            _choose_with(admit=lambda admitted: np.ones(len(admitted), dtype=bool)),
            "You choose from all runs. A run that was not admitted does not count, however good it looks.",
        ),
        Mistake(
            "best-of-all",
            _best_of_all,
            "You compare with the best of all runs. Compare with the best of those that were admitted.",
        ),
        Mistake(
            "lowest",
            _choose_with(lambda losses, errors, best: np.arange(len(losses)) == best),
            "You take the lowest loss. Where the difference is within the uncertainty the rule calls it "
            "a tie, and takes the cheaper one.",
        ),
        Mistake(
            "cheapest",
            _choose_with(lambda losses, errors, best: np.ones(len(losses), dtype=bool)),
            "You take the cheapest of all the admitted ones, however high its loss is.",
        ),
        Mistake(
            "own-error-alone",
            _choose_with(
                lambda losses, errors, best: (
                    losses - losses[best] <= np.where(losses == losses[best], 0, errors)
                )
            ),
            "You compare with the error of the worse one only. The best one has an error too.",
        ),
        Mistake(
            "errors-of-the-best",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors[best]),
            "You compare with the error of the best one only. The other one has an error too.",
        ),
        Mistake(
            "errors-added",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors + errors[best]),
            "You add the two errors. They are independent, so their squares add up: take the root of "
            "that sum.",
        ),
        Mistake(
            "larger-error",
            _choose_with(
                lambda losses, errors, best: losses - losses[best] <= np.maximum(errors, errors[best])
            ),
            "You take the larger of the two errors. Both count: take the root of the sum of their squares.",
        ),
        Mistake(
            "squares-not-rooted",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= errors**2 + errors[best] ** 2),
            "You compare with a sum of squares. Take its root.",
        ),
        Mistake(
            "strictly-below",
            _choose_with(
                lambda losses, errors, best: (
                    (losses - losses[best] < np.hypot(errors, errors[best])) | (losses == losses[best])
                )
            ),
            "A difference of exactly the uncertainty is not above it, so it is still a tie.",
        ),
        Mistake(
            "dearest",
            _choose_with(rank=lambda losses, costs: np.lexsort((losses, -costs))),
            "Of those that are tied you take the most expensive.",
        ),
        Mistake(
            "first-of-the-tied",
            _choose_with(rank=lambda losses, costs: np.arange(len(costs))),
            "Of those that are tied you take the first in the list. Take the cheapest.",
        ),
        Mistake(
            "first-of-the-cheapest",
            _first_of_the_cheapest,
            "This is right except where tied runs cost the same: there the lower loss decides.",
        ),
        Mistake(
            "number-among-the-admitted",
            _among_the_admitted,
            "You count among those that were admitted. Return the number in the whole list.",
        ),
        Mistake(
            "zero-for-none",
            lambda *args: max(_choose(*args), 0),
            "If no run was admitted, return -1. Number 0 is the first run.",
        ),
        Mistake(
            "widened",
            _choose_with(
                lambda losses, errors, best: losses - losses[best] <= 1.96 * np.hypot(errors, errors[best])
            ),
            "You multiply the uncertainty by 1.96. The rule that was written down takes the errors as "
            "they are.",
        ),
        Mistake(
            "mean-of-the-errors",
            _choose_with(lambda losses, errors, best: losses - losses[best] <= (errors + errors[best]) / 2),
            "You take the mean of the two errors. Take the root of the sum of their squares.",
        ),
        Mistake(
            "loss-plus-error",
            lambda losses, errors, admitted, costs: (
                int(np.argmin(np.where(admitted, losses + errors, np.inf))) if admitted.any() else -1
            ),
            "You add each error to its loss and take the lowest. Find what is tied with the lowest loss, "
            "then take the cheapest.",
        ),
        Mistake(
            "best-not-admitted",
            lambda losses, errors, admitted, costs: (
                _choose(losses, errors, admitted, costs) if admitted[np.argmin(losses)] else -1
            ),
            "Where the best of all was not admitted, you return -1. Look for the best of those that were.",
        ),
        Mistake(
            "highest",
            lambda losses, errors, admitted, costs: (
                int(np.argmax(np.where(admitted, losses, -np.inf))) if admitted.any() else -1
            ),
            "You take the highest loss. The lower a loss, the better.",
        ),
    ),
    alternatives=(
        _choose_by_loop,
        lambda *args: float(_choose(*args)),
        lambda losses, errors, admitted, costs: min(
            (
                (costs[n], losses[n], n)
                for n in range(len(losses))
                if admitted[n]
                and all(
                    losses[n] - losses[m] <= np.hypot(errors[n], errors[m])
                    for m in np.flatnonzero(admitted)
                    if losses[m] == losses[admitted].min()
                )
            ),
            default=(0.0, 0.0, -1),
        )[2],
    ),
    hints=(
        "Go in this order: which runs were admitted? Which of them is best? Which are tied with it? "
        "Which of those is cheapest?",
        "Set the losses of those that were not admitted to infinity, and `np.argmin` finds the best. If "
        "no run was admitted, you are done already.",
        "A run is tied if its loss is above the best by no more than `np.hypot(errors, errors[best])`. "
        "The best is tied with itself.",
    ),
)
