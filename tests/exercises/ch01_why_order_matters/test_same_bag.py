"""`01-why-order-matters.same_bag`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest

from posenc_course.exercises.ch01_why_order_matters.same_bag import SAME_BAG


@pytest.mark.parametrize("seed", range(20))
def test_exactly_two_sentences_have_one_bag_of_runs(seed):
    for case in SAME_BAG.cases(seed):
        sentences, n = case.args
        bags = [Counter(zip(*(s.split()[k:] for k in range(n)), strict=False)) for s in sentences]
        alike = [(i, j) for j in range(len(bags)) for i in range(j) if bags[i] == bags[j]]
        assert alike == [SAME_BAG.reference(sentences, n)]
        assert len(set(sentences)) == len(sentences)


def by_tails(sentences, n):
    """Runs that may be cut short by the end of the sentence."""
    words = [each.split() for each in sentences]
    bags = [Counter(tuple(each[k : k + n]) for k in range(len(each))) for each in words]
    return next(((i, j) for j in range(len(bags)) for i in range(j) if bags[i] == bags[j]), None)


def by_glued_runs(sentences, n):
    words = [each.split() for each in sentences]
    bags = [sorted("".join(each[k : k + n]) for k in range(len(each) - n + 1)) for each in words]
    return next(((i, j) for j in range(len(bags)) for i in range(j) if bags[i] == bags[j]), None)


def with_one_bag_inside_the_other(inside):
    """Asks whether one bag holds all of another, and not whether it holds more."""

    def answer(sentences, n):
        bags = [Counter(zip(*(s.split()[k:] for k in range(n)), strict=False)) for s in sentences]
        pairs = combinations(range(len(bags)), 2)
        return next(((i, j) for i, j in pairs if inside(bags[i], bags[j])), None)

    return answer


NOT_KNOWN = (
    ("same_bag", lambda sentences, n: (0, len(sentences) - 1), None),
    ("same_bag", with_one_bag_inside_the_other(lambda one, other: not one - other), "who chases whom"),
    ("same_bag", with_one_bag_inside_the_other(lambda one, other: not other - one), "who chases whom"),
)

WRITTEN_IN_ANOTHER_WAY = (
    ("same_bag", by_tails, "shorter-runs-too"),
    ("same_bag", by_glued_runs, "runs-glued-together"),
)
