"""No exercise tells a learner what is not so: each right result is spoiled in many ways, and judged.

A sentence about a property is untrue where the value breaks it only by being NaN, or by its form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from posenc_course.checking import Outcome, Report, judge, report_on, run
from posenc_course.checking.judge import right_outcomes
from posenc_course.checking.plain import NotPlain, to_plain
from posenc_course.exercises import Exercise, all_exercises, exercise

every_exercise = pytest.mark.parametrize("asked", all_exercises(), ids=lambda e: e.id)


def judged(asked: Exercise, spoil: Callable[[Any], Any], which: slice = slice(None)) -> Report:
    """The report on the right results, spoiled in these cases where that changes anything."""
    outcomes = list(right_outcomes(asked, 0)[1])
    for number in range(len(outcomes))[which]:
        right = outcomes[number].value
        try:
            outcomes[number] = Outcome("value", value=to_plain(spoil(right)))
        except NotPlain as error:
            outcomes[number] = Outcome("malformed", text=str(error))
        if right_form(right, outcomes[number].value):
            outcomes[number] = Outcome("value", value=right)
    return judge(asked, outcomes)


def right_form(right: Any, spoiled: Any) -> bool:
    """Whether only numbers differ, and all are finite."""
    if isinstance(right, tuple | str | bool):
        return False
    try:
        array = np.asarray(spoiled)
    except ValueError:
        return False
    return array.dtype.kind in "iuf" and array.shape == np.shape(right) and bool(np.isfinite(array).all())


def told(asked: Exercise, report: Report) -> set[str]:
    """What the properties are about whose messages a learner reads."""
    return {each.about for each in asked.properties if each.message in str(report)}


def with_number(place: str, number: float) -> Callable[[Any], Any]:
    """A result with this number in the first place, the last one, or everywhere."""

    def spoil(value: Any) -> Any:
        if isinstance(value, tuple):
            chosen = {"first": value[:1], "last": value[-1:], "everywhere": value}[place]
            return tuple(spoil(each) if any(each is one for one in chosen) else each for each in value)
        if isinstance(value, str | bool):
            return number
        array = np.array(value, dtype=float)
        array.reshape(-1)[{"first": slice(1), "last": slice(-1, None), "everywhere": slice(None)}[place]] = (
            number
        )
        return array

    return spoil


THREE_PRODUCTS, REACH = "03-relative-position.three_products", "07-alibi-and-biases.reach"
LAST, EACH = slice(-1, None), slice(None)


@every_exercise
def test_what_is_not_finite_is_told_as_such_and_nothing_else_is(asked):
    of_numbers = not isinstance(asked_for(asked), str | bool)
    for place, number, word, which in (
        ("first", np.nan, "NaN", EACH),
        ("everywhere", np.nan, "NaN", EACH),
        ("last", np.nan, "NaN", LAST),
        ("last", np.inf, "infini", EACH),
        ("everywhere", -np.inf, "infini", LAST),
    ):
        report = judged(asked, with_number(place, number), which)
        assert not report.passed
        if report.mistake is None:
            assert word in report.notes[0]
            assert told(asked, report) <= (set() if of_numbers else {"form"})
        assert report.mistake is None or np.isnan(number) or asked.function == "alibi_bias", report


def asked_for(asked: Exercise) -> Any:
    return right_outcomes(asked, 0)[1][0].value


def first(value: Any) -> Any:
    """The first number or array of a result."""
    if isinstance(value, str | bool | tuple) and not value:
        return 1.0
    if isinstance(value, np.ndarray) and value.dtype.kind == "b":
        return value.astype(float)
    return 1.0 if isinstance(value, str | bool) else first(value[0]) if isinstance(value, tuple) else value


FORMS: tuple[Callable[[Any], Any], ...] = (
    lambda value: None,
    lambda value: "no such word",
    lambda value: {"a": 1.0},
    lambda value: [[1.0], [1.0, 2.0]],
    lambda value: [1.0, "two", None],
    lambda value: [],
    lambda value: np.zeros((0, 7)),
    lambda value: np.ones((*np.shape(first(value)), 2), dtype=bool),
    lambda value: np.asarray(first(value)) + 3j,
    lambda value: np.asarray(first(value))[..., None] - 5.0,
    lambda value: -np.asarray(first(value))[None],
    lambda value: -3.0,
    lambda value: np.array([-3.0]),
    lambda value: (*value, 9.0) if isinstance(value, tuple) else np.full(np.size(value) + 1, -2),
    lambda value: (value, value, value, value),
    lambda value: 10**400,
)


@every_exercise
def test_another_form_breaks_no_property_of_numbers(asked):
    for number, form in enumerate(FORMS):
        report = judged(asked, form)
        if not report.passed and report.mistake is None:
            assert "numbers" not in told(asked, report), f"form {number}: {report}"
            assert "NaN" not in str(report)
            assert "infini" not in str(report)


@every_exercise
def test_what_is_close_enough_breaks_no_property(asked):
    """One case is wrong; in the others everything is within the tolerance, and nothing is said of them."""

    def nearly(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(nearly, value))
        if isinstance(value, str | bool) or np.asarray(value).dtype.kind == "b":
            return value
        noise = np.where(np.arange(np.size(value)) % 2, 0.9, -0.9).reshape(np.shape(value))
        near = np.asarray(value) + noise * asked.absolute_tolerance
        return to_plain(near.astype(asked.dtype) if asked.dtype else near)

    right = right_outcomes(asked, 0)[1]
    outcomes = [Outcome("value", value=nearly(each.value)) for each in right]
    assert judge(asked, outcomes).passed
    if asked.kind == "function":
        outcomes[0] = Outcome("value", value="no such word")
        report = judge(asked, outcomes)
        assert "numbers" not in told(asked, report), str(report)


def cut(value: np.ndarray) -> np.ndarray:
    return value.astype(np.int64) if np.isfinite(value).all() else value


def with_none(value: np.ndarray) -> np.ndarray:
    array = value.astype(object)
    array.reshape(-1)[-1] = None
    return array


WHOLE, COARSE = "It is an array of whole numbers (int64)", "Its numbers are float16"
SINGLE = "Its numbers are float32"
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    WHOLE: cut,
    COARSE: lambda value: value.astype(np.float16),
    SINGLE: lambda value: value.astype(np.float32),
    "Its numbers are complex": lambda value: value + 1j,
    "which is not a number": with_none,
    "It is empty": lambda value: value[:0],
    "This is a single number": lambda value: value.reshape(-1)[0],
    "It returned text": lambda value: str(value)[:80],
    "It returned rows of different lengths": lambda value: [[1.0], [1.0, 2.0]],
    "It returned booleans": lambda value: value > 0,
}


@every_exercise
def test_an_array_of_another_kind_is_told_as_what_it_is(asked):
    """The right numbers, spoiled by their kind alone; no property of numbers is said to be broken by it."""
    arrays = [each.value for each in right_outcomes(asked, 0)[1]]
    if asked.kind == "value" or not all(isinstance(each, np.ndarray) for each in arrays):
        return
    if {each.dtype.kind for each in arrays} != {"f"} or not all(np.isfinite(each).all() for each in arrays):
        return
    for said, spoil in KINDS.items():
        with np.errstate(all="ignore"):
            outcomes = [Outcome("value", value=to_plain(spoil(each))) for each in arrays]
        report = judge(asked, outcomes)
        if said in (WHOLE, COARSE, SINGLE) and (report.passed or report.mistake or "infini" in str(report)):
            continue  # within the tolerance, a known mistake, or beyond what float16 holds
        if said == SINGLE and asked.dtype:
            continue  # asks for a kind, and is told of that
        assert said in str(report)
        assert "numbers" not in told(asked, report)


VALUES = (
    ("02-the-formula.longest_wavelength", None, "It is still None: nothing has been assigned to it yet."),
    ("02-the-formula.longest_wavelength", "60611", "'60611' is text, but numbers were expected."),
    ("02-the-formula.longest_wavelength", [60611.0], "Give the number itself."),
    ("02-the-formula.longest_wavelength", [1.0, 2.0], "a single number was expected"),
    ("02-the-formula.longest_wavelength", True, "True is a truth value, but numbers were expected."),
    ("02-the-formula.longest_wavelength", 3 + 4j, "Its numbers are complex"),
    ("02-the-formula.longest_wavelength", {"positions": 3}, "It is a dict, but numbers were expected."),
    ("02-the-formula.wrong_columns", 2, "This is a single number, but several were expected."),
    ("02-the-formula.wrong_columns", ["2", "3", "5"], "At index [0] there is '2', which is not a number."),
    (REACH, (10, None), "Number 2: It is still None: nothing has been assigned to it yet."),
    (REACH, ("near", 9), "Number 1: 'near' is text, but numbers were expected."),
    (REACH, ([3, 4], 9), "a single number was expected"),
    (REACH, (10, 10**9), "Number 2 is “the gentlest head”."),
    (REACH, 3, "The answer should be a tuple of 2 values: the steepest head; the gentlest head."),
)


@pytest.mark.parametrize(("exercise_id", "answer", "words"), VALUES)
def test_a_value_of_another_kind_is_told_so_and_not_the_answer(exercise_id, answer, words):
    asked = exercise(exercise_id)
    text = str(report_on(exercise_id, answer))
    assert words in text
    rest = text.replace(repr(answer), "")
    assert not any(f"{right:g}" in rest for right in np.ravel(asked.reference()) if right > 99)


def by_name(right: dict, **changed) -> Report:
    """The report on a dict, to an exercise that asks for one."""
    asked = replace(exercise(REACH), reference=lambda: right, parts=("the layout", "the base"), mistakes=())
    return judge(asked, [Outcome("value", value=changed)])


def test_of_a_dict_the_wrong_part_is_named():
    right = {"layout": "half", "base": 10_000.0}
    assert by_name(right, base=10_000, layout="HALF").passed
    wrong = str(by_name(right, layout="half", base=500_000.0))
    assert "Of your 2 values, number 2 is wrong. Number 2 is “the base”." in wrong
    assert "10000" not in wrong
    assert "Number 1: 7 is not text. It should be a word." in str(by_name(right, layout=7, base=10_000.0))
    for other in ({"layout": "half"}, {**right, "scale": 1.0}):
        assert "The answer should be a dict with the keys 'layout', 'base'." in str(by_name(right, **other))
    assert "Number 2: In the case “your prediction” your answer is NaN" in str(
        by_name(right, layout="half", base=np.nan)
    )


def test_a_softmax_without_the_largest_score_taken_away_is_told_of_its_nan():
    def by_the_root_of_squares(scores):
        raised = np.exp(scores)
        return raised / np.sqrt((raised**2).sum(axis=-1, keepdims=True))

    asked = exercise("01-why-order-matters.softmax")
    with np.errstate(all="ignore"):
        report = judge(asked, run(by_the_root_of_squares, asked.cases()))
    text = str(report)
    assert (
        "In the case “scores around 1000” your answer contains NaN, “not a number”, first at index [0]."
        in text
    )
    assert "No weight can be negative" not in text
    assert "must sum to 1" in text  # the rows of the first case do not


def test_of_a_nan_products_and_logarithms_are_named_as_well():
    note = judged(exercise("01-why-order-matters.softmax"), with_number("first", np.nan)).notes[0]
    assert "0 times infinity" in note
    assert "the logarithm of a negative number" in note


def test_what_holds_for_the_answer_is_told_beside_a_nan_elsewhere():
    asked = exercise("07-alibi-and-biases.alibi_bias")

    def upside_down(slopes, queries, keys, causal):
        return -asked.reference(slopes, queries, keys, causal)

    report = judge(asked, run(upside_down, asked.cases()))
    assert "no number of the bias is above 0" in str(report) or report.mistake


def test_the_right_infinities_are_not_told():
    asked = exercise("07-alibi-and-biases.alibi_bias")
    right = asked.reference
    report = judge(asked, run(lambda *args: right(*args) * 2 - 7, asked.cases()))
    assert not report.passed
    assert "infini" not in str(report)


@pytest.mark.parametrize(
    ("exercise_id", "answer", "words"),
    [
        (THREE_PRODUCTS, lambda a, b, c: (a, b + 1, c), "Of your 3 values, number 2 is wrong."),
        (THREE_PRODUCTS, lambda a, b, c: [a + 1, b, "c"], "numbers 1, 3 are wrong."),
        (THREE_PRODUCTS, lambda a, b, c: (0, 0, 0), "None of your 3 values is right."),
        (THREE_PRODUCTS, lambda a, b, c: (a, b), "a tuple of 3 values"),
        (THREE_PRODUCTS, lambda a, b, c: (a, b, np.nan), "number 3 is wrong"),
        (REACH, lambda a, b: (a, b + 1), "Of your 2 values, number 2 is wrong."),
        (REACH, lambda a, b: np.array([a + 1, b]), "Of your 2 values, number 1 is wrong."),
        ("01-why-order-matters.distinct_rows", lambda a, b: (a, 0), "number 2 is wrong"),
        ("04-extrapolation.early_share", lambda a, b: (a, [b]), "number 2 is wrong"),
    ],
)  # fmt: skip
def test_of_several_values_the_wrong_one_is_named_and_no_right_one_is_told(exercise_id, answer, words):
    asked = exercise(exercise_id)
    right = asked.reference()
    report = judge(asked, run(lambda: answer(*right), asked.cases()))
    text = str(report)
    assert report.mistake or words in text
    assert not any(repr(each) in text.replace(words, "") for each in right if len(repr(each)) > 1)


def test_of_several_returned_values_the_wrong_one_is_named_with_what_was_expected():
    asked = exercise("04-extrapolation.blocks_and_sliding")
    report = judge(asked, run(lambda *args: (asked.reference(*args)[0], 7.0), asked.cases()))
    assert "Of your 2 values, number 2 is wrong. Number 2: It returned 7, but " in str(report)
