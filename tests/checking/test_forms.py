"""What a right answer may look like: `check` takes every form that holds the right numbers, no wrong one."""

from __future__ import annotations

import itertools
import re
import time

import numpy as np
import pytest

from posenc_course.checking import CheckFailed, check
from posenc_course.checking.plain import MOST_ELEMENTS, NotPlain, as_array, to_plain
from posenc_course.exercises import exercise
from tests.checking.forms import ARRAYS, NUMBERS, TEXTS, TRUTHS, TUPLES, changed
from tests.present import present

KINDS = {
    "04-extrapolation.loss_by_position": ARRAYS,
    "04-extrapolation.stretch": ARRAYS,
    "04-extrapolation.far_gap": NUMBERS,
    "04-extrapolation.blocks_and_sliding": TUPLES,
    "04-extrapolation.forgets": TRUTHS,
    "04-extrapolation.verdict": TEXTS,
}
every_form = pytest.mark.parametrize(
    ("asked", "form"),
    [
        pytest.param(exercise(exercise_id), form, id=f"{exercise_id}-{name}")
        for exercise_id, forms in KINDS.items()
        for name, form in forms.items()
    ],
)


@every_form
def test_a_right_answer_passes_in_every_form(asked, form):
    assert check(asked.id, changed(asked.reference, form)).passed


@pytest.mark.parametrize("form", ARRAYS.values(), ids=ARRAYS)
def test_a_known_mistake_is_called_by_its_name_in_every_form(form):
    asked = exercise("04-extrapolation.loss_by_position")
    mistake = asked.mistakes[0]
    with pytest.raises(CheckFailed, match=re.escape(mistake.message)):
        check(asked.id, changed(lambda *args: np.asarray(mistake.answer(*args), dtype=float), form))


@pytest.mark.parametrize("form", [*TUPLES.values(), lambda pair: tuple(map(float, pair))])
def test_a_value_passes_in_every_form(form):
    assert check("04-extrapolation.early_share", form((0.5, 0.03125))).passed
    with pytest.raises(CheckFailed, match="Of your 2 values, number 2 is wrong"):
        check("04-extrapolation.early_share", form((0.5, 0.0625)))


# --- What is no answer, and says so -------------------------------------------------------------------


def words(answer) -> str:
    with pytest.raises(CheckFailed) as caught:
        check("02-the-formula.frequencies", answer)
    return str(caught.value)


def forever():
    while True:
        yield forever()


def fails_late(dim):
    yield 1.0
    raise KeyError("the second one")


class NoNumber:
    def __float__(self):
        return "1.0"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda dim: {1.0, 0.1}, "a set, which has no order"),
        (lambda dim: np.ma.array(np.ones(dim // 2), mask=True), "masked cells"),
        (lambda dim: itertools.count(), "far bigger than any right answer"),
        (lambda dim: forever(), "nested more than 40 levels deep"),
        (lambda dim: range(10**12), "far bigger than any right answer"),
        (lambda dim: np.broadcast_to(1.0, (10**6, 10**6)), "far bigger than any right answer"),
        (lambda dim: np.zeros((0, 10**9)), "far bigger than any right answer"),
        (lambda dim: 10**5000, "too large for a float"),
        (lambda dim: {1: 2.0}, "a dict"),
        (lambda dim: {"a": 2.0}, "not made of numbers"),
        (lambda dim: np.array(["2020-01-01"], dtype="M8[D]"), "holds no numbers"),
        (lambda dim: check, "function, which is not a number, text or an array"),
        (lambda dim: NoNumber(), "TypeError"),
        (lambda dim: [10.0**30] * (dim // 2), "got 1e+30"),
        (lambda dim: [10**30] * (dim // 2), "got 1e+30"),
        (lambda dim: np.ones(dim // 2) * 1j, "got 1j"),
        (lambda dim: "x" * 900, "It returned text, 'xxx"),
    ],
)
def test_what_is_no_answer_is_told_what_it_is(answer, said):
    started = time.process_time()
    text = words(answer)
    assert said in text
    assert len(text) < 1000
    assert time.process_time() - started < 5


def test_what_a_generator_raises_the_answer_raised():
    text = words(fails_late)
    assert "KeyError" in text
    assert 'raise KeyError("the second one")' in text


def test_the_result_is_made_of_exact_types_alone():
    class Liar(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    class LyingList(list):
        def __eq__(self, other):
            return True

        def __len__(self):
            return 7

    class LyingText(str):
        def __eq__(self, other):
            return True

        def lower(self):
            return "holds"

        __str__ = strip = lower  # type: ignore[assignment]
        __hash__ = str.__hash__

    plain = to_plain(LyingList([Liar(1.0), LyingText("breaks"), np.array([Liar(2.0)], dtype=object)]))
    assert type(plain) is list
    assert [type(each) for each in plain] == [float, str, list]
    assert plain[1] == "breaks"
    assert type(plain[2][0]) is float


def test_an_array_of_an_honest_size_is_taken():
    assert to_plain(np.zeros(MOST_ELEMENTS - 64)).size == MOST_ELEMENTS - 64
    with pytest.raises(NotPlain):
        to_plain([np.zeros(MOST_ELEMENTS // 2)] * 2)


def test_whole_numbers_beyond_64_bits_are_an_array_also_beside_complex_ones():
    for given in ([2**64, 1j], [2**64, 1]):
        assert present(as_array(given)).tolist() == given
    with pytest.raises(CheckFailed):
        check("04-extrapolation.far_gap", lambda *args: [2**64, 1j])
