"""Answers that look at no input, or only look it up, earn nothing: constants, counted calls, tables.

No process is started: what such an answer would return is compared with what is right. That an answer learns
nothing else from how it is called is for the tests of the grading.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pytest

from posenc_course.checking import Outcome
from posenc_course.checking.differences import difference
from posenc_course.checking.plain import encode
from posenc_course.checking.run import call
from posenc_course.exercises import Case, Exercise, all_exercises
from posenc_course.exercises.exercise import BASIC, LEAST_OF_EACH
from posenc_course.grading.judging.attempts import PUBLIC_SEED, earned

SEEDS = range(1, 201)
FUNCTIONS = [each for each in all_exercises() if each.kind == "function"]
MOST_CONSTANTS = 12
FEW = 4
"""An exercise of so few outcomes can be guessed, case by case."""

every_function = pytest.mark.parametrize("asked", FUNCTIONS, ids=lambda each: each.id)


class Call:
    """One case of one seed, with what a blind answer knows of it."""

    known_by_label: ClassVar[dict[tuple[str, str], Outcome]] = {}

    def __init__(self, asked: Exercise, case: Case, number: int) -> None:
        self.asked, self.case, self.number = asked, case, number

    @cached_property
    def right(self) -> Outcome:
        if not all(callable(each) for each in self.case.args):
            return call(self.asked.reference, self.case.args, self.asked.array_library)
        # Where callables are all that is given, the label decides what is right: it is computed once.
        key = (self.asked.id, self.case.label)
        if key not in self.known_by_label:
            self.known_by_label[key] = call(self.asked.reference, self.case.args, self.asked.array_library)
        return self.known_by_label[key]

    @cached_property
    def looks(self) -> str:
        """What can be looked up in a table. A callable would have to be called."""
        return json.dumps([None if callable(each) else encode(each) for each in self.case.args])

    @cached_property
    def shape(self) -> str:
        """What two inputs must share to be compared as numbers."""
        return str([np.shape(each) if is_number(each) else callable(each) or each for each in self.case.args])

    @cached_property
    def numbers(self) -> np.ndarray:
        given = [np.ravel(each).astype(float) for each in self.case.args if is_number(each)]
        return np.nan_to_num(np.concatenate([*given, np.zeros(1)]))


Blind = Callable[[Call], Outcome]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.ndarray) and not isinstance(value, bool)


def calls(asked: Exercise, seed: int) -> list[Call]:
    """In the order in which the grading calls them."""
    cases = asked.cases(seed)
    return [Call(asked, cases[place], number) for number, place in enumerate(asked.calling_order(seed))]


def told(outcome: Outcome) -> str:
    return json.dumps([outcome.kind, encode(outcome.value), outcome.error_type])


def constants(asked: Exercise) -> list[Outcome]:
    """What is right most often."""
    right = [each.right for seed in range(12) for each in calls(asked, seed)]
    by_text = {told(each): each for each in right}
    counted = Counter(map(told, right)).most_common(MOST_CONSTANTS)
    return [by_text[text] for text, count in counted if count > 1]


def blind_answers(public: list[Call], guesses: list[Outcome]) -> Iterator[tuple[str, Blind]]:
    table = {each.looks: each.right for each in public}

    def nearest(call: Call, far: Callable[[np.ndarray, np.ndarray], Any]) -> Outcome:
        alike = [
            (far(call.numbers, each.numbers), each.number) for each in public if each.shape == call.shape
        ]
        return public[min(alike)[1]].right if alike else public[0].right

    for guess in guesses:
        yield f"always {told(guess)[:60]}", lambda call, guess=guess: guess
        yield f"a table, and else {told(guess)[:60]}", lambda call, guess=guess: table.get(call.looks, guess)
    yield "counting", lambda call: public[call.number % len(public)].right
    yield (
        "a table, and else counting",
        lambda call: table.get(call.looks, public[call.number % len(public)].right),
    )
    yield "the nearest", lambda call: nearest(call, lambda a, b: np.abs(a - b).sum())
    yield (
        "the nearest by ratios",
        lambda call: nearest(call, lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b) + 1e-9)).sum()),
    )


def earns(asked: Exercise, answer: Blind, run: list[Call]) -> bool:
    """Whether it gains any points. `run` begins with the basic group: without that one nothing counts."""
    passed = []
    for each in run:
        passed.append(difference(asked, each.right, answer(each)) is None)
        if each.case.group == BASIC and not passed[-1]:
            return False
    return earned(asked, [each.case for each in run], passed) > 0


@every_function
def test_no_answer_that_looks_at_no_input_earns_anything(asked):
    public = calls(asked, PUBLIC_SEED)
    known = {each.looks for each in public}
    # Of the basic group, what no table holds comes first: there most are found wrong.
    runs = {
        seed: sorted(calls(asked, seed), key=lambda each: (each.case.group != BASIC, each.looks in known))
        for seed in SEEDS
    }
    with np.errstate(all="ignore"):
        for name, answer in blind_answers(public, constants(asked)):
            lucky = [seed for seed in SEEDS if earns(asked, answer, runs[seed])]
            assert not lucky, f"{name}: earns points for {len(lucky)} seeds: {lucky[:10]}"


@every_function
def test_where_few_outcomes_are_possible_each_is_right_often(asked):
    """So that to guess them all is hopeless."""
    counts = [Counter(told(each.right) for each in calls(asked, seed)) for seed in range(20)]
    if len({text for count in counts for text in count}) <= FEW:
        assert min(min(count.values()) for count in counts) >= LEAST_OF_EACH
        assert len({tuple(count) for count in counts}) > 1


def test_the_order_of_the_calls_is_drawn_from_the_seed():
    for asked in FUNCTIONS:
        orders = [asked.calling_order(seed) for seed in range(20)]
        assert orders[3] == asked.calling_order(3)
        assert sorted(orders[3]) == list(range(len(asked.cases(3))))
        assert len(set(orders)) > 10
