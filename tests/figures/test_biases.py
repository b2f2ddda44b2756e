"""The pictures of chapter 7: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch

from posenc_course.figures import biases


def texts(picture) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)


def diagonals(values):
    return [np.diag(values, k) for k in range(1 - len(values), len(values))]


def test_only_fire_changes_along_its_diagonals():
    *of_the_offset, fire = biases.matrices(7).values()
    for values in of_the_offset:
        assert all(np.ptp(diagonal) == 0 for diagonal in diagonals(values))
    # In the past, the same offset gives a smaller share further down.
    for back in range(1, 5):
        assert (np.diff(np.diag(fire, -back)[2:]) < 0).all()
    np.testing.assert_allclose(fire[2:, 0], 1)
    assert np.isnan(fire[np.triu_indices(7, 1)]).all()


def test_the_numbers_of_the_matrices_are_those_of_the_formulas():
    shaw, t5, alibi, fire = biases.matrices(7).values()
    for i in range(7):
        for j in range(7):
            assert shaw[i, j] == max(-3, min(3, j - i))
            assert alibi[i, j] == -abs(i - j) / 2
            if j <= i:
                assert fire[i, j] == pytest.approx(math.log(1 + i - j) / math.log(1 + max(2, i)))
    assert set(t5[np.triu_indices(7, 1)]) == {5, 6, 7}
    assert set(t5[np.tril_indices(7, -1)]) == {1, 2, 3}
    assert not np.diag(t5).any()


def test_every_number_of_the_matrices_is_written():
    written = texts(biases.four_matrices(7))
    assert written.count("−3.0") == 2  # ALiBi at the two far corners
    assert "nan" not in written
    # Nothing but whole numbers and decimals, besides titles, labels and ticks.
    assert sum(bool(re.fullmatch(r"−?\d\.\d\d?", text)) for text in written) == 7 * 7 + 7 * 8 // 2


def test_the_matrices_are_seen_whole_on_a_phone():
    """A page leaves them 342 of a phone's 390 pixels; a wider picture scrolls."""
    [least] = re.findall(r"min-width:(\d+)px", biases.four_matrices()._repr_html_())
    assert int(least) <= 342


def test_the_staircase_is_as_its_alt_text_says():
    offsets, buckets = biases.bucket_steps()
    at = dict(zip(offsets.tolist(), buckets.tolist(), strict=True))
    assert (at[0], at[-160], at[1], at[160]) == (0, 15, 17, 31)
    assert [at[-d] for d in range(8)] == list(range(8))
    lengths = [np.count_nonzero(buckets[offsets <= 0] == bucket) for bucket in range(15)]
    assert lengths[:8] == [1] * 8
    assert lengths[8:] == sorted(lengths[8:])
    first_of_the_last = max(d for d in offsets if at[int(d)] == 15)
    assert first_of_the_last == -91
    assert "bucket 15 at the left" in biases.buckets_by_offset().alt


def test_penalties_follow_their_formulas():
    distances = np.arange(201)
    straight, power, logarithmic = biases.penalties(distances)
    np.testing.assert_allclose(straight.values, -distances / 16)
    np.testing.assert_allclose(power.values, -np.sqrt(distances) / 2)
    np.testing.assert_allclose(np.exp(logarithmic.values), 1 / (1 + distances))
    alt = biases.shapes_of_penalties().alt
    for each in (straight, power, logarithmic):
        assert f"{each.name}: {each.values[-1]:.1f}" in alt


def test_the_opening_shows_numbers_added_and_the_weights_that_come_of_them():
    plain, slope, gift = biases.one_query().values()
    np.testing.assert_allclose(plain[1], 1 / 6)
    for bias, weights in (slope, gift):
        np.testing.assert_allclose(weights, torch.tensor(bias).softmax(-1).numpy())
    np.testing.assert_allclose(slope[1][1:] / slope[1][:-1], math.exp(0.5))
    assert gift[1].argmax() == len(biases.WORDS) - 2
    assert f"chases {gift[1].max():.2f}" in biases.one_head().alt


def test_the_shift_keeps_what_has_a_key_and_says_where_it_goes():
    before, after = biases.shift_before_and_after(5)
    for i in range(5):
        for d in range(5):
            assert before[i, 4 - d] == 10 * i + d
            assert (10 * i + d in after[i]) == (d <= i)
        assert after[i, : i + 1].tolist() == [10 * i + i - j for j in range(i + 1)]
    assert "22, 21, " in biases.shift_of_four().alt


def test_what_counts_gives_one_number_a_sentence():
    tokens, stops = biases.counts()
    assert tokens.tolist() == list(range(8, -1, -1))
    assert stops.tolist() == [2, 2, 2, 1, 1, 1, 1, 0, 0]
    assert "2, 2, 2, 1, 1, 1, 1, 0, 0" in biases.what_counts().alt


@pytest.mark.parametrize(
    "draw",
    [
        biases.four_matrices,
        biases.buckets_by_offset,
        biases.shapes_of_penalties,
        biases.one_head,
        biases.shift_of_four,
        biases.what_counts,
    ],
)
def test_pictures_are_the_same_every_time_and_take_the_text_colour_of_the_page(draw):
    picture = draw()
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert len(picture.alt) > 150
