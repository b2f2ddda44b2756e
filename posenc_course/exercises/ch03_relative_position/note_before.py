"""Two layers that continue a text: Layer 1 takes notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import (
    INDUCTION,
    START,
    Generator,
    _text,
    noted,
    noted_by,
    notes_by_attention,
    one_hot,
    place_weights,
    sum_to_one,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _note_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n in (
        ("start and three tokens", 5, 3, 3),
        ("a passage of four, twice", 7, 4, 8),
        ("the start mark alone", 3, 2, 0),
        ("the same token again and again", 4, 1, 6),
        ("a hundred tokens", 20, 15, 100),
        ("four hundred tokens", 9, 7, 400),
    ):
        yield Case(label, (_text(rng, vocab, period, n), vocab))
    yield Case("random tokens", (np.concatenate([[START], rng.integers(1, 12, size=30)]), 12))


def _notes_in_a_loop(tokens: np.ndarray, vocab: int) -> list[list[float]]:
    notes = []
    for t, token in enumerate(tokens.tolist()):
        row = [0.0] * (2 * vocab)
        row[token] = row[vocab + tokens.tolist()[max(t - 1, 0)]] = 1.0
        notes.append(row)
    return notes


def _right_but_mixed(args: tuple[Any, ...], value: np.ndarray) -> bool:
    right, notes = noted(*args)[:, args[1] :], value[:, args[1] :]
    right_ones = (notes * right).sum(axis=1)
    return bool((right_ones > 0.5).all() and (right_ones < 0.99).any())


NOTE_BEFORE = Exercise(
    id="03-relative-position.note_before",
    title="Layer 1 takes notes",
    step_of=INDUCTION,
    signature="note_before(tokens: whole numbers (n,), vocab: int) -> array of shape (n, 2 * vocab)",
    points=2,
    minutes=15,
    difficulty=4,
    reference=lambda tokens, vocab: noted(tokens, vocab),
    make_cases=_note_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * args[1]),
            "Return for each token its own word and its note, side by side: (n, 2 * vocab).",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.asarray(value)[:, : args[1]], one_hot(args[0], args[1]), atol=0.02)
            ),
            "The first vocab columns hold the token's own word: a 1 in the column of the token, and zeros.",
        ),
        Property(
            lambda args, value: sum_to_one(np.asarray(value)[:, args[1] :]),
            "Each note is a mean of words, with weights that sum to 1. So its numbers sum to 1 as well.",
        ),
        Property(
            lambda args, value: not _right_but_mixed(args, value),
            "Each note is mostly the right word, with others mixed in. The head must give at least 0.99 to "
            "the token before: make its queries louder.",
        ),
    ),
    mistakes=(
        Mistake(
            "not-loud",
            lambda tokens, vocab: noted_by(place_weights(len(tokens), loudness=1.0), tokens, vocab),
            "Each note mixes all the words so far. The head looks one back, but too quietly: multiply its "
            "queries by a larger number.",
        ),
        Mistake(
            "looks-one-ahead",
            lambda tokens, vocab: noted_by(place_weights(len(tokens), step=-1, causal=False), tokens, vocab),
            "The notes hold the word that comes after. Turn the keys the other way, and mask what comes "
            "later.",
        ),
        Mistake(
            "notes-its-own-word",
            lambda tokens, vocab: noted(tokens, vocab, tokens),
            "Each token notes its own word. The keys have to be turned one step on, so that a query finds "
            "the place before its own.",
        ),
        Mistake(
            "two-back",
            lambda tokens, vocab: noted(
                tokens, vocab, np.asarray(tokens)[np.maximum(np.arange(len(tokens)) - 2, 0)]
            ),
            "The notes hold the word two places before. Queries and keys are turned two steps apart: make it "
            "one.",
        ),
        Mistake(
            "first-note-empty",
            lambda tokens, vocab: np.concatenate(
                [
                    one_hot(tokens, vocab),
                    np.concatenate([np.zeros((1, vocab)), one_hot(np.asarray(tokens)[:-1], vocab)]),
                ],
                axis=1,
            ),
            "The first note is empty. A softmax always gives its weights to something, and the first token "
            "sees only itself: it notes its own word.",
        ),
        Mistake(
            "first-notes-the-last",
            lambda tokens, vocab: noted(tokens, vocab, np.roll(tokens, 1)),
            "The first token notes the last word of the text, as np.roll does. It cannot see that far "
            "ahead: it sees only itself, and notes its own word.",
        ),
        Mistake(
            "note-first",
            lambda tokens, vocab: np.roll(noted(tokens, vocab), vocab, axis=1),
            "The note comes first. Put the token's own word first, and its note after it.",
        ),
        Mistake(
            "added-up",
            lambda tokens, vocab: noted(tokens, vocab)[:, :vocab] + noted(tokens, vocab)[:, vocab:],
            "Word and note were added up in the same columns, so the next layer cannot tell which is which. "
            "Put them side by side.",
        ),
        Mistake(
            "mean-of-all-before",
            lambda tokens, vocab: noted_by(
                np.tri(len(tokens)) / (1 + np.arange(len(tokens)))[:, None], tokens, vocab
            ),
            "Each note is the plain mean of all words so far: the scores are all equal. Compare the places.",
        ),
        Mistake(
            "notes-alone",
            lambda tokens, vocab: noted(tokens, vocab)[:, vocab:],
            "These are the notes alone. The next layer also needs each token's own word, before the note.",
        ),
    ),
    alternatives=(
        notes_by_attention,
        _notes_in_a_loop,
        lambda tokens, vocab: noted_by(place_weights(len(tokens), loudness=400.0), tokens, vocab),
    ),
    hints=(
        "Three things: the words as rows with a single 1, the places as sinusoidal rows, and the weights "
        "of a causal head that looks one back among the places.",
        "The values are the words. `weights @ words` holds in row t the word that token t looks at.",
        "`posenc_lib.sinusoidal(n, 64)` gives the places, and `posenc_lib.shift_matrix(1, 64)` a matrix that "
        "moves them. The mask gives a score of minus infinity to all keys after the query.",
    ),
    lends=("sinusoidal", "shift_matrix"),
)
