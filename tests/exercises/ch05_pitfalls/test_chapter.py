"""What the exercises of `05-pitfalls` hold together."""

from __future__ import annotations

from posenc_course.exercises.ch05_pitfalls import EXERCISES


def test_what_can_be_lent_is_what_the_solutions_call():
    lent = {each.function: each.lends for each in EXERCISES if each.lends}
    assert lent == {"cached_step": ("sinusoidal",), "what_was_rounded": ("sinusoidal",)}
