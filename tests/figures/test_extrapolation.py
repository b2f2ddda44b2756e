"""What the pictures of `04-extrapolation` draw, against independent values."""

import math
import re

import numpy as np
import pytest

from posenc_course.figures import extrapolation
from posenc_course.figures.picture import Picture

PICTURES = (extrapolation.past_the_end, extrapolation.new_angles, extrapolation.early_tokens)


@pytest.mark.parametrize(("dim", "length"), [(2, 8), (64, 64), (64, 256), (16, 1000)])
def test_turns_by_walking_along_the_positions(dim, length):
    """Adds up the steps from each position to the next, each below half a turn."""
    for pair, turns in enumerate(extrapolation.turned(dim, length)):
        angle = np.arange(length) / 10000 ** (2 * pair / dim)
        steps = np.angle(np.exp(1j * np.diff(angle)))
        assert turns == pytest.approx(steps.sum() / (2 * math.pi))


def test_23_of_32_clocks_do_not_complete_a_turn_in_64_positions():
    wavelengths = [2 * math.pi * 10000 ** (2 * pair / 64) for pair in range(32)]
    assert sum(wavelength > 63 for wavelength in wavelengths) == 23
    assert (extrapolation.turned(64, 64) < 1).sum() == 23


def test_the_imagined_model_is_deaf_to_what_came_before_its_window():
    loss = extrapolation.loss_with_context(np.arange(200), reach=32)
    assert loss[0] == 3.5
    assert (np.diff(loss[:32]) < 0).all()
    assert (loss[31:] == loss[31]).all()


def test_longer_blocks_flatter_it_all_the_same():
    means = [extrapolation.in_blocks(length) for length in (1, 32, 64, 1024)]
    by_hand = [sum(1.5 + 2 / (1 + min(t, 31) / 4) for t in range(n)) / n for n in (1, 32, 64, 1024)]
    assert means == pytest.approx(by_hand)
    assert means == sorted(means, reverse=True)


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_pictures_are_the_same_every_time_and_fit_any_page(draw):
    picture = draw()
    assert isinstance(picture, Picture)
    assert draw().svg == picture.svg
    assert "currentColor" in picture.svg
    assert len(picture.alt) > 150
    assert all(link.startswith(("#", "data:")) for link in re.findall(r'href="([^"]*)"', picture.svg))


def test_the_numbers_in_the_alt_texts_are_those_drawn():
    early = extrapolation.early_tokens().alt
    assert f"{extrapolation.in_blocks(32):.2f} nats in blocks of 32" in early
    assert f"to {extrapolation.in_blocks(1024):.2f} in blocks of 1024" in early
    assert f"from 3.5 nats at position 0 to {1.5 + 2 / (1 + 31 / 4):.2f} at position 31" in early
    assert "Pairs 0 to 8" in (angles := extrapolation.new_angles().alt)
    assert "the other 23" in angles


def test_a_wider_encoding_has_other_words():
    """The picture is drawn from its arguments."""
    alt = extrapolation.new_angles(dim=128, trained=128, tested=512).alt
    seen = sum(127 / 10000 ** (2 * pair / 128) >= 2 * math.pi for pair in range(64))
    assert f"Pairs 0 to {seen - 1} turn round within 128 positions" in alt
    assert f"the other {64 - seen}" in alt
