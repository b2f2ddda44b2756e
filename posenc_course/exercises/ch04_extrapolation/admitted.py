"""Better than counting?: Open or shut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import BETTER_THAN_COUNTING, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, enough_of_each
from posenc_lib._arrays import Array


def _gain(
    model: Array, counted: Array, sizes: Array, *, shares: Array | None = None
) -> tuple[float, float, bool]:
    share = sizes / sizes.sum() if shares is None else shares
    by_file = counted - model
    gain = float((share * by_file).sum())
    uncertain = float(1.96 * np.sqrt((share**2 * (by_file - gain) ** 2).sum()))
    return gain, uncertain, gain > uncertain


def _gate_cases(rng: Generator) -> Iterator[Case]:
    for label in enough_of_each(
        rng,
        ["a clear gain", "a small gain in every file", "many files"],
        ["a loss", "a gain in one large file alone", "a gain that is not above its uncertainty"],
    ):
        files = 40 if label == "many files" else int(rng.integers(5, 12))
        sizes = rng.integers(1, 30, size=files) * 1000.0
        counted = rng.uniform(1.2, 2.0, size=files)
        noise = rng.normal(size=files)
        noise -= (noise * sizes).sum() / sizes.sum()
        gain = {
            "a clear gain": 0.3 + 0.1 * noise,
            "a small gain in every file": 0.02 + 0.002 * noise,
            "many files": 0.1 + 0.1 * noise,
            "a loss": -0.2 + 0.1 * noise,
            "a gain that is not above its uncertainty": 0.01 + 0.3 * noise,
            "a gain in one large file alone": -0.25 + 0.02 * noise,
        }[label]
        if label == "a gain in one large file alone":
            sizes[0] = 2 * sizes.sum()
            gain[0] = 0.2
        yield Case(label, (counted - gain, counted, sizes))


def _gain_changed(change: Callable[[float, float], tuple[float, float, bool]]) -> Callable[..., Any]:
    return lambda model, counted, sizes: change(*_gain(model, counted, sizes)[:2])


def _gain_unpaired(model: Array, counted: Array, sizes: Array) -> tuple[float, float, bool]:
    share = sizes / sizes.sum()
    gain = float((share * (counted - model)).sum())
    spread = [(share**2 * (each - (share * each).sum()) ** 2).sum() for each in (model, counted)]
    uncertain = float(1.96 * np.sqrt(sum(spread)))
    return gain, uncertain, gain > uncertain


def _gain_by_loop(model: Array, counted: Array, sizes: Array) -> list[Any]:
    total = float(sum(sizes))
    rows = list(zip(model.tolist(), counted.tolist(), sizes.tolist(), strict=True))
    gain = sum((c - m) * n for m, c, n in rows) / total
    squares = sum((n * (c - m - gain)) ** 2 for m, c, n in rows)
    uncertain = 1.96 * squares**0.5 / total
    return [gain, uncertain, bool(gain > uncertain)]


def _gain_by_average(model: Array, counted: Array, sizes: Array) -> tuple[Any, Any, Any]:
    gain = np.average(counted, weights=sizes) - np.average(model, weights=sizes)
    uncertain = 1.96 * np.linalg.norm(sizes * (counted - model - gain)) / sizes.sum()
    return gain, uncertain, uncertain < gain


def _decided(gain: float, uncertain: float) -> tuple[float, float, bool]:
    return gain, uncertain, gain > uncertain


ADMITTED = Exercise(
    id="04-extrapolation.admitted",
    title="Open or shut",
    step_of=BETTER_THAN_COUNTING,
    parts=("the gain", "its uncertainty", "whether the model is admitted"),
    signature="admitted(model: array of shape (files,), counted: array of shape (files,), sizes: array of "
    "shape (files,)) -> (float, float, bool)",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda model, counted, sizes: _gain(model, counted, sizes),
    make_cases=_gate_cases,
    mistakes=(
        Mistake(
            "files-alike",
            lambda model, counted, sizes: _gain(
                model, counted, sizes, shares=np.full(len(sizes), 1 / len(sizes))
            ),
            "Each file counts the same, however long it is. Weigh each by its share of all bytes.",
        ),
        Mistake(
            "gain-turned",
            lambda model, counted, sizes: _gain(counted, model, sizes),
            "The sign is turned: a model that is better than counting has the lower loss, and its gain is "
            "above 0.",
        ),
        Mistake(
            "above-zero",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, gain > 0)),
            "Both numbers are right. You admit every gain above 0. It has to be above its uncertainty.",
        ),
        Mistake(
            "any-difference",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, abs(gain) > uncertain)),
            "Both numbers are right. You also admit a model that is clearly worse than counting.",
        ),
        Mistake(
            "one-error",
            _gain_changed(lambda gain, uncertain: _decided(gain, uncertain / 1.96)),
            "The gain is right. The uncertainty lacks the factor 1.96, by which a standard error becomes "
            "half the width of a 95% interval.",
        ),
        Mistake(
            "whole-width",
            _gain_changed(lambda gain, uncertain: _decided(gain, 2 * uncertain)),
            "The gain is right. The uncertainty is the whole width of the interval: take half of it, from "
            "the middle to one end.",
        ),
        Mistake(
            "spread-of-files",
            lambda model, counted, sizes: _decided(
                _gain(model, counted, sizes)[0],
                float(
                    1.96
                    * np.sqrt(
                        np.average((counted - model - _gain(model, counted, sizes)[0]) ** 2, weights=sizes)
                    )
                ),
            ),
            "The gain is right. The uncertainty is the spread of single files. The mean of many files is "
            "surer than one of them: square the shares.",
        ),
        Mistake(
            "unpaired",
            _gain_unpaired,
            "The gain is right. You took the spread of the two losses apart. A file that is hard for one is "
            "hard for the other: take the difference in each file first, then its spread.",
        ),
        Mistake(
            "square-left",
            _gain_changed(lambda gain, uncertain: _decided(gain, uncertain**2 / 1.96)),
            "The gain is right. The root was forgotten: the uncertainty is a root of a sum of squares.",
        ),
    ),
    alternatives=(
        _gain_by_loop,
        _gain_by_average,
        lambda model, counted, sizes: list(_gain(model, counted, sizes)),
    ),
    hints=(
        "Take the difference in each file first. What is hard for counting is hard for the model, and the "
        "difference knows nothing of that.",
        "The share of a file is its size divided by the sum of all. The gain is the sum of share times "
        "difference.",
        "Sum the squares of share times (difference less gain), take the root, and multiply by 1.96. The "
        "model is admitted where the gain is above that.",
    ),
)
