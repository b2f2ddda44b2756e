"""`07-alibi-and-biases.relative_shift`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch

from posenc_course.exercises.ch07_alibi_and_biases.relative_shift import RELATIVE_SHIFT


def test_the_relative_shift_is_xlnets():
    from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    for case in RELATIVE_SHIFT.cases():
        (x,) = case.args
        queries, keys = x.shape
        # XLNet's has columns for keys after the query as well, and one more in front.
        wide = np.concatenate([np.full((queries, 1), np.nan), x, np.zeros((queries, queries - 1))], axis=1)
        theirs = XLNetRelativeAttention.rel_shift_bnij(torch.from_numpy(wide)[None, None], klen=keys)
        np.testing.assert_array_equal(RELATIVE_SHIFT.reference(x), theirs[0, 0].numpy())


def shift_with_zeros_behind(x):
    queries, keys = x.shape
    padded = np.concatenate([x, np.zeros((queries, 1))], axis=1)
    return np.tril(padded.reshape(keys + 1, queries)[1:].reshape(queries, keys), keys - queries)


def shifted_into_whole_numbers(x):
    queries, keys = x.shape
    out = np.full(x.shape, 0)  # of int64: what is written into it loses its fraction
    for i in range(queries):
        by = queries - 1 - i
        out[i, : keys - by] = x[i, by:]
    return out


NOT_KNOWN = (
    ("relative_shift", shifted_into_whole_numbers, "It is an array of whole numbers (int64)"),
    ("relative_shift", lambda x: x[:, ::-1], "last row must stay"),
    ("relative_shift", lambda x: x[:, :1], "shape stays"),
)


def rolled_the_wrong_way(x, cut=False):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.roll(x[i], len(x) - 1 - i)
    return np.tril(out, x.shape[1] - len(x)) if cut else out


WRITTEN_IN_ANOTHER_WAY = (
    ("relative_shift", shift_with_zeros_behind, "one-too-far"),
    ("relative_shift", rolled_the_wrong_way, "rolled-to-the-right"),
    ("relative_shift", lambda x: rolled_the_wrong_way(x, cut=True), "rolled-to-the-right-and-cut"),
)
