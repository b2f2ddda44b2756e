"""`01-why-order-matters.symmetry_left`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from posenc_course.exercises.ch01_why_order_matters.symmetry_left import _BOX_OF, _BOXES, SYMMETRY_LEFT


def test_a_box_has_the_symmetry_that_is_said_of_it_among_all_orders():
    for case in SYMMETRY_LEFT.cases(3)[: len(_BOX_OF)]:
        layer, x = case.args
        n, y = len(x), layer(x)
        follows = {
            order
            for order in permutations(range(n))
            if np.abs(layer(x[list(order)]) - y[list(order)]).max() < 1e-9
        }
        mirror, shift = tuple(range(n))[::-1], (*range(1, n), 0)
        word = SYMMETRY_LEFT.reference(layer, x)
        assert case.label in _BOXES[word]
        assert (len(follows) == 720) == (word == "all")
        if word != "all":
            assert (mirror in follows, shift in follows) == (word == "mirror", word == "shift"), case.label


right = SYMMETRY_LEFT.reference


def by_one_swap(one, other):
    """Calls a box that follows a single swap one that follows all orders."""

    def answer(layer, x):
        order = np.arange(len(x))
        order[[one, other]] = other, one
        follows = np.abs(layer(x[order]) - layer(x)[order]).max() < 1e-9
        return "all" if follows else right(layer, x)

    return answer


def by_drawing(limit):
    def answer(layer, x):
        n = len(x)

        def follows(order):
            return np.abs(layer(x[order]) - layer(x)[order]).max() < limit

        if all(follows(np.random.default_rng(draw).permutation(n)) for draw in range(10)):
            return "all"
        if follows(np.arange(n)[::-1]):
            return "mirror"
        return "shift" if follows(np.roll(np.arange(n), 1)) else "none"

    return answer


WRITTEN_IN_ANOTHER_WAY = tuple(("symmetry_left", by_drawing(limit), "too-coarse") for limit in (1e-2, 1e-3))


NOT_KNOWN = (
    ("symmetry_left", lambda layer, x: "All", "small letters"),
    ("symmetry_left", lambda layer, x: "none", None),
    *(
        ("symmetry_left", by_one_swap(*pair), "a box may treat two rows alike and no others")
        for pair in ((4, 5), (0, 5), (2, 3))
    ),
    ("symmetry_left", lambda layer, x: {"shift": "mirror"}.get(right(layer, x), right(layer, x)), "np.roll"),
    ("symmetry_left", lambda layer, x: {"mirror": "none"}.get(right(layer, x), right(layer, x)), "x[::-1]"),
    ("symmetry_left", lambda layer, x: {"all": "none"}.get(right(layer, x), right(layer, x)), "every order"),
)
