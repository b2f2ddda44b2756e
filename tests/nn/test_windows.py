"""The modules for windows of patches do what their functions do, and refuse what does not fit."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from posenc_lib.biased import swin_bias, swin_v2_bias
from posenc_lib.nn import SwinBias, SwinV2Bias, Transformer

HEADS, SHAPE = 4, (2, 3)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def vectors(length: int) -> torch.Tensor:
    return torch.randn(2, HEADS, length, 8)


@pytest.mark.parametrize("class_token", [False, True])
def test_swin_is_the_pure_function_with_its_table(class_token):
    encoding = SwinBias(HEADS, SHAPE, class_token=class_token)
    nn.init.normal_(encoding.table)
    tokens = 6 + class_token
    whole = swin_bias(encoding.table, SHAPE, class_token=class_token)
    q = k = vectors(tokens)
    assert torch.equal(encoding.bias(q, k, tokens, tokens), whole)
    some = torch.tensor([[5, 0, 2], [1, 1, 3]])
    got = encoding.bias(q[:, :, :3], k, some, range(tokens))
    assert torch.equal(got, torch.stack([whole[:, rows] for rows in some]))


def test_swin_v2_is_the_pure_function_with_its_network_and_takes_larger_windows():
    encoding = SwinV2Bias(HEADS, SHAPE)
    weights = encoding.first.weight, encoding.first.bias, encoding.second.weight
    torch.testing.assert_close(
        encoding.bias(vectors(6), vectors(6), 6, 6), swin_v2_bias(weights, SHAPE), rtol=1e-6, atol=1e-6
    )
    encoding.shape, encoding.pretrained = (4, 5), SHAPE
    larger = encoding.bias(vectors(20), vectors(20), 20, 20)
    torch.testing.assert_close(larger, swin_v2_bias(weights, (4, 5), pretrained=SHAPE))


@pytest.mark.parametrize("make", [SwinBias, SwinV2Bias])
def test_gradients_reach_all_that_is_learned(make):
    encoding = make(HEADS, SHAPE)
    (encoding.bias(vectors(6), vectors(6), 6, 6) * torch.randn(HEADS, 6, 6)).sum().backward()
    assert all(parameter.grad.any() for parameter in encoding.parameters())


def test_a_model_of_patches_and_a_class_token():
    model = Transformer(None, 32, 2, HEADS, encoding=SwinBias(HEADS, SHAPE, class_token=True), causal=False)
    assert model(torch.randn(2, 7, 32)).shape == (2, 7, 32)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: SwinBias(0, SHAPE), ValueError, "heads=0"),
        (lambda: SwinBias(4, (2,)), ValueError, "is not a window"),  # type: ignore[arg-type]
        (lambda: SwinBias(4, (2, 2.5)), TypeError, "not an integer"),  # type: ignore[arg-type]
        (lambda: SwinBias(4, SHAPE, class_token="yes"), TypeError, "not a boolean"),  # type: ignore[arg-type]
        (lambda: SwinBias(4, SHAPE, std=0), ValueError, "std=0"),
        (
            lambda: SwinBias(4, SHAPE).bias(vectors(7), vectors(7), 7, 7),
            ValueError,
            "position 6 is outside",
        ),
        (lambda: SwinV2Bias(4, SHAPE, hidden=0), ValueError, "hidden=0"),
        (lambda: SwinV2Bias(4, SHAPE, pretrained=8), ValueError, "pretrained=8 is not a window"),  # type: ignore[arg-type]
        (
            lambda: SwinV2Bias(4, SHAPE).bias(vectors(7), vectors(7), 7, 7),
            ValueError,
            "position 6 is outside",
        ),
    ],
)
def test_bad_calls_raise_and_say_why(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_some_tokens_in_a_row_have_their_part_of_the_whole():
    encoding, q = SwinBias(2, (2, 3), std=1.0), torch.zeros(1, 2, 6, 4)
    whole = encoding.bias(q, q, 6, 6)
    some = encoding.bias(q[:, :, :3], q[:, :, :4], range(3, 6), range(2, 6))
    assert torch.equal(some, whole[..., 3:6, 2:6])
