"""`EncoderLayer` in place of PyTorch's own, and encodings in front of `nn.TransformerEncoder`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from posenc_lib.catalogue import catalogue
from posenc_lib.nn import ENCODINGS, FIRE, ALiBi, EncoderLayer, Rotary, Sinusoidal

BATCH, LENGTH, DIM, HEADS = 3, 6, 16, 2
INSIDE = [each.name for each in catalogue() if set(each.doors) - {"added"} and not each.causal_only]
"""What enters in every layer, and serves an encoder."""


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def pair(**options) -> tuple[nn.TransformerEncoderLayer, Any]:
    """PyTorch's layer and ours, with the same weights."""
    theirs = nn.TransformerEncoderLayer(DIM, HEADS, 32, **options)
    with torch.no_grad():  # no norm begins as the other
        for norm in (theirs.norm1, theirs.norm2):
            norm.weight.uniform_(0.5, 1.5)
    ours = EncoderLayer(DIM, HEADS, 32, **options)
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    ours.load_state_dict(theirs.state_dict())
    return theirs, ours


def causal_mask() -> torch.Tensor:
    return nn.Transformer.generate_square_subsequent_mask(LENGTH)


PADDING = torch.tensor([[False] * 6, [False] * 4 + [True] * 2, [False] * 5 + [True]])
MASKS = {
    "none": {},
    "causal": {"src_mask": causal_mask(), "is_causal": True},
    "causal without the hint": {"src_mask": causal_mask()},
    "causal booleans": {"src_mask": causal_mask() < 0},
    "a head each": {"src_mask": torch.randn(BATCH * HEADS, LENGTH, LENGTH)},
    "padding": {"src_key_padding_mask": PADDING},
    "padding as numbers": {
        "src_key_padding_mask": torch.zeros(BATCH, LENGTH).masked_fill(PADDING, -torch.inf)
    },
    "causal and padding": {"src_mask": causal_mask() < 0, "src_key_padding_mask": PADDING},
}


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"batch_first": True},
        {},
        {"norm_first": True, "activation": "gelu", "batch_first": True},
        {"bias": False, "activation": F.silu, "layer_norm_eps": 1e-3, "batch_first": True},
    ],
    ids=["batch first", "length first", "norm first", "no bias"],
)
def test_without_encoding_it_is_the_layer_of_torch(options, training, masks):
    theirs, ours = pair(dropout=0.0, **options)
    theirs.train(training)
    ours.train(training)
    src = torch.randn(BATCH, LENGTH, DIM)
    src = src if options.get("batch_first") else src.transpose(0, 1)
    torch.testing.assert_close(ours(src, **masks), theirs(src, **masks), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS)
def test_without_encoding_the_encoder_is_that_of_torch(masks):
    theirs, ours = pair(batch_first=True, dropout=0.0)
    masks = {key.removeprefix("src_") if key == "src_mask" else key: mask for key, mask in masks.items()}
    torch_encoder = nn.TransformerEncoder(theirs, 2, enable_nested_tensor=False)
    our_encoder = nn.TransformerEncoder(ours, 2, norm=None, enable_nested_tensor=False)
    src = torch.randn(BATCH, LENGTH, DIM)
    torch.testing.assert_close(our_encoder(src, **masks), torch_encoder(src, **masks), rtol=1e-4, atol=1e-5)


class Times(nn.Module):
    """Stands where a dropout stood, and leaves a mark that can be told apart."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_is_where_torch_has_it(norm_first):
    theirs, ours = pair(batch_first=True, dropout=0.25, norm_first=norm_first)
    assert ours.self_attn.dropout == theirs.self_attn.dropout == 0.25
    for name, factor in (("dropout", 2.0), ("dropout1", 3.0), ("dropout2", 5.0)):
        assert getattr(ours, name).p == getattr(theirs, name).p == 0.25
        for layer in (theirs, ours):
            setattr(layer, name, Times(factor))
    for layer in (theirs, ours):
        layer.self_attn.dropout = 0.0
    src = torch.randn(BATCH, LENGTH, DIM)
    torch.testing.assert_close(ours(src), theirs(src), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in ENCODINGS if name in INSIDE])
def test_every_encoding_of_the_other_doors_breaks_equivariance_inside_the_encoder(name):
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding=name, length=9)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()  # type: ignore[arg-type]
    src, order = torch.randn(BATCH, LENGTH, DIM), torch.tensor([3, 0, 5, 1, 4, 2])
    assert (encoder(src[:, order]) - encoder(src)[:, order]).abs().max() > 1e-3


def test_an_additive_encoding_in_front_of_the_encoder_breaks_equivariance():
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(DIM, HEADS, 32, batch_first=True), 2)
    encoder.eval()
    src, order = torch.randn(BATCH, LENGTH, DIM), torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(encoder(src[:, order]), encoder(src)[:, order], rtol=1e-4, atol=1e-5)
    with_positions = nn.Sequential(Sinusoidal(DIM), encoder)
    assert (with_positions(src[:, order]) - with_positions(src)[:, order]).abs().max() > 0.1


@pytest.mark.parametrize("encoding", ["rope", "alibi", "transformer-xl", FIRE(HEADS, threshold=2.0)])
@pytest.mark.parametrize("as_numbers", [True, False])
def test_left_padding_changes_nothing(encoding, as_numbers):
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding=encoding).eval()
    src = torch.randn(2, LENGTH, DIM)
    padded = torch.cat([torch.randn(2, 3, DIM), src], dim=1)
    mask = torch.arange(LENGTH + 3).expand(2, -1) < 3
    mask = torch.zeros(mask.shape).masked_fill(mask, -torch.inf) if as_numbers else mask
    got = layer(padded, src_key_padding_mask=mask)[:, 3:]
    torch.testing.assert_close(got, layer(src), rtol=1e-4, atol=1e-5)


def test_a_number_that_hides_no_token_moves_no_position():
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding="rope").eval()
    src, numbers = torch.randn(2, LENGTH, DIM), -torch.rand(2, LENGTH)
    as_mask = numbers[:, None, None].expand(2, HEADS, LENGTH, LENGTH).reshape(-1, LENGTH, LENGTH)
    torch.testing.assert_close(layer(src, src_key_padding_mask=numbers), layer(src, src_mask=as_mask))


def test_causal_cope_in_the_encoder():
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding="cope", causal=True).eval()
    nn.init.normal_(layer.get_parameter("encoding.table"))
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)  # type: ignore[arg-type]
    src = torch.randn(BATCH, LENGTH, DIM)
    changed = src.clone()
    changed[:, -1] = 0
    before = encoder(src, mask=causal_mask(), is_causal=True)
    after = encoder(changed, mask=causal_mask(), is_causal=True)
    torch.testing.assert_close(after[:, :-1], before[:, :-1])


def test_the_hint_alone_is_a_causal_mask():
    layer = EncoderLayer(DIM, HEADS, 32, dropout=0.0, batch_first=True, encoding=ALiBi(HEADS), causal=True)
    src = torch.randn(BATCH, LENGTH, DIM)
    torch.testing.assert_close(layer(src, is_causal=True), layer(src, src_mask=causal_mask()))


def test_each_copy_in_the_encoder_has_its_own_encoding():
    layer = EncoderLayer(DIM, HEADS, encoding=Rotary(DIM // HEADS))
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()  # type: ignore[arg-type]
    src = torch.randn(LENGTH, BATCH, DIM)
    before = encoder(src)
    encoder.layers[1].encoding.base = 10.0
    assert encoder.layers[0].encoding.base == 10_000.0
    assert not torch.allclose(encoder(src), before)


def test_dtype_and_device_are_taken():
    layer = EncoderLayer(DIM, HEADS, 32, dtype=torch.float64, device="cpu", encoding="t5")
    assert {parameter.dtype for parameter in layer.parameters()} == {torch.float64}
    assert EncoderLayer(DIM, HEADS, device="meta").linear1.weight.is_meta
