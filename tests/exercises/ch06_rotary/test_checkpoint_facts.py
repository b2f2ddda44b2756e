"""`06-rotary.checkpoint_facts`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import pytest

from posenc_course.exercises.ch06_rotary.checkpoint_facts import CHECKPOINT_FACTS


def test_the_facts_of_a_checkpoint_are_those_it_was_made_from():
    for seed in (0, 1):
        for case in CHECKPOINT_FACTS.cases(seed):
            made, head_dim = case.args
            facts = CHECKPOINT_FACTS.reference(made, head_dim)
            assert facts == (made.layout, pytest.approx(made.base, rel=1e-4), made.columns)


NOT_KNOWN = (("checkpoint_facts", lambda rotate, dim: ("half", 7.0, 6), "the base"),)
