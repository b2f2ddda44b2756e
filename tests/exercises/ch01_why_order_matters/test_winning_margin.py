"""`01-why-order-matters.winning_margin`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import pytest
import torch

from posenc_course.exercises.ch01_why_order_matters.saturating_width import SATURATING_WIDTH
from posenc_course.exercises.ch01_why_order_matters.winning_margin import WINNING_MARGIN
from tests.exercises.ch01_why_order_matters.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_margin_wins_the_share_and_the_width_is_the_first_that_does(seed):
    for case in WINNING_MARGIN.cases(seed):
        keys, share = case.args

        def weight(score, keys=keys):
            return torch.tensor([score] + [0.0] * (keys - 1), dtype=torch.float64).softmax(0)[0].item()

        assert weight(WINNING_MARGIN.reference(keys, share)) == pytest.approx(share)
        width = SATURATING_WIDTH.reference(keys, share)
        assert weight(width**0.5) >= share
        assert width == 1 or weight((width - 1) ** 0.5) < share


NOT_KNOWN = (("winning_margin", lambda keys, share: share * keys, None),)
