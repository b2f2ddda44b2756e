"""Who noticed the shuffle?: Undo a shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch01_why_order_matters._shared import SHUFFLE, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _restore_cases(rng: Generator) -> Iterator[Case]:
    def case(label: str, order: list[int] | Array, width: int) -> Case:
        order = np.asarray(order)
        return Case(label, (rng.normal(size=(len(order), width)), order))

    yield case("three rows, each moved by one", [2, 0, 1], 4)
    yield case("three rows, two of them swapped", [1, 0, 2], 3)
    yield case("one row", [0], 3)
    yield case("nothing was moved", [0, 1, 2, 3], 2)
    yield case("four rows of width 4", [1, 2, 3, 0], 4)
    yield case("five rows of width 1", [4, 2, 0, 1, 3], 1)
    yield case("nine rows in random order", rng.permutation(9), 3)


def _restore_by_matrix(shuffled: Array, order: Array) -> Array:
    return np.eye(len(order))[order].T @ shuffled


def _restore_by_writing(shuffled: Array, order: Array) -> Array:
    rows = np.empty_like(shuffled)
    rows[order] = shuffled
    return rows


def _restore_by_search(shuffled: Array, order: Array) -> list[list[float]]:
    return [list(shuffled[list(order).index(row)]) for row in range(len(order))]


RESTORE_ROWS = Exercise(
    id="01-why-order-matters.restore_rows",
    title="Undo a shuffle",
    step_of=SHUFFLE,
    signature="restore_rows(shuffled: array of shape (n, width), order: n whole numbers) "
    "-> array of shape (n, width)",
    points=1,
    minutes=6,
    difficulty=2,
    reference=lambda shuffled, order: shuffled[np.argsort(order)],
    make_cases=_restore_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[0]),
            "The rows come back whole: your answer must have the shape of shuffled. (np.take needs axis=0.)",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(np.asarray(value)[args[1]], args[0])),
            "Shuffle your answer again as a test: answer[order] must be equal to shuffled. It is not.",
        ),
    ),
    mistakes=(
        Mistake(
            "shuffled-again",
            lambda shuffled, order: shuffled[order],
            "That applies the same shuffle a second time. It undoes a swap, but not a shuffle in which "
            "three or more rows trade places. Use the inverse permutation: np.argsort(order).",
        ),
        Mistake(
            "unchanged",
            lambda shuffled, order: shuffled,
            "The rows come back as they were given, still shuffled. Put row i of shuffled where it came "
            "from, at row order[i].",
        ),
        Mistake(
            "rows-sorted",
            lambda shuffled, order: np.sort(shuffled, axis=0),
            "You sort the numbers inside the columns, which tears the rows apart. Sort the order, not the "
            "values: np.argsort(order) says which row goes where.",
        ),
        Mistake(
            "rows-reversed",
            lambda shuffled, order: shuffled[::-1],
            "You put the rows in reverse order, whatever order says. Where each row has to go is written in "
            "order: use its inverse, np.argsort(order).",
        ),
        Mistake(
            "order-reversed",
            lambda shuffled, order: shuffled[order[::-1]],
            "You read the order backwards. The inverse of a permutation is not the same list reversed: it "
            "is the list that says at which place of order each number is, np.argsort(order).",
        ),
        Mistake(
            "columns",
            lambda shuffled, order: shuffled[:, np.argsort(order)],
            "The inverse permutation is right, but it is applied to the columns. The tokens are the rows: "
            "use it as the first index, shuffled[inverse].",
        ),
    ),
    alternatives=(_restore_by_matrix, _restore_by_writing, _restore_by_search),
    hints=(
        "Row i of `shuffled` is row `order[i]` of the original. So where does row i of it have to go?",
        "Try `order = [2, 0, 1]` on paper with the rows a, b, c. Shuffle twice: is it a, b, c again?",
        "You may write into an empty array, `rows[order] = shuffled`, or ask `np.argsort` for the inverse.",
    ),
)
