"""`02-the-formula.forecast`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc_course.exercises.ch02_the_formula.forecast import FORECAST
from tests.exercises.ch02_the_formula.shared import SEEDS


@SEEDS
def test_the_forecast_is_the_signal_itself(seed):
    for case in FORECAST.cases(seed):
        times, values, later, periods = case.args
        waves = [
            [1.0, *(f(2 * math.pi * t / p) for p in periods for f in (math.sin, math.cos))] for t in times
        ]
        assert np.linalg.cond(waves) < 1e3
        weights = np.linalg.lstsq(np.asarray(waves), values, rcond=None)[0]
        assert np.asarray(waves) @ weights == pytest.approx(values, abs=1e-8)
        then = [
            [1.0, *(f(2 * math.pi * t / p) for p in periods for f in (math.sin, math.cos))] for t in later
        ]
        assert FORECAST.reference(*case.args) == pytest.approx(np.asarray(then) @ weights, abs=1e-7)


def by_number(times, values, later, periods):
    def rows(places):
        return [
            [1.0, *(f(2 * math.pi * k / p) for p in periods for f in (math.sin, math.cos))] for k in places
        ]

    weights = np.linalg.pinv(np.asarray(rows(range(len(times))))) @ values
    return np.asarray(rows(range(len(times), len(times) + len(later)))) @ weights


NOT_KNOWN = (("forecast", lambda times, values, later, periods: np.full(len(later), values[-1] + 1), None),)


WRITTEN_IN_ANOTHER_WAY = (("forecast", by_number, "number-for-time"),)
