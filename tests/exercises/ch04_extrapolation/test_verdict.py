"""`04-extrapolation.verdict`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch04_extrapolation.verdict import VERDICT
from tests.exercises.ch04_extrapolation.shared import SEEDS


def test_verdicts_are_those_that_the_labels_say():
    expected = {
        "all seeds rise": "breaks",
        "all seeds stay": "holds",
        "all seeds fall": "gains",
        "one seed of three rises": "breaks",
        "one seed of three rises far": "breaks",
        "it stays at first, and rises at last": "breaks",
        "trained is the shortest length": "holds",
        "it rises in between and comes back": "breaks",
        "it rises far in between and comes back": "breaks",
        "it rises in between and ends lower": "breaks",
        "lengths in another order": "gains",
        "large losses and a small rise": "breaks",
        "two seeds of three fall": "holds",
        "it falls, and comes back to where it was": "holds",
        "all seeds fall a little": "holds",
        "it rises by just the slack": "holds",
        "it falls by just the slack": "holds",
        "it stays at first, and falls at last": "gains",
    }
    for seed in SEEDS:
        got = {case.label: VERDICT.reference(*case.args) for case in VERDICT.cases(seed)}
        assert got == expected


def averaged_first(lengths, losses, trained, slack):
    mean = dict(zip(lengths.tolist(), losses.mean(axis=0).tolist(), strict=True))
    later = [mean[length] - mean[trained] for length in sorted(mean) if length > trained]
    return "breaks" if max(later) > slack else "gains" if later[-1] < -slack else "holds"


def gains_asked_first(lengths, losses, trained, slack):
    change = losses - losses[:, lengths == trained]
    if all(row[np.argmax(lengths)] < -slack for row in change):
        return "gains"
    return "breaks" if change[:, lengths > trained].max() > slack else "holds"


def every_longer_length_lower(lengths, losses, trained, slack):
    change = (losses - losses[:, lengths == trained])[:, lengths > trained]
    return "breaks" if change.max() > slack else "gains" if change.max() < -slack else "holds"


def with_a_rise_by(rises):
    """Gains as they should be, and what breaks as this says it."""

    def answer(lengths, losses, trained, slack):
        if rises(losses - losses[:, lengths == trained], losses, lengths, trained, slack):
            return "breaks"
        return "gains" if VERDICT.reference(lengths, losses, trained, slack) == "gains" else "holds"

    return answer


mean_of_seeds = with_a_rise_by(
    lambda rise, loss, at, trained, s: (rise[:, at > trained].mean(axis=0) > s).any()
)
at_twice_the_length = with_a_rise_by(
    lambda rise, loss, at, trained, s: (rise[:, at == 2 * trained] > s).any()
)
by_the_loss_itself = with_a_rise_by(lambda rise, loss, at, trained, s: (loss[:, at > trained] > s).any())


NOT_KNOWN = (
    ("verdict", lambda lengths, losses, trained, slack: "holds", None),
    *(("verdict", answer, None) for answer in (mean_of_seeds, at_twice_the_length, by_the_loss_itself)),
    ("verdict", every_longer_length_lower, "A gain needs nothing more than that"),
)


WRITTEN_IN_ANOTHER_WAY = (
    ("verdict", averaged_first, "mean-over-seeds"),
    ("verdict", gains_asked_first, "gains-before-breaks"),
)


def test_just_the_slack_is_not_more_than_it():
    for case in VERDICT.make_cases(np.random.default_rng(0)):
        if "just the slack" in case.label:
            lengths, losses, trained, slack = case.args
            assert VERDICT.reference(*case.args) == "holds"
            assert VERDICT.reference(lengths, losses, trained, 0.999 * slack) != "holds"
