"""`03-relative-position.one_back`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position._shared import softmax
from posenc_course.exercises.ch03_relative_position.key_of_next import KEY_OF_NEXT
from posenc_course.exercises.ch03_relative_position.one_back import ONE_BACK
from posenc_lib import shift_matrix
from tests.exercises.ch03_relative_position.shared import SEEDS, exact_rows


@pytest.mark.parametrize("seed", SEEDS)
def test_the_head_looks_one_back_with_exact_rows(seed):
    for case in KEY_OF_NEXT.cases(seed):
        dim, base = case.args
        rows = exact_rows([0, 7, 8, 1000, 1001], dim, base)
        w_k = KEY_OF_NEXT.reference(dim, base)
        assert rows[[1, 3]] @ w_k == pytest.approx(rows[[2, 4]], abs=1e-10)
    for case in ONE_BACK.cases(seed):
        queries, keys, base = case.args
        weights = ONE_BACK.reference(queries, keys, base)
        assert weights.max(axis=1) == pytest.approx(1, abs=1e-3)
        found = keys[weights.argmax(axis=1)]
        assert found @ shift_matrix(1, keys.shape[1], base=base).T == pytest.approx(queries, abs=1e-8)


def quiet(queries, keys, base):
    turned = keys @ shift_matrix(1, keys.shape[1], base=base).T
    e = np.exp(queries @ turned.T / keys.shape[1] ** 0.5)
    return e / e.sum(1, keepdims=True)


NOT_KNOWN = (
    (
        "one_back",
        lambda queries, keys, base: np.full((len(queries), len(keys)), 1 / len(keys)),
        "another key than the one right before",
    ),
    (
        "one_back",
        lambda *args: softmax(30 * np.log(ONE_BACK.reference(*args) + 1e-4) / 100),
        "Make the head louder",
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("one_back", quiet, "not-loud"),)
