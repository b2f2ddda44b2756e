"""Learned tables of patches as transformers, timm and the authors resample them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import torch
from torch import nn

from posenc_lib.added import resample_grid
from posenc_lib.nn import LearnedGrid
from tests.conformance.peers import modeling, timm_file, transformers

PATCH, OLD, DIM = 4, (5, 5), 8
NEW = [(8, 8), (3, 4), (5, 7)]
IMAGE = OLD[0] * PATCH


@pytest.fixture(autouse=True)
def _seed_without_grad():
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def config_of(name: str) -> object:
    return getattr(transformers, name)(
        image_size=IMAGE, patch_size=PATCH, hidden_size=DIM, num_attention_heads=2, intermediate_size=8
    )


def stretched(embeddings: Any, new: tuple[int, int]) -> torch.Tensor:
    """What their embeddings add to an image of another size."""
    some = torch.zeros(1, new[0] * new[1] + 1, DIM)
    return embeddings.interpolate_pos_encoding(some, new[0] * PATCH, new[1] * PATCH)[0]


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize(
    ("model", "config", "name"),
    [("vit", "ViTConfig", "ViTEmbeddings"), ("dinov2", "Dinov2Config", "Dinov2Embeddings")],
)
def test_vit_and_dinov2_in_transformers(model, config, name, new):
    theirs = getattr(modeling(model), name)(config_of(config))
    table = nn.init.normal_(theirs.position_embeddings)[0]
    torch.testing.assert_close(resample_grid(table, OLD, new, first=1), stretched(theirs, new))
    ours = LearnedGrid(OLD, DIM, first=1, stretch_to=new)
    ours.load_state_dict({"table": table})
    torch.testing.assert_close(ours(torch.zeros(1, 1 + new[0] * new[1], DIM))[0], stretched(theirs, new))


@pytest.mark.parametrize("new", NEW)
def test_siglip(new):
    theirs = modeling("siglip").SiglipVisionEmbeddings(config_of("SiglipVisionConfig"))
    table = theirs.position_embedding.weight
    torch.testing.assert_close(resample_grid(table, OLD, new), stretched(theirs, new))


@pytest.mark.parametrize("new", [*NEW, (2, 2)])
def test_siglip_2(new):
    table = torch.randn(25, DIM)
    theirs = modeling("siglip2").Siglip2VisionEmbeddings.resize_positional_embeddings(
        table.reshape(*OLD, DIM), torch.tensor([new]), max_length=64
    )
    ours = resample_grid(table, OLD, new, mode="bilinear", antialias=True)
    torch.testing.assert_close(ours, theirs[0, : new[0] * new[1]])


@pytest.mark.parametrize("new", [*NEW, (2, 2)])
def test_timm(new):
    table = torch.randn(1, 26, DIM)
    theirs = timm_file("pos_embed").resample_abs_pos_embed(table, list(new), list(OLD))
    torch.testing.assert_close(resample_grid(table, OLD, new, antialias=True, first=1), theirs)


@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize(("offset", "antialias"), [(0.1, False), (0.0, True)])
def test_dinov2_as_its_authors_write_it(new, offset, antialias):
    """Scale factors of (new + 0.1) / old; with registers no offset, and antialiasing."""
    table = torch.randn(26, DIM)
    factors = tuple((n + offset) / o for n, o in zip(new, OLD, strict=True))
    wanted = nn.functional.interpolate(
        table[1:].reshape(1, *OLD, DIM).permute(0, 3, 1, 2),
        **({"scale_factor": factors} if offset else {"size": new}),
        mode="bicubic",
        antialias=antialias,
    )
    wanted = torch.cat([table[:1], wanted.permute(0, 2, 3, 1).reshape(-1, DIM)])
    ours = resample_grid(table, OLD, new, offset=offset, antialias=antialias, first=1)
    torch.testing.assert_close(ours, wanted)
    in_transformers = resample_grid(table, OLD, new, first=1)
    assert (in_transformers - wanted).abs().max() > 0.01  # by which its weights are read differently there


@pytest.mark.parametrize("new", NEW)
def test_the_first_vit(new):
    table = np.random.default_rng(0).normal(size=(25, DIM))
    zoom = (new[0] / OLD[0], new[1] / OLD[1], 1)
    wanted = scipy.ndimage.zoom(table.reshape(*OLD, DIM), zoom, order=1)
    ours = resample_grid(table, OLD, new, mode="bilinear", align_corners=True)
    np.testing.assert_allclose(ours, wanted.reshape(-1, DIM), atol=1e-12)


@pytest.mark.parametrize("new", [(8, 8), (3, 3)])
def test_the_table_of_beit(new):
    config = transformers.BeitConfig(image_size=IMAGE, patch_size=PATCH, num_attention_heads=2)
    theirs = modeling("beit").BeitRelativePositionBias(config)
    table = nn.init.normal_(theirs.relative_position_bias_table)
    ours = resample_grid(table, (9, 9), (2 * new[0] - 1, 2 * new[1] - 1), mode="bilinear", last=3)
    index = theirs.generate_relative_position_index(new)
    torch.testing.assert_close(ours[index].movedim(-1, 0), theirs(new)[0])
