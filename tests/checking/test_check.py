"""check(): what a learner sees, for answers that are right, wrong, broken or strange."""

from __future__ import annotations

import copy
import json
import math
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_course import check
from posenc_course.checking import CheckFailed, Outcome, judge, run
from posenc_course.checking.plain import NotPlain, decode, encode, to_plain
from posenc_course.exercises import Case, all_exercises, exercise
from posenc_lib import frequencies
from tests.present import present

ID = "02-the-formula.frequencies"
ASKED = exercise(ID)


def right(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)


def failure(answer) -> str:
    with pytest.raises(CheckFailed) as caught:
        check(ID, answer)
    return str(caught.value)


def test_a_right_answer_gives_a_report_that_prints_and_renders():
    report = check(ID, right)
    assert report.passed
    assert str(report).startswith("Passed")
    assert ASKED.title in str(report)
    assert "✓" in report._repr_html_()


def test_a_wrong_answer_shows_the_first_wrong_element_expected_and_got():
    text = failure(lambda dim: np.where(np.arange(dim // 2) == 1, 0.5, right(dim)))
    # dim 2 has one frequency and passes; in dim 4 the second is 0.01.
    assert "index [1]: got 0.5, expected 0.01" in text
    assert "First wrong case: dim 4." in text


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([1], "One of 32 elements is wrong, at index [1]: got 0.5"),
        ([1, 5], "2 of 32 elements are wrong. The first is at index [1]"),
    ],
)
def test_wrong_elements_are_counted_in_english(wrong, words):
    def answer(dim):
        return np.where(np.isin(np.arange(dim // 2), wrong) & (dim == 64), 0.5, right(dim))

    assert words in failure(answer)


def test_no_mistake_is_named_where_the_answer_only_resembles_one():
    mistake = ASKED.mistakes[0]
    text = failure(lambda dim: mistake.answer(dim) + (1e-3 if dim == 8 else 0.0))
    assert not any(each.message in text for each in ASKED.mistakes)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda dim: None, "returned None"),
        (lambda dim: right(dim)[:, None], "shape (1, 1), but shape (1,) was expected"),
        (lambda dim: [[1.0], [1.0, 2.0]], "rows of different lengths"),
        (lambda dim: object(), "cannot be compared"),
        (lambda dim: right(dim) > 0.5, "returned booleans"),
        (lambda dim: right(dim) * np.nan, "returned nan, but 1 was expected"),
        (lambda dim: {"a": 1}, "not made of numbers"),
        (lambda dim: 1 / 0, "ZeroDivisionError"),
        (lambda: None, "TypeError"),
    ],
)
def test_strange_answers_get_a_clear_word(answer, words):
    assert words in failure(answer)


def test_an_exception_shows_the_learners_own_line():
    def answer(dim):
        return np.ones(dim)[dim + 1]

    assert "(line " in failure(answer)
    assert "return np.ones(dim)[dim + 1]" in failure(answer)


def test_an_unwritten_answer_is_told_so():
    def starter(dim):
        raise NotImplementedError

    assert "not written yet" in failure(starter)


def test_lists_tuples_tensors_and_float32_are_right_answers_too():
    check(ID, lambda dim: list(right(dim)))
    check(ID, lambda dim: tuple(right(dim)))
    check(ID, lambda dim: torch.tensor(right(dim), requires_grad=True))
    check(ID, lambda dim: right(dim).astype(np.float32))


def test_a_warning_costs_nothing():
    def noisy(dim):
        warnings.warn("careful", stacklevel=2)
        return right(dim)

    with pytest.warns(UserWarning, match="careful"):
        assert check(ID, noisy).passed


def test_an_answer_cannot_spoil_the_inputs_of_the_next_case():
    asked = ASKED
    before = [case.args for case in asked.cases()]
    run(lambda *args: None, asked.cases())
    assert [case.args for case in asked.cases()] == before


def test_objects_that_lie_about_equality_are_no_plain_data():
    class Liar(float):
        def __eq__(self, other):
            return True

        __hash__ = float.__hash__

    class LyingArray(np.ndarray):
        def __eq__(self, other):
            return True

    assert type(to_plain(Liar(3.0))) is float
    assert to_plain(Liar(3.0)) != 4.0
    assert type(to_plain(np.ones(3).view(LyingArray))) is np.ndarray
    with pytest.raises(NotPlain):
        to_plain(np.array([object()]))


def test_malformed_data_is_refused():
    for bad in (
        {"array": "!!", "dtype": "<f8", "shape": [1]},
        {"array": "", "dtype": "|O", "shape": []},
        {"x": 1},
    ):
        with pytest.raises(ValueError, match="malformed"):
            decode(bad)


def test_wide_numbers_and_conjugate_views_are_plain_data():
    assert to_plain(np.longdouble(1.5)) == 1.5
    assert to_plain(np.clongdouble(1 + 2j)) == 1 + 2j
    np.testing.assert_array_equal(to_plain(torch.tensor([1 + 2j]).conj()), [1 - 2j])
    np.testing.assert_array_equal(to_plain(torch.tensor([1 + 2j]).conj().imag), [-2.0])


def test_calling_the_function_by_mistake_is_explained():
    with pytest.raises(TypeError, match="give the function itself"):
        check(ID, right(4))


def test_an_unknown_exercise_names_the_nearest():
    with pytest.raises(ValueError, match=r"did you mean '02-the-formula\.frequencies'"):
        check("02-the-formula.frequency", right)


def test_the_judge_refuses_a_wrong_number_of_outcomes():
    with pytest.raises(ValueError, match="one for each case"):
        judge(ASKED, [Outcome("value", value=1.0)])


def test_html_escapes_what_the_answer_says():
    def answer(dim):
        raise ValueError("<script>alert(1)</script>")

    with pytest.raises(CheckFailed) as caught:
        check(ID, answer)
    assert "<script>" not in caught.value.report._repr_html_()


def test_the_answer_and_the_judge_can_stand_in_two_processes():
    """The joint that safe grading needs: cases go out as JSON, outcomes come back as JSON."""
    learner = """
import json, sys
import numpy as np
from posenc_course.checking.plain import decode, encode
from posenc_course.checking.run import run
from posenc_course.exercises import Case
cases = [Case("", decode(args)) for args in json.load(sys.stdin)]
answer = lambda dim: 10000.0 ** (-2 * np.arange(dim // 2) / dim)
json.dump([[o.kind, encode(o.value), o.error_type, o.text] for o in run(answer, cases)], sys.stdout)
assert not any(name.startswith("posenc_course.exercises.ch") for name in sys.modules)
"""
    sent = json.dumps([encode(case.args) for case in ASKED.cases()])
    back = subprocess.run(
        [sys.executable, "-c", learner], input=sent, capture_output=True, text=True, check=True
    )
    outcomes = [
        Outcome(kind, decode(value), error, text) for kind, value, error, text in json.loads(back.stdout)
    ]
    assert judge(ASKED, outcomes).passed


def test_checking_needs_numpy_alone():
    """What a browser has: every exercise loads, and answers are judged, without any other package."""
    code = """
import sys
for name in ("torch", "matplotlib", "array_api_compat", "IPython", "nbgrader"):
    sys.modules[name] = None
from posenc_course import check
from posenc_lib import frequencies
from posenc_course.exercises import all_exercises
assert len(all_exercises()) >= 10
assert check("02-the-formula.frequencies", lambda dim: frequencies(dim)).passed
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert frequencies(4)[1] == pytest.approx(0.01)


def test_a_wrong_value_is_not_told_the_answer():
    asked = next(e for e in all_exercises() if e.kind == "value" and isinstance(e.reference(), int | float))
    with pytest.raises(CheckFailed) as caught:
        check(asked.id, -123456)
    assert "-123456 is not the answer" in str(caught.value)
    assert str(asked.reference()) not in str(caught.value)


def test_the_judges_own_trials_of_mistakes_make_no_noise(capfd):
    with pytest.raises(CheckFailed), warnings.catch_warnings(action="error"):
        check("01-why-order-matters.softmax", lambda scores: scores)
    out, err = capfd.readouterr()
    assert out == err == ""


# --- Inputs stay as they are -----------------------------------------------------------------------


def embed_in_place(tokens, embedding):
    embedding *= math.sqrt(embedding.shape[1])
    return embedding[tokens]


def shift_rows_in_place(rows, offset):
    turn = offset * 10000.0 ** (-np.arange(0, rows.shape[1], 2) / rows.shape[1])
    sines, cosines = rows[:, 0::2].copy(), rows[:, 1::2].copy()
    rows[:, 0::2] = sines * np.cos(turn) + cosines * np.sin(turn)
    rows[:, 1::2] = cosines * np.cos(turn) - sines * np.sin(turn)
    return rows


def restore_rows_in_place(shuffled, order):
    shuffled[order] = shuffled.copy()
    return shuffled


def forgets_in_place(predict, tokens, window):
    before = predict(tokens)[-1]
    for place in range(len(tokens) - window):
        tokens[place] = (tokens[place] + 1) % 10
        if abs(predict(tokens)[-1] - before) > 1e-9:
            return False
    return True


CHANGES: dict[str, tuple[Callable[..., Any], str]] = {
    "02-the-formula.embed": (embed_in_place, "embedding"),
    "03-relative-position.shift_rows": (shift_rows_in_place, "rows"),
    "01-why-order-matters.restore_rows": (restore_rows_in_place, "shuffled"),
    "04-extrapolation.forgets": (forgets_in_place, "tokens"),
}


@pytest.mark.parametrize("exercise_id", CHANGES)
def test_an_answer_that_changes_its_inputs_is_wrong_and_told_so(exercise_id):
    """Its values are right, so nothing else is said of it."""
    answer, name = CHANGES[exercise_id]
    with pytest.raises(CheckFailed) as caught:
        check(exercise_id, answer)
    report = caught.value.report
    assert report.mistake is None
    assert present(report.first_failure).difference == f"It changed its input {name}."
    (note,) = report.notes
    assert f"Your function changes {name} itself" in note
    assert f"{name}.copy()" in note


@pytest.mark.parametrize("exercise_id", CHANGES)
def test_the_same_answer_on_a_copy_passes(exercise_id):
    answer, _name = CHANGES[exercise_id]
    assert check(exercise_id, lambda *args: answer(*copy.deepcopy(args))).passed


@pytest.mark.parametrize(
    ("given", "change"),
    [
        (np.array([1.0, np.nan]), lambda x: x.fill(0.0)),
        (np.zeros(4), lambda x: x.resize(2, 2, refcheck=False)),
        ([1, [2, 3]], lambda x: x[1].append(4)),
        ({"a": 1}, lambda x: x.clear()),
        ((1, np.zeros(2)), lambda x: x[1].fill(1.0)),
    ],
)
def test_every_change_of_plain_data_is_seen_and_nothing_else(given, change):
    [changed] = run(lambda _first, x: change(x), [Case("", (1.0, given))])
    [read] = run(lambda _first, x: repr(x), [Case("", (1.0, given))])
    assert (changed.changed, read.changed) == (1, None)


def test_a_tensor_that_was_changed_in_place_is_seen():
    [outcome] = run(lambda x: x.mul_(2), [Case("", (np.ones(3),))], "torch")
    assert outcome.changed == 0


def test_a_named_mistake_keeps_its_name_where_inputs_were_changed_too():
    def embed(tokens, embedding):
        embedding /= math.sqrt(embedding.shape[1])
        return embedding[tokens]

    with pytest.raises(CheckFailed) as caught:
        check("02-the-formula.embed", embed)
    assert caught.value.report.mistake is not None


def test_a_wrong_value_without_a_name_is_told_of_the_change_too():
    def embed(tokens, embedding):
        embedding += 1.0
        return embedding[tokens]

    with pytest.raises(CheckFailed) as caught:
        check("02-the-formula.embed", embed)
    text = str(caught.value)
    assert "Your function changes embedding itself" in text
    assert "expected" in text
