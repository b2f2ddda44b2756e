"""`04-extrapolation.far_gap`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from posenc_course.exercises.ch04_extrapolation.far_gap import FAR_GAP
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_far_gap_against_torch(seed):
    for case in FAR_GAP.cases(seed):
        losses, trained = torch.from_numpy(case.args[0]), case.args[1]
        expected = losses[:, trained:].nanmean() - losses[:, trained // 2 : trained].nanmean()
        assert FAR_GAP.reference(*case.args) == pytest.approx(expected.item())


def test_the_given_version_calls_a_broken_model_a_good_one():
    """What the exercise says of it: its number is far below the damage, and near 0."""
    case = next(each for each in FAR_GAP.cases() if "hides" in each.label)
    losses, trained = case.args
    given = losses.mean() - losses[:, :trained].mean()
    assert given < 0.1
    assert FAR_GAP.reference(losses, trained) > 0.3


def one_late(losses, trained):
    """Empty where the text is one token longer than the training length: NaN there."""
    far, near = (
        part[~np.isnan(part)] for part in (losses[:, trained + 1 :], losses[:, trained // 2 : trained])
    )
    return (far.mean() if far.size else np.nan) - near.mean()


def by_window(losses, trained):
    rows = [row[~np.isnan(row)] for row in losses]
    return np.mean([r[trained:].mean() - r[trained // 2 : trained].mean() for r in rows if len(r) > trained])


def half_rounded_up(losses, trained):
    return np.nanmean(losses[:, trained:]) - np.nanmean(losses[:, -(-trained // 2) : trained])


NOT_KNOWN = (
    ("far_gap", lambda losses, trained: 0.5, None),
    ("far_gap", half_rounded_up, None),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("far_gap", lambda losses, trained: losses.mean() - losses[:, :trained].mean(), "as-given"),
    ("far_gap", one_late, "far-one-late"),
    ("far_gap", by_window, "mean-of-gaps"),
)
