"""`05-pitfalls.what_was_rounded`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import torch

from posenc_course.exercises.ch05_pitfalls.what_was_rounded import _to_bfloat16


def test_bfloat16_is_rounded_as_torch_rounds_it():
    numbers = np.concatenate([np.random.default_rng(0).normal(size=500), np.arange(2000.0), [-3.14, 1e-3]])
    theirs = torch.tensor(numbers, dtype=torch.float32).to(torch.bfloat16).double().numpy()
    np.testing.assert_array_equal(_to_bfloat16(numbers), theirs)


NOT_KNOWN = (("what_was_rounded", lambda positions, table: "frequencies", None),)
