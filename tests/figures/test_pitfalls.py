"""What the pictures of `05-pitfalls` draw, against independent values."""

from __future__ import annotations

import re

import mpmath
import numpy as np
import pytest
import torch

from posenc_lib.figures import pitfalls
from posenc_lib.figures.picture import Picture

RATIOS = [1 / 64, 1, 64]
SHARES = {"what": [0.125, 0.75, 0.25], "where": [0.0, 1.0, 0.5]}


def scale_and_tasks() -> Picture:
    return pitfalls.scale_and_tasks(RATIOS, SHARES, {"what": [0, 0.5, 1], "where": [0, 0.1, 1]})


PICTURES = (scale_and_tasks, pitfalls.closest_pairs, pitfalls.errors_by_format)


def texts(picture: Picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


@pytest.mark.parametrize(("dim", "length"), [(2, 100), (4, 60), (6, 140), (16, 30)])
def test_the_closest_two_are_those_of_all_pairs(dim, length):
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    rows = np.exp(1j * angles)
    distances = np.sqrt((np.abs(rows[:, None] - rows[None]) ** 2).sum(-1))
    distances[np.diag_indices(length)] = np.inf
    one, other = np.unravel_index(np.argmin(distances), distances.shape)
    offset, distance = pitfalls.closest(dim, length)
    assert distance == pytest.approx(distances.min(), abs=1e-9)
    assert distances[one, other] == pytest.approx(distances[0, offset], abs=1e-9)


def test_seven_hundred_and_ten_is_nearly_113_turns():
    with mpmath.workdps(30):
        chord = float(2 * abs(mpmath.sin(mpmath.mpf(710) / 2)))
    assert pitfalls.closest(2, 1000) == (710, pytest.approx(chord, rel=1e-9))
    assert pitfalls.closest(2, 710)[0] != 710


def test_closest_pairs_writes_every_offset_beside_its_point():
    picture = pitfalls.closest_pairs((2, 8), 1000)
    written = texts(picture)
    for dim in (2, 8):
        offset, distance = pitfalls.closest(dim, 1000)
        assert str(offset) in written
        assert f"dim {dim}: {distance:.2g}, {offset} apart" in picture.alt


def test_bfloat16_is_rounded_as_torch_rounds_it():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [rng.normal(size=1000), 10 ** rng.uniform(-30, 30, 1000), np.arange(1000), [0, -0.0, 256.5, 257, 259]]
    )
    theirs = torch.tensor(numbers, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(pitfalls.to_bfloat16(numbers), theirs)


def exact_row_error(computed_angles, position, dim):
    """The largest error of sines and cosines in float64, against fifty digits."""
    with mpmath.workdps(50):
        exact = [mpmath.mpf(position) / mpmath.power(10000, mpmath.mpf(2 * i) / dim) for i in range(dim // 2)]
        errors = [
            abs(float(wave(mpmath.mpf(float(a)))) - float(wave(e)))
            for a, e in zip(computed_angles, exact, strict=True)
            for wave in (mpmath.sin, mpmath.cos)
        ]
    return max(errors)


@pytest.mark.parametrize("form", pitfalls.FORMS)
@pytest.mark.parametrize("position", [3, 257, 4095, 1_000_000])
def test_errors_agree_with_fifty_digits(form, position):
    angles = pitfalls.angles_in(form, np.array([position]), 16)[0]
    expected = exact_row_error(angles, position, 16)
    assert pitfalls.table_error(form, np.array([position]), 16)[0] == pytest.approx(expected, abs=1e-7)


def test_the_alt_text_of_the_errors_is_true():
    def worst(form, start, end):
        return pitfalls.table_error(form, np.arange(start, end)).max()

    assert worst("bfloat16 positions", 0, 257) < 1e-7
    assert worst("bfloat16 positions", 0, 258) > 0.4
    assert 1e-3 < worst("bfloat16 frequencies", 0, 16) < worst("bfloat16 frequencies", 0, 256)
    assert worst("bfloat16 positions", 2**14 - 64, 2**14) > 1.9
    assert worst("bfloat16 frequencies", 2**14 - 64, 2**14) > 1.9
    assert 0.01 < worst("float32 angles", 2**20 - 64, 2**20) < 0.1
    assert worst("float64 angles", 2**20 - 64, 2**20) < 1e-7


def test_the_alt_text_of_the_tasks_holds_every_share():
    alt = scale_and_tasks().alt
    assert "What is learned, task “what”: 12% at 1/64, 75% at 1, 25% at 64." in alt
    assert "What attention looks at, task “where”: 0% at 1/64, 10% at 1, 100% at 64." in alt
    assert texts(scale_and_tasks()).count("“what”") == 1  # one legend for both panels


def test_lines_differ_by_dash_and_marker_too():
    svg = scale_and_tasks().svg
    shapes = {
        "".join(re.findall("[A-Z]", d.upper())) for d in re.findall(r'<path id="[^"]+" d="([^"]+)"', svg)
    }
    assert any("C" in shape for shape in shapes), "the circles of one line"
    assert "MLLLZ" in shapes, "the squares of the other"
    assert "stroke-dasharray" in svg


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert "#000000" not in picture.svg
