"""`04-extrapolation.bigram_losses`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from posenc_course.exercises.ch04_extrapolation.bigram_losses import BIGRAM_LOSSES
from posenc_course.experiments.ngram import NGram
from tests.exercises.ch04_extrapolation.shared import SEEDS


def test_the_bigram_by_hand():
    """0 1 0 1 0 2 was seen: P(1) = 3/9 and P(1 | 0) = (2 + 2 * 3/9) / (3 + 2), and after 1 came one kind."""
    seen, text = np.array([0, 1, 0, 1, 0, 2]), np.array([0, 1, 1])
    p = [Fraction(2 * 3 + 2, 3) / 5, (0 + 1 * Fraction(3, 9)) / (2 + 1)]
    got = BIGRAM_LOSSES.reference(seen, text, 3)
    np.testing.assert_allclose(got, [-np.log(float(each)) for each in p])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bigram_is_the_library_s_n_gram_over_bytes(seed):
    rng = np.random.default_rng(seed)
    seen, text = rng.integers(97, 105, size=200), rng.integers(97, 106, size=50)
    expected = NGram(bytes(seen.tolist()), 2).losses(bytes(text.tolist()))[1:]
    np.testing.assert_allclose(BIGRAM_LOSSES.reference(seen, text, 256), expected)


def laplace(seen, text, vocab):
    pairs = list(zip(seen[:-1].tolist(), seen[1:].tolist(), strict=True))
    before = seen[:-1].tolist()
    return [
        -np.log((pairs.count((a, b)) + 1) / (before.count(a) + vocab))
        for a, b in zip(text[:-1].tolist(), text[1:].tolist(), strict=True)
    ]


NOT_KNOWN = (("bigram_losses", lambda seen, text, vocab: np.full(len(text) - 1, np.log(vocab)), None),)


WRITTEN_IN_ANOTHER_WAY = (("bigram_losses", laplace, "add-one"),)
