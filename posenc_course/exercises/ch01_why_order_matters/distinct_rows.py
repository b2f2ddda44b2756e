"""Predict: how many different rows?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property


def _with_number_of_rows(args: tuple[Any, ...], value: Any) -> bool:
    return all(1 <= number <= 6 for number in value)


def _unless(place: int, *numbers: int) -> Callable[[tuple[Any, ...], Any], bool]:
    return lambda args, value: value[place] not in numbers


DISTINCT_ROWS = Exercise(
    id="01-why-order-matters.distinct_rows",
    title="Predict: how many different rows?",
    signature="distinct_rows: two whole numbers, (without a mask, with the causal mask)",
    points=1,
    minutes=4,
    difficulty=1,
    kind="value",
    parts=("without a mask", "with the causal mask"),
    reference=lambda: (5, 6),
    make_cases=lambda rng: iter([Case("your prediction")]),
    properties=(
        Property(
            _with_number_of_rows,
            "Six tokens go in, so six rows come out. Count how many of these six rows differ: each of your "
            "two numbers is at least 1 and at most 6.",
        ),
        Property(
            _unless(0, 1),
            "Your first number would mean that all tokens get the same row, which is invariance. But each "
            "token's own query mixes the values in its own way. Which tokens share a query?",
        ),
        Property(
            _unless(0, 2, 3),
            "Your first number is too small. Without a mask all tokens see the same keys and values, so only "
            "tokens with the same query can share a row. Count the different words.",
        ),
        Property(
            _unless(0, 4),
            "Your first number leaves the two tokens 'the' out altogether. They share one row, and that row "
            "counts once.",
        ),
        Property(
            _unless(0, 6),
            "Without a mask, the two tokens 'the' are the same vector and look at the same six tokens. "
            "Nothing tells them apart, so they share a row.",
        ),
        Property(
            _unless(1, 5),
            "With the causal mask, the first 'the' sees only itself, and the second one sees five tokens. Do "
            "they still share a row?",
        ),
        Property(
            _unless(1, 1, 2, 3, 4),
            "Your second number is too small. Under the causal mask each token sees one token more than the "
            "one before it. Could two of the six rows be the same average?",
        ),
    ),
    mistakes=(
        Mistake(
            "every-row-its-own",
            lambda: (6, 6),
            "Without a mask, the two tokens 'the' are the same vector and look at the same six tokens. "
            "Nothing tells them apart, so their rows are equal. Only under the mask do they see different "
            "tokens.",
        ),
        Mistake(
            "mask-changes-nothing",
            lambda: (5, 5),
            "Your first number is right. With the causal mask, the first 'the' sees only itself, and the "
            "second one sees five tokens. Their rows are averages of different things.",
        ),
        Mistake(
            "invariance-without-mask",
            lambda: (1, 6),
            "Your second number is right. The first would mean that all tokens get the same row. The "
            "output is not invariant: each token's own query mixes the values in its own way. Which tokens "
            "share a query?",
        ),
        Mistake(
            "invariance-everywhere",
            lambda: (1, 1),
            "You expect all rows to be equal. Attention without positions does not give the same row to "
            "every token: it gives the same row to equal tokens. Then ask what each 'the' can see under "
            "the mask.",
        ),
        Mistake(
            "swapped",
            lambda: (6, 5),
            "The two numbers are swapped. Without a mask the two tokens 'the' cannot be told apart; with "
            "the mask they see different tokens.",
        ),
        Mistake(
            "twins-left-out",
            lambda: (4, 6),
            "Your second number is right. The two tokens 'the' share one row, and that row counts once: it "
            "is different from the other four.",
        ),
    ),
    alternatives=(lambda: [5, 6], lambda: (5.0, 6.0), lambda: (len({"the", "cat", "sat", "on", "mat"}), 6)),
    hints=(
        "Without a mask, what does a row of the output depend on? On the token's own query, and on the set "
        "of all keys and values.",
        "Which two tokens of the sentence have the same query? Do they see the same tokens once the mask "
        "is on?",
    ),
)
