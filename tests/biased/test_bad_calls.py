"""Bad calls of the biased door: each raises, and says what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib import biased as b

Q = np.zeros((2, 3, 4))
K = np.zeros((2, 5, 4))
U = np.zeros((2, 4))
ONE = np.ones(2)
FIRE = np.ones((3, 1)), np.zeros(3), np.ones((2, 3)), np.zeros(2)
T = torch.zeros(1, 2, 20, 4)
META = torch.zeros(1, 2, 20, 4, device="meta")


def attend(q=T, k=T, v=T, slopes=None, **options):
    return b.alibi_attention(q, k, v, slopes, **options)


def xl(q=Q, k=K, relative_keys=K, u=U, v=U, **options):
    return b.transformer_xl_bias(q, k, relative_keys, u, v, **options)


CALLS = [
    # how many heads
    (lambda: b.alibi_slopes(0), ValueError, "heads=0 is too small; give 1 or more"),
    (lambda: b.alibi_slopes(-8), ValueError, "heads=-8 is too small"),
    (lambda: b.alibi_slopes(True), TypeError, "heads=True is not an integer"),
    (lambda: b.alibi_slopes(8.0), TypeError, "heads=8.0 is not an integer"),  # type: ignore[arg-type]
    (lambda: b.alibi_slopes("8"), TypeError, "heads='8' is not an integer"),  # type: ignore[arg-type]
    (lambda: b.alibi_slopes(8, max_bias=0), ValueError, "max_bias=0"),
    (lambda: b.alibi_slopes(8, max_bias=float("nan")), ValueError, "max_bias=nan"),
    (lambda: b.alibi_bias(0, 3, 3), ValueError, "heads=0"),
    (lambda: b.sandwich_bias(0, 3, 3), ValueError, "heads=0"),
    (lambda: b.sandwich_bias(2.0, 3, 3), TypeError, "heads=2.0"),  # type: ignore[arg-type]
    # positions
    (lambda: b.alibi_bias(2, -1, 3), ValueError, "queries=-1 asks for a negative number"),
    (lambda: b.alibi_bias(2, 3, -1), ValueError, "keys=-1 asks"),
    (lambda: b.alibi_bias(2, 4, 3), ValueError, "queries=4 are more than the 3 keys"),
    (lambda: b.alibi_bias(2, True, 3), TypeError, "queries: positions is a boolean"),
    (lambda: b.alibi_bias(2, 3.0, 3), TypeError, "single real number"),
    (lambda: b.alibi_bias(2, "3", 3), TypeError, "queries"),
    (lambda: b.alibi_bias(2, None, 3), TypeError, "queries"),
    (lambda: b.alibi_bias(2, np.asarray([np.nan]), 3), ValueError, "NaN"),
    (lambda: b.alibi_bias(2, 3, torch.tensor([1.0, float("inf"), 0])), ValueError, "infinity"),
    (lambda: b.alibi_bias(2, np.asarray([True]), 3), TypeError, "booleans"),
    (lambda: b.alibi_bias(2, np.asarray(3), 3), ValueError, "no axis"),
    (lambda: b.alibi_bias(2, np.asarray([1j]), 3), TypeError, "complex"),
    (lambda: b.alibi_bias(2, np.zeros((2, 3)), np.zeros((3, 3))), ValueError, "do not broadcast"),
    (lambda: b.alibi_bias(2, np.arange(3), torch.arange(3)), TypeError, "different libraries"),
    (lambda: b.alibi_bias(2, META[0, 0, 0], T[0, 0, 0]), ValueError, "different devices"),
    (lambda: b.relative_positions(3, [[0, 1], [2]]), ValueError, "different lengths"),
    (lambda: b.relative_positions(5, 4), ValueError, "if the queries are elsewhere, give an array"),
    # ALiBi's options
    (lambda: b.alibi_bias(2, 3, 3, causal="no"), TypeError, "causal='no' is not a boolean"),  # type: ignore[arg-type]
    (lambda: b.alibi_bias(2, 3, 3, causal=1), TypeError, "causal=1"),  # type: ignore[arg-type]
    (lambda: b.alibi_bias(2, 3, 3, slopes=np.ones(3)), ValueError, "slopes has shape (3,)"),
    (lambda: b.alibi_bias(2, 3, 3, slopes=1.0), ValueError, "slopes has shape ()"),
    (lambda: b.alibi_bias(2, 3, 3, slopes=[1.0, np.nan]), ValueError, "NaN or infinity in slopes"),
    (lambda: b.alibi_bias(2, 3, 3, slopes_after=ONE), ValueError, "give causal=False"),
    (
        lambda: b.alibi_bias(2, 3, 3, causal=False, slopes_after=np.ones(4)),
        ValueError,
        "slopes_after has shape (4,)",
    ),
    (lambda: b.alibi_bias(2, np.arange(3), 3, slopes=torch.ones(2)), TypeError, "different libraries"),
    (lambda: b.alibi_bias(2, 3, 3, dtype=np.int64), TypeError, "not a real floating-point dtype"),
    (
        lambda: b.alibi_bias(2, 3, 3, dtype=torch.float32),
        TypeError,
        "not a real floating-point dtype of numpy",
    ),
    # T5
    (lambda: b.t5_buckets(np.asarray([1]), buckets=31), ValueError, "buckets=31 cannot be split"),
    (lambda: b.t5_buckets(np.asarray([1]), buckets=2), ValueError, "buckets=2 cannot be split"),
    (
        lambda: b.t5_buckets(np.asarray([1]), buckets=1, bidirectional=False),
        ValueError,
        "buckets=1 is too small",
    ),
    (lambda: b.t5_buckets(np.asarray([1]), buckets=0), ValueError, "buckets=0"),
    (lambda: b.t5_buckets(np.asarray([1]), buckets=32.0), TypeError, "buckets=32.0"),  # type: ignore[arg-type]
    (lambda: b.t5_buckets(np.asarray([1]), max_distance=8), ValueError, "max_distance=8 is too small"),
    (lambda: b.t5_buckets(np.asarray([1]), max_distance=10**30), ValueError, "beyond 64-bit"),
    (lambda: b.t5_buckets(np.asarray([1]), max_distance=128.0), TypeError, "max_distance=128.0"),  # type: ignore[arg-type]
    (lambda: b.t5_buckets(np.asarray([1]), bidirectional=None), TypeError, "bidirectional=None"),  # type: ignore[arg-type]
    (lambda: b.t5_buckets(np.asarray([True])), TypeError, "bool"),
    (lambda: b.t5_buckets("near"), TypeError, "not an array"),
    (lambda: b.t5_bias(np.zeros(32), 3, 3), ValueError, "give shape (buckets, heads)"),
    (lambda: b.t5_bias(np.zeros((32, 2), dtype=int), 3, 3), TypeError, "table has dtype int64"),
    (lambda: b.t5_bias([[0.0]], 3, 3), TypeError, "not an array"),
    (lambda: b.t5_bias(np.zeros((32, 2)), torch.arange(3), 3), TypeError, "different libraries"),
    (lambda: b.t5_bias(torch.zeros(33, 2), 3, 3), ValueError, "buckets=33"),
    # Shaw
    (lambda: b.shaw_bias(Q, np.zeros((4, 4)), 3, 5), ValueError, "2k + 1"),
    (lambda: b.shaw_bias(Q, np.zeros((5, 3)), 3, 5), ValueError, "differ in head_dim"),
    (lambda: b.shaw_bias(Q, np.zeros((3, 5, 4)), 3, 5), ValueError, "does not fit the heads"),
    (lambda: b.shaw_bias(Q, np.zeros((5, 4)), 2, 5), ValueError, "queries gives 2 positions, but q has 3"),
    (
        lambda: b.shaw_bias(Q, np.zeros((5, 4)), np.asarray([0.0, 1, 2]), 5),
        TypeError,
        "distances must be whole",
    ),
    (lambda: b.shaw_bias(Q, np.zeros((5, 4)), 3, 5, scale=0.0), ValueError, "scale=0.0"),
    (lambda: b.shaw_bias(Q[0, 0], np.zeros((5, 4)), 1, 5), ValueError, "q has shape (4,)"),
    (lambda: b.shaw_bias(Q.astype(int), np.zeros((5, 4)), 3, 5), TypeError, "q has dtype int64"),
    (
        lambda: b.shaw_values(np.zeros((3, 5)), np.zeros((5, 4)), 3, 6),
        ValueError,
        "6 positions, but weights has 5",
    ),
    (
        lambda: b.shaw_values(np.zeros((3, 5)), np.zeros((2, 5, 4)), 3, 5),
        ValueError,
        "does not fit the heads",
    ),
    # Transformer-XL
    (lambda: b.relative_shift(np.zeros((3, 4)), 5), ValueError, "give 5, one per key (causal), or"),
    (lambda: b.relative_shift(np.zeros((3, 2)), 2), ValueError, "3 queries, but only 2 keys"),
    (lambda: b.relative_shift(np.zeros((3, 3)), 3.0), TypeError, "keys=3.0"),  # type: ignore[arg-type]
    (lambda: b.relative_shift(np.zeros(3), 3), ValueError, "x has shape (3,)"),
    (lambda: xl(relative_keys=K[:, :4]), ValueError, "4 relative positions; give 5"),
    (lambda: xl(q=K, k=Q, relative_keys=Q), ValueError, "5 queries, but only 3 keys"),
    (lambda: xl(u=U[:1]), ValueError, "u of shape (1, 4) does not fit"),
    (lambda: xl(v=U[:, :3]), ValueError, "v of shape (2, 3) does not fit"),
    (lambda: xl(k=K[[0, 0, 0]]), ValueError, "k of shape (3, 5, 4) does not fit"),
    (lambda: xl(k=K[:0]), ValueError, "it needs 2 heads (or a divisor of that)"),
    (lambda: xl(relative_keys=K[[0, 0, 0]]), ValueError, "relative_keys of shape (3, 5, 4) does not fit"),
    (lambda: xl(u=torch.zeros(2, 4)), TypeError, "different libraries"),
    (lambda: xl(u=U.astype(int)), TypeError, "u has dtype int64"),
    (lambda: xl(scale="big"), TypeError, "scale='big'"),
    # KERPLE
    (lambda: b.kerple_bias(ONE, ONE, 3, 3, kind="exp"), ValueError, "choose one of 'log', 'power'"),  # type: ignore[arg-type]
    (lambda: b.kerple_bias(-ONE, ONE, 3, 3), ValueError, "r1 must be above 0"),
    (lambda: b.kerple_bias(ONE, 0 * ONE, 3, 3), ValueError, "r2 must be above 0"),
    (lambda: b.kerple_bias(ONE, 2.5 * ONE, 3, 3, kind="power"), ValueError, "2 or less"),
    (lambda: b.kerple_bias(ONE, np.ones(3), 3, 3), ValueError, "r2 has shape (3,)"),
    (lambda: b.kerple_bias(np.ones((2, 1)), ONE, 3, 3), ValueError, "r1 has shape (2, 1)"),
    (lambda: b.kerple_bias(np.asarray([]), ONE, 3, 3), ValueError, "r1 has shape (0,)"),
    (lambda: b.kerple_bias(ONE, np.nan * ONE, 3, 3), ValueError, "NaN or infinity in r2"),
    (lambda: b.kerple_bias(torch.ones(2), ONE, np.arange(3), 3), TypeError, "different libraries"),
    # FIRE
    (lambda: b.fire_distances(3, 3, c=0.0, threshold=1.0), ValueError, "c=0.0"),
    (lambda: b.fire_distances(3, 3, c=1.0, threshold=-1.0), ValueError, "threshold=-1.0"),
    (lambda: b.fire_distances(3, 3, c="1", threshold=1.0), TypeError, "c='1'"),
    (lambda: b.fire_distances(3, 3, c=np.ones(2), threshold=1.0), ValueError, "c has shape (2,)"),
    (lambda: b.fire_distances(3, 3, c=torch.tensor(-1.0), threshold=1.0), ValueError, "c must be above 0"),
    (lambda: b.fire_distances(3, 3, c=torch.tensor(1.0), threshold=1.0), TypeError, "different libraries"),
    (lambda: b.fire_bias(FIRE[:3], 3, 3, c=1.0, threshold=1.0), TypeError, "the four arrays"),  # type: ignore[arg-type]
    (lambda: b.fire_bias(FIRE[::-1], 3, 3, c=1.0, threshold=1.0), ValueError, "w1 has shape (2,)"),
    (
        lambda: b.fire_bias((FIRE[0].T, *FIRE[1:]), 3, 3, c=1.0, threshold=1.0),
        ValueError,
        "give (hidden, 1), (hidden,), (heads, hidden) and (heads,)",
    ),
    (
        lambda: b.fire_bias((*FIRE[:3], torch.zeros(2)), 3, 3, c=1.0, threshold=1.0),
        TypeError,
        "different libraries",
    ),
    # sandwich
    (lambda: b.sandwich_bias(2, 3, 3, dim=7), ValueError, "dim=7"),
    (lambda: b.sandwich_bias(2, 3, 3, dim=0), ValueError, "dim=0"),
    (lambda: b.sandwich_bias(2, 3, 3, base=0.0), ValueError, "base=0.0"),
    (lambda: b.sandwich_bias(2, 3, 3, first_pair=2), ValueError, "first_pair=2"),
    (lambda: b.sandwich_bias(2, 3, 3, first_pair=True), ValueError, "first_pair=True"),
    # CoPE
    (lambda: b.cope_bias(Q, K, np.zeros((6, 3))), ValueError, "differ in head_dim"),
    (lambda: b.cope_bias(K, Q, U), ValueError, "5 queries, but only 3 keys"),
    (lambda: b.cope_bias(Q, K, np.zeros((0, 4))), ValueError, "at least one row"),
    (lambda: b.cope_bias(Q, K, U, mask=np.ones(5)), TypeError, "mask has dtype float64"),
    (
        lambda: b.cope_bias(Q, K, U, mask=np.ones(4, dtype=bool)),
        ValueError,
        "mask of shape (4,) does not",
    ),
    (lambda: b.cope_bias(Q, K[:1].repeat(3, 0), U), ValueError, "do not broadcast"),
    (lambda: b.cope_bias(Q, K, U, causal="yes"), TypeError, "causal='yes'"),  # type: ignore[arg-type]
    (lambda: b.cope_bias(Q, K, U, gate_scale=-1.0), ValueError, "scale=-1.0"),
    (lambda: b.cope_bias(Q, K, torch.zeros(3, 4)), TypeError, "different libraries"),
    (lambda: b.cope_bias(Q.astype(int), K, U), TypeError, "q has dtype int64"),
    # the fused ALiBi
    (lambda: attend(q=T.numpy()), TypeError, "q is a ndarray; give a torch tensor"),
    (lambda: attend(q=T.long()), TypeError, "q has dtype torch.int64"),
    (lambda: attend(v=T.double()), TypeError, "dtypes differ"),
    (lambda: attend(q=T[0, 0]), ValueError, "at least three axes"),
    (lambda: attend(q=T[..., :3]), ValueError, "the same head_dim"),
    (lambda: attend(q=T[..., :0], k=T[..., :0]), ValueError, "the same head_dim, 1 or more"),
    (lambda: attend(v=T[:, :, :3]), ValueError, "one value for each key"),
    (lambda: attend(q=T[:, :1]), ValueError, "as many heads as q or a divisor"),
    (lambda: attend(k=T[:, :, :0], v=T[:, :, :0]), ValueError, "at least one key"),
    (lambda: attend(q=torch.cat([T, T])), ValueError, "the same axes before the heads"),
    (lambda: attend(k=T[:, :, :5], v=T[:, :, :5]), ValueError, "20 queries, but only 5 keys"),
    (lambda: attend(k=META), ValueError, "different devices"),
    (lambda: attend(slopes=torch.ones(3)), ValueError, "slopes has shape (3,)"),
    (lambda: attend(slopes=torch.ones(2, device="meta")), ValueError, "different devices"),
    (lambda: attend(slopes=[np.inf, 1.0]), ValueError, "NaN or infinity in slopes"),
    (
        lambda: attend(q=T.half(), k=T.half(), v=T.half(), slopes=[1.0, 1e4]),
        ValueError,
        "use bfloat16 or float32",
    ),
    (lambda: attend(causal=0), TypeError, "causal=0"),
    (lambda: attend(mask=torch.zeros(20, 20)), TypeError, "mask has dtype torch.float32"),
    (lambda: attend(mask=torch.ones(19, dtype=torch.bool)), ValueError, "does not broadcast"),
    (lambda: attend(mask=torch.ones(2, 1, 2, 20, 20, dtype=torch.bool)), ValueError, "does not broadcast"),
    (lambda: attend(mask=np.ones(20, dtype=bool)), TypeError, "mask is a ndarray"),
    (lambda: b.alibi_columns(T, T[..., :3]), ValueError, "the same head_dim"),
]


@pytest.mark.parametrize(("call", "error", "words"), CALLS)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_too_many_keys_for_float16():
    k = torch.zeros(1, dtype=torch.float16).expand(1, 1, (1 << 22) + 1, 4)
    with pytest.raises(ValueError, match="too many for float16"):
        b.alibi_columns(k[:, :, :20], k)
