"""`03-relative-position.continue_text`: its reference, and answers that no list foresaw."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from posenc_course.exercises.ch03_relative_position.continue_text import CONTINUE_TEXT, _what_followed
from tests.exercises.ch03_relative_position.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_a_repeated_passage_is_continued(seed):
    for case in CONTINUE_TEXT.cases(seed):
        tokens, steps, vocab = case.args
        written = CONTINUE_TEXT.reference(tokens, steps, vocab).tolist()
        if case.label.startswith("what followed"):
            followed = [int(b) for a, b in pairwise(tokens) if a == tokens[-1]]
            assert (
                followed.count(written[0]) == 2 > max(followed.count(w) for w in followed if w != written[0])
            )
        else:
            period = len(set(tokens[1:].tolist()))
            assert written == np.resize(tokens[1 : period + 1], len(tokens) - 1 + steps)[-steps:].tolist()


def latest_only(tokens, steps, vocab):
    text = list(tokens)
    for _ in range(steps):
        last = max(i for i in range(len(text) - 1) if text[i] == text[-1])
        text.append(text[last + 1])
    return text[-steps:]


NOT_KNOWN = (
    ("continue_text", lambda tokens, steps, vocab: np.full(steps, vocab), "does not occur in the text"),
    ("continue_text", lambda tokens, steps, vocab: np.zeros(steps), "never came after the last token"),
    *(
        (
            "continue_text",
            lambda tokens, steps, vocab, pick=pick: _what_followed(tokens, steps, vocab, pick),
            None,
        )
        for pick in (min, max)
    ),
)


WRITTEN_IN_ANOTHER_WAY = (("continue_text", latest_only, "latest-alone"),)
