"""A time on two circles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import TURN, Generator
from posenc_course.exercises.drawing import Draws, arrows
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.times import calendar_features

HOUR, DAY = 3600, 86_400


WEEK = 7 * DAY


MONDAY = 4 * DAY


def _time_cases(rng: Generator) -> Iterator[Case]:
    yield Case("the first seconds of 1970, a Thursday", (np.array([0, 1, 3599]),))
    yield Case("around midnight", (np.array([DAY - 60, DAY, DAY + 60]),))
    yield Case("from Sunday to Monday", (MONDAY + np.array([-60, 0, 60]),))
    yield Case("before 1970", (np.array([-1, -DAY, -10 * DAY - 5 * HOUR]),))
    for _ in range(3):
        yield Case("stamps, drawn", (rng.integers(0, 2_000_000_000, size=6),))


def _circle(share: Array) -> list[Array]:
    return [np.sin(TURN * share), np.cos(TURN * share)]


def _of_day(times: Array) -> Array:
    return np.asarray(times % DAY / DAY)


def _of_week(times: Array) -> Array:
    return np.asarray((times - MONDAY) % WEEK / WEEK)


def _circles_with(
    day: Callable[[Array], Array] = _of_day,
    week: Callable[[Array], Array] = _of_week,
    order: Sequence[int] = (0, 1, 2, 3),
) -> Callable[[Array], Array]:
    def circles(times: Array) -> Array:
        columns = [*_circle(day(times)), *_circle(week(times))]
        return np.stack([columns[each] for each in order], axis=-1)

    return circles


_circles = _circles_with()


def _whole_days(times: Array) -> Array:
    return np.asarray(_of_week(times) * 7 // 1 / 7)


def _circles_by_datetime(times: Array) -> list[list[float]]:
    import datetime

    start = datetime.datetime(1970, 1, 1)
    rows = []
    for each in times.tolist():
        stamp = start + datetime.timedelta(seconds=each)
        second = stamp.hour * 3600 + stamp.minute * 60 + stamp.second
        day, week = second / DAY, (stamp.weekday() + second / DAY) / 7
        rows.append([f(2 * math.pi * share) for share in (day, week) for f in (math.sin, math.cos)])
    return rows


def _circles_by_arrows(times: Array) -> Array:
    day, week = np.exp(1j * TURN * times / DAY), np.exp(1j * TURN * (times + 3 * DAY) / WEEK)
    return np.stack([day.imag, day.real, week.imag, week.real], axis=1)


def _begins(points: Array) -> bool:
    """Whether all are where a circle begins."""
    return bool(np.allclose(points, [0, 1], atol=1e-5))


CALENDAR_CIRCLES = Exercise(
    id="09-beyond-text.calendar_circles",
    title="A time on two circles",
    signature="calendar_circles(times: array of shape (n,), seconds since 1970) -> array of shape (n, 4)",
    points=3,
    minutes=12,
    difficulty=2,
    draws=Draws(
        lambda calendar_circles, *days: arrows(
            np.asarray(calendar_circles(MONDAY + DAY * np.arange(7)))[:, 2:], days
        ),
        axes=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
        look="Midnight of each day of a week, with its sine to the right and its cosine upwards: Sunday "
        "is next to Monday.",
    ),
    reference=_circles,
    make_cases=_time_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (len(args[0]), 4),
            "There must be four numbers for each time.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.allclose(np.square(value)[:, ::2] + np.square(value)[:, 1::2], 1, atol=1e-4)
            ),
            "Each sine and its cosine are a point on a circle: their squares must sum to 1.",
        ),
        Property(
            lambda args, value: _begins(value[args[0] % DAY == 0, :2]),
            "At midnight, the sine of the day must be 0 and its cosine 1.",
        ),
        Property(
            lambda args, value: _begins(value[(args[0] - MONDAY) % WEEK == 0, 2:]),
            "At midnight from Sunday to Monday, the sine of the week must be 0 and its cosine 1.",
        ),
    ),
    mistakes=(
        Mistake(
            "week-from-thursday",
            _circles_with(week=lambda times: times % WEEK / WEEK),
            "Your weeks begin on Thursdays, because January 1st 1970 was a Thursday. How many days later "
            "did the first Monday begin?",
        ),
        Mistake(
            "week-from-sunday",
            _circles_with(week=lambda times: (times - 3 * DAY) % WEEK / WEEK),
            "Your weeks begin on Sundays, and should begin on Mondays. If you added the days up to the first "
            "Monday, subtract them.",
        ),
        Mistake(
            "whole-hours",
            _circles_with(day=lambda times: times % DAY // HOUR / 24),
            "You cut the time of day to whole hours. Minutes and seconds count too.",
        ),
        Mistake(
            "whole-days",
            _circles_with(week=_whole_days),
            "You cut the time of the week to whole days: Monday morning and Monday night get the same place.",
        ),
        Mistake(
            "whole-both",
            _circles_with(day=lambda times: times % DAY // HOUR / 24, week=_whole_days),
            "You cut to whole hours and whole days. The circles should go round without steps.",
        ),
        Mistake(
            "one-short",
            _circles_with(
                day=lambda times: times % DAY / HOUR / 23,
                week=lambda times: (times - MONDAY) % WEEK / DAY / 6,
            ),
            "You divide by the largest number, 23 or 6. A day has 24 hours and a week 7 days; only then "
            "does the circle end where it began.",
        ),
        Mistake(
            "cosine-first",
            _circles_with(order=(1, 0, 3, 2)),
            "Your cosines come before their sines.",
        ),
        Mistake(
            "sines-first",
            _circles_with(order=(0, 2, 1, 3)),
            "You put both sines first. The two numbers of the day come first, then those of the week.",
        ),
        Mistake(
            "week-first",
            _circles_with(order=(2, 3, 0, 1)),
            "The week comes first in your columns. The day should.",
        ),
        Mistake(
            "half-a-turn",
            _circles_with(day=lambda t: _of_day(t) / 2, week=lambda t: _of_week(t) / 2),
            "Your circles are half circles: evening and morning are on opposite sides. A whole turn is 2 pi.",
        ),
        Mistake(
            "no-turn",
            _circles_with(day=lambda t: _of_day(t) / TURN, week=lambda t: _of_week(t) / TURN),
            "The factor 2 pi is missing: your whole day is 1 radian long.",
        ),
        Mistake(
            "whole-minutes",
            _circles_with(day=lambda times: times % DAY // 60 / 1440),
            "You cut the time of day to whole minutes. Seconds count too.",
        ),
        Mistake(
            "day-twice",
            _circles_with(week=_of_day),
            "Your second circle goes round once a day, like the first. Divide the time of the week by a "
            "whole week.",
        ),
        Mistake(
            "without-the-sign",
            lambda times: _circles(np.abs(times)),
            "You drop the sign of the times. Before 1970 they are negative, and % is right for these too.",
        ),
    ),
    alternatives=(
        _circles_by_datetime,
        _circles_by_arrows,
        lambda times: calendar_features(times, ("day", "week")),
    ),
    hints=(
        "`times % 86400` is the second of the day. What share of the day is that?",
        "For the week, subtract the second at which the first Monday began: January 1st of 1970 was a "
        "Thursday.",
        "The angle is `2 * np.pi` times the share. Stack the four columns with `np.stack(..., axis=1)`.",
    ),
)
