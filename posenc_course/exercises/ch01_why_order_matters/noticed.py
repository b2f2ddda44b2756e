"""Who noticed the shuffle?: Which tokens noticed it?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import SHUFFLE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.attention import attention


def _noticed_cases(rng: Generator) -> Iterator[Case]:
    def layer(x: Array, causal: bool = False) -> Array:
        return attention(x, x, x, causal=causal)

    turn, five = np.array([2, 0, 1]), np.array([3, 0, 4, 1, 2])
    three_tokens, five_tokens = rng.normal(size=(3, 4)), rng.normal(size=(5, 2))
    yield Case("attention on three tokens", (layer(three_tokens), layer(three_tokens[turn]), turn))
    yield Case(
        "attention with a causal mask, all five tokens moved",
        (layer(five_tokens, causal=True), layer(five_tokens[five], causal=True), five),
    )
    later = np.array([0, 1, 4, 2, 3])
    yield Case(
        "attention with a causal mask, the last three tokens moved",
        (layer(five_tokens, causal=True), layer(five_tokens[later], causal=True), later),
    )
    yield Case("one token", (np.array([[1.0, 2.0]]), np.array([[1.0, 2.5]]), np.array([0])))
    output = rng.normal(size=(6, 3))
    order = rng.permutation(6)
    output[0, 0] = 2.0
    rounding = 1e-13 * rng.choice([-1.0, 1.0], size=output.shape)
    yield Case("nothing but rounding", (output, output[order] + rounding, order))
    spoiled = output[order] + rounding
    spoiled[order == 2, 1] -= 3.0  # one entry, and too small
    spoiled[order == 5] += np.array([0.5, -0.5, 0.0])  # its mean stays
    spoiled[order == 0, 0] += 1e-6
    spoiled[order == 3, 2] += 5e-4
    yield Case("four tokens with another row", (output, spoiled, order))
    exchanged = output[order] + rounding
    exchanged[order == 1] = exchanged[order == 1][:, ::-1]
    exchanged[order == 4] *= -1.0
    yield Case("two tokens whose rows are as long as before", (output, exchanged, order))
    barely = output[order] + rounding
    barely[order == 0, 0] += 2e-9  # of 2.0: a relative tolerance of 1e-9 forgives it
    yield Case("a difference of 2e-9 in one number", (output, barely, order))
    swaps = np.array([1, 0, 3, 2])
    short = output[:4].round(3)
    below = np.zeros((4, 3))
    below[:, 1] = 8e-10, 8e-10, 8e-10, 3e-10  # below what counts, but the first three change a ninth digit
    below[1:3] = 8e-10  # and a row does not count for having several
    yield Case("two swaps, and nothing but rounding", (short, short[swaps] + below, swaps))
    for _ in range(3):
        n = int(rng.integers(5, 9))
        output, order, changed = rng.normal(size=(n, 4)), rng.permutation(n), rng.random(n) < 0.4
        spoiled = output + changed[:, None] * rng.normal(size=(n, 4))
        yield Case("some tokens with another row, drawn at random", (output, spoiled[order], order))


def _gaps(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    """Absolute differences, (n, width), each row at its token's old place."""
    difference: Array = np.abs(output_of_shuffled[np.argsort(order)] - output)
    return difference


def _barely_changed(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    largest = _gaps(output, output_of_shuffled, order).max(axis=1)
    return (largest > 1e-9) & (largest < 1e-5)


def _hardly_changed(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    """Which rows differ by so much that a limit below 1e-9 lets them count."""
    largest = _gaps(output, output_of_shuffled, order).max(axis=1)
    return (largest > 1e-10) & (largest < 1e-9)


def _noticed_by_searching(output: Array, output_of_shuffled: Array, order: Array) -> list[bool]:
    return [
        not np.allclose(output_of_shuffled[list(order).index(token)], output[token], rtol=0, atol=1e-9)
        for token in range(len(output))
    ]


def _noticed_by_writing(output: Array, output_of_shuffled: Array, order: Array) -> Array:
    found = np.zeros(len(order), dtype=bool)
    for place, token in enumerate(order):
        found[token] = max(abs(output_of_shuffled[place] - output[token])) > 1e-9
    return found


NOTICED = Exercise(
    id="01-why-order-matters.noticed",
    title="Which tokens noticed it?",
    step_of=SHUFFLE,
    signature="noticed(output: (n, width), output_of_shuffled: (n, width), order: n whole numbers) "
    "-> n booleans",
    points=2,
    minutes=9,
    difficulty=3,
    reference=lambda output, output_of_shuffled, order: (
        _gaps(output, output_of_shuffled, order).max(axis=1) > 1e-9
    ),
    make_cases=_noticed_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "Return n truth values, one for each token. A row has noticed something if any of its numbers "
            "has changed: take the largest difference along axis 1.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.all(value[_barely_changed(*args)])),
            "You miss a difference that is small and yet far above rounding. Count every difference above "
            "1e-9, in any number of the row.",
        ),
        Property(
            lambda args, value: not np.any(value[_hardly_changed(*args)]),
            "One of the tokens that you name has noticed nothing: its row is the same but for differences "
            "below 1e-9, which are rounding.",
        ),
    ),
    mistakes=(
        Mistake(
            "places-compared",
            lambda output, output_of_shuffled, order: np.abs(output_of_shuffled - output).max(axis=1) > 1e-9,
            "You compare what is at the same place before and after. Another token is there now: undo the "
            "shuffle first, so that each token meets its own row.",
        ),
        Mistake(
            "moved",
            lambda output, output_of_shuffled, order: order != np.arange(len(order)),
            "You say which tokens were moved. The question is whether a token's row has changed, wherever it "
            "is now: compare the rows.",
        ),
        Mistake(
            "lengths-compared",
            lambda output, output_of_shuffled, order: (
                np.abs(
                    np.linalg.norm(output_of_shuffled[np.argsort(order)], axis=1)
                    - np.linalg.norm(output, axis=1)
                )
                > 1e-9
            ),
            "You compare the norms of the rows. Two different rows can have the same norm: subtract the rows "
            "first, then look at how large the difference is.",
        ),
        Mistake(
            "first-column-alone",
            lambda output, output_of_shuffled, order: _gaps(output, output_of_shuffled, order)[:, 0] > 1e-9,
            "You look at the first number of each row alone. Take the largest difference of the whole row, "
            "along axis 1.",
        ),
        Mistake(
            "in-the-new-order",
            lambda output, output_of_shuffled, order: (
                np.abs(output_of_shuffled - output[order]).max(axis=1) > 1e-9
            ),
            "You compare the right rows, but your answers come in the shuffled order. Entry t must be about "
            "the token that was at t before the shuffle.",
        ),
        Mistake(
            "undone-twice",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) > 1e-9
            )[np.argsort(order)],
            "You undo the shuffle twice: once for the rows, and then again for your answers. Once is enough.",
        ),
        Mistake(
            "shuffled-again",
            lambda output, output_of_shuffled, order: (
                np.abs(output_of_shuffled[order] - output).max(axis=1) > 1e-9
            ),
            "The shuffle is applied a second time instead of undone. That is the same for a swap, but not "
            "where three or more tokens trade places. Call restore_rows of the step before.",
        ),
        Mistake(
            "exactly-equal",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) > 0
            ),
            "You ask whether the numbers are exactly the same. A sum taken in another order is rounded "
            "differently in its last digits: count differences above 1e-9 only.",
        ),
        Mistake(
            "rounded-first",
            lambda output, output_of_shuffled, order: (
                np.round(output_of_shuffled[np.argsort(order)], 9) != np.round(output, 9)
            ).any(axis=1),
            "You round both arrays and compare what is left. Two numbers that hardly differ may still round "
            "to different digits: subtract first, then compare the difference with 1e-9.",
        ),
        Mistake(
            "too-coarse",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) > 1e-3
            ),
            "You miss a difference that is small and yet far above rounding. The limit is 1e-9.",
        ),
        Mistake(
            "millionth-passed-over",
            lambda output, output_of_shuffled, order: (
                ~np.isclose(output_of_shuffled[np.argsort(order)], output).all(axis=1)
            ),
            "You miss a difference of a millionth, which is small and yet far above rounding. (By default, "
            "np.isclose and np.allclose miss it too.) Count every difference above 1e-9.",
        ),
        Mistake(
            "sign-kept",
            lambda output, output_of_shuffled, order: (
                (output_of_shuffled[np.argsort(order)] - output).max(axis=1) > 1e-9
            ),
            "The right rows are compared, but without absolute values: a number that is far too small goes "
            "unnoticed.",
        ),
        Mistake(
            "rows-added-up",
            lambda output, output_of_shuffled, order: (
                np.abs((output_of_shuffled[np.argsort(order)] - output).sum(axis=1)) > 1e-9
            ),
            "You add up the differences of a row before you look at their size, so that a plus and a minus "
            "cancel. Take absolute values first, and the largest of each row.",
        ),
        Mistake(
            "every-number",
            lambda output, output_of_shuffled, order: (_gaps(output, output_of_shuffled, order) > 1e-9).all(
                axis=1
            ),
            "You ask whether all numbers of a row have changed. One that has changed is enough.",
        ),
        Mistake(
            "turned-round",
            lambda output, output_of_shuffled, order: (
                _gaps(output, output_of_shuffled, order).max(axis=1) <= 1e-9
            ),
            "Your answers are the wrong way round: True is for a token that gets another row.",
        ),
        Mistake(
            "one-answer",
            lambda output, output_of_shuffled, order: bool(
                _gaps(output, output_of_shuffled, order).max() > 1e-9
            ),
            "You give one answer for all tokens together. Take the largest difference of each row, along "
            "axis 1.",
        ),
    ),
    alternatives=(
        _noticed_by_searching,
        _noticed_by_writing,
        lambda output, output_of_shuffled, order: (
            np.abs(np.eye(len(order))[order].T @ output_of_shuffled - output) > 1e-9
        ).any(axis=1),
    ),
    hints=(
        "Bring the rows of `output_of_shuffled` back to where their tokens were: your `restore_rows` "
        "does that.",
        "Then row t of both arrays belongs to one token. How large is the largest difference in that row?",
        "Compare with 1e-9, not with 0: a sum taken in another order is rounded differently.",
    ),
)
