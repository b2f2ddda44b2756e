"""`04-extrapolation.forgets`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch04_extrapolation.forgets import FORGETS
from tests.exercises.ch04_extrapolation.shared import SEEDS


@pytest.mark.parametrize("seed", SEEDS)
def test_forgets_is_what_each_reader_was_built_for(seed):
    for case in FORGETS.cases(seed):
        reader, _, window = case.args
        reads_far = reader.reads not in ("window", "position", "rounding")
        assert FORGETS.reference(*case.args) is not reads_far
        assert window >= reader.reach


def test_forgets_agrees_with_the_gradient_of_a_real_model():
    """The last output of a causal layer depends on a far token exactly where its gradient is not zero."""
    from posenc_lib import attention

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(10, 4))

    def predict(tokens, reach):
        x = vectors[np.asarray(tokens)]
        near = np.tri(len(x), dtype=bool) & ~np.tri(len(x), k=-reach, dtype=bool)
        return attention(x, x, x, mask=near).sum(axis=-1)

    tokens = rng.permutation(10)
    assert FORGETS.reference(lambda t: predict(t, 4), tokens, 4) is True
    assert FORGETS.reference(lambda t: predict(t, 5), tokens, 4) is False


def cut_by_hand(predict, tokens, window):
    return bool(
        np.isclose(
            predict(tokens[max(0, len(tokens) - window) :])[-1], predict(tokens)[-1], atol=1e-9, rtol=0
        )
    )


def changed(predict, tokens, place, token=None):
    other = tokens.copy()
    other[place] = (tokens[place] + 1) % 10 if token is None else token
    return predict(other)[-1]


def zeros_put_in(predict, tokens, window):
    before = predict(tokens)[-1]
    return not any(abs(changed(predict, tokens, p, 0) - before) > 1e-9 for p in range(len(tokens) - window))


def as_close_as_numpy_thinks(predict, tokens, window):
    before = predict(tokens)[-1]
    return all(np.allclose(changed(predict, tokens, p), before) for p in range(len(tokens) - window))


def first_token_of_any_text(predict, tokens, window):
    return bool(abs(changed(predict, tokens, 0) - predict(tokens)[-1]) <= 1e-9)


@pytest.mark.parametrize("token", range(10))
def test_to_set_every_far_token_to_the_same_one_never_passes(token):
    def set_to_it(predict, tokens, window):
        before = predict(tokens)[-1]
        return all(
            abs(changed(predict, tokens, p, token) - before) <= 1e-9 for p in range(len(tokens) - window)
        )

    assert not any(report_on(FORGETS.id, set_to_it, seed=seed).passed for seed in range(20))


def asks_about_token_10(predict, tokens, window):
    before = predict(tokens)[-1]
    return all(
        abs(changed(predict, tokens, p, tokens[p] + 1) - before) <= 1e-9 for p in range(len(tokens) - window)
    )


def last_round_decides(predict, tokens, window):
    forgets = True
    for place in range(len(tokens) - window):
        forgets = bool(abs(changed(predict, tokens, place) - predict(tokens)[-1]) <= 1e-9)
    return forgets


NOT_KNOWN = (
    ("forgets", lambda predict, tokens, window: True, None),
    ("forgets", asks_about_token_10, "give tokens from 0 to 9"),
    ("forgets", first_token_of_any_text, "it has no far token"),
)


def with_equals(predict, tokens, window):
    others = [
        np.where(np.arange(len(tokens)) == p, (tokens + 5) % 10, tokens) for p in range(len(tokens) - window)
    ]
    return all(predict(each)[-1] == predict(tokens)[-1] for each in others)


WRITTEN_IN_ANOTHER_WAY = (
    ("forgets", with_equals, "exactly-equal"),
    ("forgets", cut_by_hand, "cut-off"),
    ("forgets", zeros_put_in, "set-to-0"),
    ("forgets", last_round_decides, "nearest-far-token-only"),
    ("forgets", as_close_as_numpy_thinks, "too-tolerant"),
)
