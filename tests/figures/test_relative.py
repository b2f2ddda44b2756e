"""What the pictures of `03-relative-position` draw, against independent values."""

import math
import re

import mpmath
import numpy as np
import pytest

from posenc_course.figures import relative
from posenc_course.figures.picture import Picture
from posenc_lib import similarity

WORDS = "Two heat maps, for a test of the pictures."
CURVES = {"one": np.linspace(1, 0, 5), "two": np.ones(5)}

PICTURES = {
    "look_back": relative.look_back,
    "same_turn": relative.same_turn,
    "turning_arrow": relative.turning_arrow,
    "walks": relative.walks,
    "kernel_on_a_log_axis": relative.kernel_on_a_log_axis,
    "one_head_at_work": relative.one_head_at_work,
    "two_layers": relative.two_layers,
    "right_by_start": lambda: relative.right_by_start(CURVES, chance=0.25, alt=WORDS),
}


def brute_force_kernel(offset, dim):
    return sum(math.cos(offset / 10000 ** (2 * i / dim)) for i in range(dim // 2))


def texts(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def test_the_walks_end_at_the_dot_product():
    picture = relative.walks((3, 30), dim=8)
    for offset in (3, 30):
        end = brute_force_kernel(offset, 8)
        assert f"offset {offset}: {end:.3f} to the right" in texts(picture)
        assert f"At offset {offset} they end {end:.3f} to the right" in picture.alt


def test_the_straight_line_is_the_limit_of_wide_encodings():
    offsets = np.array([50.0, 100.0, 300.0])
    cosine_integral = np.vectorize(lambda x: float(mpmath.ci(x)))
    near_10000 = (cosine_integral(offsets) - cosine_integral(offsets / 10000)) / math.log(10000)
    assert relative.wide_limit(offsets) == pytest.approx(near_10000, abs=2e-3)
    assert np.diff(relative.wide_limit(np.array([10, 100, 1000]))) == pytest.approx(-0.25)
    wide = np.array([brute_force_kernel(offset, 20_000) for offset in offsets]) / 10_000
    assert wide == pytest.approx(near_10000, abs=1e-3)


def test_the_alt_text_of_the_logarithmic_picture_is_true():
    """Each follows the line first; the wider, the longer. Beyond the base all are near 0."""
    offsets = np.arange(2, 400)
    gaps = {
        dim: np.abs(similarity(offsets, dim) / (dim / 2) - relative.wide_limit(offsets)) > 0.05
        for dim in (64, 512, 4096)
    }
    first = {dim: offsets[20:][gap[20:]].min(initial=400) for dim, gap in gaps.items()}
    assert first[64] < first[512] <= first[4096] == 400
    beyond = similarity(np.arange(20_000, 100_000, 37), 4096) / 2048
    assert np.abs(beyond).max() < 0.1


def test_the_arrow_is_drawn_with_its_powers():
    picture = relative.turning_arrow(0.8 + 0.6j)
    for told in ("0.80 right and 0.60 up", "0.28 right and 0.96 up", "-0.84 right and 0.54 up"):
        assert told in picture.alt


def test_the_least_weight_is_not_told_larger_than_it_is():
    told = re.search(r"gives ([\d.]+) or more", relative.one_head_at_work().alt)
    assert told
    assert 0.98 < float(told[1]) <= np.diagonal(relative.one_back(12, loudness=50), -1).min()


@pytest.mark.parametrize("count", [2, 12])
def test_the_head_looks_one_back_the_more_the_louder(count):
    soft, loud = (relative.one_back(count, loudness=each) for each in (1, 50))
    for weights in (soft, loud):
        assert weights.sum(axis=1) == pytest.approx(1)
        assert (weights[1:].argmax(axis=1) == np.arange(count - 1)).all()
    assert np.diagonal(loud, -1).min() > 0.99
    assert soft.max() < 0.6


def test_the_second_layer_finds_what_came_after_its_word():
    first, second = relative.induction_maps(("s", "a", "b", "c", "a", "b"))
    assert (first[1:].argmax(axis=1) == np.arange(5)).all()
    assert second[4] == pytest.approx([0, 0, 1, 0, 0, 0], abs=1e-6)  # a: b came after it
    assert second[5] == pytest.approx([0, 0, 0, 1, 0, 0], abs=1e-6)  # b: c came after it
    assert second[3] == pytest.approx([0.25] * 4 + [0, 0], abs=1e-6)  # c never stood there before


def test_the_turn_is_the_same_on_every_clock():
    picture = relative.same_turn((0, 4, 11), 3)
    assert "0.75 rad" in picture.alt
    assert {"from 0 to 3", "from 4 to 7", "from 11 to 14"} <= set(texts(picture))


def test_the_words_stand_at_both_places():
    assert {"dog", "chases", "cat", "3", "5", "3,000", "3,002"} <= set(texts(relative.look_back()))


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert isinstance(picture, Picture)
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', picture.svg))
