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


NOT_KNOWN = (
    ("symmetry_left", lambda layer, x: "All", "small letters"),
    ("symmetry_left", lambda layer, x: "none", None),
)
