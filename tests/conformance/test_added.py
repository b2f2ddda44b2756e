"""The first door against libraries that others wrote, and inside small models of theirs.

Peers compute angles in float32, so that they drift with distance: they are compared at positions
where their own error is below the tolerance, or, where they let us, in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib import sinusoidal
from posenc_lib.added import fourier_features, grid_sinusoidal, learned
from posenc_lib.added.sinusoidal import Layout
from posenc_lib.angles import Spacing
from tests.conformance.peers import Peer, modeling, timm_file, transformers, x_transformers

diffusers_embeddings = Peer("diffusers.models.embeddings")
positional_encodings = Peer("positional_encodings.torch_encodings")
modeling_detr = modeling("detr")
modeling_gptj = modeling("gptj")
modeling_m2m_100 = modeling("m2m_100")
modeling_marian = modeling("marian")
modeling_musicgen = modeling("musicgen")
modeling_speecht5 = modeling("speecht5")
modeling_vit_mae = modeling("vit_mae")
modeling_whisper = modeling("whisper")

LENGTH, DIM = 50, 64
NEAR = 2e-5  # float32 angles up to position 50 and their frequencies' rounding


def close(found: np.ndarray, peers: torch.Tensor, atol: float = NEAR) -> None:
    assert found.shape == tuple(peers.shape)
    np.testing.assert_allclose(found, peers.detach().double().numpy(), atol=atol)


# ---- one axis, the paper's spacing


@pytest.mark.parametrize("dim", [2, 6, 64])
def test_interleaved(dim: int) -> None:
    ours = sinusoidal(LENGTH, dim)
    close(ours, positional_encodings.PositionalEncoding1D(dim)(torch.zeros(1, LENGTH, dim))[0])
    close(ours, diffusers_embeddings.SinusoidalPositionalEmbedding(dim, LENGTH).pe[0])
    speech = modeling_speecht5.SpeechT5ScaledPositionalEncoding(0.0, dim, LENGTH)
    close(ours, speech.pe[0])


@pytest.mark.parametrize("dim", [2, 6, 64])
def test_split(dim: int) -> None:
    ours = sinusoidal(LENGTH, dim, layout="split")
    marian = modeling_marian.MarianSinusoidalPositionalEmbedding(LENGTH, dim)
    close(ours, marian.create_weight(), atol=6e-8)
    close(ours, modeling_gptj.create_sinusoidal_positions(LENGTH, dim))
    scaled = x_transformers.ScaledSinusoidalEmbedding(dim)
    close(ours * dim**-0.5, scaled(torch.zeros(1, LENGTH, dim)))
    grid = torch.arange(float(LENGTH), dtype=torch.float64)
    close(ours, diffusers_embeddings.get_1d_sincos_pos_embed_from_grid(dim, grid), atol=1e-12)


def test_split_with_a_base() -> None:
    scaled = x_transformers.ScaledSinusoidalEmbedding(DIM, theta=500)
    close(sinusoidal(LENGTH, DIM, base=500, layout="split") * DIM**-0.5, scaled(torch.zeros(1, LENGTH, DIM)))


def test_cosines_first() -> None:
    grid = torch.arange(float(LENGTH), dtype=torch.float64)
    theirs = diffusers_embeddings.get_1d_sincos_pos_embed_from_grid(DIM, grid, flip_sin_to_cos=True)
    close(sinusoidal(LENGTH, DIM, layout="split-cos-first"), theirs, atol=1e-12)


# ---- one axis, tensor2tensor's spacing


def test_tensor2tensors_spacing() -> None:
    ours = sinusoidal(LENGTH, DIM, layout="split", spacing="tensor2tensor")
    m2m = modeling_m2m_100.M2M100SinusoidalPositionalEmbedding
    close(ours, m2m.get_embedding(LENGTH, DIM))
    close(ours, modeling_whisper.sinusoids(LENGTH, DIM))
    speech = modeling_speecht5.SpeechT5SinusoidalPositionalEmbedding
    close(ours, speech.get_embedding(LENGTH, DIM))


def test_tensor2tensors_spacing_cosines_first() -> None:
    musicgen = modeling_musicgen.MusicgenSinusoidalPositionalEmbedding
    ours = sinusoidal(LENGTH, DIM, layout="split-cos-first", spacing="tensor2tensor")
    close(ours, musicgen.get_embedding(LENGTH, DIM))


def test_the_two_spacings_are_far_apart() -> None:
    """As far as two encodings can be: which is why a checkpoint must be told."""
    paper, other = sinusoidal(4096, 512), sinusoidal(4096, 512, spacing="tensor2tensor")
    assert np.abs(paper - other).max() > 1.99


# ---- odd widths


@pytest.mark.parametrize("dim", [3, 7, 65])
def test_odd_widths(dim: int) -> None:
    marian = modeling_marian.MarianSinusoidalPositionalEmbedding(LENGTH, dim)
    close(sinusoidal(LENGTH, dim, layout="split", odd="truncate"), marian.create_weight(), atol=6e-8)
    theirs = positional_encodings.PositionalEncoding1D(dim)(torch.zeros(1, LENGTH, dim))[0]
    close(sinusoidal(LENGTH, dim + 1)[:, :-1], theirs)


@pytest.mark.parametrize("dim", [5, 65])
def test_odd_widths_padded(dim: int) -> None:
    m2m = modeling_m2m_100.M2M100SinusoidalPositionalEmbedding
    ours = sinusoidal(LENGTH, dim, layout="split", spacing="tensor2tensor", odd="pad")
    close(ours, m2m.get_embedding(LENGTH, dim))
    musicgen = modeling_musicgen.MusicgenSinusoidalPositionalEmbedding
    ours = sinusoidal(LENGTH, dim, layout="split-cos-first", spacing="tensor2tensor", odd="pad")
    close(ours, musicgen.get_embedding(LENGTH, dim))


# ---- time stamps


@pytest.mark.parametrize("cosines_first", [False, True])
@pytest.mark.parametrize(("shift", "spacing"), [(0, "paper"), (1, "tensor2tensor")])
def test_diffusion_time_steps(shift: int, spacing: Spacing, cosines_first: bool) -> None:
    steps = torch.tensor([0.0, 0.25, 1.5, 17.125, 41.0])
    theirs = diffusers_embeddings.get_timestep_embedding(
        steps, DIM, flip_sin_to_cos=cosines_first, downscale_freq_shift=shift, scale=2.0, max_period=5000
    )
    layout: Layout = "split-cos-first" if cosines_first else "split"
    ours = sinusoidal(2.0 * steps, DIM, base=5000, layout=layout, spacing=spacing)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, theirs, atol=NEAR, rtol=0)


@pytest.mark.parametrize("cosines_first", [False, True])
def test_fourier_features_of_noise_levels(cosines_first: bool) -> None:
    layer = diffusers_embeddings.GaussianFourierProjection(
        16, scale=2.0, log=False, flip_sin_to_cos=cosines_first
    )
    levels = torch.tensor([0.01, 0.5, 1.75])
    layout: Layout = "split-cos-first" if cosines_first else "split"
    ours = fourier_features(levels[:, None], layer.weight[:, None], layout=layout)
    torch.testing.assert_close(ours, layer(levels), atol=NEAR, rtol=0)


# ---- grids

SQUARE, WIDE = (6, 6), (4, 7)


@pytest.mark.parametrize("shape", [SQUARE, WIDE])
def test_timm(shape: tuple[int, int]) -> None:
    timm = timm_file("pos_embed_sincos")
    tokens = shape[0] * shape[1]
    theirs = timm.build_sincos2d_pos_embed(list(shape), DIM, temperature=500.0)
    close(
        grid_sinusoidal(shape, DIM, axes="yx", layout="split-across", base=500).reshape(tokens, DIM), theirs
    )
    theirs = timm.build_sincos2d_pos_embed(list(shape), DIM, interleave_sin_cos=True)
    close(grid_sinusoidal(shape, DIM, axes="yx").reshape(tokens, DIM), theirs)
    columns = timm.build_sincos2d_pos_embed(list(shape), DIM, reverse_coord=True, interleave_sin_cos=True)
    by_column = grid_sinusoidal(shape, DIM, axes="xy").transpose(1, 0, 2)
    close(by_column.reshape(tokens, DIM), columns)


@pytest.mark.parametrize(
    ("shape", "base_size", "scale"), [(SQUARE, 6, 1.0), (SQUARE, 16, 2.0), (WIDE, 16, 1.0)]
)
def test_diffusers_pictures(shape: tuple[int, int], base_size: int, scale: float) -> None:
    theirs = diffusers_embeddings.get_2d_sincos_pos_embed(
        DIM, shape, interpolation_scale=scale, base_size=base_size
    )
    coordinates = [np.arange(n) / (n / base_size) / scale for n in shape]
    close(grid_sinusoidal(coordinates, DIM).reshape(-1, DIM), theirs, atol=NEAR)


def test_diffusers_videos() -> None:
    frames, height, width = 3, 4, 6
    theirs = diffusers_embeddings.get_3d_sincos_pos_embed(DIM, (width, height), frames)
    ours = grid_sinusoidal((frames, height, width), (DIM // 4, 3 * DIM // 8, 3 * DIM // 8))
    close(ours.reshape(frames, height * width, DIM), theirs)


def test_vit_mae_as_its_model_uses_it() -> None:
    """x first: the model swaps the halves of its own function, whose order is y first."""
    theirs = modeling_vit_mae.build_2d_sinusoidal_position_embedding(4, 7, DIM)
    close(grid_sinusoidal((4, 7), DIM, axes="yx").reshape(-1, DIM), theirs, atol=6e-8)
    config = transformers.ViTMAEConfig(
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=24,
        patch_size=4,
        decoder_hidden_size=16,
        decoder_num_hidden_layers=1,
        decoder_num_attention_heads=2,
        decoder_intermediate_size=16,
    )
    embeddings = modeling_vit_mae.ViTMAEEmbeddings(config)
    embeddings.initialize_weights()
    table = embeddings.position_embeddings[0]
    ours = np.concatenate([np.zeros((1, 32)), grid_sinusoidal((6, 6), 32).reshape(-1, 32)])
    close(ours, table, atol=6e-8)


@pytest.mark.parametrize("normalize", [False, True])
def test_detr(normalize: bool) -> None:
    theirs = modeling_detr.DetrSinePositionEmbedding(DIM // 2, normalize=normalize)(
        shape=torch.Size([1, 3, *WIDE]), device="cpu", dtype=torch.float64
    )
    coordinates = [np.arange(1.0, n + 1) for n in WIDE]
    if normalize:
        coordinates = [along / (along[-1] + 1e-6) * 2 * math.pi for along in coordinates]
    ours = grid_sinusoidal(coordinates, DIM, axes="yx", layout="interleaved")
    close(ours.transpose(2, 0, 1), theirs[0], atol=1e-12)


def test_positional_encodings_in_two_and_three_dimensions() -> None:
    flat = positional_encodings.PositionalEncoding2D(DIM)(torch.zeros(1, *WIDE, DIM))[0]
    close(grid_sinusoidal(WIDE, DIM, axes="yx", layout="interleaved"), flat)
    deep = positional_encodings.PositionalEncoding3D(12)(torch.zeros(1, 2, 4, 7, 12))[0]
    close(grid_sinusoidal((2, 4, 7), 12, axes="zyx", layout="interleaved"), deep)


# ---- learned tables inside models


class OurTable(torch.nn.Module):
    """Stands where a model has its table of positions, and looks rows up with `learned`."""

    def __init__(self, weight: torch.Tensor, **options: Any) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(weight.detach().clone())
        self.options = options

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        return learned(self.weight, positions, **self.options)


def small(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    if name == "bert":
        config = transformers.BertConfig(
            vocab_size=40,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=12,
        )
        return transformers.BertModel(config).eval()
    config = transformers.GPT2Config(
        vocab_size=40, n_embd=16, n_layer=2, n_head=2, n_positions=12, bos_token_id=0, eos_token_id=0
    )
    return transformers.GPT2Model(config).eval()


@pytest.mark.parametrize("beyond", ["raise", "clamp", "zero", "interpolate"])
@pytest.mark.parametrize(("name", "place"), [("bert", "embeddings.position_embeddings"), ("gpt2", "wpe")])
def test_in_place_of_a_models_own_table(name: str, place: str, beyond: str) -> None:
    tokens = torch.randint(0, 40, (2, 9), generator=torch.Generator().manual_seed(1))
    positions = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 2, 3, 4, 5, 11]])
    model, ours = small(name), small(name)
    ours.set_submodule(place, OurTable(ours.get_parameter(f"{place}.weight"), beyond=beyond))
    for options in ({}, {"position_ids": positions}):
        expected = model(tokens, **options).last_hidden_state
        assert torch.equal(ours(tokens, **options).last_hidden_state, expected)
    ours(tokens).last_hidden_state[..., 0].sum().backward()
    model(tokens).last_hidden_state[..., 0].sum().backward()
    theirs, gradient = model.get_submodule(place).weight.grad, ours.get_submodule(place).weight.grad
    torch.testing.assert_close(gradient, theirs)


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_longer_model_by_interpolation(name: str) -> None:
    """The same as giving the model a table that was stretched by torch beforehand."""
    tokens = torch.randint(0, 40, (1, 24), generator=torch.Generator().manual_seed(1))
    place = {"bert": "embeddings.position_embeddings", "gpt2": "wpe"}[name]
    model, ours = small(name), small(name)
    table = model.get_parameter(f"{place}.weight").detach()
    stretched = torch.nn.functional.interpolate(table.T[None], size=24, mode="linear", align_corners=True)[
        0
    ].T
    model.set_submodule(place, torch.nn.Embedding.from_pretrained(stretched))
    ours.set_submodule(place, OurTable(table, beyond="interpolate", length=24))
    positions = torch.arange(24)[None]
    options = {"position_ids": positions, "token_type_ids": torch.zeros_like(tokens)}
    expected = model(tokens, **options).last_hidden_state
    torch.testing.assert_close(ours(tokens, **options).last_hidden_state, expected)


# ---- how far peers drift


@pytest.mark.parametrize(("position", "least"), [(4_095, 1e-5), (131_000, 1e-3), (1_000_000, 1e-2)])
def test_at_a_distance_peers_in_float32_drift_and_ours_does_not(position: int, least: float) -> None:
    exact = sinusoidal(np.asarray([position]), DIM, layout="split")
    ours = sinusoidal(torch.tensor([position]), DIM, layout="split")
    theirs = x_transformers.ScaledSinusoidalEmbedding(DIM)(
        torch.zeros(1, 1, DIM), pos=torch.tensor([position])
    )
    assert np.abs(ours.double().numpy() - exact).max() < 6e-8
    assert np.abs(theirs.detach().double().numpy() * DIM**0.5 - exact).max() > least
