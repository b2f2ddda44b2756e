"""What several exercises of `03-relative-position` share."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib.added.sinusoidal import shift_matrix, sinusoidal

Generator = np.random.Generator


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def _causal(scores: np.ndarray, reach: int = 0) -> np.ndarray:
    """Scores in which no query sees a key that is more than `reach` ahead of it."""
    queries, keys = scores.shape[-2:]
    return np.where(np.tri(queries, keys, k=reach, dtype=bool), scores, -np.inf)


def softmax_of_the_past(scores: np.ndarray) -> np.ndarray:
    """Weights on the keys before the query, and none on its own; the first query has none at all."""
    raised = np.exp(_causal(scores, reach=-1))
    return np.asarray(raised / np.maximum(raised.sum(axis=-1, keepdims=True), 1e-300))


def turning(turns: np.ndarray) -> np.ndarray:
    """A block-diagonal matrix that turns each (sine, cosine) pair by its own angle."""
    matrix = np.zeros((2 * len(turns), 2 * len(turns)))
    for pair, (c, s) in enumerate(zip(np.cos(turns), np.sin(turns), strict=True)):
        here = slice(2 * pair, 2 * pair + 2)
        matrix[here, here] = [[c, s], [-s, c]]
    return matrix


def turns_of(one_step: np.ndarray) -> np.ndarray:
    return np.asarray(np.arctan2(one_step.diagonal(1)[::2], one_step.diagonal()[::2]))


def distances_in_a_loop(product: float, dim: int, base: float, reach: int, tolerance: float) -> list[int]:
    found = []
    for distance in range(reach + 1):
        total = sum(np.cos(distance * base ** (-2 * i / dim)) for i in range(dim // 2))
        if abs(total - product) <= tolerance:
            found.append(distance)
    return found


def key_matrix(dim: int, base: float, step: float = 1) -> np.ndarray:
    return np.ascontiguousarray(shift_matrix(step, dim, base=base).T)


ONE_BACK_HEAD = "A head that looks one back"


def sum_to_one(weights: Any) -> bool:
    """Whether rows sum to 1, give or take what the tolerance of 0.01 allows each number."""
    weights = np.asarray(weights)
    return bool(np.abs(weights.sum(axis=-1) - 1).max() <= 0.01 * weights.shape[-1] + 0.01)


HEADS = "Your decoder gets heads"


INDUCTION = "Two layers that continue a text"


START = 0
"""The token that begins every text, and stands nowhere else."""


def _text(rng: Generator, vocab: int, period: int, n: int) -> np.ndarray:
    """The start mark, then n tokens: a passage of different tokens, over and over."""
    passage = 1 + rng.permutation(vocab - 1)[:period]
    return np.concatenate([[START], np.resize(passage, n)])


def one_hot(tokens: Any, vocab: int) -> np.ndarray:
    return np.asarray(np.eye(vocab)[np.asarray(tokens, dtype=int)])


def noted(tokens: Any, vocab: int, before: Any = None) -> np.ndarray:
    """Own words beside the words before, read from `before`; the first token's note is its own word."""
    tokens = np.asarray(tokens)
    before = np.concatenate([tokens[:1], tokens[:-1]]) if before is None else before
    return np.concatenate([one_hot(tokens, vocab), one_hot(before, vocab)], axis=1)


def noted_by(weights: np.ndarray, tokens: np.ndarray, vocab: int) -> np.ndarray:
    own = one_hot(tokens, vocab)
    return np.concatenate([own, weights @ own], axis=1)


def place_weights(n: int, *, step: float = 1, loudness: float = 1000.0, causal: bool = True) -> np.ndarray:
    places = sinusoidal(n, 64)
    scores = loudness * places @ (places @ key_matrix(64, 10000.0, step)).T / 8
    return softmax(_causal(scores) if causal else scores)


def notes_by_attention(tokens: np.ndarray, vocab: int) -> np.ndarray:
    return noted_by(place_weights(len(tokens)), tokens, vocab)


def match_weights(notes: np.ndarray, vocab: int, loudness: float = 1000.0) -> np.ndarray:
    return softmax(_causal(loudness * notes[:, :vocab] @ notes[:, vocab:].T))


def matched_by_hand(notes: np.ndarray, vocab: int) -> np.ndarray:
    own, before = notes[:, :vocab].argmax(axis=1), notes[:, vocab:].argmax(axis=1)
    weights = np.zeros((len(notes), len(notes)))
    for t in range(len(notes)):
        fits = (before[: t + 1] == own[t]).astype(float)
        fits = fits if fits.any() else np.ones(t + 1)
        weights[t, : t + 1] = fits / fits.sum()
    return weights
