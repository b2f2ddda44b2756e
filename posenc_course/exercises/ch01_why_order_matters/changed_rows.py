"""Two tokens trade places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.attention import attention


def _changed(tokens: Array, i: int, j: int, causal: bool, layers: int) -> Array:
    rows = np.arange(len(tokens))
    first, last = min(i, j), max(i, j)
    if tokens[i] == tokens[j]:
        return np.zeros(len(rows), dtype=bool)
    if not causal:
        return (rows == first) | (rows == last)
    return (rows >= first) & ((rows <= last) | (layers > 1))


def _changed_cases(rng: Generator) -> Iterator[Case]:
    six = np.array([7, 1, 4, 2, 9, 3])
    yield Case("no mask, one layer", (six, 1, 4, False, 1))
    yield Case("no mask, three layers", (six, 1, 4, False, 3))
    yield Case("causal mask, one layer", (six, 1, 4, True, 1))
    yield Case("causal mask, two layers", (six, 1, 4, True, 2))
    yield Case("causal mask, one layer, two neighbours", (six, 2, 3, True, 1))
    yield Case("causal mask, one layer, the later place is given first", (six, 4, 1, True, 1))
    yield Case("causal mask, three layers, the last two", (six, 5, 4, True, 3))
    yield Case(
        "causal mask, three layers, the first two of seven", (np.array([7, 1, 4, 2, 9, 3, 6]), 0, 1, True, 3)
    )
    yield Case("no mask, first and last", (six, 5, 0, False, 2))
    yield Case("causal mask, two layers, the same place twice", (six, 2, 2, True, 2))
    twins = np.array([5, 8, 5, 8, 1])
    yield Case("no mask, two equal tokens", (twins, 0, 2, False, 1))
    yield Case("causal mask, two layers, two equal tokens", (twins, 1, 3, True, 2))
    again = np.array([8, 1, 8, 5, 8, 1])
    yield Case(
        "causal mask, one layer, two tokens with equal ones before and between", (again, 2, 5, True, 1)
    )
    for _ in range(5):
        n = int(rng.integers(4, 9))
        i, j = (int(place) for place in rng.choice(n, size=2, replace=False))
        causal = bool(rng.random() < 0.7)
        layers = int(rng.integers(1, 4))
        yield Case("drawn at random", (rng.permutation(20)[:n], i, j, causal, layers))


def _rows_by_hand(
    tokens: Array, i: int, j: int, causal: bool, layers: int, *, seen: Callable[[int, int, int], bool]
) -> Array:
    """Under a mask, the rows for which `seen(row, first, last)`; without, the two that trade places."""
    first, last = min(i, j), max(i, j)
    if tokens[i] == tokens[j]:
        return np.zeros(len(tokens), dtype=bool)
    if not causal:
        return np.isin(np.arange(len(tokens)), [first, last])
    return np.array([seen(row, first, last) for row in range(len(tokens))])


def _changed_by_experiment(tokens: Array, i: int, j: int, causal: bool, layers: int) -> Array:
    """Random vectors for the tokens, random weights, and a look at what comes out."""
    rng = np.random.default_rng(0)
    vectors = {token: rng.normal(size=4) for token in sorted({*np.asarray(tokens).tolist()})}
    weights = rng.normal(size=(layers, 3, 4, 4)) / 3

    def model(tokens: list[int]) -> Array:
        x = np.array([vectors[token] for token in tokens])
        for w_q, w_k, w_v in weights:
            x = x + attention(x @ w_q, x @ w_k, x @ w_v, causal=causal)
        return x

    swapped = list(np.asarray(tokens).tolist())
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return np.abs(model(swapped) - model(list(np.asarray(tokens).tolist()))).max(axis=1) > 1e-9


def _changed_in_a_loop(tokens: Array, i: int, j: int, causal: bool, layers: int) -> list[bool]:
    """Layer by layer: a row changes if it is another token's, or if the set of what it sees has changed."""

    def layer(rows: list[str]) -> list[str]:
        seen = [rows[: t + 1] if causal else rows for t in range(len(rows))]
        return [f"{row} sees {sorted(others)}" for row, others in zip(rows, seen, strict=True)]

    now = [str(token) for token in tokens]
    then = list(now)
    then[i], then[j] = then[j], then[i]
    for _ in range(layers):
        now, then = layer(now), layer(then)
    return [one != other for one, other in zip(now, then, strict=True)]


def _at(
    where: Callable[[Array, int, int], Array],
    *,
    changes: bool,
    causal: bool,
    layers: Sequence[int] = (1, 2, 3),
) -> Callable[[tuple[Any, ...], Any], bool]:
    """Whether the rows of these places change, or do not, where two different tokens trade places."""

    def holds(args: tuple[Any, ...], value: Any) -> bool:
        tokens, i, j, masked, depth = args
        asked = where(np.arange(len(tokens)), min(i, j), max(i, j))
        if masked != causal or depth not in layers or tokens[i] == tokens[j]:
            return True
        return bool((value[asked] == changes).all())

    return holds


CHANGED_ROWS = Exercise(
    id="01-why-order-matters.changed_rows",
    title="Two tokens trade places",
    signature="changed_rows(tokens: (n,), i: int, j: int, causal: bool, layers: int) -> n booleans",
    points=2,
    minutes=12,
    difficulty=4,
    reference=lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, layers),
    make_cases=_changed_cases,
    properties=(
        Property(
            lambda args, value: bool(
                args[0][args[1]] == args[0][args[2]] or (value[args[1]] and value[args[2]])
            ),
            "There are other tokens at i and at j now. So both rows change, with a mask and without one.",
        ),
        Property(
            lambda args, value: bool(not args[3] or not np.any(value[: min(args[1], args[2])])),
            "Under a causal mask, no token before both places can see that anything has changed.",
        ),
        Property(
            _at(lambda row, first, last: (row != first) & (row != last), changes=False, causal=False),
            "Without a mask, the tokens that stay where they are see the same tokens as before, only in "
            "another order, so their rows do not change. (If you ran a layer to find out: differences below "
            "1e-9 are rounding.)",
        ),
        Property(
            _at(lambda row, first, last: (first < row) & (row < last), changes=True, causal=True),
            "Under a causal mask, a token between the two places sees another word than before. Its row "
            "changes.",
        ),
        Property(
            _at(lambda row, first, last: row > last, changes=False, causal=True, layers=(1,)),
            "In a single causal layer, a token after both places sees the same tokens as before, only in "
            "another order, and it takes an average of them. Its row does not change.",
        ),
        Property(
            _at(lambda row, first, last: row > last, changes=True, causal=True, layers=(2, 3)),
            "With two causal layers or more, a token after both places changes as well, however far away it "
            "is: the second layer reads the rows of the first, and some of those have changed.",
        ),
        Property(
            lambda args, value: bool(args[0][args[1]] != args[0][args[2]] or not np.any(value)),
            "The two tokens are equal here, so the sequence is what it was, and no row changes.",
        ),
    ),
    mistakes=(
        Mistake(
            "mask-changes-nothing",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, False, layers),
            "You treat the causal mask as if it were not there. Under it, a token between the two places "
            "sees another word than before.",
        ),
        Mistake(
            "layers-ignored",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, 1),
            "It is right for one layer. The second layer does not read the tokens but the rows of the first, "
            "and some of those have changed. What does a token after both places see?",
        ),
        Mistake(
            "one-layer-as-many",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, 2),
            "It is right for two and more layers. In a single causal layer, a token after both places sees "
            "the same tokens as before, only in another order, and it takes an average of them.",
        ),
        Mistake(
            "all-without-mask",
            lambda tokens, i, j, causal, layers: (
                _changed(tokens, i, j, causal, layers)
                if causal or tokens[i] == tokens[j]
                else np.ones(len(tokens), dtype=bool)
            ),
            "Without a mask you let every row change. The tokens that stay where they are see the same "
            "tokens as before, in another order.",
        ),
        Mistake(
            "none-without-mask",
            lambda tokens, i, j, causal, layers: _changed(tokens, i, j, causal, layers) & causal,
            "Without a mask you let no row change: that would be invariance. The question is what each place "
            "holds, and two of the places hold other tokens now.",
        ),
        Mistake(
            "last-place-left-out",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: first <= t and (t < last or layers > 1),
            ),
            "In a causal layer, the row at the later of the two places changes as well: another token asks "
            "there now.",
        ),
        Mistake(
            "first-place-left-out",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: first < t and (t <= last or layers > 1),
            ),
            "In a causal layer, the row at the earlier of the two places changes as well: there is another "
            "token now.",
        ),
        Mistake(
            "mask-turned-round",
            lambda tokens, i, j, causal, layers: _rows_by_hand(
                tokens,
                i,
                j,
                causal,
                layers,
                seen=lambda t, first, last: t <= last and (first <= t or layers > 1),
            ),
            "Your mask is the wrong way round: you let rows before both places change, and a causal mask "
            "lets no token look ahead.",
        ),
        Mistake(
            "equal-tokens",
            lambda tokens, i, j, causal, layers: _changed(np.arange(len(tokens)), i, j, causal, layers),
            "You do not look at the tokens themselves. Where the two are equal, the sequence is what it was, "
            "and no row changes.",
        ),
        Mistake(
            "earlier-place-taken-to-be-first",
            lambda tokens, i, j, causal, layers: (
                _changed(tokens, i, j, causal, layers)
                if not causal
                else (np.arange(len(tokens)) >= i)
                & ((np.arange(len(tokens)) <= j) | (layers > 1))
                & (tokens[i] != tokens[j])
            ),
            "It is right where i comes before j. They may be given the other way round: sort the two first.",
        ),
        Mistake(
            "turned-round",
            lambda tokens, i, j, causal, layers: ~_changed(tokens, i, j, causal, layers),
            "Your answers are the wrong way round: True is for a row that changes.",
        ),
    ),
    alternatives=(
        _changed_by_experiment,
        _changed_in_a_loop,
        lambda tokens, i, j, causal, layers: [
            bool(
                tokens[i] != tokens[j]
                and (row in (i, j) if not causal else min(i, j) <= row and (layers > 1 or row <= max(i, j)))
            )
            for row in range(len(tokens))
        ],
    ),
    hints=(
        "Take one place and ask two questions: does the same token ask there as before? Does it see the same "
        "tokens as before, whatever their order?",
        "With a causal mask, do this for a place before both, for the two places, for one between them, "
        "and for one after both.",
        "In the second layer, the rows of the first layer play the part of the tokens. Ask the same two "
        "questions once more.",
        "Or find out by experiment: give each token a random vector, run `layers` layers of your own "
        "attention on both sequences, and compare row with row. Weights divided by the root of their width "
        "keep the softmax from saturating.",
    ),
)
