"""Your decoder gets its loss: What each token costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import LOSS, Generator, token_losses_by_loop
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _log_weights(logits: Array, axis: int = -1) -> Array:
    raised = logits - logits.max(axis=axis, keepdims=True)
    return np.asarray(raised - np.log(np.exp(raised).sum(axis=axis, keepdims=True)))


def token_losses(logits: Array, tokens: Array) -> Array:
    return -_log_weights(logits[:-1])[np.arange(len(tokens) - 1), tokens[1:]]


def _logit_cases(rng: Generator) -> Iterator[Case]:
    yield Case("3 tokens, all logits alike", (np.zeros((3, 4)), np.array([2, 0, 3])))
    for n, vocab, size in ((2, 2, 1.0), (5, 3, 1.0), (8, 6, 3.0), (12, 4, 10.0)):
        yield Case(
            f"{n} tokens of {vocab}", (size * rng.normal(size=(n, vocab)), rng.integers(vocab, size=n))
        )
    loud, tokens = 900.0 * rng.normal(size=(6, 5)), rng.integers(5, size=6)
    above_all = np.abs(loud).max() + 800.0
    loud[0, tokens[1]] = -above_all  # its weight is rounded to 0, however the softmax is written
    loud[1, tokens[2]] = above_all  # its weight is 1, where nothing overflows
    yield Case("logits of a thousand", (loud, tokens))
    n = int(rng.integers(10, 20))
    yield Case(f"{n} tokens of 7", (2 * rng.normal(size=(n, 7)), rng.integers(7, size=n)))


def _token_losses_by_differences(logits: Array, tokens: Array) -> Array:
    """The log of a sum of how much each of them is above that of the right one."""
    right = np.take_along_axis(logits[:-1], np.asarray(tokens)[1:, None], axis=1)
    return np.asarray(np.logaddexp.reduce(logits[:-1] - right, axis=1))


def _not_capped(args: tuple[Array, Array], value: Array) -> bool:
    """Whether nothing looks as if the losses had an upper bound.

    They have one where only the largest are wrong, and too small, or all wrong ones are one large number.
    """
    right = token_losses(*args)
    wrong = ~np.isclose(value, right, rtol=1e-9)
    if not wrong.any() or (value > right)[wrong].any():
        return True
    if (~wrong).sum() < 2:
        return bool(wrong.sum() < 2 or value[wrong].min() < 5 or np.ptp(value[wrong]) > 1e-6)
    return bool(right[wrong].min() < right[~wrong].max())


def _bare_softmax_losses(logits: Array, tokens: Array) -> Array:
    with np.errstate(all="ignore"):
        raised = np.exp(logits[:-1])
        p = raised / raised.sum(axis=1, keepdims=True)
        return -np.log(p[np.arange(len(tokens) - 1), tokens[1:]])


def _log_of_softmax(logits: Array, tokens: Array) -> Array:
    with np.errstate(all="ignore"):
        p = np.exp(_log_weights(logits[:-1]))
        return np.asarray(-np.log(p[np.arange(len(tokens) - 1), tokens[1:]]))


TOKEN_LOSSES = Exercise(
    id="04-extrapolation.token_losses",
    title="What each token costs",
    step_of=LOSS,
    signature="token_losses(logits: array of shape (n, vocab), tokens: array of shape (n,)) -> array of "
    "shape (n - 1,), in nats",
    points=2,
    minutes=10,
    difficulty=2,
    reference=token_losses,
    make_cases=_logit_cases,
    where_not_finite="No computer holds e to the power of a thousand. First subtract from each row its own "
    "largest number: the weights stay what they are. And a probability that is rounded to 0 has no "
    "logarithm: take the logarithm of the softmax in one step, row - max - log(sum(exp(row - max))).",
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[1]) - 1,),
            "There is one loss for each token except the first, which nothing predicts: n - 1 of them.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(np.asarray(value) >= -1e-9)),
            "No loss can be below 0: no probability is above 1.",
        ),
        Property(
            _not_capped,
            "Only the largest losses are wrong, and they are too small. Did you add a small number to the "
            "probabilities, or clip them, to be safe from log(0)? Then no loss can be larger than a certain "
            "bound. Take the logarithm of the softmax in one step: row - max - log(sum(exp(row - max))).",
        ),
    ),
    mistakes=(
        Mistake(
            "own-token",
            lambda logits, tokens: -_log_weights(logits[:-1])[np.arange(len(tokens) - 1), tokens[:-1]],
            "Each row is asked about its own token, which it has already read. Row t predicts token t + 1.",
        ),
        Mistake(
            "backwards",
            lambda logits, tokens: -_log_weights(logits[1:])[np.arange(len(tokens) - 1), tokens[:-1]],
            "Each row is asked about the token before it. Row t predicts token t + 1.",
        ),
        Mistake(
            "reads-the-answer",
            lambda logits, tokens: -_log_weights(logits[1:])[np.arange(len(tokens) - 1), tokens[1:]],
            "Row t is asked about token t, from token 1 on. By then the model has read it. Row t predicts "
            "token t + 1.",
        ),
        Mistake(
            "bits",
            lambda logits, tokens: token_losses(logits, tokens) / np.log(2),
            "These are bits: the logarithm is of base 2. Nats take the natural one, np.log.",
        ),
        Mistake(
            "log-probabilities",
            lambda logits, tokens: -token_losses(logits, tokens),
            "These are the logarithms of the probabilities. A loss is their negative.",
        ),
        Mistake(
            "probabilities",
            lambda logits, tokens: np.exp(-token_losses(logits, tokens)),
            "These are the probabilities of the tokens. The loss is minus the logarithm of each.",
        ),
        Mistake(
            "one-minus-p",
            lambda logits, tokens: 1 - np.exp(-token_losses(logits, tokens)),
            "These are 1 - p, the probabilities of something else. The loss is minus the logarithm of p.",
        ),
        Mistake(
            "of-the-others",
            lambda logits, tokens: -np.log1p(-np.exp(-token_losses(logits, tokens))),
            "You took -log(1 - p), the loss of all the other tokens. The loss is -log(p).",
        ),
        Mistake(
            "base-10",
            lambda logits, tokens: token_losses(logits, tokens) / np.log(10),
            "The logarithm is of base 10. Nats take the natural one, np.log.",
        ),
        Mistake(
            "best-token",
            lambda logits, tokens: -_log_weights(logits[:-1]).max(axis=1),
            "You took the token that the model thinks most probable, in each row. The loss asks for the one "
            "that came: tokens[1:].",
        ),
        Mistake(
            "entropy",
            lambda logits, tokens: (
                -np.exp(_log_weights(logits[:-1])) * np.maximum(_log_weights(logits[:-1]), -1e300)
            ).sum(axis=1),
            "This is the entropy of each row, how uncertain the model is before it sees the token. The loss "
            "is -log(p) of the one token that came.",
        ),
        Mistake(
            "softmax-twice",
            lambda logits, tokens: token_losses(np.exp(_log_weights(logits)), tokens),
            "The softmax was taken twice. Cross-entropy of a library takes logits: do not hand it "
            "probabilities.",
        ),
        Mistake(
            "softmax-over-tokens",
            lambda logits, tokens: -_log_weights(logits[:-1], axis=0)[np.arange(len(tokens) - 1), tokens[1:]],
            "The softmax was taken down the columns. Each row is one prediction: its weights must sum to 1.",
        ),
        Mistake(
            "logits-as-losses",
            lambda logits, tokens: -logits[np.arange(len(tokens) - 1), tokens[1:]],
            "You took the logits of the tokens as they are. First turn each row into probabilities, with the "
            "softmax.",
        ),
        Mistake(
            "log-of-a-weight",
            _log_of_softmax,
            "Your softmax does not overflow, and yet its logarithm is lost: a very small weight keeps few of "
            "its digits, or is rounded to 0. Take the logarithm of the softmax in one step: "
            "row - max - log(sum(exp(row - max))).",
        ),
        Mistake(
            "bare-softmax",
            _bare_softmax_losses,
            "Your softmax overflows where logits are large. First subtract from each row its own largest "
            "number: the weights stay what they are.",
        ),
    ),
    alternatives=(
        token_losses_by_loop,
        _token_losses_by_differences,
        lambda logits, tokens: token_losses(logits, tokens).tolist(),
    ),
    hints=(
        "Which row of the logits predicts token 3, before it is read? And which row predicts a token that "
        "you do not have?",
        "Softmax of the rows `logits[:-1]`, then in each row the weight of the token in `tokens[1:]`.",
        "Minus the logarithm of that weight. To be safe with large logits, subtract the largest of the row "
        "first, then take `np.log(np.exp(row).sum()) - row[token]`.",
    ),
)
