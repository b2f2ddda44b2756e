"""Each module does what its pure function does, and stays right in every dtype and far out."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import torch
from torch import nn

import posenc_lib
from posenc_lib import added, biased, rotated
from posenc_lib.added.sinusoidal import LAYOUTS
from posenc_lib.catalogue import catalogue
from posenc_lib.nn import (
    ENCODINGS,
    FIRE,
    KERPLE,
    ALiBi,
    AxialRotary,
    CoPE,
    FourierFeatures,
    Grid,
    Hybrid,
    Learned,
    MultimodalRotary,
    NoPE,
    PositionalEncoding,
    Rotary,
    Sandwich,
    Shaw,
    Sinusoidal,
    Sizes,
    T5Bias,
    TransformerXL,
    XPos,
    make_encoding,
)
from posenc_lib.nn.biased import Direction
from tests.present import present

BATCH, HEADS, LENGTH, HEAD_DIM = 2, 4, 6, 8
DIM = HEADS * HEAD_DIM
SIZES = Sizes(dim=DIM, heads=HEADS, length=36)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def vectors(length: int = LENGTH, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(BATCH, HEADS, length, HEAD_DIM, dtype=dtype)


def as_numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def added_by(encoding: PositionalEncoding, positions, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """What the first door adds to zeros."""
    length = positions.shape[-1] if isinstance(positions, torch.Tensor) else len(positions)
    return encoding.add(torch.zeros(BATCH, length, DIM, dtype=dtype), positions)


# What every encoding has in common


@pytest.mark.parametrize("name", ENCODINGS)
def test_only_its_own_doors_are_open(name):
    encoding = make_encoding(name, SIZES)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.add_(0.1)  # CoPE starts at 0
    x, q, k = torch.randn(BATCH, LENGTH, DIM), vectors(), vectors()
    turned = encoding.rotate(q, k, range(2, 2 + LENGTH), range(2, 2 + LENGTH))
    opened = {
        "add": not torch.equal(encoding.add(x, range(2, 2 + LENGTH)), x),
        "rotate": not (torch.equal(turned[0], q) and torch.equal(turned[1], k)),
        "bias": encoding.bias(q, k, range(LENGTH), range(LENGTH)) is not None,
    }
    through = {"added": "add", "rotated": "rotate", "biased": "bias"}
    assert [key for key, is_open in opened.items() if is_open] == [
        through[door] for door in catalogue().named(name).doors
    ]


@pytest.mark.parametrize("name", ENCODINGS)
def test_positions_in_every_form_are_the_same_positions(name):
    encoding = make_encoding(name, SIZES)
    x, q, k = torch.randn(BATCH, LENGTH, DIM), vectors(), vectors()

    def through(positions):
        bias = encoding.bias(q, k, positions, positions)
        if bias is not None and bias.ndim == 3:
            bias = bias[None]
        turned = encoding.rotate(q, k, positions, positions)
        return [
            encoding.add(x, positions),
            *turned,
            *([] if bias is None else [bias.expand(BATCH, -1, -1, -1)]),
        ]

    straight = torch.arange(LENGTH)
    forms = (LENGTH, straight, straight.int(), straight[None], straight.expand(BATCH, -1))
    for positions in forms:
        for got, wanted in zip(through(positions), through(range(LENGTH)), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ENCODINGS)
def test_rows_of_a_batch_may_stand_elsewhere(name):
    encoding = make_encoding(name, SIZES)
    x, q, k = torch.randn(BATCH, LENGTH, DIM), vectors(), vectors()
    rows = torch.tensor([[0, 1, 2, 3, 4, 5], [7, 8, 10, 11, 12, 20]])
    together = [encoding.add(x, rows), *encoding.rotate(q, k, rows, rows), encoding.bias(q, k, rows, rows)]
    for row in range(BATCH):
        one, at = slice(row, row + 1), rows[row]
        alone = [
            encoding.add(x[one], at),
            *encoding.rotate(q[one], k[one], at, at),
            encoding.bias(q[one], k[one], at, at),
        ]
        for got, wanted in zip(together, alone, strict=True):
            if wanted is not None:
                row_of = present(got)[one]
                torch.testing.assert_close(row_of, wanted.reshape(row_of.shape), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("name", ENCODINGS)
def test_moved_to_another_dtype_it_differs_by_rounding_alone(name, dtype):
    wide = make_encoding(name, SIZES).double()
    q, k, x = vectors(dtype=dtype), vectors(dtype=dtype), torch.randn(BATCH, LENGTH, DIM, dtype=dtype)
    at = range(20, 20 + LENGTH)
    with torch.no_grad():
        for parameter in wide.parameters():
            parameter.copy_(parameter.to(dtype))  # so that both have the same numbers
        wanted = [wide.add(x.double(), at), *wide.rotate(q.double(), k.double(), at, at)]
        wanted_bias = wide.bias(q.double(), k.double(), at, at)
        narrow = wide.to(dtype)
        got = [narrow.add(x, at), *narrow.rotate(q, k, at, at)]
        got_bias = narrow.bias(q, k, at, at)
    step = max(torch.finfo(dtype).eps, 1e-6)
    for one, other in zip(got, wanted, strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one.double(), other, rtol=0.6 * step, atol=1e-6)
    if wanted_bias is not None:
        torch.testing.assert_close(present(got_bias).double(), wanted_bias, rtol=6 * step, atol=6 * step)


@pytest.mark.parametrize("name", ENCODINGS)
def test_state_dict_holds_learned_numbers_and_nothing_else(name):
    encoding = make_encoding(name, SIZES)
    q, k = vectors(), vectors()
    encoding.add(torch.zeros(BATCH, LENGTH, DIM), LENGTH)
    encoding.rotate(q, k, LENGTH, LENGTH)
    encoding.bias(q, k, LENGTH, LENGTH)
    assert list(encoding.state_dict()) == [key for key, _ in encoding.named_parameters()]
    assert not list(encoding.buffers())
    assert bool(encoding.state_dict()) == catalogue().named(name).learns
    another = make_encoding(name, SIZES)
    another.load_state_dict(encoding.state_dict())
    for got, wanted in zip(another.parameters(), encoding.parameters(), strict=True):
        assert torch.equal(got, wanted)


@pytest.mark.parametrize("name", ENCODINGS)
def test_repr_says_what_it_is(name):
    assert repr(make_encoding(name, SIZES)).startswith(type(make_encoding(name, SIZES)).__name__)


def test_nope_does_nothing():
    x = torch.randn(BATCH, LENGTH, DIM)
    assert NoPE()(x) is x


# Door 1


@pytest.mark.parametrize("layout", LAYOUTS)
def test_sinusoidal_is_the_pure_function(layout):
    encoding = Sinusoidal(DIM, base=500.0, layout=layout, spacing="tensor2tensor", scale=0.25)
    for positions in (range(LENGTH), torch.tensor([[3, -1], [0, 9]]), torch.tensor([0.25, 1e6])):
        wanted = 0.25 * posenc_lib.sinusoidal(
            np.asarray(positions, dtype=np.float64), DIM, base=500.0, layout=layout, spacing="tensor2tensor"
        )
        got = as_numpy(added_by(encoding, positions))
        np.testing.assert_allclose(got, np.broadcast_to(wanted, got.shape), rtol=0, atol=1e-10)


def test_sinusoidal_takes_odd_widths_where_it_is_told_how():
    x = torch.zeros(1, LENGTH, 7)
    got = Sinusoidal(7, odd="truncate")(x)[0]
    np.testing.assert_allclose(as_numpy(got), posenc_lib.sinusoidal(LENGTH, 7, odd="truncate"), atol=1e-7)


@pytest.mark.parametrize("position", [1, 4095, 131_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_sinusoidal_is_exact_to_the_dtype_at_any_distance(position, dtype):
    encoding = Sinusoidal(DIM).to(dtype)
    got = added_by(encoding, range(position, position + 1), dtype)[0, 0]
    with mpmath.workdps(40):
        angles = [position * mpmath.power(10000, -mpmath.mpf(2 * i) / DIM) for i in range(DIM // 2)]
        numbers = [float(f(angle)) for angle in angles for f in (mpmath.sin, mpmath.cos)]
    wanted = torch.tensor(numbers, dtype=torch.float64)
    tolerance = 1e-7 if dtype == torch.float32 else 0.501 * torch.finfo(dtype).eps
    torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=1e-7)


def test_a_sum_in_16_bits_is_rounded_once():
    x = torch.randn(BATCH, 300, DIM).bfloat16()
    wanted = x.double() + torch.from_numpy(posenc_lib.sinusoidal(300, DIM))
    got = Sinusoidal(DIM).bfloat16()(x).double()
    half_a_step = 0.5 * 2.0 ** (torch.floor(torch.log2(wanted.abs())) - 7)
    assert (
        (got - wanted).abs() <= 1.0001 * half_a_step
    ).all()  # two roundings would miss by up to a whole step


@pytest.mark.parametrize("beyond", ["clamp", "zero"])
def test_learned_looks_rows_up(beyond):
    encoding = Learned(5, DIM, beyond=beyond)
    rows = nn.functional.embedding(torch.arange(8).clamp(max=4), encoding.table)
    rows = rows if beyond == "clamp" else rows * (torch.arange(8) < 5)[:, None]
    assert torch.equal(added_by(encoding, range(8), torch.float32)[0], rows)


def test_learned_stretches_when_it_is_told_to():
    encoding = Learned(5, DIM, beyond="interpolate")
    short = added_by(encoding, range(5), torch.float32)[0]
    assert torch.equal(short, encoding.table)
    encoding.stretch_to = 9
    table = encoding.table.T[None]
    wanted = nn.functional.interpolate(table, size=9, mode="linear", align_corners=True)[0].T
    torch.testing.assert_close(added_by(encoding, range(9), torch.float32)[0], wanted)
    one_by_one = [added_by(encoding, range(p, p + 1), torch.float32)[0, 0] for p in range(9)]
    torch.testing.assert_close(torch.stack(one_by_one), wanted)


def test_learned_starts_with_the_spread_it_is_given():
    assert Learned(1000, 100).table.std().item() == pytest.approx(0.02, rel=0.02)
    assert Learned(1000, 100, std=1.0).table.std().item() == pytest.approx(1.0, rel=0.02)


def test_hybrid_is_sinusoidal_plus_learned():
    encoding = Hybrid(5, DIM)
    wanted = torch.from_numpy(posenc_lib.sinusoidal(8, DIM))
    wanted[:5] += encoding.table.detach()
    torch.testing.assert_close(added_by(encoding, range(8))[0], wanted, rtol=0, atol=2e-7)
    narrow, x = encoding.bfloat16(), torch.zeros(1, 8, DIM)
    exact = torch.from_numpy(posenc_lib.sinusoidal(8, DIM))
    exact[:5] += narrow.table.detach().double()
    torch.testing.assert_close(narrow.add(x, range(8))[0], exact.float(), rtol=0, atol=2e-7)  # exact waves


def test_fourier_features_are_the_pure_function():
    encoding = FourierFeatures(DIM, axes=2, scale=3.0, seed=7)
    points = torch.rand(2, BATCH, LENGTH)
    matrix = added.gaussian_frequencies(DIM // 2, 2, scale=3.0, seed=7)
    wanted = added.fourier_features(points.movedim(0, -1).double().numpy(), matrix)
    np.testing.assert_allclose(as_numpy(added_by(encoding, points)), wanted, rtol=0, atol=1e-12)


def test_fourier_features_of_single_numbers():
    times = torch.tensor([0.0, 0.1, 7.5])
    wanted = added.fourier_features(
        times.double().numpy()[:, None], added.gaussian_frequencies(DIM // 2, 1, scale=0.5, seed=0)
    )
    np.testing.assert_allclose(
        as_numpy(added_by(FourierFeatures(DIM, scale=0.5), times)[0]), wanted, atol=1e-12
    )


def test_learned_directions_of_fourier_features_get_gradients():
    encoding = FourierFeatures(DIM, scale=0.5, learned=True)
    (encoding(torch.zeros(BATCH, LENGTH, DIM)) * torch.randn(DIM)).sum().backward()
    assert list(encoding.state_dict()) == ["directions"]
    assert present(encoding.get_parameter("directions").grad).abs().max() > 0


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4)])
def test_grid_takes_patches_in_reading_order(shape):
    encoding = Grid(shape, 24, base=100.0)
    cells = int(np.prod(shape))
    table = added.grid_sinusoidal(shape, 24, base=100.0).reshape(cells, 24)
    x = torch.zeros(BATCH, cells, 24, dtype=torch.float64)
    np.testing.assert_allclose(as_numpy(encoding(x)[0]), table, atol=1e-15)
    some = torch.tensor([[4, 0, 1], [5, 5, 2]])
    np.testing.assert_allclose(as_numpy(encoding.add(x[:, :3], some)), table[some.numpy()], atol=1e-15)


# Door 2


def turned_by_hand(x: torch.Tensor, angles: torch.Tensor, layout: str) -> torch.Tensor:
    """The rotation as a complex product: x (batch, heads, length, 2 pairs), angles (..., length, pairs)."""
    if layout == "half":
        first, second = x.double().chunk(2, dim=-1)
        turned = torch.complex(first, second) * torch.exp(1j * angles)
        return torch.cat([turned.real, turned.imag], dim=-1)
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2))) * torch.exp(1j * angles)
    return torch.view_as_real(turned).flatten(-2)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str)
def test_rotary_is_a_complex_product(layout, dtype):
    encoding = Rotary(HEAD_DIM, base=500.0, layout=layout).to(dtype)
    q, k = (
        vectors(dtype=dtype),
        torch.randn(BATCH, 1, 2, HEAD_DIM, dtype=dtype),
    )  # fewer heads, other positions
    rates = torch.from_numpy(500.0 ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM))
    q_at, k_at = range(1_000_000, 1_000_000 + LENGTH), torch.tensor([[3, -7], [0, 1_000_003]])
    got_q, got_k = encoding.rotate(q, k, q_at, k_at)
    wanted_q = turned_by_hand(q, torch.tensor(list(q_at))[:, None].double() * rates, layout)
    wanted_k = turned_by_hand(k, k_at[:, None, :, None].double() * rates, layout)
    tolerance = {torch.float64: 1e-9, torch.float32: 5e-7, torch.bfloat16: 0.501 * 2**-7}[dtype]
    for got, wanted in ((got_q, wanted_q), (got_k, wanted_k)):
        assert got.dtype == dtype
        torch.testing.assert_close(got.double(), wanted, rtol=tolerance, atol=min(tolerance, 1e-6))


SCALINGS = [
    rotated.LinearScaling(4.0),
    rotated.NTKScaling(4.0),
    rotated.DynamicNTKScaling(4.0, 64, 256),
    rotated.YaRNScaling(4.0, 64),
    rotated.Llama3Scaling(4.0, 64),
    rotated.LongRoPEScaling((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), 64, 256, factor=4.0),
    {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 64,
        "partial_rotary_factor": 0.75,
    },
    None,
]


@pytest.mark.parametrize("scaling", SCALINGS, ids=lambda s: type(s).__name__)
def test_rotary_takes_every_scaling(scaling):
    q, k = vectors(), vectors()
    encoding = Rotary(HEAD_DIM, scaling=scaling, rotary_dim=None if isinstance(scaling, dict) else 6)
    got, _ = encoding.rotate(q, k, LENGTH, LENGTH)
    wanted = rotated.apply_rotary(q.double().numpy(), LENGTH, rotary_dim=6, scaling=scaling)
    np.testing.assert_allclose(as_numpy(got), wanted, rtol=0, atol=1e-6)
    assert torch.equal(got[..., 6:], q[..., 6:])


def test_rotary_from_a_config_rotates_as_the_model_does():
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = LlamaConfig(hidden_size=DIM, num_attention_heads=HEADS, rope_theta=500.0)  # type: ignore[call-arg]
    q, k, at = vectors(), vectors(), torch.arange(LENGTH)[None]
    wanted = apply_rotary_pos_emb(q, k, *LlamaRotaryEmbedding(config)(q, at))
    got = Rotary.from_config(config).rotate(q, k, LENGTH, LENGTH)
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_rotary_refuses_the_config_of_a_multimodal_model():
    config = {
        "model_type": "qwen2_vl",
        "hidden_size": DIM,
        "num_attention_heads": HEADS,
        "rope_scaling": {"rope_type": "default", "mrope_section": [2, 1, 1]},
    }
    with pytest.raises(ValueError, match="MultimodalRotary"):
        Rotary.from_config(config)


@pytest.mark.parametrize("interleaved", [False, True])
def test_multimodal_rotary_from_a_config_rotates_as_its_settings_do(interleaved):
    config = {
        "model_type": "qwen3_vl_text" if interleaved else "qwen2_vl_text",
        "hidden_size": DIM,
        "num_attention_heads": HEADS,
        "head_dim": HEAD_DIM,
        "rope_theta": 500.0,
        "rope_scaling": {"rope_type": "default", "mrope_section": [2, 1, 1]},
    }
    settings, q, grid = rotated.rope_from_config(config), vectors(), torch.randint(9, (3, BATCH, LENGTH))
    encoding = MultimodalRotary.from_config(config)
    wanted = settings.rotate(q, settings.section_tables(grid[:, :, None]))
    torch.testing.assert_close(encoding.rotate(q, q, grid, grid)[0], wanted)
    with pytest.raises(ValueError, match="no M-RoPE; give them to Rotary"):
        MultimodalRotary.from_settings(rotated.RopeSettings(HEAD_DIM, HEAD_DIM, 500.0, None, "half"))
    with pytest.raises(ValueError, match="time last"):
        MultimodalRotary.from_settings(
            rotated.RopeSettings(HEAD_DIM, HEAD_DIM, 500.0, None, "half", (1, 1, 2), time_last=True)
        )


def test_multimodal_rotary_of_text_is_rotary_and_of_images_the_pure_function():
    encoding = MultimodalRotary(HEAD_DIM, (2, 1, 1), base=500.0)
    q, k = vectors(), vectors()
    plain = Rotary(HEAD_DIM, base=500.0, layout="half").rotate(q, k, LENGTH, LENGTH)
    text = torch.arange(LENGTH).expand(3, 1, LENGTH)
    for positions in (LENGTH, text):
        for got, wanted in zip(encoding.rotate(q, k, positions, positions), plain, strict=True):
            torch.testing.assert_close(got, wanted)
    grid = torch.randint(9, (3, BATCH, LENGTH))
    tables = rotated.mrope_tables(grid[:, :, None].numpy(), HEAD_DIM, (2, 1, 1), base=500.0)
    by_grid = rotated.rotate(q.double().numpy(), tables, layout="half")
    np.testing.assert_allclose(as_numpy(encoding.rotate(q, k, grid, grid)[0]), by_grid, rtol=0, atol=1e-6)


def test_axial_rotary_by_cell_by_coordinates_and_by_the_pure_function():
    encoding = AxialRotary(HEAD_DIM, (2, 3))
    q, k = vectors(), vectors()
    coordinates = np.indices((2, 3)).reshape(2, -1)
    tables = rotated.axial_tables(coordinates, HEAD_DIM)
    wanted = rotated.rotate(q.double().numpy(), tables)
    by_point = torch.from_numpy(coordinates)[:, None]
    for positions in (LENGTH, torch.arange(LENGTH).expand(BATCH, -1), by_point):
        got = encoding.rotate(q, k, positions, positions)[0]
        np.testing.assert_allclose(as_numpy(got), wanted, rtol=0, atol=1e-6)
    free = AxialRotary(HEAD_DIM)
    moved = by_point.expand(-1, BATCH, -1) + torch.tensor([10, -4])[:, None, None]
    scores = [a @ b.mT for a, b in (free.rotate(q, k, by_point, by_point), free.rotate(q, k, moved, moved))]
    torch.testing.assert_close(*scores, rtol=1e-4, atol=1e-5)


def test_axial_rotary_of_single_precision_far_cells():
    encoding = AxialRotary(HEAD_DIM)
    q, k = vectors(1), vectors(1)
    far = torch.tensor([1_000_000, 999_999])[:, None, None]
    rates = torch.from_numpy(10000.0 ** (-np.arange(0, 4, 2) / 4))
    angles = torch.cat([1_000_000 * rates, 999_999 * rates])
    torch.testing.assert_close(
        encoding.rotate(q, k, far, far)[0].double(),
        turned_by_hand(q, angles, "interleaved"),
        rtol=0,
        atol=1e-6,
    )


def test_xpos_scores_shrink_with_distance_and_do_not_depend_on_the_center():
    q, k = vectors(), vectors()
    for_q, for_k = rotated.xpos_tables(np.arange(LENGTH), HEAD_DIM, scale_base=64.0)
    wanted = rotated.rotate(q.double().numpy(), for_q) @ np.swapaxes(
        rotated.rotate(k.double().numpy(), for_k), -1, -2
    )
    for center in (0.0, 3.0):
        one, other = XPos(HEAD_DIM, scale_base=64.0, center=center).rotate(q, k, LENGTH, LENGTH)
        np.testing.assert_allclose(as_numpy(one @ other.mT), wanted, rtol=0, atol=1e-5)
    queries, keys = XPos(HEAD_DIM).rotate(q[:, :, :1], k, range(5, 6), range(LENGTH))
    together = XPos(HEAD_DIM).rotate(q[:, :, :1].expand_as(k), k, range(LENGTH), range(LENGTH))
    torch.testing.assert_close(queries @ keys.mT, together[0][:, :, 5:6] @ together[1].mT)


# Door 3


@pytest.mark.parametrize(
    ("queries", "keys"),
    [
        (range(LENGTH), range(LENGTH)),
        (range(4, 6), range(6)),
        (range(100, 103), range(90, 99)),
        (range(1), range(5)),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: ALiBi(HEADS),
        lambda: ALiBi(HEADS, direction="symmetric"),
        lambda: ALiBi(HEADS, direction="asymmetric", slopes_after=[1.0, 0.5, 0.3, 0.1]),
        lambda: ALiBi(HEADS, slopes=[0.4, 0.3, 0.2, 0.1], learned=True),
        lambda: T5Bias(HEADS, buckets=8, max_distance=16),
        lambda: T5Bias(HEADS, buckets=8, max_distance=16, bidirectional=False),
        lambda: KERPLE(HEADS),
        lambda: KERPLE(HEADS, kind="power"),
        lambda: Sandwich(HEADS, dim=16, base=100.0),
    ],
)
def test_a_bias_of_the_offset_is_the_same_laid_out_or_pair_by_pair(make, queries, keys):
    encoding = make()
    q, k = vectors(len(queries)), vectors(len(keys))
    laid_out = encoding.bias(q, k, queries, keys)
    pair_by_pair = encoding.bias(q, k, torch.tensor(list(queries)), torch.tensor(list(keys)))
    torch.testing.assert_close(laid_out, pair_by_pair, rtol=1e-6, atol=1e-6)
    assert laid_out.shape == (HEADS, len(queries), len(keys))


def test_alibi_is_the_pure_function():
    q = k = vectors()
    straight = np.arange(LENGTH)
    ways: tuple[tuple[Direction, bool], ...] = (("causal", True), ("symmetric", False))
    for direction, causal in ways:
        wanted = biased.alibi_bias(HEADS, straight, straight, causal=causal)
        np.testing.assert_allclose(
            as_numpy(ALiBi(HEADS, direction=direction).bias(q, k, LENGTH, LENGTH)), wanted
        )
    after = np.asarray([0.1, 0.2, 0.3, 0.4])
    got = ALiBi(HEADS, direction="asymmetric", slopes_after=after).bias(q, k, LENGTH, LENGTH)
    wanted = biased.alibi_bias(HEADS, straight, straight, causal=False, slopes_after=after)
    np.testing.assert_allclose(as_numpy(got), wanted, rtol=1e-7)


def test_alibi_keeps_neighbours_apart_in_bfloat16_far_from_the_query():
    encoding = ALiBi(HEADS).bfloat16()
    q, k = vectors(1, torch.bfloat16), vectors(4096, torch.bfloat16)
    bias = encoding.bias(q, k, range(4095, 4096), range(4096))
    assert bias.dtype == torch.float32
    assert (bias[:, 0].diff() > 0).all()  # rounded to bfloat16 it has 65 steps in the last 1,024 keys


def test_alibi_learns_its_slopes_from_the_published_ones():
    encoding = ALiBi(HEADS, direction="asymmetric", learned=True)
    q = k = vectors()
    np.testing.assert_allclose(
        as_numpy(encoding.get_parameter("slopes")), posenc_lib.biased.alibi_slopes(HEADS)
    )
    (encoding.bias(q, k, LENGTH, LENGTH) * torch.randn(LENGTH, LENGTH)).sum().backward()
    assert all(present(parameter.grad).abs().min() > 0 for parameter in encoding.parameters())
    assert not list(ALiBi(HEADS).parameters())


def test_t5_is_that_of_transformers():
    from transformers import T5Config
    from transformers.models.t5.modeling_t5 import T5Attention

    config = T5Config(d_model=DIM, d_kv=HEAD_DIM, num_heads=HEADS)
    for is_decoder in (False, True):
        config.is_decoder = is_decoder
        theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        ours = T5Bias(HEADS, bidirectional=not is_decoder)
        with torch.no_grad():
            ours.table.copy_(theirs.relative_attention_bias.weight)
        q = k = vectors(300)
        with torch.no_grad():
            assert torch.equal(ours.bias(q, k, 300, 300)[None], theirs.compute_bias(300, 300))


@pytest.mark.parametrize("kind", ["log", "power"])
def test_kerple_is_the_pure_function_of_positive_numbers(kind):
    encoding = KERPLE(HEADS, kind=kind)
    r1, r2 = as_numpy(encoding.r1), as_numpy(encoding.r2)
    assert (r1 > 0).all()
    assert (r2 > 0).all()
    assert (r2 < (1 if kind == "log" else 2)).all()
    wanted = biased.kerple_bias(r1, r2, LENGTH, LENGTH, kind=kind)
    np.testing.assert_allclose(
        as_numpy(encoding.bias(vectors(), vectors(), LENGTH, LENGTH)), wanted, atol=1e-6
    )
    with torch.no_grad():
        encoding.raw_r1.fill_(-20.0)
        encoding.raw_r2.fill_(30.0)
    assert (encoding.r1 > 0).all()
    assert torch.isfinite(encoding.bias(vectors(), vectors(), LENGTH, LENGTH)).all()


def test_kerple_starts_spread_over_the_authors_range():
    encoding = KERPLE(4000)
    assert encoding.r1.mean().item() == pytest.approx(1.0, abs=0.05)
    assert encoding.r2.mean().item() == pytest.approx(0.5, abs=0.03)
    power = KERPLE(4000, kind="power")
    assert power.r1.mean().item() == pytest.approx(0.5, abs=0.03)
    assert power.r2.mean().item() == pytest.approx(1.0, abs=0.05)


def test_fire_is_its_network_on_the_distances():
    encoding = FIRE(HEADS, threshold=4.0)
    q = k = vectors(20)
    i, j = torch.arange(20.0)[:, None], torch.arange(20.0)
    ratio = torch.log1p(0.1 * (i - j).abs()) / torch.log1p(0.1 * i.clamp(min=4.0))
    network = nn.Sequential(encoding.first, nn.ReLU(), encoding.second)
    wanted = network(ratio[..., None]).permute(2, 0, 1)
    torch.testing.assert_close(encoding.bias(q, k, 20, 20), wanted, rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        encoding.c.neg_()
        encoding.stretch.neg_()  # used by their absolute value
    torch.testing.assert_close(encoding.bias(q, k, 20, 20), wanted, rtol=1e-5, atol=1e-6)


def test_sandwich_is_the_pure_function():
    wanted = biased.sandwich_bias(HEADS, LENGTH, LENGTH, dim=16)
    np.testing.assert_allclose(
        as_numpy(Sandwich(HEADS, dim=16).bias(vectors(), vectors(), LENGTH, LENGTH)), wanted
    )


@pytest.mark.parametrize("heads", [None, HEADS])
def test_shaw_is_written_out_pair_by_pair(heads):
    encoding = Shaw(HEAD_DIM, distance=2, heads=heads)
    q, k = vectors(), vectors()
    got = encoding.bias(q, k, LENGTH, LENGTH)
    for i in range(LENGTH):
        for j in range(LENGTH):
            row = encoding.table[..., min(max(j - i, -2), 2) + 2, :]
            torch.testing.assert_close(got[..., i, j], (q[:, :, i] * row).sum(-1) / HEAD_DIM**0.5)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", [range(LENGTH), torch.arange(LENGTH)], ids=["run", "tensor"])
def test_transformer_xl_is_the_papers_four_terms(causal, positions):
    encoding = TransformerXL(DIM, HEADS, causal=causal)
    nn.init.normal_(encoding.u)
    nn.init.normal_(encoding.v)
    q, k = vectors(), vectors()
    got = encoding.bias(q, k, positions, positions)
    weight = encoding.to_key.weight
    for i in range(LENGTH):
        for j in range(i + 1 if causal else LENGTH):
            distance = torch.from_numpy(posenc_lib.sinusoidal(np.asarray(i - j), DIM)).float()
            r = (weight @ distance).view(HEADS, HEAD_DIM)
            b, c, d = (q[:, :, i] * r).sum(-1), (encoding.u * k[:, :, j]).sum(-1), (encoding.v * r).sum(-1)
            torch.testing.assert_close(got[..., i, j], (b + c + d) / HEAD_DIM**0.5, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kv_heads", [HEADS, 1])
def test_transformer_xl_decodes_what_it_reads_at_once(causal, kv_heads):
    encoding = TransformerXL(DIM, HEADS, causal=causal)
    q, k = torch.randn(2, HEADS, 7, DIM // HEADS), torch.randn(2, kv_heads, 7, DIM // HEADS)
    at_once = encoding.bias(q, k, 7, 7)
    for i in range(1, 8):
        step = encoding.bias(q[:, :, i - 1 : i], k[:, :, :i], range(i - 1, i), i)
        torch.testing.assert_close(step, at_once[:, :, i - 1 : i, :i], rtol=1e-5, atol=1e-6)
    step.sum().backward()
    assert all(parameter.grad is not None for parameter in encoding.parameters())


def test_transformer_xl_takes_positions_with_gaps():
    encoding = TransformerXL(DIM, HEADS)
    q, k = vectors(), vectors()
    with_gaps = torch.tensor([0, 1, 5, 6, 7, 40])
    whole = encoding.bias(
        torch.zeros(BATCH, HEADS, 41, HEAD_DIM).index_copy(2, with_gaps, q),
        torch.zeros(BATCH, HEADS, 41, HEAD_DIM).index_copy(2, with_gaps, k),
        41,
        41,
    )
    wanted = whole[:, :, with_gaps][..., with_gaps].tril()
    torch.testing.assert_close(encoding.bias(q, k, with_gaps, with_gaps).tril(), wanted, rtol=1e-4, atol=1e-6)


def test_transformer_xl_takes_queries_that_do_not_end_with_the_keys():
    encoding = TransformerXL(DIM, HEADS, causal=False)
    q, k = vectors(), vectors()
    whole = encoding.bias(q, k, LENGTH, LENGTH)
    got = encoding.bias(q[:, :, 1:3], k, range(1, 3), range(LENGTH))
    torch.testing.assert_close(got, whole[:, :, 1:3], rtol=1e-4, atol=1e-6)


def test_cope_counts_no_padding():
    encoding = CoPE(HEAD_DIM, rows=7)
    nn.init.normal_(encoding.table)
    q, k = vectors(), vectors()
    got = encoding.bias(q, k, LENGTH, LENGTH)
    np.testing.assert_allclose(
        as_numpy(got),
        biased.cope_bias(q.double().numpy(), k.double().numpy(), as_numpy(encoding.table)),
        atol=1e-5,
    )
    with_hole = torch.cat([k[:, :, :3], torch.randn(BATCH, HEADS, 2, HEAD_DIM), k[:, :, 3:]], dim=2)
    mask = torch.ones(LENGTH, LENGTH + 2, dtype=torch.bool)
    mask[:, 3:5] = False
    holed = encoding.bias(q[:, :, 3:], with_hole, range(3), range(8), mask[3:])
    torch.testing.assert_close(holed[..., [0, 1, 2, 5, 6, 7]].tril(3), got[:, :, 3:].tril(3))


def test_each_layer_has_its_own_only_where_the_source_says_so():
    own = {name for name in ENCODINGS if make_encoding(name, SIZES).per_layer}
    assert own == {
        "shaw",
        "transformer-xl",
        "fire",
        "cope",
        "data-dependent-alibi",
        "fox",
        "path",
        "ssmax",
        "deberta",
        "swin",
        "swin-v2",
        "mixed",
        "enformer",
    }


@pytest.mark.parametrize("causal", [True, False])
def test_by_name_they_fit_the_model(causal):
    sizes = Sizes(dim=DIM, heads=HEADS, causal=causal, length=64)
    assert make_encoding("alibi", sizes).direction == ("causal" if causal else "symmetric")
    assert make_encoding("t5", sizes).bidirectional is not causal
    assert make_encoding("transformer-xl", sizes).causal is causal
    assert make_encoding("learned", sizes).table.shape == (64, DIM)
    assert make_encoding("learned", sizes).get_parameter("table").std().item() == pytest.approx(1.0, abs=0.1)
    if causal:
        assert make_encoding("cope", sizes).table.shape == (65, HEAD_DIM)  # it counts 0 to 64 keys
        dual = make_encoding("dual-chunk", sizes)
        assert dual.chunk == 40  # and 8: of 48, which is 3/4
        assert dual.window == 8
    assert make_encoding("tree", Sizes(dim=DIM, heads=HEADS, length=7)).features == 2 * 2  # two steps up
    assert make_encoding("grid", sizes).shape == make_encoding("axial", sizes).shape == (8, 8)
    assert make_encoding("mrope", Sizes(dim=128, heads=1)).sections == (16, 24, 24)  # Qwen2-VL's
    assert make_encoding("fire", sizes).start == (0.1, 16.0)
    assert make_encoding("fire", Sizes(dim=DIM, heads=HEADS)).start == (0.1, 512.0)


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_is_for_causal_attention_alone_says_so(name):
    sizes = Sizes(dim=DIM, heads=HEADS, causal=False, length=36)
    if catalogue().named(name).causal_only:
        with pytest.raises(ValueError, match="give causal=True"):
            make_encoding(name, sizes)
    else:
        make_encoding(name, sizes)


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_has_a_last_position_refuses_the_next(name):
    encoding, x, q = make_encoding(name, SIZES), torch.zeros(BATCH, 1, DIM), vectors(1)

    def all_doors(at):
        return encoding.add(x, at), encoding.rotate(q, q, at, at), encoding.bias(q, q, at, at)

    all_doors(range(present(SIZES.length) - 1, present(SIZES.length)))
    if catalogue().named(name).ends:
        with pytest.raises(ValueError, match=f"position {SIZES.length} is"):
            all_doors(range(present(SIZES.length), SIZES.length + 1))  # type: ignore[operator]
    else:
        all_doors(range(10_000, 10_001))


@pytest.mark.parametrize("name", ["alibi", "t5", "kerple", "fire", "sandwich", "swin", "swin-v2"])
def test_a_bias_of_positions_is_float32_in_a_model_of_16_bits(name: str) -> None:
    encoding = make_encoding(name, Sizes(16, 2, causal=False, length=16)).bfloat16()
    q = torch.randn(1, 2, 5, 8)

    def dtype_of_the_bias(vectors: torch.Tensor) -> torch.dtype:
        bias = encoding.bias(vectors, vectors, 5, 5)
        assert bias is not None
        return bias.dtype

    assert dtype_of_the_bias(q.bfloat16()) == dtype_of_the_bias(q) == torch.float32
    encoding.double()
    assert dtype_of_the_bias(q.double()) == torch.float64


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_rounds_no_bias(name: str, dtype: torch.dtype) -> None:
    encoding = make_encoding(name, Sizes(16, 2, length=16))
    q = torch.randn(1, 2, 5, 8).to(dtype)
    plain = encoding.bias(q, q, 5, 5)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        cast = encoding.bias(q, q, 5, 5)
    torch.testing.assert_close(cast, plain, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_rounds_no_bias_of_fire(dtype: torch.dtype) -> None:
    weights = torch.randn(4, 1), torch.randn(4), torch.randn(2, 4), torch.randn(2)
    with torch.autocast("cpu", dtype=dtype):
        cast = biased.fire_bias(weights, 5, 5, c=1.0, threshold=2.0)
    assert torch.equal(cast, biased.fire_bias(weights, 5, 5, c=1.0, threshold=2.0))


@pytest.mark.parametrize(
    "made",
    [
        lambda: FourierFeatures(16, scale=1.0, learned=True),
        lambda: ALiBi(2, learned=True),
        lambda: ALiBi(2, direction="asymmetric", learned=True),
    ],
)
def test_learned_numbers_on_meta_and_back(made) -> None:
    with torch.device("meta"):
        encoding = made()
        assert all(each.is_meta for each in encoding.parameters())
        x, q = torch.ones(1, 5, 16), torch.ones(1, 2, 5, 8)
        assert encoding.add(x, 5).is_meta
        assert encoding.bias(q, q, 5, 5) is None or encoding.bias(q, q, 5, 5).is_meta
    encoding.to_empty(device="cpu").reset_parameters()
    for ours, plain in zip(encoding.parameters(), made().parameters(), strict=True):
        assert torch.equal(ours, plain)


def test_slopes_that_were_given_stay_as_they_were():
    given = np.array([0.5, 0.25])
    encoding = ALiBi(2, slopes=given)
    given *= 10
    assert list(encoding.slopes) == [0.5, 0.25]


def test_an_empty_range_is_no_position():
    q, _k = Rotary(8).rotate(torch.ones(1, 1, 0, 8), torch.ones(1, 1, 2, 8), range(5, 3), 2)
    assert q.shape == (1, 1, 0, 8)


def test_learned_slopes_go_back_to_where_each_side_started():
    encoding = ALiBi(2, direction="asymmetric", slopes=[0.5, 0.25], slopes_after=[0.125, 1.0], learned=True)
    with torch.no_grad():
        for parameter in encoding.parameters():
            parameter.zero_()
    encoding.reset_parameters()
    assert encoding.get_parameter("slopes").tolist() == [0.5, 0.25]
    assert encoding.get_parameter("slopes_after").tolist() == [0.125, 1.0]


def test_kerple_in_16_bits_rounds_nothing_but_what_it_keeps():
    encoding = KERPLE(HEADS).bfloat16()
    assert torch.equal(encoding.r1, encoding.raw_r1.float().exp())


def test_one_query_of_transformer_xl_goes_through_whatever_stands_for_its_projection():
    class Doubled(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(x)

    encoding, q = TransformerXL(DIM, HEADS), vectors(LENGTH).float()
    encoding.to_key = Doubled(DIM, DIM, bias=False)
    at = range(LENGTH - 1, LENGTH)
    whole, last = encoding.bias(q, q, LENGTH, LENGTH), encoding.bias(q[:, :, -1:], q, at, LENGTH)
    torch.testing.assert_close(last, whole[:, :, -1:])


def test_positions_may_skip_in_even_steps():
    rope, q = Rotary(HEAD_DIM), vectors(LENGTH).float()
    steps = range(0, 2 * LENGTH, 2)
    wanted = rope.rotate(q, q, torch.tensor(steps), torch.tensor(steps))[0]
    assert torch.equal(rope.rotate(q, q, steps, steps)[0], wanted)
