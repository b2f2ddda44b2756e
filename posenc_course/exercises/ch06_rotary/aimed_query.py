"""Aim a query."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch06_rotary._shared import Generator, _turned, turned_by
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.rotated.rotary import apply_rotary


def _aim_cases(rng: Generator) -> Iterator[Case]:
    for label, dim, offset, base in (
        ("one pair, three back", 2, 3, 10000.0),
        ("two pairs, 40 back", 4, 40, 10000.0),
        ("eight pairs, one back, base 300", 16, 1, 300.0),
        ("three pairs, offset 0", 6, 0, 10000.0),
        ("four pairs, 5 ahead", 8, -5, 10000.0),
        ("five pairs, far back, base 500,000", 10, int(rng.integers(1000, 9000)), 500_000.0),
    ):
        yield Case(label, (rng.normal(size=dim), offset, base))


def _aimed_by_pairs(key: Array, offset: int, base: float) -> list[float]:
    query = []
    for j in range(len(key) // 2):
        angle = offset * base ** (-2 * j / len(key))
        a, b = key[2 * j], key[2 * j + 1]
        query += [a * np.cos(angle) + b * np.sin(angle), b * np.cos(angle) - a * np.sin(angle)]
    return [float(each) for each in query]


def _aimed_by_matrix(key: Array, offset: int, base: float) -> Array:
    """The matrix that takes a key to where it stands as seen from the query, transposed."""
    turn = apply_rotary(np.eye(len(key)), np.full(len(key), offset), base=base)
    return np.asarray(turn @ key)


AIMED_QUERY = Exercise(
    id="06-rotary.aimed_query",
    title="Aim a query",
    signature="aimed_query(key: array of shape (dim,), offset: int, base: float) -> array of shape (dim,)",
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda key, offset, base: turned_by(key, -offset, base),
    make_cases=_aim_cases,
    absolute_tolerance=1e-4,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The query must be as wide as the key.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(
                    np.hypot(value[0::2], value[1::2]), np.hypot(args[0][0::2], args[0][1::2]), atol=1e-3
                )
            ),
            "Each pair of the query must be as long as the same pair of the key.",
        ),
    ),
    mistakes=(
        Mistake(
            "the-other-way",
            lambda key, offset, base: turned_by(key, offset, base),
            "Your query looks just as far, but ahead: its score peaks for a key that comes after it. Turn "
            "the other way.",
        ),
        Mistake(
            "the-key-itself",
            lambda key, offset, base: np.array(key),
            "This is the key itself. Its score with itself peaks at offset 0. To peak at another offset, it "
            "has to be turned first.",
        ),
        Mistake(
            "half-layout",
            lambda key, offset, base: turned_by(key, -offset, base, layout="half"),
            "You turned columns j and j + dim/2 together. Here neighbours make a pair, columns 2j and 2j + "
            "1.",
        ),
        Mistake(
            "one-angle-for-all",
            lambda key, offset, base: np.asarray(
                _turned(key[None], np.full((1, len(key) // 2), float(offset)), clockwise=True)[0]
            ),
            "Every pair was turned by the offset itself. Multiply the offset by the frequency of the pair.",
        ),
        Mistake(
            "mirrored",
            lambda key, offset, base: (
                turned_by(key, offset, base) * np.where(np.arange(len(key)) % 2, -1.0, 1.0)
            ),
            "You turned the mirror image of the key: as complex numbers, its conjugate. Turn the key as it "
            "is.",
        ),
        Mistake(
            "trough",
            lambda key, offset, base: -turned_by(key, -offset, base),
            "The score has its deepest trough at this offset, not its crest: your query points away from "
            "the key.",
        ),
        Mistake(
            "base-ignored",
            lambda key, offset, base: turned_by(key, -offset, 10000.0),
            "It is right for base 10,000, and for no other. Use the base that is given.",
        ),
        Mistake(
            "length-one",
            lambda key, offset, base: turned_by(key, -offset, base) / np.linalg.norm(key),
            "The direction is right, but the query has length 1. Make each of its pairs as long as the same "
            "pair of the key.",
        ),
        Mistake(
            "one-too-far",
            lambda key, offset, base: turned_by(key, -offset - 1, base),
            "Your query looks one further back than it should. The offset is the query's position minus the "
            "key's.",
        ),
        Mistake(
            "doubled-twice",
            lambda key, offset, base: turned_by(key, -offset, base**2),
            "The exponent of the base is 4j/dim and should be 2j/dim. Is the factor 2 in it twice?",
        ),
        Mistake(
            "j-over-dim",
            lambda key, offset, base: turned_by(key, -offset, base**0.5),
            "The exponent of the base is j/dim and should be 2j/dim. Is the factor 2 missing?",
        ),
        Mistake(
            "distance-for-offset",
            lambda key, offset, base: turned_by(key, -abs(offset), base),
            "It is right for keys before the query. For a negative offset you took its absolute value, but "
            "there the key comes after the query: keep the sign.",
        ),
        Mistake(
            "one-too-near",
            lambda key, offset, base: turned_by(key, -offset + 1, base),
            "Your query looks one less far back than it should. The offset is the query's position minus "
            "the key's.",
        ),
        Mistake(
            "first-pair-alone",
            lambda key, offset, base: np.concatenate([turned_by(key, -offset, base)[:2], key[2:]]),
            "Only the first pair was turned. Every pair has to be, each by its own frequency.",
        ),
        Mistake(
            "away-and-ahead",
            lambda key, offset, base: -turned_by(key, offset, base),
            "Two things: your query points away from the key, and the turn goes the wrong way. Drop the "
            "minus, and turn the key back.",
        ),
    ),
    alternatives=(
        _aimed_by_pairs,
        _aimed_by_matrix,
        lambda *args: turned_by(args[0], -args[1], args[2]).tolist(),
    ),
    hints=(
        "Take one pair of the query and of the key, as two arrows. When is their dot product largest? When "
        "they point the same way. That has to happen *after* both have been turned.",
        "Put the key at position 0 and the query at position `offset`. Turned by its own angle, the query "
        "must then point where the key points.",
        "So turn each pair of the key back, by `offset` times its frequency.",
    ),
)
