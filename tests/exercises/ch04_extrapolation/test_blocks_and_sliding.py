"""`04-extrapolation.blocks_and_sliding`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.exercises.ch04_extrapolation.blocks_and_sliding import BLOCKS_AND_SLIDING
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_and_sliding_by_reading_the_windows_one_by_one(seed):
    """Independent of the indices: windows are cut out of the text as they would be for a model."""
    for case in BLOCKS_AND_SLIDING.cases(seed):
        losses, window = case.args
        text = list(range(len(losses)))
        blocks = [text[start : start + window] for start in range(0, len(text), window)]
        in_blocks = [losses[token, seen] for block in blocks for seen, token in enumerate(block)]
        views = [text[max(0, token + 1 - window) : token + 1] for token in text]
        sliding = [losses[view[-1], len(view) - 1] for view in views]
        assert len(in_blocks) == len(sliding) == len(text)
        assert BLOCKS_AND_SLIDING.reference(losses, window) == pytest.approx(
            (np.mean(in_blocks), np.mean(sliding))
        )


NOT_KNOWN = (("blocks_and_sliding", lambda losses, window: (0.0, 0.0), None),)
