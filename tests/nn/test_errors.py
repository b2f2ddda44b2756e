"""Bad calls are refused, and told what was given, what is allowed and what to do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.catalogue import catalogue
from posenc_lib.nn import (
    ENCODINGS,
    FIRE,
    KERPLE,
    ALiBi,
    Attention,
    AxialRotary,
    Block,
    Cache,
    CoPE,
    EncoderLayer,
    FourierFeatures,
    Grid,
    Hybrid,
    LayerCache,
    Learned,
    MultimodalRotary,
    Rotary,
    Sandwich,
    Shaw,
    Sinusoidal,
    Sizes,
    T5Bias,
    Transformer,
    TransformerXL,
    XPos,
    make_encoding,
)

X = torch.zeros(2, 5, 8)
Q = torch.zeros(2, 4, 5, 8)
T = torch.zeros(2, 5, dtype=torch.long)


def model(encoding="rope", **options) -> Transformer:
    return Transformer(11, 32, 1, 4, encoding=encoding, length=9, **options)


def used_cache(of: Transformer | None = None) -> Cache:
    cache = Cache()
    (of or model())(T, cache=cache)
    return cache


def cache_of_a_failed_call() -> tuple[Transformer, Cache]:
    failing, cache = Transformer(11, 32, 2, 4), Cache()
    failing(T, cache=cache)
    block: Any = failing.blocks[1]
    weight = block.mlp[0].weight
    block.mlp[0].weight = None
    with pytest.raises(TypeError):
        failing(T, cache=cache)
    block.mlp[0].weight = weight
    return failing, cache


WRONG_CONSTRUCTORS = [
    # call, kind, what the message says
    (lambda: Sinusoidal(7), ValueError, "odd"),
    (lambda: Sinusoidal(0), ValueError, "dim=0"),
    (lambda: Sinusoidal(8.0), TypeError, "not an integer"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(True), TypeError, "not an integer"),
    (lambda: Sinusoidal(8, base=-1.0), ValueError, "above 0"),
    (lambda: Sinusoidal(8, base=float("nan")), ValueError, "finite"),
    (lambda: Sinusoidal(8, layout="halved"), ValueError, "choose one of"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8, spacing="even"), ValueError, "choose one of"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8, scale=0), ValueError, "scale=0"),
    (lambda: Learned(0, 8), ValueError, "length=0"),
    (lambda: Learned(8, 0), ValueError, "dim=0"),
    (lambda: Learned(8.0, 8), TypeError, "not an integer"),  # type: ignore[arg-type]
    (lambda: Learned(8, 8, beyond="wrap"), ValueError, "'clamp'"),  # type: ignore[arg-type]
    (lambda: Learned(8, 8, stretch_to=16), ValueError, "interpolate"),
    (lambda: Learned(8, 8, beyond="interpolate", stretch_to=0), ValueError, "below 1"),
    (lambda: Learned(8, 8, std=-1.0), ValueError, "std=-1.0"),
    (lambda: Hybrid(8, 7), ValueError, "even"),
    (lambda: Hybrid(8, 8, layout="halved"), ValueError, "choose one of"),  # type: ignore[arg-type]
    (lambda: FourierFeatures(7, scale=1.0), ValueError, "even"),
    (lambda: FourierFeatures(8, scale=0.0), ValueError, "scale=0.0"),
    (lambda: FourierFeatures(8, scale=1.0, axes=0), ValueError, "axes=0"),
    (lambda: FourierFeatures(8, scale=1.0, layout="halved"), ValueError, "choose one of"),  # type: ignore[arg-type]
    (lambda: Grid((4,), 8), ValueError, "height, width"),
    (lambda: Grid((4, 0), 8), ValueError, "1 or more"),
    (lambda: Grid((4, 2.5), 8), TypeError, "not an integer"),  # type: ignore[arg-type]
    (lambda: Grid((4, 4), 6), ValueError, "multiple of 4"),
    (lambda: Grid((4, 4), 8, axes="up"), ValueError, "choose one of"),  # type: ignore[arg-type]
    (lambda: Rotary(7), ValueError, "head_dim=7"),
    (lambda: Rotary(8, rotary_dim=10), ValueError, "above head_dim"),
    (lambda: Rotary(8, rotary_dim=3), ValueError, "even"),
    (lambda: Rotary(8, base=0), ValueError, "base=0"),
    (lambda: Rotary(8, layout="llama"), ValueError, "'half'"),  # type: ignore[arg-type]
    (lambda: Rotary(8, scaling="yarn"), TypeError, "rule"),
    (lambda: Rotary(8, scaling={"rope_type": "magic"}), ValueError, "magic"),
    (lambda: MultimodalRotary(8, (2, 2, 2)), ValueError, "sections"),
    (lambda: MultimodalRotary(8, (4, 0)), ValueError, "sections"),
    (lambda: AxialRotary(8, (2, 2, 2)), ValueError, "share"),
    (lambda: AxialRotary(7), ValueError, "head_dim=7"),
    (lambda: AxialRotary(8, (2, 2), axes=3), ValueError, "contradicts"),
    (lambda: AxialRotary(8, sections=(3, 2)), ValueError, "sections"),
    (lambda: XPos(7), ValueError, "head_dim=7"),
    (lambda: XPos(8, gamma=0.0), ValueError, "gamma"),
    (lambda: XPos(8, center="middle"), TypeError, "center"),  # type: ignore[arg-type]
    (lambda: XPos(8, center=float("inf")), ValueError, "center"),
    (lambda: ALiBi(0), ValueError, "heads=0"),
    (lambda: ALiBi(2.0), TypeError, "not an integer"),  # type: ignore[arg-type]
    (lambda: ALiBi(2, direction="up"), ValueError, "'symmetric'"),  # type: ignore[arg-type]
    (lambda: ALiBi(2, direction="asymmetric"), ValueError, "slopes_after"),
    (lambda: ALiBi(2, slopes_after=[1.0, 2.0]), ValueError, "asymmetric"),
    (lambda: ALiBi(2, slopes=[1.0]), ValueError, r"\(2,\)"),
    (lambda: ALiBi(2, slopes=[1.0, float("nan")]), ValueError, "NaN"),
    (lambda: ALiBi(2, learned="yes"), TypeError, "not a boolean"),  # type: ignore[arg-type]
    (lambda: T5Bias(2, buckets=7), ValueError, "even"),
    (lambda: T5Bias(2, max_distance=4), ValueError, "max_distance"),
    (lambda: T5Bias(0), ValueError, "heads=0"),
    (lambda: T5Bias(2, std=0.0), ValueError, "std"),
    (lambda: KERPLE(2, kind="linear"), ValueError, "'power'"),  # type: ignore[arg-type]
    (lambda: KERPLE(-1), ValueError, "heads=-1"),
    (lambda: FIRE(2, c=0.0), ValueError, "c=0.0"),
    (lambda: FIRE(2, threshold=-1.0), ValueError, "threshold"),
    (lambda: FIRE(2, hidden=0), ValueError, "hidden=0"),
    (lambda: Sandwich(2, dim=7), ValueError, "even"),
    (lambda: Sandwich(2, first_pair=2), ValueError, "first_pair"),
    (lambda: Shaw(8, distance=0), ValueError, "distance=0"),
    (lambda: Shaw(8, heads=0), ValueError, "heads=0"),
    (lambda: TransformerXL(8, 3), ValueError, "divisible"),
    (lambda: TransformerXL(7, 7), ValueError, "even"),
    (lambda: TransformerXL(8, 2, causal=1), TypeError, "not a boolean"),  # type: ignore[arg-type]
    (lambda: CoPE(8, rows=0), ValueError, "rows=0"),
    (lambda: Attention(8, 3), ValueError, "dim=8 is not divisible by heads=3"),
    (lambda: Attention(8, 0), ValueError, "heads=0"),
    (lambda: Attention(8, 2, dropout=1.5), ValueError, "dropout=1.5"),
    (lambda: Block(8, 2, hidden=0), ValueError, "hidden=0"),
    (lambda: model("ropes"), ValueError, "'rope'"),
    (lambda: model(None), TypeError, "NoneType"),
    (lambda: model(Rotary), TypeError, "PositionalEncoding"),
    (lambda: model("cope", causal=False), ValueError, "causal=True"),
    (lambda: model(causal=1), TypeError, "not a boolean"),
    (lambda: Transformer(11, 30, 1, 4), ValueError, "dim=30 is not divisible by heads=4"),
    (lambda: Transformer(11, 12, 1, 4), ValueError, "head_dim=3"),
    (lambda: Transformer(0, 8, 1, 2), ValueError, "vocabulary=0"),
    (lambda: Transformer(11, 8, 0, 2), ValueError, "layers=0"),
    (lambda: Transformer(11, 8, 1, 2, length=0), ValueError, "length=0"),
    (lambda: Transformer(11, 8, 1, 2, encoding="learned"), ValueError, "length="),
    (lambda: Transformer(11, 8, 1, 2, encoding="grid", length=10), ValueError, "not a square"),
    (lambda: EncoderLayer(8, 3), ValueError, "divisible"),
    (lambda: EncoderLayer(8, 2, encoding="sinusoidal"), ValueError, "before the encoder"),
    (lambda: EncoderLayer(8, 2, activation="tanh"), ValueError, "'gelu'"),
]

WRONG_CALLS = [
    # doors
    (
        lambda: Sinusoidal(8).add(torch.zeros(2, 5, 6), 5),
        ValueError,
        r"\(2, 5, 6\); give \(\.\.\., length, 8\)",
    ),
    (lambda: Sinusoidal(8).add(torch.zeros(8), 1), ValueError, "length, 8"),
    (lambda: Sinusoidal(8).add(X.long(), 5), TypeError, "embeddings"),
    (lambda: Sinusoidal(8).add(X.numpy(), 5), TypeError, "ndarray"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8).add(X, 4), ValueError, "4 for 5 tokens"),
    (lambda: Sinusoidal(8).add(X, range(3, 9)), ValueError, "6 for 5 tokens"),
    (lambda: Sinusoidal(8).add(X, -5), ValueError, "negative"),
    (lambda: Sinusoidal(8).add(X, True), TypeError, "bool"),
    (lambda: Sinusoidal(8).add(X, 5.0), TypeError, "float"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8).add(X, [0, 1, 2, 3, 4]), TypeError, "list"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8).add(X, np.arange(5)), TypeError, "ndarray"),  # type: ignore[arg-type]
    (lambda: Sinusoidal(8).add(X, torch.ones(5, dtype=torch.bool)), TypeError, "padding mask"),
    (lambda: Sinusoidal(8).add(X, torch.ones(5, dtype=torch.complex64)), TypeError, "complex64"),
    (lambda: Sinusoidal(8).add(X, torch.tensor([0, 1, 2, 3, float("nan")])), ValueError, "NaN"),
    (lambda: Sinusoidal(8).add(X, torch.tensor(3)), ValueError, r"\(length,\)"),
    (lambda: Sinusoidal(8).add(X, torch.zeros(3, 5)), ValueError, "one row of positions"),
    (lambda: Sinusoidal(8).add(X, torch.zeros(3, 2, 5)), ValueError, "several axes"),
    (lambda: Sinusoidal(8).add(X, torch.zeros(5, device="meta")), ValueError, "one device"),
    (lambda: Learned(4, 8).add(X, 5), ValueError, "past the last"),
    (lambda: Learned(9, 8).add(X, range(-1, 4)), ValueError, "before the table's first row"),
    (lambda: Learned(9, 8).add(X, torch.arange(5.0)), TypeError, "whole positions"),
    (lambda: Grid((2, 2), 8).add(X, 5), ValueError, "position 4 is outside"),
    (lambda: Grid((2, 2), 8).add(X, torch.tensor([0, 1, 2, 3, -1])), ValueError, "position -1 is outside"),
    (lambda: Grid((3, 2), 8).add(X, torch.arange(5.0)), TypeError, "give integers"),
    (lambda: FourierFeatures(8, axes=2, scale=1.0).add(X, 5), ValueError, r"\(2, batch or 1, length\)"),
    (lambda: FourierFeatures(8, axes=2, scale=1.0).add(X, torch.rand(3, 1, 5)), ValueError, "2 axes"),
    (lambda: Rotary(8)(X), TypeError, "adds nothing"),
    (lambda: ALiBi(4)(X), TypeError, "adds nothing"),
    (lambda: Rotary(6).rotate(Q, Q, 5, 5), ValueError, "head_dim=6"),
    (lambda: Rotary(8).rotate(Q[0], Q[0], 5, 5), ValueError, "batch, heads, length"),
    (lambda: Rotary(8).rotate(Q, Q, 4, 5), ValueError, "4 for 5 tokens"),
    (lambda: Rotary(8).rotate(Q, Q, torch.zeros(3, 5), 5), ValueError, "have 3 rows, for a batch of 2"),
    (lambda: Rotary(8).rotate(Q.long(), Q.long(), 5, 5), TypeError, "real floating-point"),
    (lambda: Rotary(8).rotate("q", Q, 5, 5), TypeError, "str"),  # type: ignore[arg-type]
    (lambda: Rotary(8).rotate(Q, Q, torch.zeros(3, 1, 5), 5), ValueError, "several axes"),
    (lambda: AxialRotary(8).rotate(Q, Q, 5, 5), ValueError, "coordinates"),
    (lambda: AxialRotary(8, (2, 2)).rotate(Q, Q, 5, 5), ValueError, "outside the grid"),
    (lambda: AxialRotary(8).rotate(Q, Q, torch.zeros(3, 1, 5), 5), ValueError, "give 2"),
    (
        lambda: MultimodalRotary(8, (2, 1, 1)).rotate(Q, Q, torch.zeros(2, 1, 5), 5),
        ValueError,
        "3 axes|2 axes",
    ),
    (lambda: XPos(8).rotate(Q, Q, range(10**6, 10**6 + 5), 5), ValueError, "center"),
    (lambda: ALiBi(3).bias(Q, Q, 5, 5), ValueError, r"\(batch, 3, length, head_dim\)"),
    (lambda: ALiBi(4).bias(Q, Q, 5, 4), ValueError, "k_positions are 4 for 5"),
    (lambda: ALiBi(4).bias(Q, None, 5, 5), TypeError, "k is a NoneType"),  # type: ignore[arg-type]
    (lambda: T5Bias(4).bias(Q, Q, torch.arange(5.0), 5), TypeError, "integers"),
    (lambda: Shaw(6).bias(Q, Q, 5, 5), ValueError, "6"),
    (lambda: Shaw(8).bias(Q, Q, torch.arange(5.0), 5), TypeError, "integers"),
    (lambda: TransformerXL(32, 4).bias(Q, Q, torch.arange(5.0), 5), TypeError, "integers"),
    (lambda: CoPE(6).bias(Q, Q, 5, 5), ValueError, "6"),
    # attention
    (lambda: Attention(8, 2)(X[0]), ValueError, r"\(batch, length, 8\)"),
    (lambda: Attention(6, 2)(X), ValueError, r"\(batch, length, 6\)"),
    (lambda: Attention(8, 2)(X, 4, Rotary(4)), ValueError, "4 for 5 tokens"),
    (lambda: Attention(8, 2)(X, 5, "rope"), TypeError, "str"),
    (lambda: Attention(8, 2)(X, mask=torch.ones(4, 4).bool()), ValueError, "broadcast to"),
    (lambda: Attention(8, 2)(X, mask=torch.ones(5, 5).long()), TypeError, "booleans"),
    (lambda: Attention(8, 2)(X, mask=np.ones((5, 5))), TypeError, "ndarray"),
    # the Transformer
    (lambda: model()([0, 1]), TypeError, "list"),
    (lambda: model()(T.float()), TypeError, "int64"),
    (lambda: model()(T[0]), ValueError, r"\(batch, length\)"),
    (lambda: model()(T[:, :0]), ValueError, "none at all"),
    (lambda: model()(T + 11), ValueError, "token 11 is not in the vocabulary of 11"),
    (lambda: model()(T - 1), ValueError, "token -1"),
    (lambda: model()(T, padding_mask=torch.ones(2, 5)), TypeError, "attention_mask == 0"),
    (lambda: model()(T, padding_mask=[[False] * 5] * 2), TypeError, "list"),
    (lambda: model()(T, padding_mask=torch.zeros(2, 4).bool()), ValueError, r"here \(2, 5\)"),
    (lambda: model()(T, padding_mask=torch.zeros(5).bool()), ValueError, r"here \(2, 5\)"),
    (lambda: model()(T, positions=4), ValueError, "4 for 5 tokens"),
    (lambda: model()(T, positions=torch.zeros(3, 5)), ValueError, "have 3 rows, for a batch of 2"),
    (
        lambda: model("alibi")(T, positions=torch.zeros(3, 5)),
        ValueError,
        "have 3 rows, for a batch of 2",
    ),
    (lambda: model("learned")(torch.zeros(1, 10).long()), ValueError, "past the last"),
    (lambda: model(Rotary(4))(T), ValueError, "head_dim=4"),
    (lambda: model(Sinusoidal(8))(T), ValueError, r"length, 8"),
    (lambda: model(causal=False)(T, cache=Cache()), ValueError, "causal=True"),
    (lambda: model()(T, cache=LayerCache()), TypeError, "LayerCache"),
    (lambda: model()(T[:1], cache=used_cache()), ValueError, "rows in the batch"),
    (lambda: Transformer(11, 32, 2, 4)(T, cache=used_cache()), ValueError, "another model"),
    (lambda: (lambda m, c: m(T, cache=c))(*cache_of_a_failed_call()), ValueError, "failed"),  # type: ignore[arg-type, operator]
    (lambda: Transformer(None, 8, 1, 2)(T), TypeError, "real vectors"),
    (lambda: Transformer(None, 8, 1, 2)(X[..., :6]), ValueError, r"\(batch, length, 8\)"),
    # the encoder layer
    (lambda: EncoderLayer(8, 2)(X[0]), ValueError, r"give \(length, batch, 8\)"),
    (
        lambda: EncoderLayer(8, 2, batch_first=True)(X, torch.zeros(4, 4)),
        ValueError,
        r"\(5, 5\) or \(4, 5, 5\)",
    ),
    (lambda: EncoderLayer(8, 2)(X, src_mask=torch.zeros(2, 2).long()), TypeError, "booleans"),
    (
        lambda: EncoderLayer(8, 2, batch_first=True)(X, src_key_padding_mask=torch.zeros(5, 2).bool()),
        ValueError,
        r"give \(2, 5\)",
    ),
]


@pytest.mark.parametrize(("call", "kind", "says"), WRONG_CONSTRUCTORS + WRONG_CALLS)
def test_a_bad_call_is_refused_and_told_what_to_do(call, kind, says):
    with pytest.raises(kind, match=says):
        call()


def test_positions_must_go_on_as_they_began():
    rope, cache = model(), Cache()
    rope(T, positions=torch.arange(5) * 2, cache=cache)
    with pytest.raises(ValueError, match="give positions= again"):
        rope(T, cache=cache)


def test_a_cache_with_padding_serves_one_batch_alone():
    rope, cache = model(), Cache()
    rope(T, padding_mask=torch.zeros(2, 5).bool(), cache=cache)
    with pytest.raises(ValueError, match="1 rows in the batch, but 2 in the cache"):
        rope(T[:1], cache=cache)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="unknown") as refused:
        make_encoding("rotary", Sizes(8, 2))
    assert all(repr(name) in str(refused.value) for name in ENCODINGS)


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_needs_a_length_asks_for_it(name):
    if not catalogue().named(name).by_length:
        make_encoding(name, Sizes(16, 2))
        return
    with pytest.raises(
        ValueError, match=f"encoding={name!r} depends on how long sequences are; give length="
    ):
        make_encoding(name, Sizes(16, 2))


def test_importing_posenc_lib_imports_neither_this_nor_torch():
    code = "import posenc_lib, sys; sys.exit('torch' in sys.modules or 'posenc_lib.nn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
