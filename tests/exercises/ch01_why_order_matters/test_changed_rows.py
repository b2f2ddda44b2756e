"""`01-why-order-matters.changed_rows`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch01_why_order_matters.changed_rows import CHANGED_ROWS
from posenc_lib import attention


@pytest.mark.parametrize("width", [4, 64])
@pytest.mark.parametrize("seed", range(8))
def test_the_rows_said_to_change_are_those_that_change_in_random_layers(seed, width):
    """As the last hint has it, in vectors of any width."""
    for case in CHANGED_ROWS.cases(seed):
        tokens, i, j, causal, layers = case.args
        for draw in range(3):
            rng = np.random.default_rng((seed, draw))
            vectors = rng.normal(size=(max(tokens) + 1, width))
            weights = rng.normal(size=(layers, 3, width, width)) / width**0.5

            def model(x, weights=weights, causal=causal):
                for w in weights:
                    x = x + attention(*(x @ each for each in w), causal=causal)
                return x

            swapped = tokens.copy()
            swapped[[i, j]] = tokens[[j, i]]
            changed = np.abs(model(vectors[swapped]) - model(vectors[tokens])).max(axis=1) > 1e-9
            np.testing.assert_array_equal(CHANGED_ROWS.reference(*case.args), changed, err_msg=case.label)


changed = CHANGED_ROWS.reference


def by_sets(tokens, i, j, causal, layers):
    """A set of what is seen forgets how often."""
    now = tokens.tolist()
    then = tokens.tolist()
    then[i], then[j] = then[j], then[i]
    for _ in range(layers):
        now, then = (
            [(row, frozenset(rows[: t + 1] if causal else rows)) for t, row in enumerate(rows)]
            for rows in (now, then)
        )
    return [one != other for one, other in zip(now, then, strict=True)]


NOT_KNOWN = (
    ("changed_rows", by_sets, "two tokens with equal ones before and between"),
    ("changed_rows", lambda tokens, i, j, causal, layers: np.arange(len(tokens)) == i, None),
    (
        "changed_rows",
        lambda tokens, i, j, causal, layers: changed(tokens, i, j, True, layers),
        "Without a mask, the tokens that stay",
    ),
    (
        "changed_rows",
        lambda tokens, i, j, causal, layers: (
            changed(tokens, i, j, causal, layers) & (np.arange(len(tokens)) < max(i, j) + layers)
        ),
        "however far away it is",
    ),
    (
        "changed_rows",
        lambda tokens, i, j, causal, layers: (
            changed(tokens, i, j, causal, layers) & (np.abs(np.arange(len(tokens)) - (i + j) / 2) > 1)
        ),
        "a token between the two places",
    ),
)
