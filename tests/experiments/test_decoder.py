"""The model of the experiments: blind to what comes later, and the same with a cache and without."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from posenc_course.experiments.byte_models import ENCODINGS
from posenc_course.experiments.decoder import Decoder, Muon, layers_with, orthogonal
from posenc_lib.nn import LayerCache, NoPE, Rotary

SIZES: dict[str, Any] = {"dim": 16, "heads": 2, "layers": 4, "length": 16, "base": 300.0}


def model_with(encoding: str) -> Decoder:
    """A model that says something: as it is made, its last matrix is zero."""
    torch.manual_seed(0)
    model = Decoder(32, 16, 2, *layers_with(encoding, **SIZES))
    with torch.no_grad():
        for each in model.parameters():
            if not each.any():
                each.normal_(std=0.3)
    return model.eval()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_it_is_causal_and_a_cache_makes_no_difference(encoding):
    model = model_with(encoding)
    tokens = torch.randint(32, (2, 40))  # beyond the length of training
    with torch.no_grad():
        whole = model(tokens)
        other = model(torch.cat([tokens[:, :25], (tokens[:, 25:] + 1) % 32], dim=1))
        torch.testing.assert_close(other[:, :25], whole[:, :25])
        assert not torch.allclose(other[:, 25:], whole[:, 25:])
        memory = [LayerCache() for _ in model.layers]
        pieces = [model(piece, memory) for piece in (tokens[:, :20], tokens[:, 20:39], tokens[:, 39:])]
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole, rtol=1e-4, atol=1e-5)


def test_where_order_enters():
    """Without an encoding and in one layer, the last token sees a bag; with one, it does not."""
    for encoding, bag in ((NoPE(), True), (Rotary(8), False)):
        torch.manual_seed(0)
        model = Decoder(32, 16, 2, [encoding])
        for each in model.parameters():
            torch.nn.init.normal_(each, std=0.3)
        tokens = torch.arange(12)[None]
        swapped = tokens[:, [1, 0, *range(2, 12)]]
        with torch.no_grad():
            assert torch.allclose(model(tokens)[:, -1], model(swapped)[:, -1], atol=1e-5) == bag


def test_a_window_hides_what_lies_further_back():
    """Three layers of windows of 4 reach back 9 tokens; the fourth, which has none, looks at all."""
    tokens = torch.randint(32, (1, 30))
    changed = torch.cat([(tokens[:, :5] + 1) % 32, tokens[:, 5:]], dim=1)
    torch.manual_seed(0)
    near = Decoder(32, 16, 2, [Rotary(8)] * 3, [4] * 3)
    for each in near.parameters():
        torch.nn.init.normal_(each, std=0.3)
    with torch.no_grad():
        difference = (near(tokens) - near(changed)).abs().amax(dim=-1)[0]
    assert (difference[:14] > 1e-6).all()
    assert (difference[14:] < 1e-6).all()

    encodings, windows = layers_with("rope-window-and-none", **SIZES)
    assert [type(each).__name__ for each in encodings] == ["Rotary"] * 3 + ["NoPE"]
    assert windows == [4, 4, 4, None]
    _, windows = layers_with("rope-and-none", **SIZES)
    assert windows == [None] * 4


def test_a_new_model_finds_all_tokens_as_likely():
    torch.manual_seed(0)
    model = Decoder(32, 16, 2, *layers_with("rope", **SIZES))
    assert not model(torch.randint(32, (2, 8))).any()


@pytest.mark.parametrize("shape", [(3, 8, 8), (1, 32, 8), (2, 8, 32)])
def test_orthogonal_keeps_the_directions_and_levels_their_sizes(shape):
    torch.manual_seed(0)
    matrices = torch.randn(*shape)
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    found = u.mT @ orthogonal(matrices) @ v.mT
    sizes = found.diagonal(dim1=-2, dim2=-1)
    assert sizes.min() > 0.5
    assert sizes.max() < 1.3
    assert (found - torch.diag_embed(sizes)).abs().max() < 1e-3


def test_muon_goes_where_pytorchs_own_goes():
    """That one works in bfloat16: on directions it agrees to two digits."""
    torch.manual_seed(0)
    start, gradients = torch.randn(16, 8), torch.randn(3, 16, 8)
    ends = []
    for make in (
        lambda p: Muon([{"params": [p]}], rate=0.1),
        lambda p: torch.optim.Muon([p], lr=0.1, weight_decay=0.0),
    ):
        parameter = torch.nn.Parameter(start.clone())
        optimizer = make(parameter)
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
        ends.append(parameter.detach() - start)
    ours, theirs = (each.flatten() for each in ends)
    assert torch.nn.functional.cosine_similarity(ours, theirs, dim=0) > 0.999
    assert ends[0].norm() == pytest.approx(ends[1].norm().item(), rel=0.02)


def test_matrices_that_lie_stacked_are_stepped_one_by_one():
    torch.manual_seed(0)
    gradient = torch.randn(24, 8)
    whole = torch.nn.Parameter(torch.zeros(24, 8))
    parts = [torch.nn.Parameter(torch.zeros(8, 8)) for _ in range(3)]
    whole.grad = gradient.clone()
    for part, its in zip(parts, gradient.split(8), strict=True):
        part.grad = its.clone()
    Muon([{"params": [whole], "parts": 3}], rate=0.1).step()
    Muon([{"params": parts}], rate=0.1).step()
    torch.testing.assert_close(whole.detach(), torch.cat([each.detach() for each in parts]))


def test_every_parameter_has_one_optimiser():
    for encoding in ENCODINGS:
        model = Decoder(32, 16, 2, *layers_with(encoding, **SIZES))
        held = [
            id(each)
            for optimizer in model.optimizers(0.02)
            for group in optimizer.param_groups
            for each in group["params"]
        ]
        assert sorted(held) == sorted(id(each) for each in model.parameters())
