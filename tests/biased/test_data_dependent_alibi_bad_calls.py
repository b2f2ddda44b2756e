"""Bad calls of data-dependent ALiBi: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.biased import data_dependent_alibi, per_row_alibi

G = -np.ones((3, 5))

CALLS = [
    (lambda: data_dependent_alibi(-G), ValueError, "log_gates must be logarithms of numbers up to 1"),
    (lambda: data_dependent_alibi(G.astype(int)), TypeError, "log_gates has dtype int64"),
    (lambda: data_dependent_alibi(-1.0), TypeError, "not an array"),
    (lambda: data_dependent_alibi(G[0, 0]), (TypeError, ValueError), "log_gates"),
    (lambda: data_dependent_alibi(G * np.nan), ValueError, "log_gates must be"),
    (lambda: data_dependent_alibi(G, 6), ValueError, "6 queries, but only 5 keys"),
    (lambda: data_dependent_alibi(G, -1), ValueError, "queries=-1 is too small"),
    (lambda: data_dependent_alibi(G, 2.0), TypeError, "queries=2.0 is not an integer"),  # type: ignore[arg-type]
    (
        lambda: data_dependent_alibi(G, log_gates_after=G[:2]),
        ValueError,
        "give one number per token for each",
    ),
    (lambda: data_dependent_alibi(G, log_gates_after=-G), ValueError, "log_gates_after must be"),
    (
        lambda: data_dependent_alibi(G, log_gates_after=torch.zeros(3, 5)),
        (TypeError, ValueError),
        "differ",
    ),
    (lambda: per_row_alibi(G[0]), ValueError, "give shape (..., queries, keys)"),
    (lambda: per_row_alibi(G.T), ValueError, "5 queries, but only 3 keys"),
    (lambda: per_row_alibi(-G), ValueError, "log_gates must be"),
    (lambda: per_row_alibi(G.astype(int)), TypeError, "dtype int64"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
