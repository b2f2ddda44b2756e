"""Bad calls of DeBERTa's functions: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.biased import deberta_bias, deberta_buckets

Q, TABLE, ONE = np.zeros((2, 3, 4)), np.zeros((2, 16, 4)), np.asarray([1])


def bias(q=Q, k=Q, relative_keys=TABLE, relative_queries=TABLE, queries=3, keys=3, **options):
    options = {"buckets": 8, "max_distance": 16, **options}
    return deberta_bias(q, k, relative_keys, relative_queries, queries, keys, **options)


CALLS = [
    (lambda: deberta_buckets(ONE, buckets=7), ValueError, "buckets=7 of one direction cannot be halved"),
    (lambda: deberta_buckets(ONE, buckets=2), ValueError, "give an even number, 4 or more, or None"),
    (lambda: deberta_buckets(ONE, buckets=8.0), TypeError, "buckets=8.0 is not an integer"),  # type: ignore[arg-type]
    (lambda: deberta_buckets(ONE, buckets=8, max_distance=5), ValueError, "max_distance=5 is too small"),
    (lambda: deberta_buckets(ONE, buckets=None, max_distance=0), ValueError, "max_distance=0"),
    (lambda: deberta_buckets(ONE, max_distance=-1), ValueError, "max_distance=-1"),
    (lambda: deberta_buckets(ONE * 1.0), TypeError, "distances must be whole numbers"),
    (lambda: deberta_buckets("near"), TypeError, "not an array"),
    (lambda: bias(relative_keys=None, relative_queries=None), ValueError, "both None; give one of them"),
    (lambda: bias(relative_keys=TABLE[:, :15]), ValueError, "(heads, rows, head_dim) = (2, 16, 4)"),
    (lambda: bias(relative_queries=TABLE[:1]), ValueError, "relative_queries has shape (1, 16, 4)"),
    (lambda: bias(relative_keys=TABLE[0]), ValueError, "give shape (heads, rows, head_dim)"),
    (lambda: bias(buckets=None), ValueError, "16 buckets of each direction"),
    (lambda: bias(q=Q.astype(int)), TypeError, "q has dtype int64"),
    (lambda: bias(q=Q[0]), ValueError, "q has shape (3, 4)"),
    (lambda: bias(k=Q[..., :3]), ValueError, "differ in head_dim"),
    (lambda: bias(k=np.zeros((3, 3, 4))), ValueError, "do not broadcast"),
    (lambda: bias(queries=2), ValueError, "queries gives 2 positions, but q has 3"),
    (lambda: bias(keys=4), ValueError, "keys gives 4 positions, but k has 3"),
    (lambda: bias(queries=np.arange(3.0)), TypeError, "distances must be whole numbers"),
    (lambda: bias(relative_keys=torch.zeros(2, 16, 4)), TypeError, "different libraries"),
    (
        lambda: bias(*[torch.zeros(Q.shape).double()] * 2, *[torch.zeros(TABLE.shape)] * 2),
        TypeError,
        "the dtypes differ: q torch.float64",
    ),
    (lambda: bias(scale=0), ValueError, "scale=0"),
    (lambda: bias(queries=np.zeros((2, 3), dtype=int)), ValueError, "do not fit q of shape (2, 3, 4)"),
    (lambda: bias(seq_axis=-1), ValueError, "seq_axis=-1 is not an axis"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
