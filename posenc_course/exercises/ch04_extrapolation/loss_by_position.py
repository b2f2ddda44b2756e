"""Your decoder gets its loss: The loss by position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import LOSS, Generator, token_losses_by_loop
from posenc_course.exercises.ch04_extrapolation.token_losses import token_losses
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _loss_by_position(logits: Array, tokens: Array, width: int) -> Array:
    losses = np.array([token_losses(*each) for each in zip(logits, tokens, strict=True)])
    return np.array([losses[:, at : at + width].mean() for at in range(0, losses.shape[1], width)])


def _position_cases(rng: Generator) -> Iterator[Case]:
    sizes = ((2, 5, 3, 2), (3, 9, 4, 4), (2, 8, 3, 3), (4, 13, 5, 5), (2, 6, 2, 8), (3, 7, 4, 1))
    for texts, n, vocab, width in (*sizes, (int(rng.integers(3, 6)), int(rng.integers(15, 23)), 5, 4)):
        logits = rng.normal(size=(texts, n, vocab)) * np.linspace(0.3, 2.5, n)[:, None]
        tokens = rng.integers(vocab, size=(texts, n))
        yield Case(f"{texts} texts of {n} tokens, stretches of {width}", (logits, tokens, width))


def _all_losses(logits: Array, tokens: Array) -> Array:
    return np.array([token_losses(*each) for each in zip(logits, tokens, strict=True)])


def _stretches(losses: Array, width: int, mean: Callable[[Array], Any] = np.mean) -> Array:
    return np.array([mean(losses[:, at : at + width]) for at in range(0, losses.shape[1], width)])


def _by_labels(logits: Array, tokens: Array, width: int) -> Array:
    losses = _all_losses(logits, tokens)
    label = np.broadcast_to(np.arange(losses.shape[1]) // width, losses.shape)
    return np.bincount(label.ravel(), losses.ravel()) / np.bincount(label.ravel())


def _by_text_and_loop(logits: Array, tokens: Array, width: int) -> list[float]:
    sums: dict[int, list[float]] = {}
    for text, row in zip(tokens, logits, strict=True):
        for place, loss in enumerate(token_losses_by_loop(row, text)):
            sums.setdefault(place // width, []).append(loss)
    return [sum(each) / len(each) for _, each in sorted(sums.items())]


LOSS_BY_POSITION = Exercise(
    id="04-extrapolation.loss_by_position",
    title="The loss by position",
    step_of=LOSS,
    adds="Your decoder gets its loss, in nats, for each stretch of positions.",
    signature="loss_by_position(logits: array of shape (texts, n, vocab), tokens: array of shape (texts, n), "
    "width: int) -> array of shape (stretches,), in nats",
    points=2,
    minutes=10,
    difficulty=2,
    reference=_loss_by_position,
    make_cases=_position_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (-(-(args[1].shape[1] - 1) // args[2]),),
            "A text of n tokens has n - 1 losses. There is one mean for each stretch of width of them, and "
            "one for what is left at the end.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "by-length",
            lambda logits, tokens, width: np.array(
                [
                    _all_losses(logits, tokens)[:, : at + width].mean()
                    for at in range(0, tokens.shape[1] - 1, width)
                ]
            ),
            "Each number is the mean from the beginning of the text: the loss by length. Early positions "
            "then hide what happens at late ones. Take each stretch by itself.",
        ),
        Mistake(
            "sums",
            lambda logits, tokens, width: _stretches(_all_losses(logits, tokens), width, np.sum),
            "These are sums. Take the mean of each stretch, over all texts.",
        ),
        Mistake(
            "first-text-alone",
            lambda logits, tokens, width: _stretches(_all_losses(logits[:1], tokens[:1]), width),
            "Only the first text is counted. Each mean runs over all texts.",
        ),
        Mistake(
            "last-position-of-each",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part[:, -1].mean()
            ),
            "You take one position of each stretch, its last. The mean runs over all of them.",
        ),
        Mistake(
            "every-width-th",
            lambda logits, tokens, width: np.array(
                [
                    _all_losses(logits, tokens)[:, k :: -(-(tokens.shape[1] - 1) // width)].mean()
                    for k in range(-(-(tokens.shape[1] - 1) // width))
                ]
            ),
            "Your groups jump through the text. A stretch is made of neighbours: the first width losses, "
            "then the next width losses.",
        ),
        Mistake(
            "in-reverse",
            lambda logits, tokens, width: _loss_by_position(logits, tokens, width)[::-1],
            "The stretches come in reverse order. The beginning of the text comes first.",
        ),
        Mistake(
            "rest-over-width",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part.sum() / (len(part) * width)
            ),
            "The last stretch is divided by width, though it may hold fewer losses than that. Divide by how "
            "many there are.",
        ),
        Mistake(
            "one-too-wide",
            lambda logits, tokens, width: np.array(
                [
                    _all_losses(logits, tokens)[:, at : at + width + 1].mean()
                    for at in range(0, tokens.shape[1] - 1, width)
                ]
            ),
            "Each stretch holds one loss too many, the first of the next. A slice leaves its end out by "
            "itself: at : at + width holds width losses.",
        ),
        Mistake(
            "even-stretches",
            lambda logits, tokens, width: np.array(
                [
                    part.mean()
                    for part in np.array_split(
                        _all_losses(logits, tokens), -(-(tokens.shape[1] - 1) // width), axis=1
                    )
                ]
            ),
            "Your stretches are of nearly the same length, as np.array_split makes them. Here each holds "
            "width losses, and only the last may hold fewer.",
        ),
        Mistake(
            "median",
            lambda logits, tokens, width: _stretches(_all_losses(logits, tokens), width, np.median),
            "These are medians. Take the mean of each stretch.",
        ),
        Mistake(
            "sums-of-texts",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part.sum(axis=1).mean()
            ),
            "Each number is the sum of a stretch, averaged over the texts. Divide by the losses in the "
            "stretch as well: one mean over all of them.",
        ),
        Mistake(
            "last-text-alone",
            lambda logits, tokens, width: _stretches(_all_losses(logits[-1:], tokens[-1:]), width),
            "Only the last text is counted. Does a loop over the texts overwrite what it found before? Each "
            "mean runs over all texts.",
        ),
        Mistake(
            "first-position-of-each",
            lambda logits, tokens, width: _stretches(
                _all_losses(logits, tokens), width, lambda part: part[:, 0].mean()
            ),
            "You take one position of each stretch, its first. The mean runs over all of them.",
        ),
        Mistake(
            "texts-as-stretches",
            lambda logits, tokens, width: np.resize(
                _all_losses(logits, tokens).mean(axis=1), -(-(tokens.shape[1] - 1) // width)
            ),
            "You average along each text, which mixes its positions. Average over the texts, stretch by "
            "stretch.",
        ),
    ),
    alternatives=(
        _by_labels,
        _by_text_and_loop,
        lambda logits, tokens, width: _loss_by_position(logits, tokens, width).tolist(),
    ),
    hints=(
        "Call `token_losses` for each text: the results, one below another, have shape (texts, n - 1).",
        "Stretch k holds the columns `k * width` to `(k + 1) * width`; a slice past the end stops by itself.",
        "One mean for each stretch, over all texts and all columns of it: `losses[:, a:b].mean()`.",
    ),
)
