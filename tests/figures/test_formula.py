"""What the pictures of `02-the-formula` draw, against independent values."""

import math
import re

import numpy as np
import pytest

from posenc_course.figures import formula
from posenc_course.figures.picture import Picture

PICTURES = (
    formula.words_and_clocks,
    formula.counter_and_waves,
    formula.wavelengths_by_pair,
    formula.clocks,
    formula.heatmap,
    formula.right_and_wrong,
    formula.scale_sweep,
)


def test_bits_are_the_binary_digits():
    numbers = np.arange(16)
    for number, digits in zip(numbers, formula.bits(numbers), strict=True):
        assert "".join(map(str, digits[::-1])) == format(number, "04b")


@pytest.mark.parametrize(("dim", "longest"), [(2, 6.283185), (4, 628.3185), (16, 19869.18), (512, 60611.48)])
def test_wavelengths_span_two_pi_to_the_published_longest(dim, longest):
    turns = formula.wavelengths(dim)
    assert turns.shape == (dim // 2,)
    assert turns[0] == pytest.approx(2 * math.pi)
    assert turns[-1] == pytest.approx(longest, rel=1e-6)
    assert np.diff(np.log(turns)) == pytest.approx(math.log(10000) * 2 / dim)


def test_clock_angles_are_a_decimal_ladder_at_dim_8():
    assert formula.clock_angles(40, 8) == pytest.approx([40, 4, 0.4, 0.04])


def test_column_number_as_i_gives_the_row_met_on_the_web():
    row = formula.column_number_as_i(np.array([2]), 4)[0]
    assert row == pytest.approx(
        [math.sin(2), math.cos(2 / 100), math.sin(2 / 10000), math.cos(2 / 10000**1.5)], abs=1e-15
    )


def test_read_back_loses_the_quieter_of_the_two():
    words, positions = formula.read_back(np.array([1e-3, 2.0, 1e3]))
    assert words[0] == 1
    assert positions[0] < 0.1
    assert words[1] == positions[1] == 1
    assert words[2] < 0.1
    assert positions[2] == 1


def test_read_back_agrees_with_building_the_sums():
    ratio, dim, words, length, seed = 0.5, 32, 50, 20, 3
    rng = np.random.default_rng(seed)
    embeddings = rng.normal(size=(words, dim))
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    places = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, dim) / math.sqrt(dim / 2)
    said = rng.integers(words, size=length)

    inputs = embeddings[said] + ratio * places
    expected = (
        np.mean([np.argmax(embeddings @ x) == w for x, w in zip(inputs, said, strict=True)]),
        np.mean([np.argmax(places @ x) == p for p, x in enumerate(inputs)]),
    )
    got = formula.read_back(np.array(ratio), dim=dim, words=words, length=length, seed=seed)
    assert got == pytest.approx(expected)


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert isinstance(picture, Picture)
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert len(picture.alt) > 150
    # Nothing is fetched from elsewhere: a raster image is inlined.
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', picture.svg))


def test_the_numbers_in_the_alt_texts_are_those_drawn():
    assert "at 628" in (alt := formula.wavelengths_by_pair().alt)
    assert "19,869" in alt
    assert "60,611" in alt
    for angle in (40, 4, 0.4, 0.04):
        assert f"({math.sin(angle):.2f}, {math.cos(angle):.2f})" in formula.clocks().alt
    end = math.sin(1), math.cos(1)  # position 100 at frequency 1/100
    assert all(f"{value:.2f}" in formula.right_and_wrong().alt for value in end)


def test_each_word_carries_the_numbers_of_its_own_clocks():
    hands = [[position / 2**pair for pair in range(4)] for position in range(3)]
    for word, angles in zip(("dog", "chases", "cat"), hands, strict=True):
        numbers = (f"{f(angle):.1f}" for angle in angles for f in (math.sin, math.cos))
        assert f"{word}: {', '.join(numbers)}" in formula.words_and_clocks().alt
