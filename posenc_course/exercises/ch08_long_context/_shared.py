"""What several exercises of `08-long-context` share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from posenc_course.exercises.exercise import Property
from posenc_lib._arrays import Array

TURN = 2 * np.pi


SELF_EXTEND = "Self-Extend, from its map"


STREAM = "A cache that streams"


Generator = np.random.Generator


def i_j(tokens: int) -> tuple[Array, Array]:
    return np.arange(tokens)[:, None], np.arange(tokens)[None, :]


def past(distances: Array) -> Array:
    """Zero for keys after the query."""
    return np.tril(distances)


def extend_with(
    far: Callable[[Array, Array, int, int], Array], inside: Callable[[Array, int], Array] = lambda d, w: d < w
) -> Callable[[int, int, int], Array]:
    def distances(tokens: int, group: int, window: int) -> Array:
        i, j = i_j(tokens)
        return past(np.where(inside(i - j, window), i - j, far(i, j, group, window)))

    return distances


def _far(i: Array, j: Array, group: int, window: int) -> Array:
    return i // group - j // group + window - window // group


extended = extend_with(_far)


OF_A_MAP = (
    Property(
        lambda args, value: np.shape(value) == (args[0], args[0]),
        "There must be a row for each query and a column for each key.",
        about="form",
    ),
    Property(
        lambda args, value: bool((np.triu(np.asarray(value), 1) == 0).all()),
        "A key after the query must get 0.",
    ),
)
"""What a table of distances promises, whichever map it is of."""


def true_where(distances: Array, near: Array, window: int) -> bool:
    """Whether keys less than window back, among these, have their true distances."""
    i, j = i_j(len(distances))
    near = near & (j <= i) & (i - j < window)
    return bool((np.asarray(distances)[near] == (i - j)[near]).all())


HIDDEN_LATER = "A key after the query gets 0 here. The mask will hide it."
