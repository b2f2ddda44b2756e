"""Two layers that continue a text: Layer 2 matches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import (
    INDUCTION,
    START,
    Generator,
    _causal,
    _text,
    match_weights,
    matched_by_hand,
    noted,
    one_hot,
    softmax,
    softmax_of_the_past,
    sum_to_one,
)
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _one_of_the_matches(notes: np.ndarray, vocab: int, *, last: bool) -> np.ndarray:
    """As `_match_weights`, but of several matches one alone is looked at."""
    weights = match_weights(notes, vocab)
    for t, row in enumerate(weights):
        places = np.flatnonzero(row > 1e-6)
        if len(places) <= t:  # else nothing matches, and all are equal
            weights[t] = np.arange(len(row)) == places[-1 if last else 0]
    return weights


def _match_cases(rng: Generator) -> Iterator[Case]:
    for label, vocab, period, n in (
        ("a passage of three, and one token more", 6, 3, 4),
        ("a passage of four, twice", 9, 4, 8),
        ("nothing is repeated: all weights are equal", 8, 6, 6),
        ("a passage of five, three times and a half", 12, 5, 17),
        ("the start mark alone", 4, 1, 0),
    ):
        yield Case(label, (noted(_text(rng, vocab, period, n), vocab), vocab))
    soft = noted([START, 3, 1, 4, 2, 3, 1], 6)
    soft[1:, 6:] = 0.996 * soft[1:, 6:] + 0.004 * one_hot(5, 6)  # a word that nobody asks for
    yield Case("soft notes: 0.996 of the word before", (soft, 6))
    yield Case("random tokens", (noted(np.concatenate([[START], rng.integers(1, 8, size=25)]), 8), 8))


def _nothing_matches(notes: np.ndarray, vocab: int) -> np.ndarray:
    return np.asarray(~np.tril(notes[:, :vocab] @ notes[:, vocab:].T).any(axis=1))


def _to_matches(notes: np.ndarray, vocab: int, weights: np.ndarray) -> np.ndarray:
    """Of the rows in which something matches: what all that matches gets together."""
    fits = np.tril(notes[:, :vocab] @ notes[:, vocab:].T)
    return np.asarray((weights * fits).sum(axis=1)[~_nothing_matches(notes, vocab)])


def _even(notes: np.ndarray, vocab: int) -> np.ndarray:
    """The weights of those rows in which nothing matches."""
    visible = np.tri(len(notes))
    return np.asarray((visible / visible.sum(axis=1, keepdims=True))[_nothing_matches(notes, vocab)])


MATCH = Exercise(
    id="03-relative-position.match",
    title="Layer 2 matches",
    step_of=INDUCTION,
    signature="match(notes: array of shape (n, 2 * vocab), vocab: int) -> weights of shape (n, n)",
    points=2,
    minutes=12,
    difficulty=3,
    draws=Draws(
        lambda match, rows, columns: heat_map(
            match(noted(np.array([START, 1, 2, 3, 4, 1, 2, 3, 4]), 6), 6), rows=rows, columns=columns
        ),
        axes=("query", "key"),
        look="Where the passage comes again, each token looks at what followed it the first time.",
    ),
    reference=lambda notes, vocab: match_weights(notes, vocab),
    make_cases=_match_cases,
    relative_tolerance=0.0,
    absolute_tolerance=0.01,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), len(args[0])),
            "Return a row of weights for every token, with one weight for each token: (n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.triu(value, k=1), 0, atol=0.02)),
            "No token may look at one that comes after it.",
        ),
        Property(
            lambda args, value: sum_to_one(value),
            "The weights of each token must sum to 1.",
        ),
        Property(
            lambda args, value: bool((_to_matches(args[0], args[1], value) > 0.979).all()),
            "Where some token matches, all the others together may get at most 0.01. Are the scores loud "
            "enough? And is the query the token's own word, and the key the note?",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[_nothing_matches(*args)], _even(*args), atol=0.021)),
            "Where no note is the token's own word, all the tokens that it can see share the weight "
            "equally, itself included.",
        ),
    ),
    mistakes=(
        Mistake(
            "word-with-word",
            lambda notes, vocab: softmax(_causal(1000.0 * notes[:, :vocab] @ notes[:, :vocab].T)),
            "Each token looks for its own word among the words, and finds itself. It should look for its "
            "own word among the notes: the tokens that have it before them.",
        ),
        Mistake(
            "note-with-word",
            lambda notes, vocab: softmax(_causal(1000.0 * notes[:, vocab:] @ notes[:, :vocab].T)),
            "The query is the note, and the key is the word: each token looks for the word before it, and "
            "finds it right there. It is the other way round: the query is the token's own word, and the "
            "key is the note.",
        ),
        Mistake(
            "note-with-note",
            lambda notes, vocab: softmax(_causal(1000.0 * notes[:, vocab:] @ notes[:, vocab:].T)),
            "Notes are compared with notes. The query is the token's own word.",
        ),
        Mistake(
            "all-with-all",
            lambda notes, vocab: softmax(_causal(1000.0 * notes @ notes.T)),
            "Whole rows are compared with whole rows, words with words and notes with notes. Cut the rows "
            "in two: the query is the first half, the key the second.",
        ),
        Mistake(
            "not-loud",
            lambda notes, vocab: match_weights(notes, vocab, loudness=1.0),
            "The right token gets more weight than the others, but not much: a score of 1 against 0. "
            "Multiply the scores by a large number.",
        ),
        Mistake(
            "not-causal",
            lambda notes, vocab: softmax(1000.0 * notes[:, :vocab] @ notes[:, vocab:].T),
            "Tokens look ahead, and find the next word in the future. Mask the keys that come after the "
            "query.",
        ),
        Mistake(
            "sees-not-itself",
            lambda notes, vocab: softmax_of_the_past(1000.0 * (notes[:, :vocab] @ notes[:, vocab:].T - 1)),
            "A token does not see itself here. The causal mask leaves the query's own key: where nothing "
            "matches, it is one of those that share the weight.",
        ),
        Mistake(
            "last-match-alone",
            lambda notes, vocab: _one_of_the_matches(notes, vocab, last=True),
            "Only the last of several tokens that match gets weight. Equal scores get equal weights.",
        ),
        Mistake(
            "first-match-alone",
            lambda notes, vocab: _one_of_the_matches(notes, vocab, last=False),
            "Only the first of several tokens that match gets weight. Equal scores get equal weights.",
        ),
        Mistake(
            "scores",
            lambda notes, vocab: np.tril(notes[:, :vocab] @ notes[:, vocab:].T),
            "These are scores: 1 where a note fits, 0 elsewhere. Multiply them by a large number, mask "
            "them, and take the softmax of each row.",
        ),
        Mistake(
            "softmax-over-queries",
            lambda notes, vocab: softmax(_causal(1000.0 * notes[:, :vocab] @ notes[:, vocab:].T), axis=0),
            "The softmax was taken over the queries, so that columns sum to 1. Take it over the last axis.",
        ),
    ),
    alternatives=(
        matched_by_hand,
        lambda notes, vocab: match_weights(notes, vocab, loudness=60.0),
        lambda notes, vocab: match_weights(notes, vocab, loudness=5000.0).tolist(),
    ),
    hints=(
        "The query of a token asks for its own word. Which half of a row answers: the word of the other "
        "token, or its note?",
        "`notes[:, :vocab] @ notes[:, vocab:].T` is 1 where the word of the query is the note of the key, "
        "and 0 elsewhere.",
        "Equal scores give equal weights by themselves, also where all are 0. Only the loudness and the "
        "mask are left to add.",
    ),
)
