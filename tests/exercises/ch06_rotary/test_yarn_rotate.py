"""`06-rotary.yarn_rotate`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch06_rotary.yarn_frequencies import YARN_FREQUENCIES
from posenc_course.exercises.ch06_rotary.yarn_rotate import YARN_ROTATE
from tests.exercises.ch06_rotary.shared import of_transformers


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_yarn_is_that_of_transformers(seed):
    for case in YARN_FREQUENCIES.cases(seed):
        assert YARN_FREQUENCIES.reference(*case.args) == pytest.approx(
            of_transformers(*case.args)[0], rel=1e-5, abs=0
        )
    for case in YARN_ROTATE.cases(seed):
        x, positions, base, factor, length = case.args
        rates, louder = of_transformers(x.shape[1], base, factor, length)
        turned = louder * (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * np.outer(positions, rates))
        expected = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
        # transformers' frequencies are float32: at position 5,000 an angle is off by 3e-4.
        assert YARN_ROTATE.reference(*case.args) == pytest.approx(expected, abs=5e-3)


NOT_KNOWN = (
    ("yarn_rotate", lambda x, positions, base, factor, length: 2 * x, "the right length"),
    ("yarn_rotate", lambda *args: YARN_ROTATE.reference(*args).squeeze(), "one row"),
)
