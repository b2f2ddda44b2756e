"""`07-alibi-and-biases.attend`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np


def attended(inputs, hide, hide_raised=lambda raised, hidden: raised):
    q, k, v, slopes = inputs
    m, n = q.shape[1], k.shape[1]
    back = np.arange(n - m, n)[:, None] - np.arange(n)
    scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2]) - slopes[:, None, None] * back
    scores = hide(scores, back < 0)
    raised = hide_raised(np.exp(scores - scores.max(axis=-1, keepdims=True)), back < 0)
    return raised / raised.sum(axis=-1, keepdims=True) @ v


def hidden_by_a_product(*args):
    """A mask of zeros and ones times minus infinity: NaN wherever it is 0."""
    return attended(args, lambda scores, hidden: scores + hidden * -np.inf)


def hidden_after_exp(*args):
    """Where a hidden key has by far the largest score, nothing is left."""
    return attended(args, lambda scores, hidden: scores, lambda raised, hidden: np.where(hidden, 0, raised))


def hidden_by_ten_thousand(*args):
    """Scores can be smaller."""
    return attended(args, lambda scores, hidden: np.where(hidden, -1e4, scores))


NOT_KNOWN = (
    ("attend", hidden_by_a_product, "Hide them with np.where"),
    ("attend", hidden_after_exp, "Hide the keys first"),
    ("attend", hidden_by_ten_thousand, "very loud scores"),
    ("attend", lambda q, k, v, slopes: np.zeros_like(q), None),
    ("attend", lambda q, k, v, slopes: v[:, : q.shape[1]] * 5, "weighted mean"),
)
