"""`05-pitfalls.diagnose`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls.diagnose import _TRACES, DIAGNOSE, _trace


def test_the_traces_are_what_their_names_say():
    for seed in range(20):
        for fault in _TRACES:
            mask, prompt, written = _trace(np.random.default_rng(seed), fault).args
            assert DIAGNOSE.reference(mask, prompt, written) == fault
            assert mask[0, 0] == 0
            assert mask[-1].all()


NOT_KNOWN = (("diagnose", lambda mask, prompt, written: "right", "all rows have the same positions"),)
