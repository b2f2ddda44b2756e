"""What the exercises of `06-rotary` hold together."""

from __future__ import annotations

from posenc_course.exercises.ch06_rotary import EXERCISES


def test_no_exercise_borrows_the_rotation():
    """They are there to be written."""
    assert {asked.function for asked in EXERCISES if asked.lends} == set()
