"""The one attention against PyTorch's, against a loop in high precision, and against its own algebra."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
import torch

from posenc_lib import apply_rotary, attention, sinusoidal
from tests.present import present

sdpa = torch.nn.functional.scaled_dot_product_attention


def tensors(
    *shapes: tuple[int, ...], dtype: torch.dtype = torch.float64, seed: int = 0
) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


# ---- against PyTorch


@pytest.mark.parametrize(
    ("q_shape", "k_shape", "v_shape"),
    [
        ((5, 8), (5, 8), (5, 8)),
        ((3, 8), (5, 8), (5, 2)),
        ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5)),
        ((4, 1), (1, 1), (1, 7)),
        ((0, 8), (5, 8), (5, 3)),
        ((0, 4, 8), (0, 4, 8), (0, 4, 8)),
    ],
)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_as_pytorch(q_shape: Any, k_shape: Any, v_shape: Any, biased: bool, masked: bool) -> None:
    q, k, v = tensors(q_shape, k_shape, v_shape)
    scores = (*q_shape[:-1], k_shape[-2])
    bias = tensors(scores, seed=1)[0] if biased else None
    mask = None
    if masked:
        mask = tensors(scores, seed=2)[0] > 0
        mask[..., 0] = True
    added = torch.zeros(scores, dtype=torch.float64) if bias is None else bias
    added = added if mask is None else added.masked_fill(~mask, -math.inf)
    torch.testing.assert_close(attention(q, k, v, bias=bias, mask=mask), sdpa(q, k, v, attn_mask=added))


@pytest.mark.parametrize("shape", [(5, 8), (2, 3, 6, 4)])
def test_causal_as_pytorch(shape: tuple[int, ...]) -> None:
    q, k, v = tensors(shape, shape, shape)
    torch.testing.assert_close(attention(q, k, v, causal=True), sdpa(q, k, v, is_causal=True))


@pytest.mark.parametrize("new", [1, 2, 6])
def test_a_few_new_queries_see_a_longer_cache(new: int) -> None:
    q, k, v = tensors((2, 6, 8), (2, 6, 8), (2, 6, 8))
    whole = attention(q, k, v, causal=True)
    torch.testing.assert_close(attention(q[:, -new:], k, v, causal=True), whole[:, -new:])


def test_causal_and_masked_together() -> None:
    q, k, v = tensors((4, 8), (4, 8), (4, 8))
    mask = torch.tensor([[False, True, True, True]])  # the first key is padding
    both = torch.tril(torch.ones(4, 4, dtype=torch.bool)) & mask
    torch.testing.assert_close(attention(q, k, v, mask=mask, causal=True), attention(q, k, v, mask=both))


@pytest.mark.parametrize(
    ("bias_shape", "mask_shape"),
    [((), (5,)), ((5,), (4, 1)), ((3, 1, 1), (2, 1, 1, 5)), ((4, 5), ()), ((2, 3, 4, 5), (3, 4, 5))],
)
def test_bias_and_mask_broadcast(bias_shape: tuple[int, ...], mask_shape: tuple[int, ...]) -> None:
    q, k, v = tensors((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 8))
    bias = tensors(bias_shape, seed=1)[0]
    mask = tensors(mask_shape, seed=3)[0].abs() > 0.3
    whole_bias, whole_mask = bias.expand(2, 3, 4, 5), mask.expand(2, 3, 4, 5)
    torch.testing.assert_close(
        attention(q, k, v, bias=bias, mask=mask), attention(q, k, v, bias=whole_bias, mask=whole_mask)
    )


def test_leading_axes_broadcast() -> None:
    q, k, v = tensors((2, 1, 4, 8), (3, 5, 8), (5, 8))
    whole = attention(q.expand(2, 3, 4, 8), k.expand(2, 3, 5, 8), v.expand(2, 3, 5, 8))
    torch.testing.assert_close(attention(q, k, v), whole)


# ---- by hand


def test_equation_1_in_high_precision() -> None:
    """softmax(q k^T / sqrt(d)) v, number by number."""
    q, k, v = (t.tolist() for t in tensors((2, 3), (4, 3), (4, 2)))
    with mpmath.workdps(40):
        expected = []
        for query in q:
            scores = [mpmath.fdot(query, key) / mpmath.sqrt(3) for key in k]
            raised = [mpmath.exp(score) for score in scores]
            expected.append(
                [float(mpmath.fdot(raised, column) / sum(raised)) for column in zip(*v, strict=True)]
            )
    np.testing.assert_allclose(attention(np.asarray(q), np.asarray(k), np.asarray(v)), expected, atol=1e-15)


def test_weights_by_hand() -> None:
    """Equal scores share evenly; a bias of log 3 is worth three keys."""
    q, k, v = np.zeros((1, 4)), np.zeros((2, 4)), np.asarray([[1.0], [5.0]])
    output, weights = attention(q, k, v, return_weights=True)
    np.testing.assert_allclose(weights, [[0.5, 0.5]])
    np.testing.assert_allclose(output, [[3.0]])
    output, weights = attention(q, k, v, bias=np.asarray([0.0, math.log(3)]), return_weights=True)
    np.testing.assert_allclose(weights, [[0.25, 0.75]])
    np.testing.assert_allclose(output, [[4.0]])


def test_weights_sum_to_one_and_are_not_negative() -> None:
    q, k, v = tensors((2, 5, 8), (2, 5, 8), (2, 5, 8))
    _, weights = attention(q, k, v, causal=True, return_weights=True)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 5, dtype=torch.float64))
    assert (torch.triu(weights, 1) == 0).all()


def test_large_scores_do_not_overflow() -> None:
    q = np.asarray([[1e3, 1e3]])
    k = np.asarray([[1e3, 1e3], [-1e3, -1e3]])
    np.testing.assert_array_equal(attention(q, k, np.asarray([[1.0], [2.0]])), [[1.0]])


def test_order_is_lost_without_a_door() -> None:
    """Rows move with the input: permutation equivariance."""
    x = tensors((6, 8))[0]
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    torch.testing.assert_close(attention(x[order], x[order], x[order]), attention(x, x, x)[order])


# ---- rows that may look nowhere


@pytest.mark.parametrize("way", ["mask", "bias", "both", "causal and mask"])
def test_a_query_that_may_look_nowhere_gets_zero(way: str) -> None:
    q, k, v = tensors((3, 4), (3, 4), (3, 4))
    mask = torch.ones(3, 3, dtype=torch.bool)
    mask[0] = False
    bias = torch.zeros(3, 3, dtype=torch.float64)
    bias[0] = -math.inf
    ways: dict[str, dict[str, Any]] = {
        "mask": {"mask": mask},
        "bias": {"bias": bias},
        "both": {"mask": mask, "bias": bias},
        "causal and mask": {"mask": torch.tensor([False, True, True]), "causal": True},
    }
    output, weights = attention(q, k, v, return_weights=True, **ways[way])
    assert (output[0] == 0).all()
    assert (weights[0] == 0).all()
    torch.testing.assert_close(weights[1:].sum(-1), torch.ones(2, dtype=torch.float64))


def test_gradients_of_such_rows_are_finite() -> None:
    q, k, v = (t.requires_grad_() for t in tensors((3, 4), (3, 4), (3, 4)))
    mask = torch.tensor([[False, False, False], [True, False, False], [True, True, True]])
    attention(q, k, v, mask=mask).sum().backward()
    for t in (q, k, v):
        assert torch.isfinite(present(t.grad)).all()
    assert (present(q.grad)[0] == 0).all()
    assert torch.autograd.gradcheck(lambda *qkv: attention(*qkv, mask=mask), (q, k, v))


# ---- the three doors


def test_added() -> None:
    """Door 1 opens before attention: the same rows with positions added no longer permute."""
    x = tensors((6, 8))[0]
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    p = sinusoidal(torch.arange(6.0, dtype=torch.float64), 8)
    placed, moved = attention(x + p, x + p, x), attention(x[order] + p, x[order] + p, x[order])
    assert (moved - placed[order]).abs().max() > 0.01


def turn(angles: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Turn pairs of columns as complex numbers."""
    factor = torch.polar(torch.ones_like(angles), angles)

    def rotation(x: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * factor).reshape(x.shape)

    return rotation


def test_rotated() -> None:
    """Door 2: q and k are turned, v is not; and turning both alike by more changes nothing."""
    q, k, v = tensors((2, 5, 4), (2, 5, 4), (2, 5, 4))
    angles = torch.arange(5, dtype=torch.float64)[:, None] * torch.tensor([1.0, 0.1])
    rotation = turn(angles)
    found = attention(q, k, v, rotate=rotation)
    torch.testing.assert_close(found, sdpa(rotation(q), rotation(k), v))
    torch.testing.assert_close(attention(q, k, v, rotate=turn(angles + 0.7)), found)


def test_rotated_by_two_rotations() -> None:
    """A single new query stands at the end of the keys."""
    q, k, v = tensors((2, 5, 4), (2, 5, 4), (2, 5, 4))
    angles = torch.arange(5, dtype=torch.float64)[:, None] * torch.tensor([1.0, 0.1])
    whole = attention(q, k, v, rotate=turn(angles), causal=True)
    last = attention(q[:, -1:], k, v, rotate=(turn(angles[-1:]), turn(angles)), causal=True)
    torch.testing.assert_close(last, whole[:, -1:])
    only_k = attention(q, k, v, rotate=(None, turn(angles)))
    torch.testing.assert_close(only_k, sdpa(q, turn(angles)(k), v))


def test_biased() -> None:
    """Door 3: a penalty on distance, one slope per head."""
    q, k, v = tensors((2, 5, 4), (2, 5, 4), (2, 5, 4))
    places = torch.arange(5)
    bias = -(places[:, None] - places).abs() * torch.tensor([0.5, 0.25])[:, None, None]
    torch.testing.assert_close(attention(q, k, v, bias=bias), sdpa(q, k, v, attn_mask=bias.double()))
    _, weights = attention(torch.zeros_like(q), k, v, bias=bias, return_weights=True)
    torch.testing.assert_close(weights[0, 0, 1] / weights[0, 0, 0], torch.tensor(math.exp(-0.5)).double())


# ---- dtypes, libraries, devices


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("bias_dtype", [None, torch.bfloat16, torch.float32, torch.float64])
def test_the_result_has_the_dtype_of_q_k_v(dtype: torch.dtype, bias_dtype: torch.dtype | None) -> None:
    q, k, v = tensors((2, 5, 8), (2, 5, 8), (2, 5, 3), dtype=dtype)
    bias = None if bias_dtype is None else tensors((5, 5), dtype=bias_dtype, seed=1)[0]
    output, weights = attention(q, k, v, bias=bias, causal=True, return_weights=True)
    assert output.dtype == weights.dtype == dtype
    exact = attention(q.double(), k.double(), v.double(), bias=bias, causal=True)
    assert (output.double() - exact).abs().max() < 2 * torch.finfo(dtype).eps


def test_a_steep_bias_is_not_rounded_to_bfloat16() -> None:
    """ALiBi's last keys differ by 1 at a bias of -1000, where bfloat16 steps by 4."""
    q = k = torch.zeros(1000, 4, dtype=torch.bfloat16)
    v = torch.eye(1000, dtype=torch.bfloat16)
    bias = torch.arange(-999.0, 1.0) - 100_000.0
    _, weights = attention(q[:1], k, v, bias=bias, return_weights=True)
    expected = torch.softmax(bias.double(), -1)
    assert (weights[0].double() - expected).abs().max() < 2**-8


def test_a_long_product_does_not_overflow_float16() -> None:
    q = k = torch.full((2, 256), 20.0, dtype=torch.float16)  # q . k = 102,400, past float16's 65,504
    v = torch.tensor([[1.0], [3.0]], dtype=torch.float16)
    assert attention(q, k, v).flatten().tolist() == [2.0, 2.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numpy_agrees_with_torch(dtype: type) -> None:
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    q, k, v = (t.numpy().astype(dtype) for t in tensors((2, 5, 8), (2, 5, 8), (2, 5, 8)))
    found: np.ndarray = attention(q, k, v, causal=True)
    assert found.dtype == dtype
    same = attention(*map(torch.from_numpy, (q, k, v)), causal=True)
    np.testing.assert_allclose(found, same.numpy(), atol=2 * float(np.finfo(dtype).eps))


def test_a_strict_array_library() -> None:
    arrays = [t.numpy() for t in tensors((2, 5, 8), (2, 5, 8), (2, 5, 8), (5, 5))]
    mask = np.tri(5, dtype=bool)
    q, k, v, bias = map(array_api_strict.asarray, arrays)
    found = attention(q, k, v, bias=bias, mask=array_api_strict.asarray(mask), causal=True)
    assert isinstance(found, type(q))
    expected = attention(*arrays[:3], bias=arrays[3], mask=mask, causal=True)
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-15)


def test_the_result_stays_on_the_device() -> None:
    q = torch.ones(2, 5, 8, device="meta")
    found, weights = attention(q, q, q, causal=True, return_weights=True)
    assert found.device.type == weights.device.type == "meta"


def test_one_graph_when_compiled() -> None:
    torch.compiler.reset()

    def model(x: torch.Tensor, bias: torch.Tensor) -> list[torch.Tensor]:
        return [
            attention(x, x, x, rotate=torch.sin, bias=bias, mask=mask, causal=causal)
            for mask in (None, bias > -1)
            for causal in (False, True)
        ]

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend="eager")
    for length in (4, 7):
        x, bias = tensors((2, length, 8), (length, length))
        torch.testing.assert_close(compiled(x, bias), model(x, bias))


# ---- wrong calls

Q, K, V = np.ones((2, 3, 4)), np.ones((2, 5, 4)), np.ones((2, 5, 6))
INTS = np.ones((2, 5, 4), dtype=np.int64)

BAD: list[tuple[str, Callable[[], Any], type[Exception], list[str]]] = [
    ("q a list", lambda: attention([[1.0]], K, V), TypeError, ["list", "give an array"]),
    ("q None", lambda: attention(None, K, V), TypeError, ["NoneType", "give an array"]),
    ("two libraries", lambda: attention(torch.ones(3, 4), K, V), TypeError, ["numpy and torch", "convert"]),
    (
        "a bias of another library",
        lambda: attention(Q, K, V, bias=torch.ones(5)),
        TypeError,
        ["numpy and torch"],
    ),
    ("integers", lambda: attention(Q, INTS, V), TypeError, ["k has dtype int64", "floating-point"]),
    ("booleans", lambda: attention(Q > 0, K, V), TypeError, ["q has dtype bool", "floating-point"]),
    ("one axis", lambda: attention(Q[0, 0], K, V), ValueError, ["q has shape (4,)", "two axes"]),
    (
        "two dtypes",
        lambda: attention(Q, K.astype(np.float32), V),
        TypeError,
        ["k float32", "cast them to one"],
    ),
    (
        "two widths",
        lambda: attention(Q, K[..., :3], V),
        ValueError,
        ["(2, 3, 4)", "(2, 5, 3)", "same head_dim"],
    ),
    ("no width", lambda: attention(Q[..., :0], K[..., :0], V), ValueError, ["(2, 3, 0)", "1 or more"]),
    (
        "too few values",
        lambda: attention(Q, K, V[:, :4]),
        ValueError,
        ["(2, 5, 4)", "(2, 4, 6)", "one value per key"],
    ),
    ("no keys", lambda: attention(Q, K[:, :0], V[:, :0]), ValueError, ["(2, 0, 4)", "at least one key"]),
    (
        "batches",
        lambda: attention(Q, np.ones((3, 5, 4)), V),
        ValueError,
        ["q (2, 3, 4), k (3, 5, 4)", "do not broadcast"],
    ),
    (
        "more queries than keys, causal",
        lambda: attention(K, Q, np.ones((2, 3, 6)), causal=True),
        ValueError,
        ["5 queries, but only 3 keys", "at least as many"],
    ),
    ("bias too wide", lambda: attention(Q, K, V, bias=np.ones(4)), ValueError, ["bias", "(4,)", "(2, 3, 5)"]),
    (
        "bias with more axes than the scores",
        lambda: attention(Q, K, V, bias=np.ones((7, 2, 3, 5))),
        ValueError,
        ["bias of shape (7, 2, 3, 5)", "(2, 3, 5)"],
    ),
    (
        "NaN in the bias",
        lambda: attention(Q, K, V, bias=np.asarray([0.0, 0, np.nan, 0, 0])),
        ValueError,
        ["bias holds NaN or +inf", "-inf for a mask"],
    ),
    (
        "infinity in the bias",
        lambda: attention(torch.ones(3, 4), *[torch.ones(5, 4)] * 2, bias=torch.full((5,), torch.inf)),
        ValueError,
        ["bias holds NaN or +inf", "-inf for a mask"],
    ),
    ("mask too wide", lambda: attention(Q, K, V, mask=np.ones((3, 4), bool)), ValueError, ["mask", "(3, 4)"]),
    ("mask of numbers", lambda: attention(Q, K, V, mask=np.ones(5)), TypeError, ["float64", "give booleans"]),
    (
        "bias of booleans",
        lambda: attention(Q, K, V, bias=np.ones(5, bool)),
        TypeError,
        ["bool", "give real numbers"],
    ),
    (
        "bias of integers",
        lambda: attention(Q, K, V, bias=np.ones(5, int)),
        TypeError,
        ["int64", "give real numbers"],
    ),
    ("rotate no function", lambda: attention(Q, K, V, rotate=3), TypeError, ["rotate=3", "give a function"]),  # type: ignore[call-overload]
    ("three rotations", lambda: attention(Q, K, V, rotate=(abs, abs, abs)), TypeError, ["pair of them"]),  # type: ignore[arg-type]
    (
        "rotate changes the shape",
        lambda: attention(Q, K, V, rotate=lambda x: x[..., :2]),
        ValueError,
        ["(2, 3, 2)"],
    ),
    (
        "rotate gives nothing",
        lambda: attention(Q, K, V, rotate=lambda x: None),
        ValueError,
        ["NoneType", "for q"],
    ),
    (
        "rotate k wrongly",
        lambda: attention(Q, K, V, rotate=(None, lambda x: x[:, :1])),
        ValueError,
        ["(2, 1, 4) for k"],
    ),
    (
        "rotate gives integers",
        lambda: attention(Q, K, V, rotate=lambda x: x.astype(int)),
        TypeError,
        ["int64 for q"],
    ),
    (
        "rotate changes the library",
        lambda: attention(Q, K, V, rotate=torch.from_numpy),
        TypeError,
        ["numpy and torch"],
    ),
    (
        "two devices",
        lambda: attention(torch.ones(3, 4), torch.ones(3, 4, device="meta"), torch.ones(3, 4)),
        ValueError,
        ["q on cpu", "k on meta", "move them"],
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_a_wrong_call_is_refused(call: Callable[[], Any], error: type[Exception], words: list[str]) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert raised.type is error, raised.value
    message = str(raised.value)
    assert all(word in message for word in words), message


RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(3, 2, 4, 9, 8))


def by_hand(q, k, v, *, scale, cap=math.inf, bias=0.0, allowed=None):
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * scale
    scores = (scores if math.isinf(cap) else cap * np.tanh(scores / cap)) + bias
    raised = np.exp(scores) * (1.0 if allowed is None else allowed)
    return np.einsum("bhqk,bhkd->bhqd", raised / raised.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("to", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("queries", [9, 4])
def test_scale_cap_and_window_are_their_formulas(to, causal, queries):
    q, k, v = VECTORS[0][:, :, 9 - queries :], *VECTORS[1:]
    ahead = np.arange(9) - np.arange(9)[9 - queries :, None]
    allowed = (abs(ahead) < 3) & ((ahead <= 0) | (not causal))
    bias = 3.0 * RNG.normal(size=(queries, 9))  # which the cap does not reach
    got = attention(to(q), to(k), to(v), scale=0.7, softcap=1.5, bias=to(bias), window=3, causal=causal)
    wanted = by_hand(q, k, v, scale=0.7, cap=1.5, bias=bias, allowed=allowed)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(attention(to(q), to(k), to(v), scale=0.7), by_hand(q, k, v, scale=0.7))


def test_a_window_in_packed_texts_is_that_of_each_text():
    q, k, v = VECTORS
    texts = [slice(0, 5), slice(5, 9)]
    apart = [attention(*(x[:, :, text] for x in (q, k, v)), window=3, causal=True) for text in texts]
    together = attention(q, k, v, window=3, causal=True, cu_seqlens=[0, 5, 9])
    np.testing.assert_allclose(together, np.concatenate(apart, axis=2), atol=1e-12)
    with pytest.raises(ValueError, match="a window counts the keys of one sequence"):
        attention(q, k, v, window=3, cu_seqlens=([0, 5, 9], [0, 4, 9]))


def test_a_norm_comes_before_the_rotation():
    q, k, v = VECTORS
    weights = RNG.normal(size=(2, 8))
    of_q, of_k = (lambda x, w=w: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w for w in weights)
    turn = partial(apply_rotary, positions=9)
    got = attention(q, k, v, norm=(of_q, of_k), rotate=turn)
    np.testing.assert_allclose(got, attention(turn(of_q(q)), turn(of_k(k)), v), atol=1e-12)
    with pytest.raises(ValueError, match="norm returned"):
        attention(q, k, v, norm=lambda x: x[..., :4])


@pytest.mark.parametrize("wrong", [{"scale": 0.0}, {"softcap": -1.0}, {"window": 0}])
def test_a_scale_a_cap_or_a_window_of_nothing(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        attention(*VECTORS, **wrong)
