"""`10-position-from-content.where_from`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch10_position_from_content.where_from import WHERE_FROM
from tests.exercises.ch10_position_from_content.shared import layers


def counts(layer, x, q, k):
    """What the first token counts, beside the last: how the output moves with their values."""
    first, last = (layer(x, q, k, np.eye(len(x))[:, [token]]).item() for token in (0, -1))
    return first / last


def test_the_layers_of_the_text_do_what_is_said_of_them():
    """Tokens between the first and the last are changed, and one more is put there."""
    rng = np.random.default_rng(0)
    x, q, k = rng.normal(size=(3, 5, 3))
    other = [array.copy() for array in (x, q, k)]
    for array in other:
        array[1:4] = rng.normal(size=(3, 3))
    longer = [np.insert(array, 2, rng.normal(size=3), axis=0) for array in (x, q, k)]
    found = []
    for layer in layers():
        here, changed, further = (counts(layer, *given) for given in ((x, q, k), other, longer))
        if not math.isclose(here, changed):
            found.append("content")
        else:
            found.append("nothing" if math.isclose(here, further) else "distance")
    assert tuple(found) == WHERE_FROM.reference()


NOT_KNOWN = (
    (
        "where_from",
        ("none", "distance", "content", "nothing", "distance", "content"),
        "For layer A: how many gates",
    ),
    ("where_from", ("nothing", "distance", "nothing", "nothing", "distance", "content"), "For layer C: "),
    ("where_from", ("distance",) * 6, "Numbers 1, 3, 4, 6 are"),
)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "where_from",
        ("nothing", "distance", "content", "nothing", "distance", "distance"),
        "erases-by-distance",
    ),
)
