"""torch.compile without graph breaks, and torch.export, for every encoding."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from posenc_lib import rotated
from posenc_lib.nn import ENCODINGS, EncoderLayer, Rotary, Sizes, Transformer, make_encoding

LENGTH, DIM, HEADS = 16, 32, 4

pytestmark = pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def model_with(encoding, layers: int = 1) -> Transformer:
    return Transformer(11, DIM, layers, HEADS, encoding=encoding, length=LENGTH).eval()


def tokens_and_padding(length: int = LENGTH) -> tuple[torch.Tensor, torch.Tensor]:
    padding = torch.zeros(2, length, dtype=torch.bool)
    padding[1, :3] = True
    return torch.randint(11, (2, length)), padding


class AllDoors(nn.Module):
    """An encoding as a module with one result, for tracers."""

    def __init__(self, encoding: nn.Module) -> None:
        super().__init__()
        self.encoding = encoding

    def forward(self, x: torch.Tensor, q: torch.Tensor, positions: torch.Tensor):
        bias = self.encoding.bias(q, q, positions, positions)
        turned = self.encoding.rotate(q, q, positions, positions)
        return [self.encoding.add(x, positions), *turned, *([] if bias is None else [bias])]


def inputs(dtype: torch.dtype = torch.float32, length: int = 6):
    q = torch.randn(2, HEADS, length, DIM // HEADS, dtype=dtype)
    return torch.randn(2, length, DIM, dtype=dtype), q, torch.arange(3, 3 + length)


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_compiles_in_one_piece(name):
    doors = AllDoors(make_encoding(name, Sizes(dim=DIM, heads=HEADS, length=LENGTH)))
    given = inputs()
    for got, wanted in zip(
        torch.compile(doors, fullgraph=True, backend="eager")(*given), doors(*given), strict=True
    ):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_transformer_compiles_in_one_piece(name):
    model, (tokens, _) = model_with(name), tokens_and_padding()
    compiled = torch.compile(model, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(tokens), model(tokens))


@pytest.mark.parametrize("name", ["rope", "alibi", "transformer-xl", "cope"])
def test_compiled_training_has_the_same_gradients(name):
    tokens, padding = tokens_and_padding()
    model = model_with(name)

    def gradients(forward) -> list[torch.Tensor]:
        model.zero_grad()
        forward(tokens, padding_mask=padding).square().sum().backward()
        return [parameter.grad.clone() for parameter in model.parameters()]

    wanted = gradients(model)
    got = gradients(torch.compile(model, fullgraph=True, backend="aot_eager"))
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_and_model_exports(name):
    given = inputs()
    doors = AllDoors(make_encoding(name, Sizes(dim=DIM, heads=HEADS, length=LENGTH)))
    exported = torch.export.export(doors, given).module()
    for got, wanted in zip(exported(*given), doors(*given), strict=True):
        torch.testing.assert_close(got, wanted)
    model, (tokens, padding) = model_with(name), tokens_and_padding()
    exported = torch.export.export(model, (tokens,), {"padding_mask": padding}).module()
    torch.testing.assert_close(
        exported(tokens, padding_mask=padding), model(tokens, padding_mask=padding), rtol=1e-4, atol=1e-5
    )


OF_ONE_SIZE = {"learned", "grid", "axial"}
"""A table, or a grid, has an end."""


@pytest.mark.parametrize("name", ENCODINGS)
def test_exported_once_for_every_length(name):
    model, (tokens, padding) = model_with(name), tokens_and_padding()
    longest = LENGTH if name in OF_ONE_SIZE else 100_000
    length = torch.export.Dim("length", min=2, max=longest)
    exported = torch.export.export(model, (tokens,), dynamic_shapes={"tokens": {1: length}}).module()
    padded = torch.export.export(
        model,
        (tokens,),
        {"padding_mask": padding},
        dynamic_shapes={"tokens": {1: length}, "padding_mask": {1: length}},
    ).module()
    for count in (5, min(40, longest)):
        tokens, padding = tokens_and_padding(count)
        torch.testing.assert_close(exported(tokens), model(tokens), rtol=1e-4, atol=1e-5)
        wanted = model(tokens, padding_mask=padding)
        torch.testing.assert_close(padded(tokens, padding_mask=padding), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", ["sinusoidal", "rope"])
def test_compiled_angles_are_exact_at_a_million(name, dtype):
    doors = AllDoors(make_encoding(name, Sizes(dim=DIM, heads=HEADS))).to(dtype)
    exact = AllDoors(make_encoding(name, Sizes(dim=DIM, heads=HEADS)))
    x, q, positions = inputs(dtype)
    positions = positions + 1_000_000
    got = torch.compile(doors, fullgraph=True, backend="aot_eager")(x, q, positions)
    wanted = exact(x.double(), q.double(), positions)
    for one, other in zip(got, wanted, strict=True):
        step = 0.51 * torch.finfo(dtype).eps if dtype != torch.float32 else 5e-7
        torch.testing.assert_close(one.double(), other, rtol=step, atol=1e-6)


def test_changed_settings_count_in_compiled_code_too():
    rope = Rotary(DIM // HEADS)
    doors = AllDoors(rope)
    compiled = torch.compile(doors, fullgraph=True, backend="eager")
    given = inputs()
    for change in (
        lambda: setattr(rope, "base", 500.0),
        lambda: setattr(rope, "layout", "half"),
        lambda: setattr(rope, "scaling", rotated.LinearScaling(4.0)),
        lambda: setattr(rope, "scaling", rotated.LinearScaling(2.0)),
        lambda: setattr(rope, "scaling", {"rope_type": "linear", "factor": 3.0}),
        lambda: rope.scaling.update(factor=5.0),
    ):
        before = compiled(*given)[1]
        change()
        after = compiled(*given)[1]
        torch.testing.assert_close(after, doors(*given)[1])
        assert not torch.allclose(after, before)


def test_the_encoder_layer_compiles():
    layer = EncoderLayer(DIM, HEADS, 32, batch_first=True, encoding="rope").eval()
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    src, mask = torch.randn(2, LENGTH, DIM), torch.arange(LENGTH).expand(2, -1) < 3
    compiled = torch.compile(encoder, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(src), encoder(src))
    torch.testing.assert_close(
        compiled(src, src_key_padding_mask=mask), encoder(src, src_key_padding_mask=mask)
    )


def test_positions_too_far_apart_for_compiled_transformer_xl_are_refused():
    doors = AllDoors(make_encoding("transformer-xl", Sizes(dim=DIM, heads=HEADS)))
    x, q, positions = inputs()
    compiled = torch.compile(doors, fullgraph=True, backend="eager")
    compiled(x, q, positions)
    with pytest.raises(RuntimeError, match="further apart"):
        compiled(x, q, positions * 2)


@pytest.mark.slow  # a C++ compiler runs
@pytest.mark.parametrize("name", ["rope", "alibi"])
def test_inductor(name):
    model, (tokens, padding) = model_with(name), tokens_and_padding()
    compiled = torch.compile(model, fullgraph=True)
    with torch.no_grad():
        got, wanted = compiled(tokens, padding_mask=padding), model(tokens, padding_mask=padding)
    torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
