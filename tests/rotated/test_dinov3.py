"""DINOv3's coordinates, periods and augmentation, from their definitions."""

from __future__ import annotations

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib.rotated import augment_coordinates, dinov3_tables, patch_coordinates, rotate

ALL = {"shift": 0.3, "jitter": 1.5, "rescale": 2.0}


@pytest.mark.parametrize(
    ("normalize", "rows", "columns"),
    [
        ("separate", [-0.5, 0.5], [-0.75, -0.25, 0.25, 0.75]),
        ("max", [-0.75, -0.25], [-0.75, -0.25, 0.25, 0.75]),
        ("min", [-0.5, 0.5], [-0.5, 0.5, 1.5, 2.5]),
    ],
)
def test_coordinates_of_two_by_four_patches(normalize, rows, columns):
    found = patch_coordinates((2, 4), normalize=normalize)
    assert found[0].tolist() == np.repeat(rows, 4).tolist()
    assert found[1].tolist() == columns * 2


def test_a_larger_picture_has_the_same_place_in_finer_steps():
    small, large = patch_coordinates((4, 6)), patch_coordinates((12, 18))
    of_the_middle_of_three = large.reshape(2, 4, 3, 6, 3)[:, :, 1, :, 1].reshape(2, -1)
    np.testing.assert_allclose(of_the_middle_of_three, small)


@pytest.mark.parametrize("options", [{}, {"base": 30.0}, {"periods": (0.5, 8.0)}], ids=str)
def test_each_pair_turns_by_its_period(options):
    coordinates = patch_coordinates((3, 5))
    tables = dinov3_tables(coordinates, 16, **options)
    if "periods" in options:
        periods = np.geomspace(0.5, 8.0, 4)
    else:
        periods = options.get("base", 100.0) ** (np.arange(4) / 4)
    wanted = np.concatenate([2 * np.pi * c[:, None] / periods for c in coordinates], axis=-1)
    np.testing.assert_allclose(tables.cos, np.cos(wanted), atol=1e-14)
    np.testing.assert_allclose(tables.sin, np.sin(wanted), atol=1e-14)


def test_scores_depend_on_the_offset_of_the_patches_alone():
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(2, 1, 8))
    coordinates = rng.uniform(-1, 1, size=(2, 2))  # of one query and one key

    def score(at):
        tables = dinov3_tables(at, 8)
        turned = rotate(np.concatenate([q, k]), tables, layout="half")
        return turned[0] @ turned[1]

    assert score(coordinates + np.asarray([[0.7], [-0.2]])) == pytest.approx(score(coordinates))
    assert score(coordinates * 1.1) != pytest.approx(score(coordinates))


@pytest.mark.parametrize("name", ALL)
def test_each_change_is_what_it_says_and_stays_in_its_range(name):
    coordinates, rng = patch_coordinates((2, 4)), np.random.default_rng(0)
    drawn = []
    for _ in range(400):
        got = augment_coordinates(coordinates, rng, **{name: ALL[name]})
        if name == "shift":
            moved = got - coordinates
            assert np.ptp(moved, axis=1).max() < 1e-12
            drawn.append(moved[:, 0])
        else:
            factors = got / coordinates
            assert np.ptp(factors, axis=1).max() < 1e-12
            drawn.append(np.log(factors[:, 0]))
    limit = ALL[name] if name == "shift" else np.log(ALL[name])
    every = np.asarray(drawn)
    assert np.abs(every).max() <= limit
    assert every.min() < -0.95 * limit < 0.95 * limit < every.max()
    assert np.abs(every.mean(axis=0)).max() < 0.1 * limit
    assert np.allclose(every[:, 0], every[:, 1]) == (name == "rescale")  # one number for both axes


def test_together_they_shift_first():
    coordinates = patch_coordinates((3, 4))
    one, other = np.random.default_rng(0), np.random.default_rng(0)
    got = augment_coordinates(coordinates, one, **ALL)
    step = coordinates
    for name in ("shift", "jitter", "rescale"):
        step = augment_coordinates(step, other, **{name: ALL[name]})
    np.testing.assert_allclose(got, step)
    assert one.bit_generator.state == other.bit_generator.state


def test_nothing_asked_nothing_drawn():
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    coordinates = patch_coordinates((2, 2))
    np.testing.assert_array_equal(augment_coordinates(coordinates, generator), coordinates)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize("to", [torch.as_tensor, strict.asarray], ids=["torch", "strict"])
def test_every_library_gives_what_numpy_gives(to):
    coordinates = patch_coordinates((3, 4))
    expected = augment_coordinates(coordinates, np.random.default_rng(1), **ALL)
    found = augment_coordinates(to(coordinates), np.random.default_rng(1), **ALL)
    assert isinstance(found, type(to(coordinates)))
    np.testing.assert_allclose(np.asarray(found), expected)
    tables = dinov3_tables(found, 8, dtype=found.dtype)
    assert isinstance(tables.cos, type(found))
    np.testing.assert_allclose(np.asarray(tables.cos), dinov3_tables(expected, 8).cos, atol=1e-13)
