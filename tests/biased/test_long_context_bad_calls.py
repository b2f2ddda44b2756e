"""Bad calls of FoX, PaTH, PoPE and the position maps: what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.biased import (
    dual_chunk_bias,
    dual_chunk_distances,
    fox_bias,
    path_bias,
    path_products,
    pope_bias,
    pope_vectors,
    self_extend_bias,
    self_extend_distances,
    streaming_distances,
)

X, BETA = np.ones((2, 5, 4)), np.ones((2, 5))
T = torch.ones(2, 5, 4)

CALLS = [
    (lambda: fox_bias(BETA, 6), ValueError, "6 queries, but only 5 keys"),
    (lambda: fox_bias(BETA.astype(int)), TypeError, "logits has dtype int64"),
    (lambda: fox_bias(BETA * np.nan), ValueError, "logits contain NaN"),
    (lambda: fox_bias(BETA, 2.0), TypeError, "queries=2.0 is not an integer"),  # type: ignore[arg-type]
    (lambda: path_products(X, X, X, BETA[:, :4]), ValueError, "give one w and one beta for each key"),
    (lambda: path_products(X, X, X[:, :4], BETA), ValueError, "give one w and one beta for each key"),
    (lambda: path_products(X, X[:, :3], X[:, :3], BETA[:, :3]), ValueError, "5 queries, but only 3 keys"),
    (lambda: path_products(X, X, X[..., :3], BETA), ValueError, "differ in head_dim"),
    (lambda: path_products(X, X, X * np.nan, BETA), ValueError, "w must be finite"),
    (lambda: path_products(X, X, X, BETA * np.inf), ValueError, "beta must be finite"),
    (lambda: path_products(X, X, X, BETA, block=0), ValueError, "block=0 is too small"),
    (lambda: path_products(X, X, X, BETA, block=2.5), TypeError, "block=2.5 is not an integer"),  # type: ignore[arg-type]
    (lambda: path_products(X, X, X, T[..., 0]), TypeError, "different libraries"),
    (lambda: path_products(T, T, T, T[..., 0].double()), TypeError, "dtypes differ"),
    (lambda: path_products(X, np.ones((3, 5, 4)), X, BETA), ValueError, "do not broadcast"),
    (lambda: path_bias(X, X, X, BETA.astype(int)), TypeError, "beta has dtype int64"),
    (lambda: path_bias(X, X, X, BETA, seq_axis=0.5), TypeError, "seq_axis=0.5"),  # type: ignore[arg-type]
    (lambda: pope_vectors(X, 4), ValueError, "positions=4 means 0 .. 3"),
    (lambda: pope_vectors(X.astype(int), 5), TypeError, "x has dtype int64"),
    (lambda: pope_vectors(X, 5, delta=np.ones(3)), ValueError, "give (dim,), or (heads, dim)"),
    (lambda: pope_vectors(X, 5, delta=np.ones((3, 4))), ValueError, "give (dim,), or (heads, dim)"),
    (lambda: pope_vectors(X, 5, delta=torch.ones(4)), TypeError, "different libraries"),
    (lambda: pope_vectors(X, 5, base=-1.0), ValueError, "base=-1.0"),
    (lambda: pope_bias(X, X[..., :2], 5, 5), ValueError, "differ in head_dim"),
    (lambda: pope_bias(X, X, 4, 5), ValueError, "queries gives 4 positions, but q has 5"),
    (lambda: pope_bias(X, X, 5, np.ones((7, 5))), ValueError, "(tokens,), or (batch, tokens)"),
    (lambda: pope_bias(X[None, None], X[None, None], 5, np.ones((1, 5))), ValueError, "(batch, tokens)"),
    (lambda: pope_bias(X, X, 5, np.arange(5) * np.nan), ValueError, "keys"),
    (lambda: self_extend_distances(5, 5, group=0, window=2), ValueError, "group=0 is too small"),
    (lambda: self_extend_distances(5, 5, group=2, window=0), ValueError, "window=0 is too small"),
    (lambda: self_extend_distances(5, 5, group=2.0, window=1), TypeError, "group=2.0 is not an integer"),  # type: ignore[arg-type]
    (lambda: self_extend_distances(np.ones(5), 5, group=2, window=1), TypeError, "distances must be whole"),
    (
        lambda: self_extend_distances(6, 5, group=2, window=1),
        ValueError,
        "queries=6 are more than the 5 keys",
    ),
    (
        lambda: self_extend_bias(X, X, 5, 4, group=2, window=1),
        ValueError,
        "queries=5 are more than the 4 keys",
    ),
    (lambda: self_extend_bias(X[..., :3], X[..., :3], 5, 5, group=2, window=1), ValueError, "rotary_dim=3"),
    (lambda: self_extend_bias(X, X, 5, 5, group=2, window=1, layout="split"), ValueError, "layout='split'"),  # type: ignore[arg-type]
    (lambda: dual_chunk_distances(5, 5, chunk=2, window=3), ValueError, "window=3 is above chunk=2"),
    (lambda: dual_chunk_distances(5, 5, chunk=0, window=1), ValueError, "chunk=0 is too small"),
    (lambda: dual_chunk_bias(X, T, 5, 5, chunk=2, window=1), TypeError, "different libraries"),
    (lambda: streaming_distances(5, 5, sinks=-1, window=3), ValueError, "sinks=-1 is too small"),
    (lambda: streaming_distances(5, 5, sinks=1, window=0), ValueError, "window=0 is too small"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)
