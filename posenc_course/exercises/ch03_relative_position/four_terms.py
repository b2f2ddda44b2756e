"""Take a closed head apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from posenc_course.exercises.ch03_relative_position._shared import Generator, softmax
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


@dataclass(frozen=True)
class Head:
    """A closed head: from any rows (n, dim) to their scores (n, n). Its weights stay inside."""

    dim: int
    head_dim: int
    seed: int

    def __call__(self, x: Any) -> np.ndarray:
        rows = np.asarray(x)
        if rows.ndim != 2 or rows.shape[1] != self.dim or rows.dtype.kind not in "iuf":
            raise ValueError(f"give rows of {self.dim} real numbers: an array of shape (n, {self.dim})")
        w_q, w_k = np.random.default_rng(self.seed).normal(size=(2, self.dim, self.head_dim))
        return np.asarray((rows @ w_q) @ (rows @ w_k).T / np.sqrt(self.head_dim))


def _term_cases(rng: Generator) -> Iterator[Case]:
    def inputs(tokens: int, dim: int, head_dim: int) -> tuple[Head, np.ndarray, np.ndarray]:
        head = Head(dim, head_dim, int(rng.integers(10**6)))
        return head, rng.normal(size=(tokens, dim)), sinusoidal(tokens, dim)

    yield Case("three tokens, dim 4", inputs(3, 4, 2))
    yield Case("five tokens, dim 8", inputs(5, 8, 3))
    yield Case("one token, dim 2", inputs(1, 2, 1))
    yield Case("four tokens, dim 4: every array is square", inputs(4, 4, 4))
    head, words, places = inputs(4, 6, 5)
    yield Case("no positions: places of zeros", (head, words, np.zeros_like(places)))
    yield Case("one word everywhere", (head, np.repeat(words[:1], 4, axis=0), places))


def _terms(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    n, scores = len(words), head(np.concatenate([words, places]))
    return np.stack([scores[:n, :n], scores[:n, n:], scores[n:, :n], scores[n:, n:]])


def _terms_from_what_stands_between(head: Head, words: np.ndarray, places: np.ndarray) -> list[np.ndarray]:
    between = head(np.eye(words.shape[1]))
    return [query @ between @ key.T for query in (words, places) for key in (words, places)]


def _terms_token_by_token(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    n = len(words)
    terms = np.zeros((4, n, n))
    for t in range(n):
        for u in range(n):
            for number, (query, key) in enumerate(
                [(words, words), (words, places), (places, words), (places, places)]
            ):
                terms[number, t, u] = head(np.stack([query[t], key[u]]))[0, 1]
    return terms


def _both_mixed(head: Head, words: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.asarray(head(words + places) - head(words) - head(places))


FOUR_TERMS = Exercise(
    id="03-relative-position.four_terms",
    title="Take a closed head apart",
    signature="four_terms(head: function from (n, dim) to (n, n), words: (n, dim), places: (n, dim)) "
    "-> array of shape (4, n, n)",
    points=3,
    minutes=15,
    difficulty=4,
    reference=_terms,
    make_cases=_term_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (4, len(args[1]), len(args[1])),
            "Return four terms, each with a row for every query and a column for every key: (4, n, n).",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.sum(value, axis=0), args[0](args[1] + args[2]))),
            "The four terms must add up to the scores of words + places: nothing may be lost or counted "
            "twice.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[0], args[0](args[1]))),
            "The first term is word with word: the scores that the head gives to the words alone.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[3], args[0](args[2]))),
            "The fourth term is place with place: the scores that the head gives to the places alone.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[1:3], _terms(*args)[1:3])),
            "A mixed term is what the head says when a word asks and a place answers, or the other way "
            "round. Let words and places be different rows of one input, and read their scores off the "
            "result.",
        ),
    ),
    mistakes=(
        Mistake(
            "both-mixed-halved",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _both_mixed(head, words, places) / 2,
                    _both_mixed(head, words, places) / 2,
                    head(places),
                ]
            ),
            "The mixed part is cut in two equal halves. Word with place and place with word are two "
            "different terms: to tell them apart, let words and places be different rows of one input.",
        ),
        Mistake(
            "both-mixed-twice",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _both_mixed(head, words, places),
                    _both_mixed(head, words, places),
                    head(places),
                ]
            ),
            "Both mixed terms hold the sum of the two, so together they count it twice.",
        ),
        Mistake(
            "mixed-as-transposes",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _terms(head, words, places)[1],
                    _terms(head, words, places)[1].swapaxes(0, 1),
                    head(places),
                ]
            ),
            "Your third term is the transpose of the second. That would be right if queries and keys were "
            "made with the same weights, but they are not.",
        ),
        Mistake(
            "mixed-terms-exchanged",
            lambda head, words, places: _terms(head, words, places)[[0, 2, 1, 3]],
            "The two mixed terms are swapped. The second is the word of the query with the place "
            "of the key, and the third the place of the query with the word of the key.",
        ),
        Mistake(
            "mixed-terms-zero",
            lambda head, words, places: np.stack(
                [head(words), 0 * head(words), 0 * head(words), head(places)]
            ),
            "The mixed terms are 0 here. The scores of words + places are more than those of the words "
            "plus those of the places: multiply out (a + b)(c + d).",
        ),
        Mistake(
            "places-first",
            lambda head, words, places: _terms(head, words, places)[::-1],
            "The terms come in the opposite order. Words with words come first, and places with places last.",
        ),
        Mistake(
            "whole-input-in-the-mixed-terms",
            lambda head, words, places: np.stack(
                [
                    head(words),
                    _terms(head, words, words + places)[1],
                    _terms(head, words, words + places)[2],
                    head(places),
                ]
            ),
            "Your mixed terms take words + places on one side, so they hold another term once more. One "
            "side is the word alone, and the other the place alone.",
        ),
        Mistake(
            "scaled-once-more",
            lambda head, words, places: _terms(head, words, places) / np.sqrt(words.shape[1]),
            "The terms are divided by a square root once more. The head has scaled its scores already.",
        ),
        Mistake(
            "queries-across",
            lambda head, words, places: np.swapaxes(_terms(head, words, places), 1, 2),
            "Each term is transposed: its rows are keys. In what the head returns, rows are queries.",
        ),
        Mistake(
            "softmax-of-each",
            lambda head, words, places: softmax(_terms(head, words, places)),
            "A softmax was taken of each term. The terms are parts of a score: they are added up first, "
            "and the softmax comes after that.",
        ),
        Mistake(
            "mixed-terms-together",
            lambda head, words, places: np.stack(
                [head(words), _both_mixed(head, words, places), head(places)]
            ),
            "The two mixed terms were added up to one. Keep them apart: one says which words look at which "
            "places, the other which places look at which words.",
        ),
        Mistake(
            "dot-products",
            lambda head, words, places: np.stack(
                [words @ words.T, words @ places.T, places @ words.T, places @ places.T]
            ),
            "These are dot products of the inputs themselves. The head's own weights come in between: ask "
            "the head.",
        ),
    ),
    alternatives=(
        _terms_from_what_stands_between,
        _terms_token_by_token,
        lambda *args: _terms(*args).tolist(),
    ),
    hints=(
        "`head(words)` and `head(places)` are two of the four terms. Why is the rest of `head(words + "
        "places)` not enough for the other two?",
        "A score belongs to one row as the query and one row as the key, whatever other rows there are. So "
        "a row may be a word alone, and another row a place alone.",
        "`head(np.concatenate([words, places]))` has 2n rows and 2n columns. What do its four quarters hold?",
    ),
)
