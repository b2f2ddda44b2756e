"""Better than counting?: Open or shut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import BETTER_THAN_COUNTING, Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
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
        ["a clear gain", "a small gain in every file", "many files", "a gain just above its uncertainty"],
        ["a loss", "a gain in one large file alone", "a gain that is not above its uncertainty"],
    ):
        files = 40 if label == "many files" else int(rng.integers(5, 12))
        sizes = rng.integers(1, 30, size=files) * 1000.0
        counted = rng.uniform(1.2, 2.0, size=files)
        noise = rng.normal(size=files)
        noise -= (noise * sizes).sum() / sizes.sum()
        uncertain = 1.96 * np.linalg.norm(noise * sizes) / sizes.sum()  # of such noise alone
        gain = {
            "a clear gain": 0.3 + 0.1 * noise,
            "a small gain in every file": 0.02 + 0.002 * noise,
            "many files": 0.1 + 0.1 * noise,
            "a gain just above its uncertainty": 0.1 * (noise + 1.4 * uncertain),
            "a loss": -0.2 + 0.1 * noise,
            "a gain that is not above its uncertainty": 0.3 * (noise + 0.7 * uncertain),
            "a gain in one large file alone": -0.25 + 0.02 * noise,
        }[label]
        if label == "a gain in one large file alone":
            sizes[0] = 2 * sizes.sum()
            gain[0] = 0.2
        yield Case(label, (counted - gain, counted, sizes))
    same = np.array([1.5, 1.75, 1.25])
    yield Case("it counts, and no more", (same, same.copy(), np.array([1000.0, 3000.0, 2000.0])))


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


def _uncertain_by(spread: Callable[[Array, Array, float], Any]) -> Callable[..., Any]:
    """The answer with another standard error: from the shares, the gains by file, and the gain."""

    def answer(model: Array, counted: Array, sizes: Array) -> tuple[float, float, bool]:
        gain = _gain(model, counted, sizes)[0]
        return _decided(gain, float(1.96 * spread(sizes / sizes.sum(), counted - model, gain)))

    return answer


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
    properties=(
        Property(
            lambda args, value: np.isclose(value[0], _gain(*args)[0]),
            "The gain is wrong. It is a sum over the files: the share of each times its counted - model. Do "
            "your shares sum to 1?",
        ),
        Property(
            lambda args, value: value[2] == (value[0] > value[1]),
            "Your third value does not follow from the first two: the model is admitted where the gain is "
            "above its uncertainty, with no other factor.",
        ),
    ),
    mistakes=(
        Mistake(
            "files-alike",
            lambda model, counted, sizes: _gain(
                model, counted, sizes, shares=np.full(len(sizes), 1 / len(sizes))
            ),
            "Each file counts the same, however long it is. Weight each one by its share of all bytes.",
        ),
        Mistake(
            "gain-turned",
            lambda model, counted, sizes: _gain(counted, model, sizes),
            "The sign is wrong: a model that is better than counting has the lower loss, and its gain is "
            "above 0.",
        ),
        Mistake(
            "above-zero",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, gain > 0)),
            "Both numbers are right. You admit every gain above 0. A gain has to be above its uncertainty.",
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
            "The gain is right. The uncertainty is the whole width of the interval. Take half of it, from "
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
            "The gain is right. The uncertainty is the spread of single files. A mean over many files is "
            "more certain than any one of them: square the shares.",
        ),
        Mistake(
            "files-alike-in-the-spread",
            _uncertain_by(lambda share, by_file, gain: by_file.std() / np.sqrt(len(by_file))),
            "The gain is right. In the uncertainty all files count the same, as in the standard error of a "
            "plain mean. Large files move the gain more: use the shares here too.",
        ),
        Mistake(
            "files-alike-in-the-spread-of-a-sample",
            _uncertain_by(lambda share, by_file, gain: by_file.std(ddof=1) / np.sqrt(len(by_file))),
            "The gain is right. In the uncertainty all files count the same, as in the standard error of a "
            "plain mean with ddof=1. Large files move the gain more: use the shares here too.",
        ),
        Mistake(
            "not-centred",
            _uncertain_by(lambda share, by_file, gain: np.linalg.norm(share * by_file)),
            "The gain is right. Before you square, subtract the gain: what counts is how far each file is "
            "from it.",
        ),
        Mistake(
            "centred-on-the-plain-mean",
            _uncertain_by(lambda share, by_file, gain: np.linalg.norm(share * (by_file - by_file.mean()))),
            "The gain is right. In the uncertainty you subtract the plain mean of the files. Subtract the "
            "gain, in which large files count more.",
        ),
        Mistake(
            "absolute-values",
            _uncertain_by(lambda share, by_file, gain: (share * np.abs(by_file - gain)).sum()),
            "The gain is right. The uncertainty adds up absolute values. Add up squares, and take the root: "
            "errors of different files partly cancel.",
        ),
        Mistake(
            "two-for-1.96",
            _uncertain_by(lambda share, by_file, gain: 2 / 1.96 * np.linalg.norm(share * (by_file - gain))),
            "The gain is right. You took 2 for 1.96.",
        ),
        Mistake(
            "share-inside-the-difference",
            _uncertain_by(lambda share, by_file, gain: np.linalg.norm(share * (share * by_file - gain))),
            "The gain is right. In the uncertainty the gain is subtracted from share times difference. "
            "Subtract it from the difference itself, then multiply by the share.",
        ),
        Mistake(
            "root-over-1.96",
            _uncertain_by(lambda share, by_file, gain: np.linalg.norm(share * (by_file - gain)) / 1.96**0.5),
            "The gain is right. The 1.96 went under the root: multiply after you have taken it.",
        ),
        Mistake(
            "verdict-turned",
            _gain_changed(lambda gain, uncertain: (gain, uncertain, gain < uncertain)),
            "Both numbers are right. The verdict is the wrong way round: a model is admitted where its gain "
            "is above the uncertainty.",
        ),
        Mistake(
            "better-on-every-file",
            lambda model, counted, sizes: (
                *_gain(model, counted, sizes)[:2],
                bool((counted > model).all()),
            ),
            "Both numbers are right. You admit a model that is better on every file. It may lose on some: "
            "compare the gain with its uncertainty.",
        ),
        Mistake(
            "unpaired",
            _gain_unpaired,
            "The gain is right. You took the spread of each loss by itself. But a file that is hard for the "
            "model is hard for counting too: take the difference in each file first, then its spread.",
        ),
        Mistake(
            "square-left",
            _gain_changed(lambda gain, uncertain: _decided(gain, uncertain**2 / 1.96)),
            "The gain is right. The root is missing: the uncertainty is the root of a sum of squares.",
        ),
    ),
    alternatives=(
        _gain_by_loop,
        _gain_by_average,
        lambda model, counted, sizes: list(_gain(model, counted, sizes)),
    ),
    hints=(
        "Take the difference in each file first. A file that is hard for counting is hard for the model "
        "too, and in the difference that drops out.",
        "The share of a file is its size divided by the sum of all sizes. The gain is the sum of share "
        "times difference.",
        "Sum the squares of share times (difference minus gain), take the root, and multiply by 1.96. The "
        "model is admitted where the gain is above that.",
    ),
)
