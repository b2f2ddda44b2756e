"""`04-extrapolation.loss_by_position`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch04_extrapolation.loss_by_position import LOSS_BY_POSITION
from posenc_course.exercises.ch04_extrapolation.token_losses import TOKEN_LOSSES
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_losses_of_tokens_are_torch_cross_entropy(seed):
    for case in TOKEN_LOSSES.cases(seed):
        logits, tokens = map(torch.from_numpy, case.args)
        expected = torch.nn.functional.cross_entropy(logits[:-1], tokens[1:], reduction="none")
        np.testing.assert_allclose(TOKEN_LOSSES.reference(*case.args), expected, atol=1e-9)
    for case in LOSS_BY_POSITION.cases(seed):
        logits, tokens, width = map(torch.as_tensor, case.args)
        losses = torch.nn.functional.cross_entropy(
            logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none"
        ).view(len(tokens), -1)
        means = [part.mean().item() for part in losses.split(int(width), dim=1)]
        np.testing.assert_allclose(LOSS_BY_POSITION.reference(*case.args), means, atol=1e-9)


NOT_KNOWN = (
    ("loss_by_position", lambda logits, tokens, width: [0.7] * -(-(tokens.shape[1] - 1) // width), None),
)
