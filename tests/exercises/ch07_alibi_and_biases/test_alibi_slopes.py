"""`07-alibi-and-biases.alibi_slopes`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

from posenc_course.exercises.ch07_alibi_and_biases.alibi_slopes import ALIBI_SLOPES


@pytest.mark.parametrize("heads", [*range(1, 41), 71, 112])
def test_slopes_are_those_of_mpt_and_bloom(heads):
    got = ALIBI_SLOPES.reference(heads)
    np.testing.assert_allclose(got, -build_mpt_alibi_tensor(heads, 2)[:, 0, 0].numpy(), rtol=1e-6)
    bloom = build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), heads, torch.float32)
    np.testing.assert_allclose(got, bloom[:, 0, 1].numpy(), rtol=1e-6)


def test_the_version_to_mend_is_right_for_powers_of_two_alone():
    [given] = [each for each in ALIBI_SLOPES.mistakes if each.name == "one-formula-for-all"]
    agrees = [n for n in range(1, 65) if np.allclose(given.answer(n), ALIBI_SLOPES.reference(n))]
    assert agrees == [1, 2, 4, 8, 16, 32, 64]


def from_slopes_of_falcon(heads):
    return torch.tensor(ALIBI_SLOPES.reference(heads)).bfloat16().double().numpy()


def slopes_by_the_papers_sentence(heads):
    slopes = [2 ** (-8 / heads)]
    while len(slopes) < heads:
        slopes.append(slopes[-1] * slopes[0])
    return slopes


NOT_KNOWN = (
    ("alibi_slopes", from_slopes_of_falcon, None),
    ("alibi_slopes", lambda heads: np.full(heads, 0.5), "same slope"),
    ("alibi_slopes", lambda heads: np.arange(heads), "between 0 and 1"),
)


WRITTEN_IN_ANOTHER_WAY = (("alibi_slopes", slopes_by_the_papers_sentence, "one-formula-for-all"),)
