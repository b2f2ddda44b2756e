"""What several tests of `07-alibi-and-biases` share."""

from __future__ import annotations

import numpy as np

SEEDS = range(3)


def hidden_by_a_product(scores):
    """Minus infinity by a mask of zeros and ones times minus infinity, which is NaN wherever it is 0."""
    hidden = np.isneginf(scores)
    return np.where(hidden, 0.0, scores) + hidden * -np.inf
