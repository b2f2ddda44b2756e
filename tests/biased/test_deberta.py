"""DeBERTa's buckets from their definition, and its terms pair by pair."""

from __future__ import annotations

import math

import array_api_strict as strict
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib.biased import deberta_bias, deberta_buckets

RNG = np.random.default_rng(0)
HEADS, LENGTH, HEAD_DIM, BUCKETS, MAX = 3, 11, 8, 4, 8
Q, K = RNG.normal(size=(2, 2, HEADS, LENGTH, HEAD_DIM))
KEYS, QUERIES = RNG.normal(size=(2, HEADS, 2 * BUCKETS, HEAD_DIM))


def row_of(ahead: int, buckets: int, max_distance: int) -> int:
    """The row for query - key = ahead, with a logarithm of 50 digits."""
    half, distance = buckets // 2, abs(ahead)
    if distance > half:
        with mpmath.workdps(50):
            steps = (half - 1) * mpmath.log(mpmath.mpf(distance) / half)
            steps /= mpmath.log(mpmath.mpf(max_distance - 1) / half)
            distance = half + int(mpmath.ceil(steps - mpmath.mpf("1e-40")))
    return min(max(int(math.copysign(distance, ahead)) + buckets, 0), 2 * buckets - 1)


@pytest.mark.parametrize(("buckets", "max_distance"), [(4, 8), (8, 64), (32, 128), (256, 512), (6, 5)])
def test_the_buckets_are_those_of_the_logarithm(buckets, max_distance):
    relative = np.concatenate([np.arange(-700, 701), [-(10**9), 10**9, -(2**63), 2**63 - 1]])
    wanted = [row_of(-int(r), buckets, max_distance) for r in relative]
    assert deberta_buckets(relative, buckets=buckets, max_distance=max_distance).tolist() == wanted


def test_a_border_on_a_whole_number():
    """4 * (108 / 4)^(m / 3) is 12, 36 and 108: buckets end there, not one before or after."""
    buckets = deberta_buckets(-np.arange(120), buckets=8, max_distance=109)
    assert [int((buckets == 8 + b).sum()) for b in range(8)] == [1, 1, 1, 1, 1, 8, 24, 83]


def test_v1_has_a_row_for_each_distance():
    relative = np.arange(-6, 7)
    rows = deberta_buckets(relative, buckets=None, max_distance=4)
    assert rows.tolist() == [7, 7, 7, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]


@pytest.mark.parametrize("terms", ["both", "c2p", "p2c"])
def test_the_terms_are_written_out_pair_by_pair(terms):
    keys, queries = (KEYS if terms != "p2c" else None), (QUERIES if terms != "c2p" else None)
    got = deberta_bias(Q, K, keys, queries, LENGTH, LENGTH, buckets=BUCKETS, max_distance=MAX)
    scale = math.sqrt((3 if terms == "both" else 2) * HEAD_DIM)
    for i in range(LENGTH):
        for j in range(LENGTH):
            row, wanted = row_of(i - j, BUCKETS, MAX), 0.0
            if keys is not None:
                wanted = wanted + (Q[:, :, i] * keys[:, row]).sum(-1)
            if queries is not None:
                wanted = wanted + (K[:, :, j] * queries[:, row]).sum(-1)
            np.testing.assert_allclose(got[..., i, j], wanted / scale)
    doubled = deberta_bias(
        Q, K, keys, queries, LENGTH, LENGTH, buckets=BUCKETS, max_distance=MAX, scale=2 / scale
    )
    np.testing.assert_allclose(doubled, 2 * got)


def test_positions_of_a_batch_and_of_the_last_queries():
    options = {"buckets": BUCKETS, "max_distance": MAX}
    whole = deberta_bias(Q, K, KEYS, QUERIES, LENGTH, LENGTH, **options)
    last = deberta_bias(Q[:, :, -3:], K, KEYS, QUERIES, 3, LENGTH, **options)
    np.testing.assert_allclose(last, whole[:, :, -3:])
    at = np.stack([np.arange(LENGTH), np.arange(LENGTH) * 2])
    both = deberta_bias(Q, K, KEYS, QUERIES, at, at, **options)
    np.testing.assert_allclose(both[0], whole[0])
    alone = deberta_bias(Q[1:], K[1:], KEYS, QUERIES, at[1], at[1], **options)
    np.testing.assert_allclose(both[1:], alone)


def test_fewer_heads_of_keys_and_the_sequence_before_the_heads():
    options = {"buckets": BUCKETS, "max_distance": MAX}
    shared, repeated = K[:, :1], np.repeat(K[:, :1], HEADS, axis=1)
    wanted = deberta_bias(Q, repeated, KEYS, QUERIES, LENGTH, LENGTH, **options)
    np.testing.assert_allclose(deberta_bias(Q, shared, KEYS, QUERIES, LENGTH, LENGTH, **options), wanted)
    turned = np.swapaxes(Q, 1, 2), np.swapaxes(shared, 1, 2)
    got = deberta_bias(*turned, KEYS, QUERIES, LENGTH, LENGTH, seq_axis=-3, **options)
    np.testing.assert_allclose(got, wanted)


def test_every_library_gives_what_numpy_gives():
    def made(to):
        return deberta_bias(
            to(Q), to(K), to(KEYS), to(QUERIES), to(np.arange(LENGTH)), LENGTH, buckets=4, max_distance=8
        )

    for to in (torch.as_tensor, strict.asarray):
        assert isinstance(made(to), type(to(Q)))
        np.testing.assert_allclose(np.asarray(made(to)), made(np.asarray), atol=1e-13)
