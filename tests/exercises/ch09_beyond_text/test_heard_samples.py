"""`09-beyond-text.heard_samples`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np

from posenc_course.exercises.ch09_beyond_text.heard_samples import HEARD_SAMPLES, WAV2VEC
from tests.exercises.ch09_beyond_text.shared import SEEDS


def test_a_frame_hears_what_changes_it():
    """Convolutions of ones over impulses: which sample reaches which frame."""
    for seed in SEEDS:
        for case in HEARD_SAMPLES.cases(seed)[:3]:
            frame, kernels, strides = case.args
            first, last = HEARD_SAMPLES.reference(*case.args)
            heard = []
            for sample in range(last + 40):
                x = np.zeros(last + 60)
                x[sample] = 1
                for kernel, stride in zip(kernels, strides, strict=True):
                    x = np.convolve(x, np.ones(kernel), "valid")[::stride]
                heard += [sample] if x[frame] else []
            assert (heard[0], heard[-1]) == (first, last)
    assert HEARD_SAMPLES.reference(0, *WAV2VEC) == (0, 399)
    assert HEARD_SAMPLES.reference(50, *WAV2VEC)[0] == 16_000


NOT_KNOWN = (("heard_samples", lambda frame, kernels, strides: (frame, frame), None),)


WRITTEN_IN_ANOTHER_WAY = (
    (
        "heard_samples",
        lambda frame, kernels, strides: (
            frame * math.prod(strides.tolist()),
            frame * math.prod(strides.tolist())
            + int((np.cumprod(strides) * kernels - np.cumprod(strides)).sum()),
        ),
        "own-stride-too",
    ),
)
