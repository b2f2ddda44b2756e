"""`07-alibi-and-biases.symmetry_seen`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch07_alibi_and_biases.symmetry_seen import (
    _BOXES,
    EVERYWHERE,
    POSITIONS,
    SYMMETRY_SEEN,
)
from tests.exercises.ch07_alibi_and_biases.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_every_box_has_the_symmetry_that_it_is_listed_under(seed):
    """Judged by the exact rule: all 64! orders are made of neighbours that change places."""

    def seen(bias, order):
        scores = torch.from_numpy(np.asarray(bias(order, order), dtype=float))
        return scores.softmax(-1).numpy()

    here = np.arange(POSITIONS)
    listed = {label: word for word, boxes in _BOXES.items() for label, _ in boxes}
    for case in SYMMETRY_SEEN.cases(seed):
        (bias,) = case.args
        swaps = []
        for at in range(POSITIONS - 1):
            order = here.copy()
            order[[at, at + 1]] = at + 1, at
            swaps.append(np.allclose(seen(bias, order), seen(bias, here)))
        shifts = [np.allclose(seen(bias, here[:-by]), seen(bias, here[by:])) for by in range(1, 60)]
        mirror = np.allclose(seen(bias, here[::-1]), seen(bias, here))
        word = "all" if all(swaps) else "none" if not all(shifts) else "mirror" if mirror else "shift"
        assert SYMMETRY_SEEN.reference(bias) == listed[case.label] == word, case.label


def test_every_box_gives_the_same_numbers_for_parts_as_for_the_whole():
    rows, columns = np.array([0, 30, 7, 63]), np.array([63, 0, 32])
    for case in SYMMETRY_SEEN.cases():
        (bias,) = case.args
        whole = bias(EVERYWHERE, EVERYWHERE)
        np.testing.assert_allclose(bias(rows, columns), whole[np.ix_(rows, columns)])


def one_shift_at_the_end(bias):
    """Looks at the last 20 positions only, with the numbers as they are seen."""
    here = np.arange(44, 64)

    def seen(order):
        values = bias(order, order)
        return values - values.mean(axis=1, keepdims=True)

    whole = np.arange(64)
    rng = np.random.default_rng(3)
    if all(np.allclose(seen(order), seen(whole)) for order in (rng.permutation(64) for _ in range(3))):
        return "all"
    if not np.allclose(seen(here[:-1]), seen(here[1:])):
        return "none"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


def neighbours_for_every_shift(bias):
    """A shift moves far pairs too: two neighbours at a time never meet a flaw between them."""
    whole = np.arange(64)

    def seen(order):
        raised = np.exp(bias(order, order))
        return raised / raised.sum(axis=1, keepdims=True)

    if not all(np.allclose(seen(whole[:2] + by), seen(whole[:2])) for by in range(63)):
        return "none"
    shuffled = np.random.default_rng(0).permutation(64)
    if np.allclose(seen(shuffled), seen(whole)):
        return "all"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


def one_swap_for_every_order(bias):
    """Any reordering: that of the first two positions."""
    whole = np.arange(64)
    swapped = whole.copy()
    swapped[[0, 1]] = 1, 0

    def seen(order):
        values = bias(order, order)
        return values - values.max(axis=1, keepdims=True)

    if np.allclose(seen(swapped), seen(whole)):
        return "all"
    if not np.allclose(seen(whole[1:]), seen(whole[:-1])):
        return "none"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


def weights_under_a_causal_mask(bias):
    whole = np.arange(64)

    def seen(order):
        raised = np.exp(bias(order, order)) * np.tri(len(order))
        return raised / raised.sum(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    if all(np.allclose(seen(rng.permutation(64)), seen(whole)) for _ in range(3)):
        return "all"
    if not np.allclose(seen(whole[1:]), seen(whole[:-1])):
        return "none"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


NOT_KNOWN = (
    (
        "symmetry_seen",
        weights_under_a_causal_mask,
        "a penalty on the distance, and a gift to one key of one query",
    ),
    ("symmetry_seen", one_swap_for_every_order, "a gift to the first two keys"),
    (
        "symmetry_seen",
        neighbours_for_every_shift,
        "a penalty on the distance, and a gift to one key of one query",
    ),
    ("symmetry_seen", lambda bias: True, "one of the four words"),
    ("symmetry_seen", lambda bias: "Shift", "one of the four words"),
    ("symmetry_seen", lambda bias: "none", None),
)


def every_roll_for_every_order(bias):
    """A roll is not any order: around a ring it changes nothing."""
    whole = np.arange(64)

    def seen(order):
        values = bias(order, order)
        return values - values[:, :1]

    if all(np.allclose(seen(np.roll(whole, by)), seen(whole)) for by in range(1, 64)):
        return "all"
    if not np.allclose(seen(whole[1:]), seen(whole[:-1])):
        return "none"
    return "mirror" if np.allclose(seen(whole[::-1]), seen(whole)) else "shift"


WRITTEN_IN_ANOTHER_WAY = (
    ("symmetry_seen", one_shift_at_the_end, "half-of-the-text"),
    ("symmetry_seen", every_roll_for_every_order, "a-roll-is-all"),
)
