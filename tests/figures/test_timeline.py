"""The timeline: each encoding at the month of its paper, no name on another, and a phone shows it whole."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from posenc_course.figures import timeline
from posenc_lib.catalogue import catalogue
from tests.present import present

PICTURE = timeline.timeline()


def test_each_stands_at_the_month_of_its_paper():
    assert timeline.published(catalogue().named("shaw")) == pytest.approx(2018 + 2 / 12)
    for each in catalogue():
        if each.name in timeline.SHORT:
            assert int(timeline.published(each)) == each.year


def test_all_that_is_promised_is_drawn_once_through_its_door_and_said_in_words():
    drawn = [name for of_door in timeline.by_door().values() for name in of_door]
    assert sorted(drawn) == sorted(timeline.SHORT)
    for door, of_door in timeline.by_door().items():
        assert list(of_door.values()) == sorted(of_door.values())
        for name, date in of_door.items():
            assert catalogue().named(name).doors == (door,)
            assert f">{timeline.SHORT[name]}</text>" in PICTURE.svg
            assert f"{timeline.SHORT[name]} {int(date)}" in PICTURE.alt


def test_no_name_stands_on_another():
    for of_door in timeline.by_door().values():
        lines = timeline._lines(of_door)
        assert min(later - sooner for sooner, later in pairwise(lines.values())) >= timeline._LINE - 1e-9
        assert all(lines[name] >= date for name, date in of_door.items())


def test_it_fits_a_phone_without_scrolling():
    assert float(present(re.search(r"min-width:([\d.]+)px", PICTURE.svg))[1]) <= 340


def test_the_first_bias_is_older_than_the_first_rotation():
    first = {door: next(iter(of_door.items())) for door, of_door in timeline.by_door().items()}
    assert first["added"][1] < first["biased"][1] < first["rotated"][1]
    assert first["rotated"][0] == "rope"
