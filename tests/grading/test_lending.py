"""The process that answers what an exercise lends: it starts, answers, and goes quietly."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from posenc_course.checking.plain import encode
from posenc_course.exercises import all_exercises, exercise
from posenc_course.grading.sandbox.lending import answer


def test_it_ends_without_a_word_where_whoever_asks_has_ended():
    """As where there is no bubblewrap, or after Ctrl-C in the first second: it is not ready yet."""
    process = subprocess.Popen(
        [sys.executable, "-m", "posenc_course.grading.sandbox.lending"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=200)
    assert (process.returncode, errors) == (0, b"")


def lends_functions(asked):
    return asked.kind == "function" and any(callable(arg) for case in asked.cases(1) for arg in case.args)


def reply(asked, case, place, args):
    question: dict[str, Any] = {"exercise": asked.id, "seed": 1, "case": case, "argument": place}
    return answer(question | {"args": encode(args), "kwargs": {}})


@pytest.mark.parametrize("asked", list(filter(lends_functions, all_exercises())), ids=lambda each: each.id)
def test_no_error_of_a_lent_function_tells_its_name(asked):
    """Python puts the name of a function into what it says of a call that does not fit."""
    told = {
        reply(asked, number, place, [])[2]
        for number, case in enumerate(asked.cases(1))
        for place, lent in enumerate(case.args)
        if callable(lent)
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    ("exercise_id", "shapes"),
    [
        ("06-rotary.is_relative", [((3, 3, 8), (3,)), ((8,), (1,)), ((2, 6), (2,)), ((2, 8), (3,))]),
        ("05-pitfalls.adds_along_the_tokens", [((2, 3, 4, 6),), ((3, 4),), ((2, 3, 5),), ((2, 65, 4),)]),
    ],
)
def test_no_error_tells_which_of_the_functions_it_is(exercise_id, shapes):
    asked = exercise(exercise_id)
    count = len(shapes[0])
    calls = [[], [None] * count, ["x"] * count, [[]] * count]
    calls += [[np.zeros(shape) for shape in each] for each in shapes]
    if count == 2:
        calls += [[np.zeros((1, 8)), np.array([place])] for place in (np.inf, np.nan, 1e200)]
    for args in calls:
        assert len({tuple(reply(asked, case, 0, args)) for case in range(len(asked.cases(1)))}) == 1, args
