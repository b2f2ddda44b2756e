"""Packed texts give what each text gives alone."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from posenc_lib import (
    alibi_bias,
    apply_rotary,
    attention,
    cope_bias,
    packed_mask,
    packed_positions,
    rotary_tables,
    rotate,
    sinusoidal,
)
from posenc_lib.biased import alibi_attention, alibi_score_mod, packed_mask_mod
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, Attention, Cache, LayerCache, Sizes, Transformer, make_encoding
from tests.present import present

HEADS, WIDTH = 4, 8
ENDS = [0, 3, 3, 4, 9]
"""Four texts, of 3, 0, 1 and 5 tokens."""
LENGTH = ENDS[-1]
CAUSAL_ONLY = {each.name for each in catalogue() if each.causal_only}


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def texts(ends: list[int] = ENDS) -> list[slice]:
    return [slice(*pair) for pair in itertools.pairwise(ends) if pair[0] < pair[1]]


def vectors(length: int = LENGTH, heads: int = HEADS) -> torch.Tensor:
    return torch.randn(heads, length, WIDTH, dtype=torch.float64)


LIBRARIES: dict[str, Callable[[Any], Any]] = {
    "a list": list,
    "numpy": lambda ends: np.asarray(ends, dtype=np.int32),
    "torch": lambda ends: torch.tensor(ends, dtype=torch.int32),
    "strict": lambda ends: array_api_strict.asarray(np.asarray(ends, dtype=np.int32)),
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_positions_and_masks(library: str) -> None:
    ends = LIBRARIES[library](ENDS)
    wanted = [0, 1, 2, 0, 0, 1, 2, 3, 4]
    text = [0, 0, 0, 2, 3, 3, 3, 3, 3]
    got = packed_positions(ends)
    assert np.asarray(got).tolist() == wanted
    assert type(got) is (np.ndarray if library == "a list" else type(ends))
    same = np.equal.outer(text, text)
    np.testing.assert_array_equal(np.asarray(packed_mask(ends, LENGTH)), same)
    np.testing.assert_array_equal(np.asarray(packed_mask(ends, causal=True)), np.tril(same))
    assert np.asarray(packed_positions(LIBRARIES[library]([0, 2]), 2)).tolist() == [0, 1]


def test_a_few_new_queries_on_the_keys_of_each_text() -> None:
    of_q, of_k = [0, 1, 3], [0, 4, 9]
    assert packed_positions(of_q, keys=of_k).tolist() == [3, 3, 4]
    q, k, v = vectors(3), vectors(9), vectors(9)
    for causal in (False, True):
        got = attention(q, k, v, causal=causal, cu_seqlens=(of_q, of_k))
        for own, seen in zip(texts(of_q), texts(of_k), strict=True):
            wanted = attention(q[:, own], k[:, seen], v[:, seen], causal=causal)
            torch.testing.assert_close(got[:, own], wanted)
        mask = packed_mask(of_q, keys=of_k, causal=causal)
        np.testing.assert_allclose(attention(*(x.numpy() for x in (q, k, v)), mask=mask), got)
        wanted = torch.cat(
            [
                alibi_attention(q[:, own], k[:, seen], v[:, seen], causal=causal)
                for own, seen in zip(texts(of_q), texts(of_k), strict=True)
            ],
            dim=1,
        )
        torch.testing.assert_close(alibi_attention(q, k, v, causal=causal, cu_seqlens=(of_q, of_k)), wanted)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("own", [torch.from_numpy, lambda x: x], ids=["torch", "numpy"])
def test_attention_and_rotation(own: Any, causal: bool) -> None:
    q, k, v = (own(x.numpy()) for x in (vectors(), vectors(heads=2), vectors(heads=2)))
    ends = own(np.asarray(ENDS, dtype=np.int32))
    at = packed_positions(ends)
    tables = rotary_tables(at, WIDTH, dtype=q.dtype)
    bias = alibi_bias(HEADS, at, at, dtype=q.dtype)
    got = attention(q, k, v, bias=bias, causal=causal, rotate=lambda x: rotate(x, tables), cu_seqlens=ends)
    as_flash = attention(
        *(x.swapaxes(0, 1) for x in (q, k, v)),
        bias=bias,
        causal=causal,
        rotate=lambda x: apply_rotary(x, at, seq_axis=-3),
        cu_seqlens=ends,
        seq_axis=-3,
    )
    np.testing.assert_allclose(np.asarray(as_flash).swapaxes(0, 1), np.asarray(got))
    for text in texts():
        length = text.stop - text.start
        wanted = attention(
            *(x[:, text] for x in (q, k, v)),
            bias=alibi_bias(HEADS, own(np.arange(length)), length, dtype=q.dtype),
            causal=causal,
            rotate=lambda x, length=length: apply_rotary(x, length),
        )
        np.testing.assert_allclose(np.asarray(got[:, text]), np.asarray(wanted), atol=1e-12)
    waves = sinusoidal(at, WIDTH)
    np.testing.assert_array_equal(waves[4:9], sinusoidal(own(np.arange(5)), WIDTH))


def test_a_mask_of_ones_own_counts_as_well() -> None:
    q, mask = vectors(), torch.rand(LENGTH, LENGTH) < 0.7
    got = attention(q, q, q, mask=mask, cu_seqlens=ENDS)
    model, x = Attention(HEADS * WIDTH, HEADS).double(), vectors(heads=1).repeat(1, 1, HEADS)
    numbers = torch.randn(LENGTH, LENGTH, dtype=torch.float64)
    packed = [model(x, mask=given, cu_seqlens=ENDS) for given in (mask | torch.eye(LENGTH).bool(), numbers)]
    alibi = alibi_attention(q, q, q, causal=False, mask=mask, cu_seqlens=ENDS)
    for text in texts():
        one = q[:, text]
        torch.testing.assert_close(got[:, text], attention(one, one, one, mask=mask[text, text]))
        wanted = alibi_attention(one, one, one, causal=False, mask=mask[text, text])
        torch.testing.assert_close(alibi[:, text], wanted)
        for given, together in zip((mask | torch.eye(LENGTH).bool(), numbers), packed, strict=True):
            torch.testing.assert_close(together[:, text], model(x[:, text], mask=given[text, text]))


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("causal", [False, True])
def test_flex_attention(causal: bool) -> None:
    q, k, v = (vectors()[None].float() for _ in range(3))
    ends = torch.tensor(ENDS, dtype=torch.int32)
    at = packed_positions(ends)
    wanted = attention(q, k, v, bias=alibi_bias(HEADS, at, at, causal=False), causal=causal, cu_seqlens=ends)
    mask = create_block_mask(packed_mask_mod(ends, causal=causal), None, None, LENGTH, LENGTH, device="cpu")
    got = flex_attention(q, k, v, score_mod=alibi_score_mod(HEADS, at, at, causal=False), block_mask=mask)
    torch.testing.assert_close(got, wanted)
    more = packed_mask_mod(torch.tensor([0, 1, 3]), keys=torch.tensor([0, 4, 9]), causal=causal)
    every = more(0, 0, torch.arange(3)[:, None], torch.arange(9))
    assert every.tolist() == packed_mask([0, 1, 3], keys=[0, 4, 9], causal=causal).tolist()


def test_what_is_counted_is_of_ones_own_text() -> None:
    q, table = vectors(), torch.randn(6, WIDTH, dtype=torch.float64)
    got = cope_bias(q, q, table, mask=packed_mask(torch.tensor(ENDS)))
    for text in texts():
        wanted = cope_bias(q[:, text], q[:, text], table)
        torch.testing.assert_close(got[:, text, text], wanted)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_model_reads_each_text_as_if_it_were_alone(name: str, causal: bool) -> None:
    if name in CAUSAL_ONLY and not causal:
        pytest.skip("for causal attention alone")
    model = Transformer(11, HEADS * WIDTH, 2, HEADS, encoding=name, causal=causal, length=36, kv_heads=2)
    for encoding in model.encodings:
        for parameter in encoding.parameters():
            nn.init.normal_(parameter, std=0.5)
    model = model.double().eval()
    tokens = torch.randint(11, (1, LENGTH))
    with torch.no_grad():
        got = model(tokens, cu_seqlens=torch.tensor(ENDS, dtype=torch.int32))
        for text in texts():
            torch.testing.assert_close(got[:, text], model(tokens[:, text]), rtol=1e-6, atol=1e-6)


def test_attention_module_with_an_encoding() -> None:
    encoding = make_encoding("rope", Sizes(dim=HEADS * WIDTH, heads=HEADS)).double()
    model, x = Attention(HEADS * WIDTH, HEADS).double(), torch.randn(2, LENGTH, HEADS * WIDTH).double()
    got = model(x, encoding=encoding, causal=True, cu_seqlens=ENDS)
    for text in texts():
        torch.testing.assert_close(got[:, text], model(x[:, text], encoding=encoding, causal=True))


def test_modules_look_at_one_text_after_the_other_unless_they_are_compiled(monkeypatch: Any) -> None:
    encoding = make_encoding("alibi", Sizes(dim=HEADS * WIDTH, heads=HEADS))
    model, x, ends = (
        Attention(HEADS * WIDTH, HEADS),
        torch.randn(1, LENGTH, HEADS * WIDTH),
        torch.tensor(ENDS),
    )
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    together = compiled(x, encoding=encoding, causal=True, cu_seqlens=ends)
    model.record_weights = True
    torch.testing.assert_close(model(x, encoding=encoding, causal=True, cu_seqlens=ends), together)
    assert torch.equal(present(model.weights)[0, 0] > 0, packed_mask(ends, causal=True))
    model.record_weights = False
    monkeypatch.delattr("posenc_lib.nn.attention.packed_mask")
    torch.testing.assert_close(model(x, encoding=encoding, causal=True, cu_seqlens=ends), together)
    assert model(x[:, :0], cu_seqlens=[0, 0]).shape == (1, 0, HEADS * WIDTH)


def test_compiled_it_is_the_same_and_refuses_wrong_ends() -> None:
    def run(q: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        at = packed_positions(ends, q.shape[-2])
        return attention(apply_rotary(q, at), q, q, causal=True, cu_seqlens=ends)

    compiled = torch.compile(run, backend="eager", fullgraph=True)
    q = vectors()
    for ends in (ENDS, [0, 1, 2, 8, 9]):
        torch.testing.assert_close(compiled(q, torch.tensor(ends)), run(q, torch.tensor(ends)))
    with pytest.raises(RuntimeError, match="begin with 0, do not decrease, and end with"):
        compiled(q, torch.tensor([0, 1, 2, 3, 8]))


Q = torch.zeros(2, 5, 4)
E5 = torch.tensor([0, 2, 5])
MODEL = Transformer(11, 8, 1, 2)
TOKENS = torch.zeros(1, 5, dtype=torch.long)
BAD: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: packed_positions([3, 4, 5]),
        ValueError,
        "these begin with 3 (add up the lengths of the texts",
    ),
    (lambda: packed_positions([0, 4, 3]), ValueError, "these decrease: [0 4 3]"),
    (lambda: packed_positions([0, 4], 5), ValueError, "these end with 4, but there are 5 tokens"),
    (lambda: packed_positions([0]), ValueError, "have shape (1,); give (texts + 1,)"),
    (lambda: packed_positions([[0, 4]]), ValueError, "have shape (1, 2)"),
    (lambda: packed_positions([0.0, 4.0]), TypeError, "have dtype float64; give integers"),
    (lambda: packed_positions(np.asarray([False, True])), TypeError, "have dtype bool"),
    (lambda: packed_positions(5), TypeError, "int is not an array"),
    (lambda: packed_positions([0, 2], keys=[0, 1]), ValueError, "at least as many keys as queries"),
    (lambda: packed_positions([0, 2], keys=[0, 1, 2]), ValueError, "has 1 texts, but that of the keys has 2"),
    (lambda: packed_positions([0, 2], keys=torch.tensor([0, 2])), TypeError, "different libraries"),
    (lambda: packed_mask([0, 2], keys=[1, 3]), ValueError, "the cu_seqlens of keys begin with 0"),
    (lambda: packed_mask([0, 2], causal=1), TypeError, "causal=1"),  # type: ignore[call-overload]
    (lambda: attention(Q, Q, Q, cu_seqlens=[0, 2]), ValueError, "these end with 2, but there are 5 tokens"),
    (lambda: attention(Q, Q, Q, cu_seqlens=np.asarray([0, 5])), TypeError, "different libraries"),
    (lambda: attention(Q[:, :2], Q, Q, cu_seqlens=[0, 2]), ValueError, "give a pair, (for q, for k)"),
    (lambda: attention(Q, Q, Q, cu_seqlens=E5.to("meta")), ValueError, "different devices"),
    (lambda: packed_mask_mod([0, 2]), TypeError, "cu_seqlens is a list; give a torch tensor"),  # type: ignore[arg-type]
    (lambda: alibi_attention(Q, Q, Q, cu_seqlens=[0, 4]), ValueError, "these end with 4"),
    (lambda: MODEL(TOKENS, cu_seqlens=[0, 4]), ValueError, "these end with 4"),
    (lambda: MODEL(TOKENS, cu_seqlens=E5, cache=Cache()), ValueError, "packed texts cannot use a cache"),
    (lambda: MODEL(TOKENS, cu_seqlens=E5, padding_mask=TOKENS > 0), ValueError, "need no padding_mask"),
    (
        lambda: Attention(8, 2)(torch.zeros(1, 5, 8), cu_seqlens=E5, cache=LayerCache()),
        ValueError,
        "packed texts cannot use a cache",
    ),
    (lambda: Attention(8, 2)(torch.zeros(1, 5, 8), cu_seqlens=E5, mask=[True]), TypeError, "mask is list"),
]


@pytest.mark.parametrize(("call", "error", "words"), BAD)
def test_a_wrong_call_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
