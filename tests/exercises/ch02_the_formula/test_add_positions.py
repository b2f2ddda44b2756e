"""`02-the-formula.add_positions`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from posenc_course.checking import report_on
from posenc_lib import sinusoidal
from tests.exercises.ch02_the_formula.shared import exact_row


def without_start(x, start):
    table = [exact_row(position, x.shape[-1]) for position in range(x.shape[-2])]
    return x + np.asarray(table)


def from_a_table_of_5000(x, start):
    count, dim = x.shape[-2:]
    return x + sinusoidal(5000, dim)[start : start + count]


NOT_KNOWN = (
    ("add_positions", from_a_table_of_5000, "from position 100,000"),
    ("add_positions", lambda x, start: x * 2, None),
    ("add_positions", lambda x, start: x + 0.5, "is not a row of the encoding"),
)


WRITTEN_IN_ANOTHER_WAY = (("add_positions", without_start, "start-ignored"),)


@pytest.mark.parametrize("seed", [0, 9, 10, 13, 17])
def test_a_table_made_in_float32_is_near_enough_in_grading_too(seed):
    def with_pytorch(x, start):
        length, dim = x.shape[-2:]
        rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
        angles = torch.arange(start, start + length)[:, None] * rates
        return (torch.from_numpy(x) + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)).numpy()

    assert report_on("02-the-formula.add_positions", with_pytorch, seed=seed).passed
