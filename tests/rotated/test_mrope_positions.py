"""Positions of text, pictures and videos: token by token, and what M-RoPE makes of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_lib.rotated import apply_rotary, mrope_positions, mrope_tables, rotary_tables, rotate


def one_by_one(parts, start=0, apart=1.0):
    """Each token by itself, and the next part after the largest number so far."""
    tokens, at = [], start
    for part in parts:
        if isinstance(part, int):
            tokens += [(at + n,) * 3 for n in range(part)]
        else:
            frames, rows, columns = part
            tokens += [
                (at + int(f * apart), at + r, at + c)
                for f in range(frames)
                for r in range(rows)
                for c in range(columns)
            ]
        at = max([at, *(n + 1 for token in tokens[-1:] for n in token), *(max(t) + 1 for t in tokens)])
    return np.asarray(tokens).reshape(-1, 3).T


@pytest.mark.parametrize(
    "parts",
    [[], [7], [(1, 3, 4)], [2, (1, 4, 6), 3, (2, 3, 3), 1], [(9, 2, 2), 4], [0, (1, 1, 1), 0, (1, 5, 2)]],
)
@pytest.mark.parametrize(("start", "apart"), [(0, 1.0), (11, 2.5)])
def test_token_by_token(parts, start, apart):
    got = mrope_positions(parts, start=start, seconds_per_grid=apart)
    assert got.dtype == np.int64
    assert np.array_equal(got, one_by_one(parts, start, apart))


def test_frames_are_rounded_down_as_the_models_code_rounds_them():
    """In float32: 3 frames of two thirds of a second are 50 positions there, and in float64 just below."""
    for rate in (2, 4, 25):
        for a_second in (1.5, 3.0, 7.0, 23.976, 29.97):
            got = mrope_positions([(96, 1, 1)], seconds_per_grid=rate / a_second)[0]
            theirs = (torch.arange(96) * (rate / a_second)).floor().long()
            assert got.tolist() == theirs.tolist(), (rate, a_second)


def test_a_picture_takes_as_many_positions_as_its_longer_side():
    whole = mrope_positions([10, (1, 20, 30), 10])
    assert whole.shape == (3, 620)
    assert whole[:, -1].tolist() == [10 + 30 + 9] * 3


def test_text_alone_is_rope_in_both_layouts():
    at = mrope_positions([9])
    for interleaved in (False, True):
        tables = mrope_tables(at, 16, (4, 2, 2), interleaved=interleaved)
        np.testing.assert_array_equal(tables.cos, rotary_tables(9, 16).cos)
    x = np.random.default_rng(0).normal(size=(2, 9, 32))  # partial: half of each head turns
    turned = rotate(x, mrope_tables(at, 16, (4, 2, 2)), layout="half")
    np.testing.assert_allclose(turned, apply_rotary(x, 9, layout="half", rotary_dim=16), atol=1e-14)
    assert np.array_equal(turned[..., 16:], x[..., 16:])


def test_decoding_goes_on_after_a_picture():
    whole = mrope_positions([3, (1, 4, 5), 6])
    seen = mrope_positions([3, (1, 4, 5)])
    assert np.array_equal(whole[:, seen.shape[1] :], mrope_positions([6], start=int(seen.max()) + 1))


def test_after_a_video_text_goes_on_where_it_is_asked_to():
    parts, seconds = [2, (6, 3, 4), 2], 7.0
    paper = mrope_positions(parts, seconds_per_grid=seconds)
    sides = mrope_positions(parts, seconds_per_grid=seconds, after="sides")
    assert np.array_equal(paper[:, :-2], sides[:, :-2])
    assert (paper[0, -2], sides[0, -2]) == (2 + 5 * 7 + 1, 2 + 4)
    with pytest.raises(ValueError, match="after='frames' is unknown"):
        mrope_positions(parts, after="frames")  # type: ignore[call-overload]


def test_positions_of_the_queries_library():
    ours = mrope_positions([2, (1, 2, 3)], like=torch.zeros(1))
    assert ours.dtype == torch.int64
    assert np.array_equal(ours, mrope_positions([2, (1, 2, 3)]))
