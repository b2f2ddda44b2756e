"""Position maps against the papers' words, pair by pair, and their scores against RoPE at these distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import LinearScaling, apply_rotary
from posenc_lib.biased import (
    dual_chunk_bias,
    dual_chunk_distances,
    self_extend_bias,
    self_extend_distances,
    streaming_distances,
    window_mask,
)

LENGTH, HEADS, DIM = 30, 2, 8
RNG = np.random.default_rng(0)
Q, K = RNG.normal(size=(2, 3, HEADS, LENGTH, DIM))


def extended(i, j, group, window):
    return i - j if i - j < window else i // group - j // group + window - window // group


def chunked(i, j, chunk, window):
    """The paper's three cases, with c = chunk + window."""
    back = i // chunk - j // chunk
    successive = [*range(chunk, chunk + window), *[chunk + window - 1] * (chunk - window)]
    query = i % chunk if back <= 0 else successive[i % chunk] if back == 1 else chunk + window - 1
    return query - j % chunk


def streamed(i, j, sinks, window):
    """Count the keys of the cache one by one."""
    cache = [key for key in range(i + 1) if key < sinks or i - key < window]
    return cache.index(i) - cache.index(j) if j in cache else None


@pytest.mark.parametrize(("group", "window"), [(1, 1), (1, 5), (3, 1), (3, 4), (4, 8), (7, 40)])
def test_self_extend_pair_by_pair(group, window):
    got = self_extend_distances(LENGTH, LENGTH, group=group, window=window)
    wanted = [[extended(i, j, group, window) for j in range(LENGTH)] for i in range(LENGTH)]
    assert got.tolist() == wanted
    assert got.max() <= max(window - 1, (LENGTH - 1) // group + window - window // group)
    if group == 1:
        assert (got == np.subtract.outer(np.arange(LENGTH), np.arange(LENGTH))).all()


@pytest.mark.parametrize(("length", "group", "window"), [(10, 3, 4), (4096, 6, 1024), (64, 4, 16)])
def test_the_reach_of_self_extend_is_exact(length, group, window):
    """As its docstring says: so many tokens are read at distances of the training, and one more is not."""
    reach = (length - window + window // group) * group
    furthest = [
        self_extend_distances(1, keys, group=group, window=window).max() for keys in (reach, reach + 1)
    ]
    assert furthest == [length - 1, length]


@pytest.mark.parametrize(("chunk", "window"), [(1, 1), (6, 4), (6, 1), (6, 6), (10, 3), (40, 9)])
def test_dual_chunk_pair_by_pair(chunk, window):
    got = dual_chunk_distances(LENGTH, LENGTH, chunk=chunk, window=window)
    assert got.tolist() == [[chunked(i, j, chunk, window) for j in range(LENGTH)] for i in range(LENGTH)]
    causal, true = got[np.tri(LENGTH, dtype=bool)], np.subtract.outer(np.arange(LENGTH), np.arange(LENGTH))
    assert 0 <= causal.min() <= causal.max() < chunk + window  # nothing that training did not show
    near = (true >= 0) & (true < window)
    assert (got[near] == true[near]).all()


@pytest.mark.parametrize(("sinks", "window"), [(0, 1), (0, 5), (2, 3), (4, 8), (2, 60)])
def test_a_cache_that_drops_keys(sinks, window):
    got = streaming_distances(LENGTH, LENGTH, sinks=sinks, window=window)
    for i in range(LENGTH):
        for j in range(i + 1):
            wanted = streamed(i, j, sinks, window)
            assert wanted is None or got[i, j] == wanted < sinks + window


def test_the_last_queries_are_the_last_rows():
    for distances in (
        lambda *at: self_extend_distances(*at, group=3, window=4),
        lambda *at: dual_chunk_distances(*at, chunk=6, window=4),
        lambda *at: streaming_distances(*at, sinks=2, window=4),
    ):
        assert (distances(5, LENGTH) == distances(LENGTH, LENGTH)[-5:]).all()
        rows = np.stack([np.arange(LENGTH), np.arange(LENGTH) + 7])
        assert distances(rows, rows).shape == (2, LENGTH, LENGTH)
        assert (distances(rows, rows)[1] == distances(rows[1], rows[1])).all()


def rotated_by(q, k, distances, **rotation):
    """Scores of RoPE at these distances, each query turned once for each key."""
    turned = np.zeros((*q.shape[:-1], k.shape[-2]))
    for i in range(q.shape[-2]):
        at = apply_rotary(np.broadcast_to(q[..., i : i + 1, :], k.shape), distances[i], **rotation)
        turned[..., i, :] = (at * k).sum(-1)
    return turned


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize(
    ("bias", "distances", "numbers"),
    [
        (self_extend_bias, self_extend_distances, {"group": 3, "window": 4}),
        (dual_chunk_bias, dual_chunk_distances, {"chunk": 6, "window": 4}),
    ],
)
def test_scores_are_those_of_rope_at_the_distances_of_the_map(layout, bias, distances, numbers):
    rotation = {"layout": layout, "base": 500.0, "scaling": LinearScaling(2.0)}
    wanted = rotated_by(Q[..., -9:, :], K, distances(9, LENGTH, **numbers), **rotation)
    wanted -= Q[..., -9:, :] @ K.swapaxes(-1, -2)
    got = bias(Q[..., -9:, :], K, 9, LENGTH, **numbers, **rotation)
    np.testing.assert_allclose(got, wanted / DIM**0.5, atol=1e-12)
    far = bias(Q[..., -9:, :], K, np.arange(9) + LENGTH - 9, np.arange(LENGTH), **numbers, **rotation)
    np.testing.assert_allclose(far, got)


@pytest.mark.parametrize(
    ("bias", "numbers"),
    [(self_extend_bias, {"group": 3, "window": 4}), (dual_chunk_bias, {"chunk": 6, "window": 4})],
)
def test_every_library_rows_and_heads_in_groups(bias, numbers):
    rows = np.arange(LENGTH) + np.asarray([0, 5, 11])[:, None]
    wanted = bias(Q, np.repeat(K[:, :1], HEADS, axis=1), rows, rows, **numbers)
    for to in (np.asarray, torch.as_tensor, strict.asarray):
        got = bias(to(Q), to(K[:, :1]), to(rows), to(rows), **numbers)
        assert isinstance(got, type(to(Q)))
        np.testing.assert_allclose(np.asarray(got), wanted, atol=1e-12)
        for row in range(3):
            alone = bias(to(Q[row]), to(K[row, :1]), to(rows[row]), to(rows[row]), **numbers)
            np.testing.assert_allclose(np.asarray(alone), wanted[row], atol=1e-12)
    back = bias(Q.swapaxes(1, 2), K.swapaxes(1, 2), LENGTH, LENGTH, **numbers, seq_axis=-3)
    np.testing.assert_allclose(back, bias(Q, K, LENGTH, LENGTH, **numbers), atol=1e-13)


def test_a_streaming_cache_counts_from_the_texts_beginning():
    with pytest.raises(ValueError, match="queries must be 0 or more"):
        streaming_distances(np.asarray([-1]), np.asarray([0, 1]), sinks=1, window=2)


def test_positions_by_number_are_of_the_library_that_is_asked_for():
    calls: tuple[tuple[Callable[..., Any], dict[str, int]], ...] = (
        (window_mask, {"window": 3}),
        (self_extend_distances, {"group": 3, "window": 4}),
        (dual_chunk_distances, {"chunk": 4, "window": 2}),
        (streaming_distances, {"sinks": 1, "window": 2}),
    )
    for function, settings in calls:
        ours, plain = function(2, 9, like=torch.zeros(1), **settings), function(2, 9, **settings)
        assert isinstance(ours, torch.Tensor)
        assert ours.tolist() == plain.tolist()
