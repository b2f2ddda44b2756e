"""Every drawn promise can be broken, and not by what one types without a thought."""

from __future__ import annotations

import pytest

from posenc_course.challenges import breaking
from posenc_course.challenges.page import answer

SEEDS = (*range(200), 381, 427)  # in the last two, the promise was once kept by all numbers


@pytest.mark.parametrize("seed", SEEDS)
def test_the_smallest_example_breaks_the_promise_and_gets_all_points(seed):
    drawn = breaking.draw(seed)
    smallest = [str(each) for each in drawn.best]
    found = drawn.judge(smallest)
    assert found.broken
    assert drawn.points(found, tries=0) == 10
    assert drawn.points(found, tries=2) == 8
    assert drawn.points(found, tries=50) == 6
    for thoughtless in ("", "0", "1", "2", "1000000", "abc", "-1", "1.5", "9" * 30):
        assert not drawn.judge([thoughtless] * len(smallest)).broken
    counted = [str(each) for each in range(len(smallest))]
    assert not drawn.judge(counted).broken


@pytest.mark.parametrize("seed", range(0, 200, 7))
def test_nothing_smaller_breaks_it(seed):
    """One less in any number either keeps the promise or is no smaller."""
    drawn = breaking.draw(seed)
    size = drawn.smallest
    for place in range(len(drawn.best)):
        nearer = [str(each - (number == place)) for number, each in enumerate(drawn.best)]
        found = drawn.judge(nearer)
        assert not found.broken or found.size >= size


def test_a_larger_example_gets_less():
    drawn = next(breaking.draw(seed) for seed in SEEDS if breaking.draw(seed).family == "forgotten")
    smallest = drawn.best[0]
    points = [drawn.points(drawn.judge([str(each)]), 0) for each in (smallest, smallest + 1, 3 * smallest)]
    assert points == [10, 8, 0]
    far = drawn.judge([str(3 * smallest)])
    assert "less than half as large" in far.sentence
    assert far.too_large
    assert not drawn.judge([str(smallest - 1)]).too_large


@pytest.mark.parametrize("typed", ["", "  ", "ten", "1.5", "-3", "1e3", "٣", "9" * 30, "<b>1</b>"])
def test_what_is_no_number_is_told_so_and_costs_no_try(typed):
    drawn = breaking.draw(8)
    found = drawn.judge([typed])
    assert not found.broken
    assert not found.counts
    assert "whole number from 0 to 1,000,000" in found.sentence


@pytest.mark.parametrize("typed", ["197", " 197 ", "0197", "1_97", "1 97"])
def test_numbers_are_read_as_people_type_them(typed):
    assert breaking.draw(8).judge([typed]).broken


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("1,000", 1000),
        ("1,000,000", 1_000_000),
        ("１，０００", 1000),
        ("１０", 10),
        ("-5", -5),
        ("\N{MINUS SIGN}5", -5),
        ("--5", None),
        ("5-", None),
        ("1,00", None),
        ("1,0000", None),
        (",100", None),
    ],
)
def test_a_comma_parts_thousands_and_nothing_else(typed, meant):
    assert breaking._whole(typed) == meant


def test_the_page_is_told_what_it_needs():
    told = answer("break", "draw", 8)
    assert set(told) == {"title", "promise", "asked", "code", "fields"}
    assert "alibi_slopes" in told["code"]
    kept = answer("break", "judge", 8, typed=["3"], tries=0)
    assert (kept["broken"], kept["counts"], kept["points"]) == (False, True, 0)
    assert not kept["too_large"]
    far = answer("break", "judge", 8, typed=["1000"], tries=0)
    assert (far["broken"], far["too_large"]) == (False, True)
    broken = answer("break", "judge", 8, typed=["300"], tries=1)
    assert (broken["broken"], broken["smallest"], broken["points"]) == (True, False, 7)
    best = answer("break", "judge", 8, typed=["197"], tries=0)
    assert (best["broken"], best["smallest"], best["points"]) == (True, True, 10)
