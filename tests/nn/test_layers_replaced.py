"""What stands for a linear layer of an encoding is called: an adapter, a quantised layer, a hook."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from posenc_lib.nn import ENCODINGS, PositionalEncoding, Sizes, Transformer, make_encoding

DIM, HEADS, LENGTH = 32, 4, 16
SIZES = Sizes(DIM, HEADS, length=LENGTH)


def layers_of(encoding: PositionalEncoding) -> dict[str, nn.Linear]:
    return {name: layer for name, layer in encoding.named_children() if isinstance(layer, nn.Linear)}


NAMES = [name for name in ENCODINGS if layers_of(make_encoding(name, SIZES))]


class Adapter(nn.Module):
    """LoRA: the layer, which is frozen, plus the product of two thin matrices."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(2, layer.in_features, dtype=layer.weight.dtype))
        self.up = nn.Parameter(torch.randn(layer.out_features, 2, dtype=layer.weight.dtype))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.layer(x) + x @ self.down.mT @ self.up.mT
        return y


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def both_doors(encoding: PositionalEncoding, dtype: torch.dtype) -> Tensor:
    """What the encoding adds to x, and to the scores of all queries and of the last one."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(1, LENGTH, DIM, generator=generator).to(dtype)
    q = torch.randn(1, HEADS, LENGTH, DIM // HEADS, generator=generator).to(dtype)
    biases = (
        encoding.bias(q, q, LENGTH, LENGTH),
        encoding.bias(q[:, :, -1:], q, range(LENGTH - 1, LENGTH), LENGTH),
    )
    found = (encoding.add(x, LENGTH) - x, *(each for each in biases if each is not None))
    return torch.cat([each.flatten() for each in found])


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", NAMES)
def test_an_adapter_counts_as_if_it_were_merged(name: str, dtype: torch.dtype) -> None:
    encoding = make_encoding(name, SIZES).to(dtype)
    merged = copy.deepcopy(encoding)
    for key, layer in layers_of(encoding).items():
        adapter = Adapter(layer)
        setattr(encoding, key, adapter)
        with torch.no_grad():
            merged.get_submodule(key).get_parameter("weight").add_(adapter.up @ adapter.down)
    got, wanted = both_doors(encoding, dtype), both_doors(merged, dtype)
    off = 1e-7 if dtype == torch.float64 else 0.05
    torch.testing.assert_close(got, wanted, rtol=off, atol=off * wanted.abs().max().item())
    got.square().sum().backward()
    adapters = [each for each in encoding.children() if isinstance(each, Adapter)]
    assert adapters
    for each in adapters:
        assert each.down.grad is not None
        assert each.down.grad.abs().sum() > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_hook_is_called(name: str) -> None:
    encoding, called = make_encoding(name, SIZES), set[str]()
    for key, layer in layers_of(encoding).items():
        layer.register_forward_hook(lambda *_, key=key: called.add(key))
    before = both_doors(copy.deepcopy(encoding), torch.float32)
    assert called == layers_of(encoding).keys()
    for layer in layers_of(encoding).values():
        layer._forward_hooks.clear()
    torch.testing.assert_close(both_doors(encoding, torch.float32), before, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_what_wraps_a_layer_is_called(name: str) -> None:
    """A hook of the gradient, and a `forward` of the layer's own, which is how some put layers on devices."""
    encoding, called = make_encoding(name, SIZES), list[str]()
    for key, layer in layers_of(encoding).items():
        layer.register_full_backward_hook(lambda *_, key=key: called.append(f"gradient of {key}"))
    both_doors(encoding, torch.float32).sum().backward()
    for key, layer in layers_of(encoding).items():

        def forward(x: Tensor, key: str = key, own: Any = layer.forward) -> Any:
            called.append(key)
            return own(x)

        vars(layer)["forward"] = forward
    both_doors(encoding, torch.float32)
    keys = layers_of(encoding).keys()
    assert set(called) == {*keys, *(f"gradient of {key}" for key in keys)}


@pytest.mark.skipif("fbgemm" not in torch.backends.quantized.supported_engines, reason="for x86 alone")
@pytest.mark.parametrize("name", NAMES)
def test_a_quantised_model_is_close_to_the_model(name: str) -> None:
    model = Transformer(50, DIM, 2, HEADS, encoding=name, length=LENGTH).eval()
    tokens = torch.randint(50, (2, LENGTH))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        smaller = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    with torch.no_grad():
        torch.testing.assert_close(smaller(tokens), model(tokens), rtol=0, atol=0.1)
