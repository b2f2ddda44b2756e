"""The pictures of chapter 7: what they draw has the properties that the page and the alt texts claim."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch

from posenc_lib.figures import biases
from posenc_lib.figures.biases import Cost


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


def test_the_staircase_is_as_its_alt_text_says():
    offsets, buckets = biases.bucket_steps()
    at = dict(zip(offsets.tolist(), buckets.tolist(), strict=True))
    assert (at[0], at[-160], at[1], at[160]) == (0, 15, 17, 31)
    assert [at[-d] for d in range(8)] == list(range(8))
    lengths = [np.count_nonzero(buckets[offsets <= 0] == bucket) for bucket in range(15)]
    assert lengths[:8] == [1] * 8
    assert lengths[8:] == sorted(lengths[8:])
    first_of_the_last = max(d for d in offsets if at[int(d)] == 15)
    assert -128 < first_of_the_last < 0
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


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: torch.ones(1000, 1000), 4_000_000),
        (lambda: torch.ones(1000) + torch.ones(1000), 12_000),
        (lambda: [torch.ones(1000).sum() for _ in range(5)] and None, 4_000 + 5 * 4),
        (lambda: [torch.ones(1000) for _ in range(5)], 20_000),
        (lambda: torch.ones(10, 100).T.reshape(-1), 8_000),  # a view costs nothing, its copy does
        (lambda: None, 0),
    ],
    ids=["one", "a sum", "one after the other", "all at once", "a copy", "nothing"],
)
def test_peak_bytes_counts_what_lives_at_one_time(call, expected):
    assert biases.peak_bytes(call) == expected


def test_peak_bytes_leaves_out_what_was_there_before():
    x = torch.ones(1000)
    assert biases.peak_bytes(lambda: x[1:]) == 0
    assert biases.peak_bytes(lambda: x.add_(1)) == 0
    assert biases.peak_bytes(lambda: x * 2) == 4_000


COSTS = {"none": Cost(0, 0, 1.0), "learned": Cost(65_536, 2**18, 1.1), "fire": Cost(330, 100 * 2**20, 27.0)}
DOORS = {"none": "none", "learned": "added", "fire": "biased"}


def test_costs_says_every_number_and_names_the_doors_that_are_there():
    picture = biases.costs(COSTS, DOORS)
    assert "learned: 65,536, 0.2 MiB, 1.1" in picture.alt
    assert "fire: 330, 100.0 MiB, 27.0" in picture.alt
    written = texts(picture)
    assert all(written.count(name) == 1 for name in ("fire", "added", "biased"))
    assert "rotated" not in written


def test_the_doors_differ_by_marker_too():
    looks = list(biases._DOOR_LOOKS.values())
    assert len({color for color, _ in looks}) == len({marker for _, marker in looks}) == len(looks)


@pytest.mark.parametrize(
    "draw",
    [
        biases.four_matrices,
        biases.buckets_by_offset,
        biases.shapes_of_penalties,
        lambda: biases.costs(COSTS, DOORS),
    ],
    ids=["matrices", "buckets", "penalties", "costs"],
)
def test_pictures_are_the_same_every_time_and_take_the_text_colour_of_the_page(draw):
    picture = draw()
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert len(picture.alt) > 150
