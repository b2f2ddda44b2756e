"""Whether there is an answer at all: what a page, a notebook and the grading go by."""

from __future__ import annotations

import inspect

import pytest

from posenc_course.checking import Outcome, report_on
from posenc_course.checking.answer import lack, stops_as_released, unwritten
from posenc_course.exercises import exercise

FUNCTION, VALUE = exercise("02-the-formula.frequencies"), exercise("02-the-formula.longest_wavelength")


def starter(*args):
    raise NotImplementedError


def test_a_function_is_there_where_its_name_can_be_called():
    assert lack(FUNCTION, {}) == "missing"
    assert lack(FUNCTION, {"frequencies": 3.0}) == "uncallable"
    assert lack(FUNCTION, {"frequencies": starter}) is None
    assert lack(VALUE, {}) == "missing"
    assert lack(VALUE, {"longest_wavelength": 3.0}) is None


def test_what_raises_as_released_on_every_case_is_unwritten_and_what_does_so_on_one_is_not():
    raised, value = Outcome("raised", error_type="NotImplementedError"), Outcome("value", value=1.0)
    assert unwritten(FUNCTION, [raised, raised])
    assert not unwritten(FUNCTION, [raised, value])
    assert not unwritten(FUNCTION, [Outcome("value")] * 2), "it returns None: a return is forgotten"
    assert not unwritten(FUNCTION, [])
    assert unwritten(VALUE, [Outcome("value")])
    assert not unwritten(VALUE, [value])


def test_an_error_of_the_released_notebook_is_told_from_one_of_the_learners_own():
    assert stops_as_released(FUNCTION, "NotImplementedError")
    assert stops_as_released(FUNCTION, "NameError", "name 'frequencies' is not defined")
    assert not stops_as_released(FUNCTION, "NameError", "name 'frequency' is not defined")
    assert not stops_as_released(FUNCTION, "ZeroDivisionError", "division by zero")


def test_the_report_comes_back_right_or_wrong_and_only_a_call_that_is_none_raises():
    assert report_on(FUNCTION.id, FUNCTION.reference).passed
    wrong = report_on(FUNCTION.id, starter)
    assert not wrong.passed
    assert "not written yet" in str(wrong)
    assert report_on(VALUE.id, VALUE.reference()).passed
    with pytest.raises(TypeError, match="give the function itself"):
        report_on(FUNCTION.id, 3.0)
    with pytest.raises(ValueError, match="there is no exercise"):
        report_on("02-the-formula.nothing", starter)


def test_the_advice_on_a_list_of_dicts_is_no_shallow_copy():
    def pops(layers, tokens):
        return [layer.pop("kind") for layer in layers.copy()]

    told = str(report_on("10-position-from-content.cache_numbers", pops))
    assert "copy.deepcopy(layers) shares nothing" in told
    assert "layers *=" not in told


def test_the_advice_on_a_dict_looks_at_what_it_holds_in_any_case():
    asked = exercise("08-long-context.layers_that_turn")

    def appends(config):
        right, config = asked.reference(config), config.copy()
        config.get("layer_types", []).append("full_attention")
        return right

    assert "copy.deepcopy(config) shares nothing" in str(report_on(asked.id, appends))


@pytest.mark.parametrize(
    ("exercise_id", "name"),
    [("02-the-formula.smallest_dim", "dims"), ("01-why-order-matters.same_bag", "sentences")],
)
def test_a_list_of_what_cannot_change_may_be_copied_as_it_is(exercise_id, name):
    asked = exercise(exercise_id)
    place = list(inspect.signature(asked.reference).parameters).index(name)

    def pops(*args):
        right = asked.reference(*args)
        args[place].pop()
        return right

    def pops_from_a_copy(*args):
        return pops(*(each.copy() if number == place else each for number, each in enumerate(args)))

    told = str(report_on(exercise_id, pops))
    assert f"work on a copy, {name}.copy()." in told
    assert "is not enough" not in told
    assert report_on(exercise_id, pops_from_a_copy).passed
