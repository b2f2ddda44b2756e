"""What the pictures of `06-rotary` draw, against independent values; and what it says of transformers."""

import re

import mpmath
import numpy as np
import pytest
import torch

from posenc_course.figures import rotary
from posenc_course.figures.picture import Picture
from posenc_lib.rotated import axial_tables, mrope_tables
from tests.present import present

PICTURES = (
    rotary.moved_together,
    rotary.one_head_at_work,
    rotary.arrows_added_up,
    rotary.layouts,
    rotary.axes_of_pairs,
    rotary.decay,
    rotary.kernels_by_base,
    rotary.precision,
)


def test_the_two_layouts_pair_neighbours_and_halves():
    assert rotary.pair_of_column(8, "interleaved").tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert rotary.pair_of_column(8, "half").tolist() == [0, 1, 2, 3, 0, 1, 2, 3]


def test_owners_of_axial_rope_have_a_series_each():
    axis, waves = rotary.owners(lambda positions: axial_tables(positions, 16), 2)
    assert axis.tolist() == [0] * 4 + [1] * 4
    expected = [2 * np.pi * 10000 ** (2 * i / 8) for i in range(4)]
    assert waves == pytest.approx(expected * 2)


@pytest.mark.parametrize(
    ("interleaved", "expected"), [(False, [0, 0, 1, 1, 1, 2, 2, 2]), (True, [0, 1, 2, 0, 1, 2, 0, 1])]
)
def test_owners_of_mrope_share_one_series(interleaved, expected):
    sections = tuple(expected.count(axis) for axis in range(3))
    axis, waves = rotary.owners(
        lambda positions: mrope_tables(positions, 16, sections, interleaved=interleaved), 3
    )
    assert axis.tolist() == expected
    assert waves == pytest.approx([2 * np.pi * 10000 ** (2 * i / 16) for i in range(8)])


def test_the_bound_is_the_papers_sum_by_sum():
    for offset in (0, 7, 200):
        with mpmath.workdps(30):
            arrows = [mpmath.expj(offset * mpmath.power(10000, mpmath.mpf(-2 * i) / 16)) for i in range(8)]
            sums = [abs(sum(arrows[: j + 1])) for j in range(8)]
            expected = float(sum(sums) / 8)
        assert rotary.bound(np.array([offset]), 16)[0] == pytest.approx(expected)


def test_scores_are_dot_products_of_a_turned_query_and_its_key():
    q, k = np.random.default_rng(0).normal(size=(2, 3, 8))
    offsets = np.array([0, 1, -4, 900])
    arrows = np.exp(1j * offsets[:, None] / 10000 ** (np.arange(0, 8, 2) / 8))
    a, b = (each[:, 0::2] + 1j * each[:, 1::2] for each in (q, k))
    expected = ((a * b.conj())[:, None] * arrows).real.sum(axis=-1) / np.sqrt(8)
    assert rotary.scores(q, k, offsets) == pytest.approx(expected)
    assert rotary.scores(q[0], k[0], offsets) == pytest.approx(expected[0])


def test_the_training_step_follows_the_gradient_of_the_loss():
    """One step from the same start, with torch's own gradient."""
    length, look_back, dim = 32, 5, 8
    start, after = (
        rotary.trained_pair(look_back, dim=dim, length=length, steps=steps, seed=4) for steps in (0, 1)
    )
    q, k = (torch.tensor(each, requires_grad=True) for each in start)
    arrows = torch.polar(
        torch.ones(length, dim // 2, dtype=torch.float64),
        torch.arange(length)[:, None] / 10000 ** (torch.arange(0, dim, 2, dtype=torch.float64) / dim),
    )
    a, b = (torch.view_as_complex(each.reshape(-1, 2)) for each in (q, k))
    scores = (arrows * (a * b.conj())).real.sum(-1) / dim**0.5
    torch.nn.functional.cross_entropy(scores[None], torch.tensor([look_back])).backward()
    for was, now in ((q, after[0]), (k, after[1])):
        assert now == pytest.approx((was - present(was.grad)).detach().numpy())


@pytest.mark.parametrize("look_back", [3, 40, 200])
def test_a_pair_can_be_trained_to_prefer_any_distance(look_back):
    found = rotary.scores(*rotary.trained_pair(look_back), np.arange(256))
    weights = np.exp(found - found.max())
    assert weights.argmax() == look_back
    assert weights[look_back] / weights.sum() > 0.9


def test_the_kernel_first_goes_below_zero_where_the_sum_of_cosines_does():
    for base in (10_000.0, 500_000.0):
        at = rotary.first_negative(base)
        with mpmath.workdps(25):
            sums = [
                sum(mpmath.cos(p * mpmath.power(base, mpmath.mpf(-2 * i) / 128)) for i in range(64))
                for p in (at - 1, at)
            ]
        assert sums[0] >= 0 > sums[1]
    assert rotary.first_negative(10_000.0, farthest=100) == -1


def test_bfloat16_is_torchs_own():
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    values = np.concatenate([values, np.array([0, 1, -1, 256, 257, 258, 259, 1e-20, 1 / 3], np.float32)])
    assert np.array_equal(rotary.to_bfloat16(values), torch.from_numpy(values).bfloat16().float().numpy())


@pytest.mark.parametrize("offset", [1, 64, 1024])
def test_rounded_frequencies_cost_by_offset_and_not_by_position(offset):
    near, far = (rotary.score_error("bfloat16 frequencies", offset, np.array([at])) for at in (4096, 131_072))
    assert near == pytest.approx(far, rel=1e-4)
    assert 1.8e-4 * offset < near < 3e-4 * offset


def test_errors_of_scores_by_position():
    def error(way, at):
        return rotary.score_error(way, 5, at + np.arange(64))

    assert error("bfloat16 positions", 100) < 1e-12
    assert 0.6 < error("bfloat16 positions", 6000) < 0.9
    assert error("float32 angles", 512) < 1e-5
    assert 0.003 < error("float32 angles", 1_000_000) < 0.01
    assert error("float64 angles, cast last", 1_000_000) < 1e-7


def test_the_error_of_a_score_is_that_of_random_vectors():
    q, k = np.random.default_rng(0).normal(size=(2, 4000, 64, 2)) @ np.array([1, 1j])
    rates = 10000 ** (-np.arange(64) / 64)
    narrow = torch.from_numpy(rates).bfloat16().double().numpy()
    off = (q * k.conj() * (np.exp(70j * narrow) - np.exp(70j * rates))).real.sum(axis=1) / 128**0.5
    assert rotary.score_error("bfloat16 frequencies", 70, np.array([900])) == pytest.approx(
        off.std(), rel=0.05
    )


def test_partial_sums_are_added_one_by_one():
    found = rotary.partial_sums(30)
    total = 0
    for pair, size in enumerate(found):
        total += np.exp(30j / 10**pair)
        assert size == pytest.approx(abs(total))


def test_the_head_at_work_looks_back_wherever_the_text_starts():
    for start in (0, 5000):
        weights = rotary.look_back_weights(3, 12, start=start)
        assert (np.diagonal(weights, -3) > 0.9).all()
        assert weights.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert isinstance(picture, Picture)
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert len(picture.alt) > 150
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', picture.svg))


def test_the_numbers_in_the_alt_texts_are_those_drawn():
    assert f"{rotary.first_negative(500_000.0):,}" in rotary.kernels_by_base().alt
    assert "at offset 77" in rotary.decay(look_back=77).alt
    assert "0, 1, 0, 1" in rotary.layouts(4).alt
    assert "1.00, 1.80, 2.71, 3.66 away" in rotary.arrows_added_up((1, 30)).alt


def test_a_cast_model_of_transformers_loses_its_frequencies_and_a_loaded_one_does_not(tmp_path):
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=8,
        hidden_size=128,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        max_position_embeddings=8192,
    )
    LlamaForCausalLM(config).save_pretrained(tmp_path)
    loaded = LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16).model.rotary_emb
    cast = LlamaForCausalLM.from_pretrained(tmp_path).to(torch.bfloat16).model.rotary_emb  # type: ignore[arg-type]
    assert (loaded.inv_freq.dtype, cast.inv_freq.dtype) == (torch.float32, torch.bfloat16)
    positions = torch.arange(4096)[None]
    right, wrong = (rope(torch.zeros(1), positions)[0] for rope in (loaded, cast))
    assert (right - wrong).abs().max() > 1.9
