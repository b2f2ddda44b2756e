"""`04-extrapolation.forgets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch04_extrapolation.forgets import FORGETS
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_forgets_is_what_each_reader_was_built_for(seed):
    for case in FORGETS.cases(seed):
        reader, _, window = case.args
        reads_far = reader.reads not in ("window", "position")
        assert FORGETS.reference(*case.args) is not reads_far
        assert window >= reader.reach


def test_forgets_agrees_with_the_gradient_of_a_real_model():
    """The last output of a causal layer depends on a far token exactly where its gradient is not zero."""
    from posenc_lib import attention

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(10, 4))

    def predict(tokens, reach):
        x = vectors[np.asarray(tokens)]
        near = np.tri(len(x), dtype=bool) & ~np.tri(len(x), k=-reach, dtype=bool)
        return attention(x, x, x, mask=near).sum(axis=-1)

    tokens = rng.permutation(10)
    assert FORGETS.reference(lambda t: predict(t, 4), tokens, 4) is True
    assert FORGETS.reference(lambda t: predict(t, 5), tokens, 4) is False


def cut_by_hand(predict, tokens, window):
    return bool(
        np.isclose(
            predict(tokens[max(0, len(tokens) - window) :])[-1], predict(tokens)[-1], atol=1e-9, rtol=0
        )
    )


NOT_KNOWN = (("forgets", lambda predict, tokens, window: True, None),)


WRITTEN_IN_ANOTHER_WAY = (("forgets", cut_by_hand, "cut-off"),)
