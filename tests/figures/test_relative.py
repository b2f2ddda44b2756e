"""What the pictures of `03-relative-position` draw, against independent values."""

import math
import re

import mpmath
import numpy as np
import pytest

from posenc_lib.figures import relative
from posenc_lib.figures.picture import Picture

OFFSETS = np.arange(-60, 61)
MAPS = {"one": np.arange(16.0).reshape(4, 4), "two": -np.eye(4)}
NEAR = np.add.outer(np.zeros(6), np.arange(6.0))
WORDS = "Two heat maps, for a test of the pictures."

PICTURES = {
    "same_turn": relative.same_turn,
    "kernel_and_its_parts": relative.kernel_and_its_parts,
    "kernel_on_a_log_axis": relative.kernel_on_a_log_axis,
    "score_maps": lambda: relative.score_maps(MAPS, alt=WORDS),
    "by_offset": lambda: relative.by_offset(NEAR, NEAR, reach=4, far_starts=20),
}


def brute_force_kernel(offset, dim):
    return sum(math.cos(offset / 10000 ** (2 * i / dim)) for i in range(dim // 2))


@pytest.mark.parametrize("dim", [6, 64])
def test_the_parts_of_the_kernel_add_up_to_it(dim):
    parts = relative.parts_of_the_kernel(OFFSETS, dim)
    whole = parts.pop("all pairs")
    assert sum(parts.values()) == pytest.approx(whole)
    assert whole == pytest.approx([brute_force_kernel(offset, dim) for offset in OFFSETS])


def test_the_alt_text_of_the_kernel_is_true():
    parts = relative.parts_of_the_kernel(OFFSETS, 64)
    assert parts["all pairs"].max() == parts["all pairs"][60] == 32
    assert parts["all pairs"] == pytest.approx(parts["all pairs"][::-1])
    assert abs(parts["fast third"][np.abs(OFFSETS) > 8]).max() < 5 < parts["fast third"][60]
    assert (np.diff(parts["middle third"][60:]) < 0).all()
    assert np.ptp(parts["slow third"]) < 0.2


def test_the_straight_line_is_the_limit_of_wide_encodings():
    offsets = np.array([50.0, 100.0, 300.0])
    cosine_integral = np.vectorize(lambda x: float(mpmath.ci(x)))
    near_10000 = (cosine_integral(offsets) - cosine_integral(offsets / 10000)) / math.log(10000)
    assert relative.wide_limit(offsets) == pytest.approx(near_10000, abs=2e-3)
    assert np.diff(relative.wide_limit(np.array([10, 100, 1000]))) == pytest.approx(-0.25)
    wide = np.array([brute_force_kernel(offset, 20_000) for offset in offsets]) / 10_000
    assert wide == pytest.approx(near_10000, abs=1e-3)


def test_the_alt_text_of_the_logarithmic_picture_is_true():
    offsets = np.arange(2, 400)
    gaps = {
        dim: np.abs(relative.similarity(offsets, dim) / (dim / 2) - relative.wide_limit(offsets)) > 0.05
        for dim in (64, 512, 4096)
    }
    first = {dim: offsets[20:][gap[20:]].min(initial=400) for dim, gap in gaps.items()}
    assert first[64] < first[512] <= first[4096] == 400


def test_along_diagonals_gives_mean_and_extremes_at_each_offset():
    offsets, mean, low, high = relative.along_diagonals([[1.0, 5.0], [7.0, 3.0]])
    assert offsets.tolist() == [-1, 0, 1]
    assert mean.tolist() == [7, 2, 5]
    assert low.tolist() == [7, 1, 5]
    assert high.tolist() == [7, 3, 5]


def test_by_offset_says_where_the_peak_is_and_how_wide_the_band():
    distance = np.abs(np.subtract.outer(np.arange(9), np.arange(9)) - 2.0)  # highest where key = query - 2
    picture = relative.by_offset(-distance, -distance + np.arange(9) / 10, reach=5, far_starts=100)
    assert "At positions 0 to 8 the mean has its peak of 0.0 at offset -2, and the band is 0.0" in picture.alt
    assert "At positions 100 to 108 the mean has its peak" in picture.alt
    assert picture.alt.count("offset -2") == 2


def test_score_maps_names_every_map_and_refuses_maps_of_unequal_shape():
    written = re.findall(r"<text[^>]*>([^<]*)</text>", relative.score_maps(MAPS, alt=WORDS).svg)
    assert {"one", "two", "position of the query"} <= set(written)
    assert written.count("position of the key") == 2
    for maps in ({}, {"one": np.eye(3), "two": np.eye(4)}):
        with pytest.raises(ValueError, match="one or more of the same shape"):
            relative.score_maps(maps, alt=WORDS)


def test_the_turn_is_the_same_on_every_clock():
    picture = relative.same_turn((0, 4, 11), 3)
    assert "0.75 rad" in picture.alt
    assert {"from 0 to 3", "from 4 to 7", "from 11 to 14"} <= set(
        re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)
    )


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert isinstance(picture, Picture)
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', picture.svg))
