"""`06-rotary.checkpoint_facts`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.checkpoint_facts import CHECKPOINT_FACTS


def test_the_facts_of_a_checkpoint_are_those_it_was_made_from():
    for seed in (0, 1):
        for case in CHECKPOINT_FACTS.cases(seed):
            made, head_dim = case.args
            facts = CHECKPOINT_FACTS.reference(made, head_dim)
            assert facts == (made.layout, pytest.approx(made.base, rel=1e-4), made.columns)


def with_columns_counted_by_cosine(rotate, head_dim):
    """Slow pairs have a cosine that is close to 1, and are taken to pass."""
    layout, base, _ = CHECKPOINT_FACTS.reference(rotate, head_dim)
    turned = rotate(np.eye(head_dim), np.ones(head_dim))
    return layout, base, int((~np.isclose(np.diag(turned), 1)).sum())


def with_the_partner_half_a_head_away(rotate, head_dim):
    layout, base, columns = CHECKPOINT_FACTS.reference(rotate, head_dim)
    if layout == "half":
        row = rotate(np.eye(head_dim)[[1]], np.array([1]))[0]
        base = math.asin(row[1 + head_dim // 2]) ** (-columns / 2)
    return layout, base, columns


def with_a_head_of_sixteen(rotate, head_dim):
    """Never looks at how wide the head is."""
    return CHECKPOINT_FACTS.reference(rotate, 16)


def with_the_tolerance_of_allclose(rotate, head_dim):
    layout, base, _ = CHECKPOINT_FACTS.reference(rotate, head_dim)
    basis = np.eye(head_dim)
    turned = rotate(basis, np.ones(head_dim))
    return layout, base, int((~np.isclose(turned, basis, atol=1e-5)).any(axis=1).sum())


def with_columns_before_base(rotate, head_dim):
    layout, base, columns = CHECKPOINT_FACTS.reference(rotate, head_dim)
    return layout, columns, base


NOT_KNOWN = (
    ("checkpoint_facts", with_the_tolerance_of_allclose, "You miss columns that turn very slowly"),
    ("checkpoint_facts", with_a_head_of_sixteen, None),
    ("checkpoint_facts", lambda rotate, dim: ("half", 7.0, 6), "the base"),
    ("checkpoint_facts", lambda rotate, dim: (7.0, "half", 6), "The layout comes first"),
    ("checkpoint_facts", lambda rotate, dim: ("rotate_half", 7.0, 6), "one of two words"),
    ("checkpoint_facts", with_columns_counted_by_cosine, "You miss columns that turn very slowly"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("checkpoint_facts", with_the_partner_half_a_head_away, "partner-half-a-head-away"),
    ("checkpoint_facts", with_columns_before_base, "columns-before-base"),
)
