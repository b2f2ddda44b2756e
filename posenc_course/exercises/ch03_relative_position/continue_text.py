"""Two layers that continue a text: Write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import (
    INDUCTION,
    START,
    Generator,
    _text,
    match_weights,
    matched_by_hand,
    noted,
    notes_by_attention,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _text_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n, steps in (
        ("a passage of three: its first token again", 6, 3, 4, 1),
        ("a passage of four, and two tokens more", 9, 4, 6, 3),
        ("on and on: more steps than the passage has tokens", 10, 5, 7, 12),
        ("a long passage", 60, 50, 57, 20),
        ("the same token again and again", 5, 1, 4, 3),
        (
            "a random passage",
            30,
            int(rng.integers(6, 12)),
            int(rng.integers(13, 20)),
            int(rng.integers(5, 9)),
        ),
    ):
        yield Case(label, (_text(rng, vocab, period, n), steps, vocab))
    a, b, c, d, e = (1 + rng.permutation(11)[:5]).tolist()
    low, high = sorted((b, c))  # neither the smallest nor the largest token is always right
    yield Case(
        "what followed most often, and not last",
        (np.asarray([START, a, high, d, a, high, e, a, low, d, a]), 1, 12),
    )
    yield Case(
        "what followed most often, and not first",
        (np.asarray([START, a, high, d, a, low, e, a, low, high, a]), 1, 12),
    )
    for once, twice in ((low, high), (high, low)):
        yield Case(
            "what followed most often, with another in between",
            (np.asarray([START, a, twice, d, a, once, e, a, twice, d, a]), 1, 12),
        )


Weigh = Callable[[np.ndarray, int], np.ndarray]


def _continued(
    tokens: Any, steps: int, vocab: int, weigh: Weigh = match_weights, *, grow: bool = True
) -> np.ndarray:
    """By two layers; `weigh` may get the second wrong; without `grow`, what is written is not read again."""
    text, new = list(np.asarray(tokens).tolist()), []
    for _ in range(steps):
        notes = noted(text, vocab)
        new.append(int((weigh(notes, vocab)[-1] @ notes[:, :vocab]).argmax()))
        if grow:
            text.append(new[-1])
    return np.asarray(new)


def _what_followed(tokens: Any, steps: int, vocab: int, which: Callable[[list[int]], int]) -> list[int]:
    text = [int(each) for each in np.asarray(tokens)]
    for _ in range(steps):
        followed = [text[i + 1] for i in range(len(text) - 1) if text[i] == text[-1]]
        text.append(which(followed) if followed else text[-1])
    return text[len(text) - steps :]


def _most_common(followed: list[int]) -> int:
    return max(sorted(set(followed)), key=followed.count)


def _by_full_attention(tokens: np.ndarray, steps: int, vocab: int) -> list[int]:
    text, new = tokens.tolist(), []
    for _ in range(steps):
        notes = notes_by_attention(np.asarray(text), vocab)
        mixed = match_weights(notes, vocab, loudness=200.0) @ notes[:, :vocab]
        text.append(int(mixed[-1].argmax()))
        new.append(text[-1])
    return new


def _followers(text: list[int]) -> set[int]:
    """What came after earlier occurrences of the last token."""
    return {after for token, after in pairwise(text) if token == text[-1]}


CONTINUE_TEXT = Exercise(
    id="03-relative-position.continue_text",
    title="Write",
    step_of=INDUCTION,
    adds="Your decoder writes: it continues a text that repeats itself, although nobody trained it.",
    signature="continue_text(tokens: whole numbers (n,), steps: int, vocab: int) -> whole numbers (steps,)",
    points=2,
    minutes=12,
    difficulty=3,
    reference=lambda tokens, steps, vocab: _continued(tokens, steps, vocab),
    make_cases=_text_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1],),
            "Return the new tokens alone, one for each step.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.isin(value, args[0]).all()),
            "You wrote a token that does not occur in the text. An induction head copies: it never writes "
            "anything new.",
        ),
        Property(
            lambda args, value: value[0] in _followers(args[0].tolist()),
            "The first token that you write never came after the last token of the text. Find where that "
            "token was before, and what came next.",
        ),
    ),
    mistakes=(
        Mistake(
            "what-is-written-is-not-read",
            lambda tokens, steps, vocab: _continued(tokens, steps, vocab, grow=False),
            "The same token is written at every step. Append what you have written to the text before you "
            "look for the next token.",
        ),
        Mistake(
            "whole-text",
            lambda tokens, steps, vocab: np.concatenate([tokens, _continued(tokens, steps, vocab)]),
            "The text that was given is returned too. Return the new tokens alone.",
        ),
        Mistake(
            "one-step-too-many",
            lambda tokens, steps, vocab: np.concatenate([tokens[-1:], _continued(tokens, steps, vocab)]),
            "Your answer begins with the last token of the text. Return the new tokens alone.",
        ),
        Mistake(
            "repeats-the-last-token",
            lambda tokens, steps, vocab: np.repeat(np.asarray(tokens)[-1:], steps),
            "The last token is written over and over: you found the place of the word itself. The match is "
            "one place further on, where the note holds the word.",
        ),
        Mistake(
            "starts-again",
            lambda tokens, steps, vocab: np.resize(np.asarray(tokens)[1:], steps),
            "The text is written again from its first token on. Continue where it stops: find where its "
            "last token was before, and write what came next.",
        ),
        Mistake(
            "start-mark-and-all",
            lambda tokens, steps, vocab: np.resize(np.asarray(tokens), steps),
            "The text is written again from the start mark on. Continue where it stops.",
        ),
        Mistake(
            "latest-alone",
            lambda tokens, steps, vocab: np.asarray(
                _what_followed(tokens, steps, vocab, lambda each: each[-1])
            ),
            "You write what followed the last time. Where the word was in the text several times, each of "
            "them has the same weight: what followed most often wins.",
        ),
        Mistake(
            "earliest-alone",
            lambda tokens, steps, vocab: np.asarray(
                _what_followed(tokens, steps, vocab, lambda each: each[0])
            ),
            "You write what followed the first time. Where the word was in the text several times, each of "
            "them has the same weight: what followed most often wins.",
        ),
        Mistake(
            "rows-of-scores",
            lambda tokens, steps, vocab: np.eye(vocab)[_continued(tokens, steps, vocab)],
            "You return rows with a number for each word of the vocabulary. Return the tokens: the place "
            "of the largest number in each row.",
        ),
        Mistake(
            "in-reverse",
            lambda tokens, steps, vocab: _continued(tokens, steps, vocab)[::-1],
            "The new tokens come in reverse order.",
        ),
    ),
    alternatives=(
        _by_full_attention,
        lambda tokens, steps, vocab: _what_followed(tokens, steps, vocab, _most_common),
        lambda tokens, steps, vocab: _continued(tokens, steps, vocab, matched_by_hand).tolist(),
    ),
    hints=(
        "One step: `notes = note_before(text, vocab)`, then the last row of `match(notes, vocab)`. It says "
        "at which tokens the last one looks.",
        "Those weights times the words, `notes[:, :vocab]`, hold a number for each word. The largest one "
        "is written.",
        "Append the new token to the text, and take the next step. What your `note_before` calls is "
        "allowed here too: `posenc_lib.sinusoidal(n, 64)` and `posenc_lib.shift_matrix(1, 64)`.",
    ),
    lends=("sinusoidal", "shift_matrix"),
)
