"""Attention with a sink, windows, and the cache of StreamingLLM step by step."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib import apply_rotary, attention
from posenc_lib.biased import streaming_distances, window_mask

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(3, 2, 4, 9, 8))
SINK = RNG.normal(size=4)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "to", [np.asarray, torch.as_tensor, strict.asarray], ids=["numpy", "torch", "strict"]
)
def test_a_sink_is_a_key_of_that_score_without_a_value(to, causal):
    """The same by hand: a key of zeros in front, whose score the bias sets, and a value of zeros."""
    more_k, more_v = (np.concatenate([np.zeros_like(x[..., :1, :]), x], axis=-2) for x in (K, V))
    bias = np.zeros((4, 9, 10))
    bias[..., 0] = SINK[:, None]
    mask = np.concatenate(
        [np.ones((9, 1), bool), np.tri(9, dtype=bool) if causal else np.ones((9, 9), bool)], 1
    )
    wanted, weights = attention(Q, more_k, more_v, bias=bias, mask=mask, return_weights=True)
    got = attention(to(Q), to(K), to(V), sink=to(SINK), causal=causal, return_weights=True)
    np.testing.assert_allclose(np.asarray(got[0]), wanted, atol=1e-12)
    np.testing.assert_allclose(np.asarray(got[1]), weights[..., 1:], atol=1e-12)


def test_from_none_to_all():
    plain = attention(Q, K, V)
    np.testing.assert_allclose(attention(Q, K, V, sink=np.asarray(-np.inf)), plain, atol=1e-14)
    assert np.abs(attention(Q, K, V, sink=np.asarray(1e4))).max() == 0
    masked = attention(Q, K, V, sink=SINK, mask=np.zeros((9, 9), bool))
    assert (masked == 0).all()
    grouped = attention(Q, K[:, :2], V[:, :2], sink=SINK)
    np.testing.assert_allclose(grouped, attention(Q, *(x[:, :2].repeat(2, 1) for x in (K, V)), sink=SINK))
    other_way = attention(*(x.swapaxes(1, 2) for x in (Q, K, V)), sink=SINK, seq_axis=-3)
    np.testing.assert_allclose(other_way.swapaxes(1, 2), attention(Q, K, V, sink=SINK), atol=1e-14)


def test_a_sink_learns():
    sink = torch.tensor(SINK, requires_grad=True)
    q, k, v = (torch.as_tensor(x[0, :, :3]) for x in (Q, K, V))
    assert torch.autograd.gradcheck(lambda s: attention(q, k, v, sink=s, causal=True), (sink,))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: attention(Q, K, V, sink=SINK[:3]), ValueError, "give one number for each head"),
        (lambda: attention(Q, K, V, sink=np.ones((4, 1))), ValueError, "give one number for each head"),
        (lambda: attention(Q[0, 0], K[0, 0], V[0, 0], sink=SINK), ValueError, "or a 0-d array"),
        (lambda: attention(Q, K, V, sink=SINK > 0), TypeError, "sink has dtype bool"),
        (lambda: attention(Q, K, V, sink=torch.ones(4)), TypeError, "different libraries"),
        (lambda: window_mask(5, 5, 0), ValueError, "window=0 is too small"),
        (lambda: window_mask(5, 5, 2, sinks=-1), ValueError, "sinks=-1 is too small"),
        (lambda: window_mask(5, 5, 2, causal=1), TypeError, "causal=1 is not a boolean"),  # type: ignore[call-overload]
        (lambda: window_mask(6, 5, 2), ValueError, "queries=6 are more than the 5 keys"),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(("window", "sinks"), [(1, 0), (3, 0), (3, 2), (20, 1), (2, 20)])
def test_windows_pair_by_pair(window, sinks):
    for causal in (True, False):
        got = window_mask(12, 12, window, sinks=sinks, causal=causal)
        for i in range(12):
            for j in range(12):
                near = i - j < window or j < sinks if j <= i else not causal and j - i < window
                assert got[i, j] == near
    assert (window_mask(4, 12, window, sinks=sinks) == window_mask(12, 12, window, sinks=sinks)[-4:]).all()
    rows = torch.arange(12) + torch.tensor([[0], [3]])
    assert window_mask(rows, rows, window).shape == (2, 12, 12)


def test_the_map_is_what_a_streaming_cache_does():
    """Keep keys unrotated, drop those in the middle, rotate what is left by its place in the cache."""
    q, k, v, sinks, window = Q[0], K[0], V[0], 2, 3
    kept: list[int] = []
    outputs = []
    for i in range(9):
        kept = [j for j in [*kept, i] if j < sinks or i - j < window]
        turned_k = apply_rotary(k[:, kept], len(kept))
        turned_q = apply_rotary(q[:, i : i + 1], [len(kept) - 1])
        outputs.append(attention(turned_q, turned_k, v[:, kept]))
    distances = streaming_distances(9, 9, sinks=sinks, window=window)
    scores = np.stack(
        [
            (apply_rotary(np.broadcast_to(q[:, i : i + 1], k.shape), distances[i]) * k).sum(-1)
            for i in range(9)
        ],
        1,
    )
    nothing = np.zeros_like(q)
    got = attention(nothing, k, v, bias=scores / 8**0.5, mask=window_mask(9, 9, window, sinks=sinks))
    np.testing.assert_allclose(got, np.concatenate(outputs, axis=1), atol=1e-12)


def test_no_sink_in_front_of_the_text():
    """Positions count from 0: what has a negative one (padding, say) is none of the first keys."""
    assert not window_mask(np.asarray([5]), np.asarray([-5]), 2).any()
    assert window_mask(np.asarray([5]), np.asarray([-1, 0, 1]), 2, sinks=1).tolist() == [[False, True, False]]


@pytest.mark.parametrize("sink", [np.asarray([0.0, np.nan]), np.asarray(np.nan), np.asarray([np.inf, 0.0])])
def test_a_sink_that_is_no_number(sink):
    q = np.ones((2, 3, 4))
    with pytest.raises(ValueError, match=r"sink holds NaN or \+inf"):
        attention(q, q, q, sink=sink)
