"""The picture that returns: what is lit is said and seen, and the weights in it are those of attention."""

from __future__ import annotations

import re

import numpy as np
import pytest

from posenc_course.colours import ORANGE
from posenc_course.figures import doors
from tests.present import present

LIT = [(), ("added",), ("rotated",), ("biased",), ("added", "biased")]


@pytest.mark.parametrize("lit", LIT)
def test_the_light_falls_through_the_doors_that_are_open_and_the_words_say_so(lit):
    picture = doors.transformer_block(*lit)
    assert f"Open and lit: {', '.join(lit) or 'none'}." in picture.alt
    assert (ORANGE in picture.svg) == bool(lit)
    for text in (*doors.WORDS, *doors.DOORS, *doors.DOORS.values()):
        assert f">{text}</text>" in picture.svg
    bold = re.findall(r'<text style="[^"]*(?:bold|700)[^"]*"[^>]*>([a-z]+)</text>', picture.svg)
    assert sorted(bold) == sorted(lit)


def test_it_fits_a_phone_without_scrolling():
    least = float(present(re.search(r"min-width:([\d.]+)px", doors.transformer_block("added").svg))[1])
    assert least <= 340


def test_a_door_that_is_none_is_refused():
    with pytest.raises(ValueError, match="lit is 'front'; the doors are added, rotated, biased"):
        doors.transformer_block("front")


def test_each_door_changes_who_attends_to_whom():
    plain = doors.weights()
    assert plain.sum(axis=1) == pytest.approx(1)
    opened = [doors.weights([door]) for door in doors.DOORS]
    assert min(np.abs(each - plain).max() for each in opened) > 0.02
