"""Times that are not steps: Let a fixed model win."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    HOURS_TO_2026,
    IRREGULAR,
    any_periods,
    encode_times,
    irregular,
    time_angles,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal

Features = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Any, Any]]


def _read_out(features: Features) -> Callable[..., np.ndarray]:
    """The fixed model on features of (times, later, periods): a linear read-out, by least squares."""

    def forecast(times: np.ndarray, values: np.ndarray, later: np.ndarray, periods: np.ndarray) -> np.ndarray:
        known, asked = (np.asarray(each) for each in features(times, later, np.asarray(periods)))
        return np.asarray(asked @ np.linalg.lstsq(known, values, rcond=None)[0])

    return forecast


def _and_one(table: Any) -> np.ndarray:
    table = np.asarray(table)
    return np.column_stack([table, np.ones(len(table))])


def _each(encode: Callable[[np.ndarray, np.ndarray], Any]) -> Features:
    """Features that see one time at a time, and the constant."""
    return lambda times, later, periods: (_and_one(encode(times, periods)), _and_one(encode(later, periods)))


def _each_without_one(encode: Callable[[np.ndarray, np.ndarray], Any]) -> Features:
    return lambda times, later, periods: (encode(times, periods), encode(later, periods))


_forecast = _read_out(_each(encode_times))


def _forecast_by_normal_equations(times: Any, values: Any, later: Any, periods: Any) -> Any:
    known, asked = (np.insert(encode_times(each, periods), 0, 1.0, axis=1) for each in (times, later))
    return asked @ np.linalg.solve(known.T @ known, known.T @ values)


def _forecast_from_the_first(times: Any, values: Any, later: Any, periods: Any) -> Any:
    return _forecast(times - times[0], values, later - times[0], periods)


def _forecast_with_overtones(times: Any, values: Any, later: Any, periods: Any) -> Any:
    """More clocks than needed do no harm where nothing is noise."""
    more = np.append(periods, periods[0] / 2)
    return _forecast(times, values, later, more)


def _rhythms(rng: np.random.Generator, times: np.ndarray, later: np.ndarray, periods: Any) -> tuple[Any, ...]:
    """A constant, and a wave of its own for each period."""
    weights, level = rng.uniform(-3, 3, size=2 * len(periods)), rng.uniform(5, 15)
    return times, level + encode_times(times, periods) @ weights, later, np.asarray(periods)


def _forecast_cases(rng: np.random.Generator) -> Iterator[Case]:
    def drawn(periods: Any, *, start: float = 0.0, gap: float = 1.0) -> tuple[Any, ...]:
        span = 4.0 * float(max(periods))
        times = irregular(rng, 12 * len(periods) + 12, span, start)
        later = irregular(rng, 5, span / 3, times[-1] + gap * span / 10)
        return _rhythms(rng, times, later, periods)

    yield Case("a rhythm of a day", drawn([24.0]))
    yield Case("day and week", drawn([24.0, 168.0]))
    yield Case("day and week, half a year ahead", drawn([24.0, 168.0], gap=60.0))
    yield Case("day and week, in hours since 1970", drawn([24.0, 168.0], start=HOURS_TO_2026))
    times, _, later, periods = drawn([24.0, 168.0], start=50.0)
    yield Case("the time before the first one", _rhythms(rng, times, later - 900.0, periods))
    for _ in range(3):
        yield Case("other periods", drawn(any_periods(rng)))


FORECAST = Exercise(
    id="02-the-formula.forecast",
    title="Let a fixed model win",
    signature="forecast(times: (n,), values: (n,), later: (k,), periods: (m,)) -> array of shape (k,)",
    step_of=IRREGULAR,
    points=3,
    minutes=12,
    difficulty=3,
    reference=lambda times, values, later, periods: _forecast(times, values, later, periods),
    make_cases=_forecast_cases,
    absolute_tolerance=1e-5,
    properties=(
        Property(
            lambda args, value: np.shape(value) == np.shape(args[2]),
            "There must be one value for each of the later times.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "no-constant",
            _read_out(_each_without_one(encode_times)),
            "The model was given waves and no constant, so its forecast swings about 0. Put a column of "
            "ones next to the encoding.",
        ),
        Mistake(
            "number-for-time",
            _read_out(
                lambda times, later, periods: (
                    _and_one(encode_times(np.arange(len(times)), periods)),
                    _and_one(encode_times(len(times) + np.arange(len(later)), periods)),
                )
            ),
            "The measurements were numbered 0, 1, 2, ..., as if they were one step apart. They are not: "
            "encode their times.",
        ),
        Mistake(
            "time-as-it-is",
            _read_out(_each(lambda times, periods: times[:, None])),
            "The model was given the time itself, and could only draw a straight line through the values. "
            "Give it the sines and cosines.",
        ),
        Mistake(
            "time-within-the-period",
            _read_out(_each(lambda times, periods: times[:, None] % periods)),
            "The model was given the time within each period, which jumps back to 0. A straight line over "
            "the day is not a wave: take the sine and the cosine.",
        ),
        Mistake(
            "wavelengths-of-the-formula",
            _read_out(_each(lambda times, periods: sinusoidal(times, 2 * len(periods)))),
            "The times were encoded with the wavelengths of the original formula, which are not the periods "
            "of these values. Let each clock turn once in its period.",
        ),
        Mistake(
            "no-two-pi",
            _read_out(_each(lambda times, periods: encode_times(times, 2 * np.pi * periods))),
            "The clocks are too slow by a factor of 2 pi: in one period they must make a whole turn.",
        ),
        Mistake(
            "only-sines",
            _read_out(_each(lambda times, periods: np.sin(time_angles(times, periods)))),
            "With sines alone, every wave passes its middle at time 0. The cosines are needed to put its "
            "crest at any hour.",
        ),
        Mistake(
            "each-from-its-own-first",
            _read_out(
                lambda times, later, periods: (
                    _and_one(encode_times(times - times[0], periods)),
                    _and_one(encode_times(later - later[0], periods)),
                )
            ),
            "The known and the later times were each counted from their own first one, so the clocks were "
            "set back in between. Encode both from the same zero.",
        ),
        Mistake(
            "first-period-alone",
            _read_out(_each(lambda times, periods: encode_times(times, periods[:1]))),
            "You encode the first period only. Give the model two columns for each period.",
        ),
        Mistake(
            "last-period-alone",
            _read_out(_each(lambda times, periods: encode_times(times, periods[-1:]))),
            "You encode the last period only. Give the model two columns for each period.",
        ),
        Mistake(
            "mean",
            lambda times, values, later, periods: np.full(len(later), np.mean(values)),
            "This is the mean of the known values, whatever the time. Encode the later times, and let the "
            "weights read them.",
        ),
        Mistake(
            "between-neighbours",
            lambda times, values, later, periods: np.interp(later, times, values),
            "The values were interpolated, and beyond the last one that only repeats it. Fit the weights on "
            "the encoded times, and use them on the encoded later times.",
        ),
        Mistake(
            "only-cosines",
            _read_out(_each(lambda times, periods: np.cos(time_angles(times, periods)))),
            "With cosines alone, every wave has its crest or its trough at time 0. The sines are needed to "
            "put it at any hour.",
        ),
        Mistake(
            "whole-hours",
            _read_out(_each(lambda times, periods: encode_times(np.floor(times), periods))),
            "The times were cut down to whole hours. The formula takes any real number: leave the fraction "
            "in.",
        ),
        Mistake(
            "mean-for-the-level",
            lambda times, values, later, periods: (
                np.mean(values)
                + _read_out(_each_without_one(encode_times))(times, values - np.mean(values), later, periods)
            ),
            "The mean of the values was taken for the level. It is not: the times are irregular, so crests "
            "and troughs do not cancel in it. Let the fit find the level, by a column of ones.",
        ),
        Mistake(
            "last-value",
            lambda times, values, later, periods: np.full(len(later), values[-1]),
            "This is the last known value, whatever the time. Encode the later times, and let the weights "
            "read them.",
        ),
        Mistake(
            "within-the-first-period",
            lambda times, values, later, periods: _forecast(
                times % periods[0], values, later % periods[0], periods
            ),
            "The times were cut down to the first period, and the slower clocks lost their turns. Use the "
            "times as they are: sine and cosine come round by themselves.",
        ),
        Mistake(
            "projected",
            lambda times, values, later, periods: (
                (_and_one(encode_times(later, periods)) @ (_and_one(encode_times(times, periods)).T @ values))
                / len(times)
            ),
            "The weights are mean products of each column with the values. That would do if the columns did "
            "not overlap, and at irregular times they do: call fit.",
        ),
        Mistake(
            "mean-not-given-back",
            lambda times, values, later, periods: _forecast(times, values - np.mean(values), later, periods),
            "The mean was taken off the values and not added again, so the forecast swings about 0.",
        ),
    ),
    alternatives=(_forecast_by_normal_equations, _forecast_from_the_first, _forecast_with_overtones),
    hints=(
        "The model is `fit(features, values)`: it gives one weight for each column of the features. Its "
        "forecast for other features is `features @ weights`.",
        "Encode `times`, fit the weights, encode `later` in the same way, and multiply.",
        "The values swing about a level that is not 0. A column of ones next to the encoding lets the model "
        "say so: `np.column_stack([table, np.ones(len(table))])`.",
    ),
)
