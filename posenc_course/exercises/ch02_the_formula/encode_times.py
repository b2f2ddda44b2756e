"""Times that are not steps: Clocks that you choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import (
    HOURS_TO_2026,
    IRREGULAR,
    any_periods,
    assemble,
    encode_times,
    irregular,
    time_angles,
)
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib.added.sinusoidal import sinusoidal


def _encode_times_by_loop(times: Any, periods: Any) -> list[list[float]]:
    rows = []
    for time in times:
        row: list[float] = []
        for period in periods:
            angle = 2 * np.pi * (time % period) / period
            row += [float(np.sin(angle)), float(np.cos(angle))]
        rows.append(row)
    return rows


def _encode_times_by_complex(times: Any, periods: Any) -> np.ndarray:
    turned = np.exp(2j * np.pi * np.asarray(times)[:, None] / np.asarray(periods))
    return np.stack([turned.imag, turned.real], axis=-1).reshape(len(times), -1)


def _encode_times_by_columns(times: Any, periods: Any) -> np.ndarray:
    table = np.zeros((len(times), 2 * len(periods)))
    for number, period in enumerate(periods):
        table[:, 2 * number] = np.sin(2 * np.pi / period * times)
        table[:, 2 * number + 1] = np.cos(2 * np.pi / period * times)
    return table


def _encode_times_cases(rng: np.random.Generator) -> Iterator[Case]:
    day_and_week = np.asarray([24.0, 168.0])
    yield Case("three hours of a day", (np.asarray([3.0, 13.5, 22.0]), np.asarray([24.0])))
    yield Case("day and week, irregular times", (irregular(rng, 6, 300), day_and_week))
    yield Case("as many times as columns", (irregular(rng, 4, 300, -20.5), day_and_week))
    yield Case("hours since 1970", (irregular(rng, 5, 300, HOURS_TO_2026), day_and_week))
    yield Case("from time 0 on", (np.append(0.0, irregular(rng, 3, 50)), day_and_week))
    yield Case("one time alone", (np.asarray([7.25]), day_and_week))
    for _ in range(2):
        yield Case("other periods", (irregular(rng, 5, 200), any_periods(rng)))
    yield Case("in no order", (np.roll(irregular(rng, 6, 300), 2), np.asarray([168.0, 24.0])))


ENCODE_TIMES = Exercise(
    id="02-the-formula.encode_times",
    title="Clocks that you choose",
    signature="encode_times(times: shape (n,), periods: shape (m,)) -> array of shape (n, 2m)",
    step_of=IRREGULAR,
    points=2,
    minutes=10,
    difficulty=2,
    reference=lambda times, periods: encode_times(times, periods),
    make_cases=_encode_times_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 2 * len(args[1])),
            "There must be a row for each time, and two columns for each period.",
            about="form",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[:, 0::2] ** 2 + value[:, 1::2] ** 2, 1, atol=1e-3)),
            "Columns 2i and 2i + 1 must be the sine and the cosine of one angle, so that their squares add "
            "up to 1.",
        ),
        Property(
            lambda args, value: bool(np.allclose(value[args[0] == 0], np.arange(value.shape[1]) % 2)),
            "At time 0 all hands must be at twelve o'clock: 0, 1, 0, 1, ...",
        ),
    ),
    mistakes=(
        Mistake(
            "no-two-pi",
            lambda times, periods: assemble(time_angles(times, periods) / (2 * np.pi)),
            "The factor 2 pi is missing: after one period the hand must have made a whole turn, which is 2 "
            "pi radians.",
        ),
        Mistake(
            "period-for-frequency",
            lambda times, periods: assemble(2 * np.pi * np.asarray(times)[:, None] * np.asarray(periods)),
            "The times were multiplied by the periods. A long period is a slow clock: divide by it.",
        ),
        Mistake(
            "number-for-time",
            lambda times, periods: encode_times(np.arange(len(times)), periods),
            "The number of the row was encoded, and not the time. The gaps between these times are of any "
            "size: use the times themselves.",
        ),
        Mistake(
            "counted-from-the-first",
            lambda times, periods: encode_times(np.asarray(times) - times[0], periods),
            "The times were counted from the first one. Then the same hour looks different in two lists: use "
            "the times as they are.",
        ),
        Mistake(
            "whole-hours",
            lambda times, periods: encode_times(np.floor(times), periods),
            "The times were cut down to whole hours. The formula takes any real number: leave the fraction "
            "in.",
        ),
        Mistake(
            "wavelengths-of-the-formula",
            lambda times, periods: sinusoidal(np.asarray(times, dtype=np.float64), 2 * len(periods)),
            "These are the waves of the original formula, with base 10000. Here the periods are given: let "
            "each clock make one turn in its period.",
        ),
        Mistake(
            "degrees",
            lambda times, periods: assemble(time_angles(times, periods) * 180 / np.pi),
            "The angle is in degrees, 360 for a turn. The sine and the cosine take radians: 2 pi for a turn.",
        ),
        Mistake(
            "halves",
            lambda times, periods: assemble(time_angles(times, periods), halves=True),
            "All sines come first and all cosines after them. Here the two of a period must be side by side.",
        ),
        Mistake(
            "sine-and-cosine-swapped",
            lambda times, periods: assemble(time_angles(times, periods), even=np.cos, odd=np.sin),
            "Sine and cosine are swapped: even columns hold the sine, odd columns the cosine.",
        ),
        Mistake(
            "only-sines",
            lambda times, periods: assemble(time_angles(times, periods), odd=np.sin),
            "Every column holds a sine. Take the cosine in the odd columns.",
        ),
        Mistake(
            "backwards",
            lambda times, periods: encode_times(-np.asarray(times), periods),
            "The hands run backwards: every sine has the wrong sign.",
        ),
        Mistake(
            "rounded-to-hours",
            lambda times, periods: encode_times(np.round(times), periods),
            "The times were rounded to whole hours. The formula takes any real number: leave the fraction "
            "in.",
        ),
        Mistake(
            "whole-turns-alone",
            lambda times, periods: assemble(2 * np.pi * (np.asarray(times)[:, None] // np.asarray(periods))),
            "The // counts whole turns only, so every hand is back at twelve o'clock. Divide with a single "
            "slash.",
        ),
        Mistake(
            "half-a-turn",
            lambda times, periods: encode_times(times, 2 * np.asarray(periods)),
            "In one period your hands make half a turn. A whole turn is 2 pi radians, not pi.",
        ),
        Mistake(
            "two-turns",
            lambda times, periods: encode_times(times, np.asarray(periods) / 2),
            "In one period your hands make two turns. A whole turn is 2 pi radians.",
        ),
        Mistake(
            "within-a-day",
            lambda times, periods: encode_times(np.asarray(times) % 24, periods),
            "The times were cut down to the hour of the day, and the longer clocks lost their days. Use the "
            "times as they are: sine and cosine come round by themselves.",
        ),
    ),
    alternatives=(_encode_times_by_loop, _encode_times_by_complex, _encode_times_by_columns),
    hints=(
        "After one period the hand of a clock has made one whole turn. What is its angle at any time?",
        "The angle is 2 pi times the time, divided by the period. `times[:, None] / periods` makes one for "
        "each time and period, if both are arrays.",
        "The sines go into the even columns of an array of shape (n, 2m), and the cosines into the odd ones.",
    ),
)
