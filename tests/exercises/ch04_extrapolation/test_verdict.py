"""`04-extrapolation.verdict`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from posenc_course.exercises.ch04_extrapolation.verdict import VERDICT
from tests.exercises.ch04_extrapolation.shared import SEEDS


def test_verdicts_are_those_that_the_labels_say():
    expected = {
        "all seeds rise": "breaks",
        "all seeds stay": "holds",
        "all seeds fall": "gains",
        "one seed of three rises": "breaks",
        "it rises in between and comes back": "breaks",
        "lengths in another order": "gains",
        "large losses and a small rise": "breaks",
        "two seeds of three fall": "holds",
        "it falls, and comes back to where it was": "holds",
        "it stays at first, and falls at last": "gains",
    }
    for seed in SEEDS:
        got = {case.label: VERDICT.reference(*case.args) for case in VERDICT.cases(seed)}
        assert got == expected


def averaged_first(lengths, losses, trained, slack):
    mean = dict(zip(lengths.tolist(), losses.mean(axis=0).tolist(), strict=True))
    later = [mean[length] - mean[trained] for length in sorted(mean) if length > trained]
    return "breaks" if max(later) > slack else "gains" if later[-1] < -slack else "holds"


NOT_KNOWN = (("verdict", lambda lengths, losses, trained, slack: "holds", None),)


WRITTEN_IN_ANOTHER_WAY = (("verdict", averaged_first, "mean-over-seeds"),)
