"""DINOv3's rotation against transformers and timm: tables, draws, and which tokens turn."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from posenc_lib.nn import DINOv3Rotary
from posenc_lib.rotated import RotaryTables, augment_coordinates, dinov3_tables, patch_coordinates
from posenc_lib.rotated.dinov3 import Normalize
from tests.conformance.peers import modeling, timm_file, transformers

PATCH, HEADS, HEAD_DIM = 4, 2, 16
SHAPES = [(14, 14), (6, 9)]
AUGMENTED: dict[str, Any] = {"shift": 0.2, "jitter": 1.3, "rescale": 2.0}
NEAR: dict[str, Any] = {"rtol": 0, "atol": 5e-6}  # their angles are float32


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def in_transformers(**augmentation):
    config = transformers.DINOv3ViTConfig(
        hidden_size=HEADS * HEAD_DIM,
        num_attention_heads=HEADS,
        patch_size=PATCH,
        image_size=32,
        **{"pos_embed_rescale": None, **{f"pos_embed_{name}": each for name, each in augmentation.items()}},
    )
    return modeling("dinov3_vit").DINOv3ViTRopePositionEmbedding(config)


def in_timm(**options):
    return timm_file("pos_embed_sincos").RotaryEmbeddingDinoV3(HEAD_DIM, **options)


def picture(shape: tuple[int, int]) -> torch.Tensor:
    return torch.zeros(1, 3, shape[0] * PATCH, shape[1] * PATCH)


def ours(shape: tuple[int, int], normalize: Normalize = "separate", **options) -> RotaryTables:
    coordinates = torch.from_numpy(patch_coordinates(shape, normalize=normalize))
    return dinov3_tables(coordinates, HEAD_DIM, dtype=torch.float32, **options)


@pytest.mark.parametrize("shape", SHAPES)
def test_tables_of_transformers(shape):
    cos, sin = in_transformers().eval()(picture(shape))
    tables = ours(shape)
    torch.testing.assert_close(tables.cos.tile(2), cos, **NEAR)
    torch.testing.assert_close(tables.sin.tile(2), sin, **NEAR)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("normalize", ["separate", "min", "max"])
@pytest.mark.parametrize("periods", [None, (0.5, 8.0)])
def test_tables_of_timm(shape, normalize, periods):
    named = {} if periods is None else {"min_period": periods[0], "max_period": periods[1]}
    sin, cos = in_timm(normalize_coords=normalize, **named).eval().get_embed(shape).chunk(2, dim=-1)
    tables = ours(shape, normalize, periods=periods)
    torch.testing.assert_close(tables.cos.tile(2), cos, **NEAR)
    torch.testing.assert_close(tables.sin.tile(2), sin, **NEAR)


@pytest.mark.parametrize("names", [("shift",), ("jitter",), ("rescale",), tuple(AUGMENTED)], ids=str)
def test_the_same_seed_draws_what_transformers_and_timm_draw(names):
    some, shape = {name: AUGMENTED[name] for name in names}, (6, 9)
    coordinates = augment_coordinates(
        torch.from_numpy(patch_coordinates(shape)), torch.Generator().manual_seed(5), **some
    )
    tables = dinov3_tables(coordinates, HEAD_DIM, dtype=torch.float32)
    assert (tables.cos - ours(shape).cos).abs().max() > 0.1
    torch.manual_seed(5)
    cos, sin = in_transformers(**some).train()(picture(shape))
    torch.testing.assert_close(tables.cos.tile(2), cos, **NEAR)
    torch.testing.assert_close(tables.sin.tile(2), sin, **NEAR)
    timm = in_timm(**{f"{name}_coords": each for name, each in some.items()}).train()
    torch.manual_seed(5)
    torch.testing.assert_close(tables.sin.tile(2), timm.get_embed(shape).chunk(2, dim=-1)[0], **NEAR)


@pytest.mark.parametrize("training", [True, False])
def test_class_and_register_tokens_stand_still(training):
    shape, first = (3, 4), 5
    q, k = torch.randn(2, 2, HEADS, first + 12, HEAD_DIM)
    torch.manual_seed(5)
    cos, sin = in_transformers(**AUGMENTED).train(training)(picture(shape))
    wanted = modeling("dinov3_vit").apply_rotary_pos_emb(q, k, cos, sin)
    rope = DINOv3Rotary(HEAD_DIM, shape, first=first, **AUGMENTED).train(training)
    rope.draw(torch.Generator().manual_seed(5))
    for got, theirs in zip(rope.rotate(q, k, 17, 17), wanted, strict=True):
        torch.testing.assert_close(got, theirs, rtol=0, atol=2e-5)
        assert torch.equal(got[:, :, :first], theirs[:, :, :first])
