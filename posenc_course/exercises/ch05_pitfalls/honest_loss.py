"""A loss that is too good: Count what counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import TOO_GOOD, Generator, _mask
from posenc_course.exercises.exercise import Case, Exercise, Mistake
from posenc_lib._arrays import Array


def _loss_cases(rng: Generator) -> Iterator[Case]:
    def losses(mask: Array) -> Array:
        """Padding is easy to predict, and a longer sentence is predicted better."""
        easier = 1 + mask.sum(axis=1, keepdims=True)
        return np.asarray(np.where(mask == 1, rng.uniform(1, 3, mask.shape) / np.sqrt(easier), 0.01))

    for label, mask in (
        ("a long sentence and a short one", _mask("tttttt", "tt....")),
        ("padded on the left", _mask("..tttt", "tttttt", ".....t")),
        ("no padding, one sentence", _mask("tttt")),
        ("a sentence of padding alone", _mask("....", "tttt", "tt..")),
        ("a square", _mask("t..", "tt.", "ttt")),
        ("random padding", (np.arange(12) < rng.integers(1, 12, size=(5, 1))).astype(np.int64)),
    ):
        yield Case(label, (losses(mask), mask))


def _honest_loss(losses: Array, mask: Array) -> float:
    return float((losses * mask).sum() / mask.sum())


def _mean_of_rows(losses: Array, mask: Array) -> float:
    with np.errstate(all="ignore"):
        return float(((losses * mask).sum(axis=1) / mask.sum(axis=1)).mean())


def _padding_alone(losses: Array, mask: Array) -> float:
    with np.errstate(all="ignore"):
        return float(np.divide((losses * (1 - mask)).sum(), (1 - mask).sum()))


def _mean_of_means(losses: Array, mask: Array) -> float:
    rows = mask.sum(axis=1) > 0
    return float(((losses * mask).sum(axis=1)[rows] / mask.sum(axis=1)[rows]).mean())


HONEST_LOSS = Exercise(
    id="05-pitfalls.honest_loss",
    title="Count what counts",
    step_of=TOO_GOOD,
    signature="honest_loss(losses: array of shape (batch, n), mask: array of shape (batch, n)) -> float",
    points=1,
    minutes=6,
    difficulty=1,
    reference=lambda losses, mask: _honest_loss(losses, mask),
    make_cases=_loss_cases,
    where_not_finite="Which losses do you average there? There may be none: a sentence of padding alone has "
    "no tokens, and a batch without padding has no padding. Add up the tokens of the whole batch first.",
    mistakes=(
        Mistake(
            "padding-counted",
            lambda losses, mask: float(losses.mean()),
            "Padding is counted. It is easy to predict, so the loss looks better than the model is.",
        ),
        Mistake(
            "padding-as-zeros",
            lambda losses, mask: float((losses * mask).mean()),
            "The losses of padding are set to 0, but they are still counted in the mean. Divide by the "
            "number of tokens.",
        ),
        Mistake(
            "mean-of-means",
            _mean_of_means,
            "This is the mean of the sentences' means: a token of a short sentence counts more than one of a "
            "long one. Every token should count the same.",
        ),
        Mistake(
            "mean-of-all-means",
            lambda losses, mask: float(
                ((losses * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).mean()
            ),
            "This is the mean of the sentences' means: a token of a short sentence counts more than one of a "
            "long one, and a sentence of padding counts as a loss of 0. Every token should count the same.",
        ),
        Mistake(
            "mean-of-means-of-nothing",
            _mean_of_rows,
            "This is the mean of the sentences' means: a token of a short sentence counts more than one of a "
            "long one, and for a sentence of padding alone you divide 0 by 0. Add up over the whole batch, "
            "and divide once.",
        ),
        Mistake(
            "by-columns",
            lambda losses, mask: float((losses * mask).sum() / losses.shape[1]),
            "The sum over all tokens is divided by the number of columns. Divide it by the number of tokens.",
        ),
        Mistake(
            "last-sentence",
            lambda losses, mask: _honest_loss(losses[-1:], mask[-1:]),
            "Only the last sentence was counted. Does a loop overwrite what it found before? The mean runs "
            "over all tokens of the batch.",
        ),
        Mistake(
            "sum",
            lambda losses, mask: float((losses * mask).sum()),
            "This is the sum over all tokens. Divide it by their number.",
        ),
        Mistake(
            "by-sentences",
            lambda losses, mask: float((losses * mask).sum() / len(losses)),
            "The sum over all tokens is divided by the number of sentences. Divide it by the number of "
            "tokens.",
        ),
        Mistake(
            "padding-alone",
            _padding_alone,
            "This is the mean over padding, and there is none where nothing is padded. In this mask 1 is a "
            "token.",
        ),
        Mistake(
            "first-sentence",
            lambda losses, mask: _honest_loss(losses[:1], mask[:1]) if mask[0].any() else 0.0,
            "Only the first sentence was counted. The mean runs over all tokens of the batch.",
        ),
        Mistake(
            "middle",
            lambda losses, mask: float(np.median(losses[mask == 1])),
            "This is the median of the tokens' losses. Take their mean.",
        ),
    ),
    alternatives=(
        lambda losses, mask: losses[mask == 1].mean(),
        lambda losses, mask: np.average(losses, weights=mask),
        lambda losses, mask: (
            sum(
                loss
                for row, real in zip(losses.tolist(), mask.tolist(), strict=True)
                for loss, one in zip(row, real, strict=True)
                if one
            )
            / mask.sum()
        ),
    ),
    hints=(
        "Which numbers belong in the mean, and how many are there?",
        "`mask.sum()` is the number of tokens in the whole batch.",
        "Add up the losses of the tokens, and divide by how many there are. `losses[mask == 1]` holds just "
        "these.",
    ),
)
