"""`05-pitfalls.adds_along_the_tokens`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np

from posenc_course.exercises.ch05_pitfalls.adds_along_the_tokens import _RIGHT, ADDS_ALONG_THE_TOKENS


def test_the_verdicts_on_the_implementations_follow_from_what_they_add():
    """Right where one vector a position, different ones, goes to every sentence."""
    for case in ADDS_ALONG_THE_TOKENS.cases():
        (add,) = case.args
        added = add(np.zeros((3, 5, 8)))
        rows = [{tuple(row) for row in sentence.round(9).tolist()} for sentence in added]
        verdict = all(len(each) == 5 for each in rows) and len({str(each.round(9)) for each in added}) == 1
        assert ADDS_ALONG_THE_TOKENS.reference(add) is verdict, case.label
        assert (case.label in _RIGHT) is verdict


RANDOM = np.random.default_rng(1).normal(size=(3, 4, 8))


NOT_KNOWN = (("adds_along_the_tokens", lambda add: add(np.zeros((1, 2, 4)))[0, 0, 0] == 0, None),)


def right_of(out):
    return bool(not np.allclose(out[:, 0], out[:, 1]) and np.allclose(out, out[:1]))


def of_two_sentences(add):
    first, second, *_ = add(np.zeros((3, 4, 8)))
    return bool(np.allclose(first, second) and not np.allclose(first[0], first[1]))


WRITTEN_IN_ANOTHER_WAY = (
    ("adds_along_the_tokens", lambda add: not (add(np.zeros((1, 2, 2))) == 0).all(), "something-added"),
    ("adds_along_the_tokens", lambda add: right_of(add(np.zeros((2, 4, 8)))), "batch-of-two"),
    ("adds_along_the_tokens", of_two_sentences, "batch-of-two"),
    ("adds_along_the_tokens", lambda add: right_of(add(RANDOM) - RANDOM), "input-subtracted"),
)
