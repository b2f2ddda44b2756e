"""`09-beyond-text.calendar_circles`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pytest

from posenc_course.exercises.ch09_beyond_text.calendar_circles import CALENDAR_CIRCLES, DAY, MONDAY, WEEK


@pytest.mark.parametrize("zone_of_seconds", [0, 1_732_000_000, -86_401])
def test_a_time_stands_where_the_clock_and_the_calendar_put_it(zone_of_seconds):
    stamp = datetime.datetime.fromtimestamp(zone_of_seconds, datetime.UTC)
    day_sin, day_cos, week_sin, week_cos = CALENDAR_CIRCLES.reference(np.array([zone_of_seconds]))[0]
    hours = stamp.hour + stamp.minute / 60 + stamp.second / 3600
    assert math.atan2(day_sin, day_cos) % math.tau == pytest.approx(hours / 24 * math.tau, abs=1e-9)
    day = math.atan2(week_sin, week_cos) % math.tau / math.tau * 7
    assert day == pytest.approx(stamp.weekday() + hours / 24, abs=1e-9)


def circles_from(first_day):
    """Weeks that begin on another day, in days from Monday."""

    def circles(times):
        angles = 2 * np.pi * np.stack([times % DAY / DAY, (times - MONDAY - first_day * DAY) / WEEK])
        return np.stack([f(angle) for angle in angles for f in (np.sin, np.cos)], axis=1)

    return circles


NOT_KNOWN = (
    ("calendar_circles", lambda times: np.zeros((len(times), 4)), "squares must sum to 1"),
    ("calendar_circles", circles_from(1), "At midnight from Sunday to Monday"),
    ("calendar_circles", lambda times: circles_from(0)(times + DAY // 2), "At midnight, the sine of the day"),
)


WRITTEN_IN_ANOTHER_WAY = (("calendar_circles", circles_from(3), "week-from-thursday"),)
