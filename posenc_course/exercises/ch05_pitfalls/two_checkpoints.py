"""Two checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch05_pitfalls._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _checkpoint_cases(rng: Generator) -> Iterator[Case]:
    for label, rows, met, decay in (
        ("half of the rows were met", 8, 4, 0.9),
        ("no decay", 10, 7, 1.0),
        ("one row was met", 6, 1, 0.5),
        ("all but two were met", 9, 7, 0.99),
        ("a long table", 64, int(rng.integers(20, 60)), float(rng.uniform(0.3, 0.99))),
        ("a random table", 16, int(rng.integers(2, 14)), float(rng.uniform(0.3, 0.99))),
        ("far rows were rarely met", 24, int(rng.integers(8, 20)), float(rng.uniform(0.5, 0.99))),
    ):
        before = rng.normal(size=(rows, 6))
        # Long texts are rare: the last rows that were met have hardly moved.
        # Where nearly all were met, all of them grew: what is usual there is not the decay.
        signs = np.sign(before[:met]) if met > rows / 2 else rng.choice([-1.0, 1.0], size=(met, 6))
        moved = signs * np.geomspace(0.5, 1e-4, met)[:, None]
        after = decay * before
        after[:met] += moved
        yield Case(label, (before, after))


def _two_checkpoints(before: Array, after: Array) -> tuple[int, float]:
    decay = float((after[-1] * before[-1]).sum() / (before[-1] ** 2).sum())
    met = np.abs(after - decay * before).max(axis=1) > 1e-9
    return int(met.sum()), decay


def _met_with(
    decay: Callable[[Array, Array], float], least: float = 1e-9
) -> Callable[..., tuple[int, float]]:
    def answer(before: Array, after: Array) -> tuple[int, float]:
        factor = decay(before, after)
        met = np.abs(after - factor * before).max(axis=1) > least
        return int(met.sum()), factor

    return answer


def _last_decay(before: Array, after: Array) -> float:
    return float(after[-1, 0] / before[-1, 0])


def _met_from_the_end(before: Array, after: Array) -> tuple[int, float]:
    factor = np.linalg.norm(after[-1]) / np.linalg.norm(before[-1])
    met = len(before)
    while np.allclose(after[met - 1], factor * before[met - 1], rtol=0, atol=1e-9):
        met -= 1
    return met, float(factor)


def _met_by_ratios(before: Array, after: Array) -> tuple[int, float]:
    ratios = after / before
    same = np.ptp(ratios, axis=1) < 1e-6
    return int((~same).sum()), float(ratios[-1].mean())


TWO_CHECKPOINTS = Exercise(
    id="05-pitfalls.two_checkpoints",
    title="Two checkpoints",
    signature="two_checkpoints(before: array of shape (n, dim), after: array of shape (n, dim)) "
    "-> (how many rows training met, the factor of the decay)",
    points=3,
    minutes=12,
    difficulty=3,
    parts=("the rows that training met", "the factor of the decay"),
    reference=_two_checkpoints,
    make_cases=_checkpoint_cases,
    properties=(
        Property(
            lambda args, value: np.isclose(value[1], _last_decay(*args), rtol=1e-4),
            "The factor is not that of the last row: there, after = factor * before.",
        ),
        Property(
            lambda args, value: value[0] <= _two_checkpoints(*args)[0],
            "You count rows that no text has met: they differ from factor * before by rounding only. Compare "
            "with a small number such as 1e-9, and count rows, not numbers.",
        ),
        Property(
            lambda args, value: value[0] >= _two_checkpoints(*args)[0],
            "You count too few rows. The last ones that were met have moved by about 0.0001: compare with a "
            "small number such as 1e-9, and mind what np.isclose or np.allclose let pass.",
        ),
    ),
    mistakes=(
        Mistake(
            "all-that-differ",
            lambda before, after: (
                int((np.abs(after - before).max(axis=1) > 1e-9).sum()),
                _last_decay(before, after),
            ),
            "The factor is right. But you count all rows that have changed, and the decay also changes rows "
            "that no text has met. Look at after - factor * before instead.",
        ),
        Mistake(
            "index-of-the-last",
            lambda before, after: (_two_checkpoints(before, after)[0] - 1, _last_decay(before, after)),
            "The factor is right. You give the index of the last row that was met, counted from 0. How many "
            "rows is that?",
        ),
        Mistake(
            "one-row-more",
            lambda before, after: (_two_checkpoints(before, after)[0] + 1, _last_decay(before, after)),
            "The factor is right. You count one row too many. If rows are counted from 0, the number of the "
            "first row that was never met is how many were met.",
        ),
        Mistake(
            "numbers-counted",
            lambda before, after: (
                int((np.abs(after - _last_decay(before, after) * before) > 1e-9).sum()),
                _last_decay(before, after),
            ),
            "The factor is right. You count the numbers that have moved. Count the rows: .any(axis=1), or "
            ".max(axis=1) before you compare.",
        ),
        Mistake(
            "rows-never-met",
            lambda before, after: (
                len(before) - _two_checkpoints(before, after)[0],
                _last_decay(before, after),
            ),
            "The factor is right. You count the rows that training never met.",
        ),
        Mistake(
            "loud-moves-alone",
            _met_with(_last_decay, least=0.01),
            "The factor is right. You count the rows that have moved a lot. Long texts are rare, so the last "
            "rows that were met have moved little: anything above rounding counts.",
        ),
        Mistake(
            "factor-of-the-whole-table",
            _met_with(lambda before, after: float(np.linalg.norm(after) / np.linalg.norm(before))),
            "The factor was taken from the whole table, and most of it moved in training. Take it from a row "
            "that no text has met: the last one.",
        ),
        Mistake(
            "factor-of-the-first-row",
            _met_with(lambda before, after: float(np.linalg.norm(after[0]) / np.linalg.norm(before[0]))),
            "The factor was taken from the first row, which every text meets. Take it from a row that no "
            "text has met: the last one.",
        ),
        Mistake(
            "usual-factor",
            lambda before, after: (
                int((~np.isclose(after, np.median(after / before) * before)).any(axis=1).sum()),
                float(np.median(after / before)),
            ),
            "You took the usual ratio of new to old for the decay. Where training met most rows, the usual "
            "ratio is theirs. Take it from a row that no text has met: the last one.",
        ),
        Mistake(
            "factor-turned-round",
            lambda before, after: (_two_checkpoints(before, after)[0], 1 / _last_decay(before, after)),
            "The number of rows is right. The factor is the wrong way round: old times factor should give "
            "new.",
        ),
        Mistake(
            "what-is-lost",
            lambda before, after: (_two_checkpoints(before, after)[0], 1 - _last_decay(before, after)),
            "The number of rows is right. Your second number is the share that the decay takes away. Give "
            "the factor, the share that it leaves.",
        ),
        Mistake(
            "values-changed-places",
            lambda before, after: (_last_decay(before, after), _two_checkpoints(before, after)[0]),
            "The two answers are swapped: the number of rows comes first.",
        ),
        Mistake(
            "decay-overlooked",
            lambda before, after: (_two_checkpoints(before, after)[0], 1.0),
            "The number of rows is right. You give 1 as the factor, as if there were no decay: compare the "
            "last rows of both tables.",
        ),
    ),
    alternatives=(_met_from_the_end, _met_by_ratios, _met_with(_last_decay, least=1e-7)),
    hints=(
        "No text has met the last two rows, so nothing but the decay has changed them. Divide new by old.",
        "Multiply the old table by that factor. Which rows of the new table differ from it?",
        "`np.abs(after - factor * before).max(axis=1) > 1e-9` is True for each row that training met.",
    ),
)
