"""The biases of windows, written out patch by patch, and what holds for every window."""

from __future__ import annotations

import itertools
import math

import array_api_strict as strict
import numpy as np
import pytest
import torch

from posenc_lib.biased import swin_bias, swin_index, swin_v2_bias, swin_v2_coordinates

SHAPES = [(1, 1), (1, 4), (3, 1), (2, 3), (4, 4)]
RNG = np.random.default_rng(0)


def rows(shape: tuple[int, int], class_token: bool = False) -> int:
    return (2 * shape[0] - 1) * (2 * shape[1] - 1) + 3 * class_token


@pytest.mark.parametrize("shape", SHAPES)
def test_the_index_counts_the_offsets_in_reading_order(shape):
    height, width = shape
    offsets = list(itertools.product(range(1 - height, height), range(1 - width, width)))
    patches = list(itertools.product(range(height), range(width)))
    wanted = [[offsets.index((a - c, b - d)) for c, d in patches] for a, b in patches]
    assert swin_index(shape).tolist() == wanted
    assert set(swin_index(shape).ravel()) == set(range(rows(shape)))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_class_token_has_three_rows_of_its_own(shape):
    index = swin_index(shape, class_token=True)
    offsets = rows(shape)
    assert index[1:, 1:].tolist() == swin_index(shape).tolist()
    assert index[0, 0] == offsets + 2
    assert set(index[0, 1:]) == {offsets}
    assert set(index[1:, 0]) == {offsets + 1}


@pytest.mark.parametrize("class_token", [False, True])
def test_some_tokens_are_rows_and_columns_of_the_whole(class_token):
    shape, tokens = (2, 3), np.asarray([[5, 0, 2], [1, 1, 3]])
    table = RNG.normal(size=(rows(shape, class_token), 2))
    whole = swin_bias(table, shape, class_token=class_token)
    some = swin_bias(table, shape, tokens, 4, class_token=class_token)
    assert some.shape == (2, 2, 3, 4)
    for row, batch in zip(tokens, some, strict=True):
        assert (batch == whole[:, row, :4]).all()
    last_two_of_four = swin_bias(table, shape, 2, 4, class_token=class_token)
    assert (last_two_of_four == whole[:, 2:4, :4]).all()


@pytest.mark.parametrize("pretrained", [None, (2, 2), (6, 5)])
@pytest.mark.parametrize("shape", SHAPES)
def test_swin_v2_is_its_network_at_each_offset(shape, pretrained):
    w1, b1, w2 = weights = RNG.normal(size=(7, 2)), RNG.normal(size=7), RNG.normal(size=(3, 7))
    trained = pretrained or shape

    def stretched(offset: int, size: int) -> float:
        x = 8 * offset / max(size - 1, 1)
        return math.copysign(math.log2(1 + abs(x)) / 3, x)

    patches = list(itertools.product(range(shape[0]), range(shape[1])))
    wanted = np.zeros((3, len(patches), len(patches)))
    for (i, (a, b)), (j, (c, d)) in itertools.product(enumerate(patches), enumerate(patches)):
        x = np.asarray([stretched(a - c, trained[0]), stretched(b - d, trained[1])])
        wanted[:, i, j] = 16 / (1 + np.exp(-w2 @ np.maximum(w1 @ x + b1, 0)))
    np.testing.assert_allclose(swin_v2_bias(weights, shape, pretrained=pretrained), wanted, atol=1e-12)


def test_in_a_larger_window_small_offsets_keep_their_coordinates():
    small, large = (
        swin_v2_coordinates(shape, pretrained=(4, 4)).reshape(2 * shape[0] - 1, -1, 2)
        for shape in ((4, 4), (8, 8))
    )
    np.testing.assert_array_equal(large[4:-4, 4:-4], small)
    assert small.max() == pytest.approx(math.log2(9) / 3)
    assert small.max() < large.max() < 1.5 * small.max()


CALLS = {
    "swin_index": lambda to: swin_index((2, 3), to(np.arange(4)), 6),
    "swin_index, nothing given": lambda to: swin_index((2, 3), like=to(np.zeros(1))),
    "swin": lambda to: swin_bias(to(np.arange(30.0).reshape(15, 2)), (2, 3)),
    "beit": lambda to: swin_bias(
        to(np.arange(36.0).reshape(18, 2)), (2, 3), to(np.arange(7)), 5, class_token=True
    ),
    "swin_v2": lambda to: swin_v2_bias(
        (to(np.ones((4, 2))), to(np.arange(4.0)), to(np.eye(4)[:3])), (2, 3), to(np.arange(4)), 6
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_library_gives_what_numpy_gives(name):
    expected = CALLS[name](np.asarray)
    for to in (torch.as_tensor, strict.asarray):
        found = CALLS[name](to)
        assert isinstance(found, type(to(np.zeros(1))))
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-13)


def test_compiled_a_token_outside_the_window_is_refused_not_another_offset():
    table = torch.randn(9, 2)
    compiled = torch.compile(lambda at: swin_bias(table, (2, 2), at, at), backend="eager", fullgraph=True)
    inside = torch.arange(4)
    assert torch.equal(compiled(inside), swin_bias(table, (2, 2)))
    for outside in (torch.tensor([0, 1, 2, 4]), torch.tensor([-1, 1, 2, 3])):
        with pytest.raises((IndexError, RuntimeError)):
            compiled(outside)
