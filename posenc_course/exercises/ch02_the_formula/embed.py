"""Tokens to vectors: Look up and scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import INPUT
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _words(rng: np.random.Generator, vocabulary: int, dim: int) -> np.ndarray:
    return np.asarray(rng.normal(size=(vocabulary, dim)))


def _embed_cases(rng: np.random.Generator) -> Iterator[Case]:
    for label, shape, vocabulary, dim in (
        ("3 tokens of 5 words, dim 4", (3,), 5, 4),
        ("as many tokens as words, dim 6", (4,), 4, 6),
        ("2 sequences of 6 tokens, dim 8", (2, 6), 30, 8),
        ("one token, dim 2", (1,), 7, 2),
        ("a sequence longer than the vocabulary, dim 16", (20,), 9, 16),
        ("axes (2, 3, 4) of tokens, dim 10", (2, 3, 4), 12, 10),
    ):
        tokens = rng.integers(1, vocabulary, size=shape)
        tokens.flat[1:2] = 0  # a word as any other
        yield Case(label, (tokens, _words(rng, vocabulary, dim)))


def _embed(tokens: Any, embedding: Any) -> np.ndarray:
    return np.asarray(np.asarray(embedding)[np.asarray(tokens)] * np.sqrt(np.shape(embedding)[1]))


def _embed_by_one_hot(tokens: np.ndarray, embedding: np.ndarray) -> np.ndarray:
    chosen = tokens[..., None] == np.arange(len(embedding))
    return np.asarray(embedding.shape[-1] ** 0.5 * (chosen @ embedding))


def _embed_by_loop(tokens: np.ndarray, embedding: np.ndarray) -> list[Any]:
    if tokens.ndim > 1:
        return [_embed_by_loop(each, embedding) for each in tokens]
    return [[float(x) * embedding.shape[1] ** 0.5 for x in embedding[token]] for token in tokens]


def _embed_with(rule: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[[Any, Any], Any]:
    """What the rule makes of (the rows looked up, the embedding)."""
    return lambda tokens, embedding: rule(np.asarray(embedding)[np.asarray(tokens)], np.asarray(embedding))


def _scaled_otherwise(tokens: np.ndarray, embedding: np.ndarray, value: np.ndarray) -> bool:
    rows = embedding[tokens]
    factor = np.sum(value * rows) / np.sum(rows**2)
    scaled = value.any() and np.allclose(value, factor * rows)
    return bool(scaled) and not np.isclose(factor, embedding.shape[1] ** 0.5)


EMBED = Exercise(
    id="02-the-formula.embed",
    title="Look up and scale",
    signature="embed(tokens: shape (..., n), embedding: shape (vocabulary, dim)) -> shape (..., n, dim)",
    step_of=INPUT,
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda tokens, embedding: _embed(tokens, embedding),
    make_cases=_embed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (*np.shape(args[0]), np.shape(args[1])[1]),
            "Each token must become a vector of dim numbers; the axes of the tokens stay in front.",
            about="form",
        ),
        Property(
            lambda args, value: not _scaled_otherwise(args[0], args[1], value),
            "You look up the right rows, but the number that multiplies them is not the square root of dim. "
            "dim is the width of the embedding, embedding.shape[1].",
        ),
    ),
    mistakes=(
        Mistake(
            "no-scale",
            _embed_with(lambda rows, embedding: rows),
            "The rows are those of the tokens, and they were not scaled. Multiply them by the square root of "
            "dim.",
        ),
        Mistake(
            "divided",
            _embed_with(lambda rows, embedding: rows / np.sqrt(embedding.shape[1])),
            "The rows were divided by the square root of dim. Multiply them by it: the division belongs to "
            "the scores of attention.",
        ),
        Mistake(
            "scaled-by-dim",
            _embed_with(lambda rows, embedding: rows * embedding.shape[1]),
            "The rows were multiplied by dim. Take its square root.",
        ),
        Mistake(
            "scaled-by-half-dim",
            _embed_with(lambda rows, embedding: rows * np.sqrt(embedding.shape[1] / 2)),
            "The rows were multiplied by the square root of dim/2, which is the norm of the encoding. The "
            "factor is the square root of dim.",
        ),
        Mistake(
            "root-of-the-vocabulary",
            _embed_with(lambda rows, embedding: rows * np.sqrt(len(embedding))),
            "The factor is the square root of the number of words. Take the width of the embedding, which is "
            "its second axis.",
        ),
        Mistake(
            "place-for-token",
            lambda tokens, embedding: np.broadcast_to(
                embedding[np.arange(np.shape(tokens)[-1]) % len(embedding)] * np.sqrt(np.shape(embedding)[1]),
                (*np.shape(tokens), np.shape(embedding)[1]),
            ),
            "The rows were taken by the place in the sequence, and not by the token at that place. Index the "
            "embedding with the tokens.",
        ),
        Mistake(
            "tokens-from-1",
            lambda tokens, embedding: _embed(np.asarray(tokens) - 1, embedding),
            "The tokens were counted from 1, so each got the row before its own. Token 0 has row 0.",
        ),
        Mistake(
            "unit-length",
            _embed_with(lambda rows, embedding: rows / np.linalg.norm(rows, axis=-1, keepdims=True)),
            "Each row was made to have length 1. Leave the lengths that were learned, and multiply by the "
            "square root of dim.",
        ),
        Mistake(
            "unit-length-then-scaled",
            _embed_with(
                lambda rows, embedding: (
                    rows / np.linalg.norm(rows, axis=-1, keepdims=True) * np.sqrt(embedding.shape[1])
                )
            ),
            "Each row was made to have length 1 before it was scaled. Leave the lengths that were learned, "
            "and only multiply by the square root of dim.",
        ),
        Mistake(
            "root-added",
            _embed_with(lambda rows, embedding: rows + np.sqrt(embedding.shape[1])),
            "The square root of dim was added to the rows. Multiply them by it.",
        ),
        Mistake(
            "root-of-the-length",
            lambda tokens, embedding: embedding[np.asarray(tokens)] * np.sqrt(np.shape(tokens)[-1]),
            "The factor is the square root of the number of tokens. Take the width of the embedding, which "
            "is its second axis.",
        ),
    ),
    alternatives=(
        _embed_by_one_hot,
        _embed_by_loop,
        lambda tokens, embedding: _embed(tokens, embedding).tolist(),
    ),
    hints=(
        "An array of whole numbers can index the rows of another array: `embedding[tokens]`.",
        "The width is `embedding.shape[1]`. Multiply by its square root.",
    ),
)
