"""The rotation agrees with independently written peers in both layouts; where they differ it is known why.

Peers compute angles in float32, so that agreement ends where their precision does: positions here are
small, and one test shows what becomes of large ones.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import frequencies
from posenc_lib.rotated import (
    NTKScaling,
    RotaryTables,
    apply_rotary,
    axial_tables,
    mrope_tables,
    rotary_tables,
    rotate,
    xpos_tables,
)
from posenc_lib.rotated.tables import Layout
from tests.conformance.peers import timm_file

SEQ, DIM = 37, 16
CLOSE: dict[str, Any] = {"atol": 2e-5, "rtol": 1e-5}


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(2, 3, SEQ, DIM, generator=torch.Generator().manual_seed(0))


# ---- interleaved


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_rotary_embedding_torch(x: torch.Tensor, base: float) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(DIM, theta=base).rotate_queries_or_keys(x)
    torch.testing.assert_close(apply_rotary(x, SEQ, base=base), theirs.detach(), **CLOSE)


def test_rotary_embedding_torch_partial_offset_and_ntk(x: torch.Tensor) -> None:
    from rotary_embedding_torch import RotaryEmbedding

    theirs = RotaryEmbedding(8, theta_rescale_factor=4.0).rotate_queries_or_keys(x, offset=5)
    ours = apply_rotary(x, torch.arange(SEQ) + 5, rotary_dim=8, scaling=NTKScaling(4.0))
    torch.testing.assert_close(ours, theirs.detach(), **CLOSE)


@pytest.mark.parametrize("rotary_dim", [DIM, 8])
def test_x_transformers(x: torch.Tensor, rotary_dim: int) -> None:
    from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

    freqs, _ = RotaryEmbedding(rotary_dim, base_rescale_factor=4.0)(torch.arange(SEQ))
    ours = apply_rotary(x, SEQ, rotary_dim=rotary_dim, scaling=NTKScaling(4.0))
    torch.testing.assert_close(ours, apply_rotary_pos_emb(x, freqs), **CLOSE)


def test_gpt_j(x: torch.Tensor) -> None:
    from transformers.models.gptj import modeling_gptj as peer

    sin, cos = peer.create_sinusoidal_positions(SEQ, DIM)[None].chunk(2, -1)
    theirs = peer.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)
    torch.testing.assert_close(apply_rotary(x, SEQ), theirs, **CLOSE)


def test_llama_4(x: torch.Tensor) -> None:
    from transformers.models.llama4.modeling_llama4 import apply_rotary_emb

    tables = rotary_tables(torch.arange(SEQ), DIM)
    turns = torch.complex(tables.cos, tables.sin)[None]
    theirs, _ = apply_rotary_emb(x.transpose(1, 2), x.transpose(1, 2), turns)
    torch.testing.assert_close(rotate(x, tables), theirs.transpose(1, 2), **CLOSE)


# ---- both layouts of one peer


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("layout", "unbind", "repeat"), [("interleaved", -1, True), ("half", -2, False)])
def test_diffusers(x: torch.Tensor, layout: Layout, unbind: int, repeat: bool, dtype: torch.dtype) -> None:
    from diffusers.models.embeddings import apply_rotary_emb, get_1d_rotary_pos_embed

    tables = get_1d_rotary_pos_embed(
        DIM, SEQ, use_real=True, repeat_interleave_real=repeat, freqs_dtype=torch.float64
    )
    x = x.to(dtype)
    theirs: Any = apply_rotary_emb(x, tables, use_real_unbind_dim=unbind)
    ours = apply_rotary(x, SEQ, layout=layout)
    assert ours.dtype == theirs.dtype == dtype
    torch.testing.assert_close(ours, theirs, **(CLOSE if dtype == torch.float32 else {}))


def test_diffusers_ntk_has_another_exponent() -> None:
    """base * s, without dim/(dim - 2): the docstring of NTKScaling says so."""
    from diffusers.models.embeddings import get_1d_rotary_pos_embed

    theirs = get_1d_rotary_pos_embed(DIM, SEQ, ntk_factor=4.0, freqs_dtype=torch.float64)
    grown = rotary_tables(torch.arange(SEQ), DIM, base=40000.0)
    torch.testing.assert_close(grown.cos, theirs.real.float(), **CLOSE)
    ours = rotary_tables(torch.arange(SEQ), DIM, scaling=NTKScaling(4.0))
    assert (ours.cos - theirs.real).abs().max() > 0.1


# ---- half


def hf_tables(tables: RotaryTables, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines as transformers has them: twice side by side, with an axis for the batch."""
    cos, sin = (torch.cat([table, table], -1)[None].to(dtype) for table in (tables.cos, tables.sin))
    return cos, sin


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_llama(x: torch.Tensor, dtype: torch.dtype) -> None:
    from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

    x, tables = x.to(dtype), rotary_tables(torch.arange(SEQ), DIM)
    q, k = apply_rotary_pos_emb(x, x[:, :1], *hf_tables(tables, dtype))
    loose = {"atol": 4e-2, "rtol": 0} if dtype == torch.bfloat16 else CLOSE  # theirs rounds five times
    torch.testing.assert_close(rotate(x, tables, layout="half"), q, **loose)
    torch.testing.assert_close(rotate(x[:, :1], tables, layout="half"), k, **loose)


@pytest.mark.parametrize("family", ["cohere", "glm", "helium", "ernie4_5", "deepseek_v3"])
def test_families_that_interleave(x: torch.Tensor, family: str) -> None:
    """Their scores, for some of them leave the columns in another order."""
    from importlib import import_module

    peer = import_module(f"transformers.models.{family}.modeling_{family}")
    apply = getattr(peer, "apply_rotary_pos_emb_interleave", None) or peer.apply_rotary_pos_emb
    tables = rotary_tables(torch.arange(SEQ), DIM)
    cos, sin = hf_tables(tables, torch.float32)
    if family == "cohere":  # repeats each value, where the others repeat the row
        cos, sin = (table[..., : DIM // 2].repeat_interleave(2, -1) for table in (cos, sin))
    y = x.flip(2)
    q, k = apply(x, y, cos, sin)
    ours = [apply_rotary(v, SEQ) for v in (x, y)]
    torch.testing.assert_close(ours[0] @ ours[1].mT, q @ k.mT, atol=1e-4, rtol=1e-4)


# ---- far away


def test_peers_drift_at_a_distance_and_we_do_not() -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    positions = torch.arange(1_000_000 - 512, 1_000_000)
    config = LlamaConfig(hidden_size=128, num_attention_heads=1)
    theirs, _ = LlamaRotaryEmbedding(config)(torch.zeros(1), positions[None])
    truth = rotary_tables(positions.numpy(), 128).cos
    ours = rotary_tables(positions, 128).cos
    assert np.abs(theirs[0, :, :64].numpy() - truth).max() > 1e-2
    assert np.abs(ours.numpy() - truth).max() <= 1e-7


# ---- several axes


@pytest.mark.parametrize(
    ("family", "prefix", "interleaved"), [("qwen2_vl", "Qwen2VL", False), ("qwen3_vl", "Qwen3VLText", True)]
)
def test_m_rope(family: str, prefix: str, interleaved: bool) -> None:
    from importlib import import_module

    peer = import_module(f"transformers.models.{family}.modeling_{family}")
    sections = (24, 20, 20) if interleaved else (16, 24, 24)
    parameters = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": list(sections)}
    config = SimpleNamespace(
        rope_parameters=parameters, hidden_size=512, num_attention_heads=4, max_position_embeddings=999
    )
    positions = torch.randint(0, 300, (3, 2, SEQ), generator=torch.Generator().manual_seed(1))
    cos, sin = getattr(peer, f"{prefix}RotaryEmbedding")(config)(torch.zeros(1), positions)
    ours = mrope_tables(positions, 128, sections, interleaved=interleaved, base=1e6)
    torch.testing.assert_close(torch.cat([ours.cos] * 2, -1), cos, atol=5e-5, rtol=0)
    torch.testing.assert_close(torch.cat([ours.sin] * 2, -1), sin, atol=5e-5, rtol=0)

    q = torch.randn(2, 3, SEQ, 128)
    theirs, _ = peer.apply_rotary_pos_emb(q, q, cos, sin)
    heads = mrope_tables(positions[:, :, None], 128, sections, interleaved=interleaved, base=1e6)
    torch.testing.assert_close(rotate(q, heads, layout="half"), theirs, atol=3e-4, rtol=0)


def test_the_image_encoder_of_qwen2_vl() -> None:
    from transformers.models.qwen2_vl import modeling_qwen2_vl as peer

    config = SimpleNamespace(
        rope_parameters={"rope_type": "axial", "rope_theta": 10000.0}, embed_dim=320, num_attention_heads=4
    )
    grid = torch.from_numpy(np.indices((5, 7)).reshape(2, -1))
    cos, sin = peer.Qwen2VLVisionRotaryEmbedding(config)(torch.zeros(1), grid.T)  # type: ignore[arg-type]
    ours = axial_tables(grid, 80)
    torch.testing.assert_close(torch.cat([ours.cos] * 2, -1), cos, **CLOSE)
    torch.testing.assert_close(torch.cat([ours.sin] * 2, -1), sin, **CLOSE)


def test_flux() -> None:
    from diffusers.models.embeddings import apply_rotary_emb
    from diffusers.models.transformers.transformer_flux import FluxPosEmbed

    ids = torch.randint(0, 64, (SEQ, 3), generator=torch.Generator().manual_seed(2))
    q = torch.randn(1, 2, SEQ, 128)
    theirs = apply_rotary_emb(q, FluxPosEmbed(10000, [16, 56, 56])(ids))
    ours = rotate(q, axial_tables(ids.T, 128, sections=(8, 28, 28)))
    torch.testing.assert_close(ours, theirs, **CLOSE)


# ---- xPos


def test_xpos(x: torch.Tensor) -> None:
    """Both peers put the center in the middle of the sequence."""
    from rotary_embedding_torch import RotaryEmbedding
    from x_transformers import x_transformers as xt

    of_q, of_k = xpos_tables(torch.arange(SEQ), DIM, center=SEQ // 2)
    ours = rotate(x, of_q), rotate(x, of_k)
    ret = RotaryEmbedding(DIM, use_xpos=True).rotate_queries_and_keys(x, x)
    freqs, scale = xt.RotaryEmbedding(DIM, use_xpos=True)(torch.arange(SEQ))
    others = xt.apply_rotary_pos_emb(x, freqs, scale), xt.apply_rotary_pos_emb(x, freqs, scale**-1)
    for mine, one, other in zip(ours, ret, others, strict=True):
        torch.testing.assert_close(mine, one.detach(), **CLOSE)
        torch.testing.assert_close(mine, other, **CLOSE)


def test_frequencies_of_pixels_are_not_ours() -> None:
    """rotary-embedding-torch also offers frequencies for pixels; they are another series."""
    from rotary_embedding_torch import RotaryEmbedding

    pixels: Any = RotaryEmbedding(DIM, freqs_for="pixel").freqs.detach()
    assert not np.allclose(pixels, frequencies(DIM), rtol=0.5)


def test_timms_mixed_rope_is_what_the_page_of_checkpoints_says() -> None:
    timm = timm_file("pos_embed_sincos")
    theirs = timm.RotaryEmbeddingMixed(32, depth=2, num_heads=2, feat_shape=[3, 5], grid_indexing="xy")
    rows, columns = torch.from_numpy(np.indices((3, 5)).reshape(2, -1, 1))
    for layer, embedded in enumerate(theirs.get_embed().detach()):
        freqs = theirs.freqs.detach()[:, layer, :, None]
        theta = columns * freqs[0] + rows * freqs[1]
        x = torch.randn(2, 15, 16)
        found = rotate(x, RotaryTables(theta.cos(), theta.sin()))
        torch.testing.assert_close(found, timm.apply_rot_embed_cat(x, embedded), rtol=1e-4, atol=1e-5)
