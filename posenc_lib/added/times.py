"""Times that are not counts: circles of the calendar, and learned waves for irregular stamps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    constant,
    default_integer,
    extremes,
    is_floating,
    namespace,
    narrow,
    result_dtype,
    widen,
)
from posenc_lib.added.sinusoidal import LAYOUTS, Layout, join_pairs

CIRCLES = ("hour", "day", "week", "month", "year")
Circle = Literal["hour", "day", "week", "month", "year"]
_DAY = 86_400
_SECONDS = {"hour": 3_600, "day": _DAY, "week": 7 * _DAY}
_YEAR_1, _YEAR_10000 = -62_135_596_800, 253_402_300_800
_FIRST_MONDAY = 4 * _DAY
"""1970-01-05: the seconds from which weeks count."""


def calendar_phases(
    times: ArrayT,
    circles: Sequence[Circle] = ("day", "week", "year"),
    *,
    offset: Array | int = 0,
    dtype: Any = None,
) -> ArrayT:
    """How far around each circle of the calendar a time is: 0 at its beginning, below 1 at its end.

    Months have their own lengths and leap years 366 days, so that a year begins at 0 every time; weeks begin
    on Monday.

    Which clock? A habit of people follows the clock on their wall. Where that is put forward in spring, 9
    o'clock is another time of UTC in summer than in winter, and in phases of UTC the habit jumps by an hour
    twice a year. Give `offset`, the seconds by which the local clock is ahead of UTC at each time
    (`datetime.utcoffset()` of a time with a `zoneinfo.ZoneInfo`). What follows the sun, or an exchange that
    keeps UTC, needs none.

    Args:
        times: (...), seconds since 1970-01-01 00:00, UTC, as whole numbers or in float64: a float32 is off by
            up to 64 seconds today, and is refused. For NumPy's dates:
            stamps.astype("datetime64[s]").astype(int); divide milliseconds by 1000.
        circles: which ones, of "hour", "day", "week", "month" and "year".
        offset: seconds that the local clock is ahead, one number or one for each time: -18000 for five hours
            behind.
        dtype: of the result; by default that of real times, else the library's default.

    Returns:
        (..., circles), in the library and on the device of the times.

    Raises:
        TypeError: times are not numbers, dtype not a real type.
        ValueError: NaN, unknown circles or none, offsets that do not broadcast, times in too short a type;
            times outside the years 1 to 9999 (milliseconds, most likely), offsets of less than 25 seconds
            (hours) or of a day and more; JAX's 32-bit times near 1901 or 2038.

    Example:
        >>> import numpy as np
        >>> noon = np.asarray(["2024-12-31T12:00"], dtype="datetime64[s]").astype(int)  # a Tuesday
        >>> calendar_phases(noon, ("day", "week", "year"))
        array([[0.5       , 0.21428571, 0.99863388]])

    Source: the proleptic Gregorian calendar, ISO 8601 (weeks), POSIX.1-2017 (seconds, without leap seconds).
    """
    circles = _read_circles(circles)
    times, dtype = _read_times(times, dtype)
    local = widen(times) if is_floating(times) else namespace(times).astype(times, namespace(times).int64)
    if not (isinstance(offset, int) and offset == 0):
        local = local + _read_offset(offset, local)
    xp = namespace(local)
    phases = []
    for circle in circles:
        if circle in _SECONDS:
            start = _FIRST_MONDAY if circle == "week" else 0
            phases.append(_share(xp, (local - start) % _SECONDS[circle], _SECONDS[circle]))
        else:
            since, length = _since_beginning(xp, local, circle)
            phases.append(since / length)
    return narrow(xp.stack(phases, axis=-1), times, dtype)


def calendar_features(
    times: ArrayT,
    circles: Sequence[Circle] = ("day", "week", "year"),
    *,
    offset: Array | int = 0,
    layout: Layout = "interleaved",
    dtype: Any = None,
) -> ArrayT:
    """Times as points on circles: sin and cos of each phase, so that 23:59 is next to 00:00.

    As a number, hour 23 is as far from hour 0 as a day is long, and weekday 6 from weekday 0. On a circle
    neighbours are neighbours. A straight line in such features can say "at 9", but for "on Mondays at 9" a
    network has to multiply.

    Args:
        times, circles, offset, dtype: as in `calendar_phases`, which says which clock to take.
        layout: "interleaved" (sin and cos of the first circle, then of the second), "split" (all sines first)
            or "split-cos-first".

    Returns:
        (..., 2 * circles), in the library and on the device of the times.

    Raises:
        TypeError, ValueError: as `calendar_phases`; unknown layout.

    Example:
        >>> import numpy as np
        >>> midnight_and_six = np.asarray([0, 6 * 3600])
        >>> calendar_features(midnight_and_six, ("day",)).round(3)
        array([[0., 1.],
               [1., 0.]])

    Source: the usual cyclic features, such as Pedregosa et al. 2011 (scikit-learn's example "Time-related
        feature engineering"), with calendar lengths in place of 30 and 365 days.
    """
    require.choice(layout, "layout", LAYOUTS)
    times, dtype = _read_times(times, dtype)
    phases = calendar_phases(times, circles, offset=offset, dtype=namespace(widen(times)).float64)
    wide = widen(phases)
    xp = namespace(wide)
    angle = 2.0 * math.pi * wide
    return narrow(join_pairs(xp, xp.sin(angle), xp.cos(angle), layout), times, dtype)


def time2vec(times: ArrayT, rates: Array, phases: Array, *, dtype: Any = None) -> ArrayT:
    """One straight line and learned waves of a time: w_0 t + p_0, sin(w_1 t + p_1), ...

    The rates are in radians per unit of the times: for times in seconds, a rate of 1 is a wave of 6 seconds.
    Choose the unit so that what matters lies near 1, and start from several rates: a wave that is far off
    does not find its way by gradients. The line keeps growing: test at times later than those of
    training.

    Args:
        times: (...), integers or reals, evenly spaced or not.
        rates, phases: (features,), learned; NumPy, or the library of the times.
        dtype: of the result; by default that of real times, else the library's default.

    Returns:
        (..., features), in the library and on the device of the times. Angles are in float64, the cast comes
        last. Gradients reach rates, phases and times.

    Raises:
        TypeError: not real numbers, arrays of different libraries, a dtype that is not a real type.
        ValueError: NaN, rates and phases of different shapes or none, different devices.

    Example:
        >>> import numpy as np
        >>> time2vec(np.asarray([0.0, 2.5]), np.asarray([2.0, np.pi]), np.zeros(2)).round(3)
        array([[0., 0.],
               [5., 1.]])

    Source: Kazemi et al. 2019, "Time2Vec: Learning a Vector Representation of Time", equation 1. The time
        embedding of mTAN (Shukla and Marlin 2021, equation 2) is the same.
    """
    times = require.numbers(times, "times")
    dtype = result_dtype(times, dtype)
    given = {"rates": require.numbers(rates, "rates"), "phases": require.numbers(phases, "phases")}
    shapes = {tuple(each.shape) for each in given.values()}
    if len(shapes) > 1 or next(iter(given.values())).ndim != 1 or (0,) in shapes:
        raise ValueError(f"{require.shapes(**given)} do not fit; give (features,) for both, one or more")
    for name, each in given.items():
        if not isinstance(each, np.ndarray):
            namespace(times, each)
            require.same_device(**{"times": times, name: each})
    return line_and_waves(times, given["rates"], given["phases"], dtype)


def line_and_waves(times: Array, rates: Array, phases: Array, dtype: Any) -> Array:
    """`time2vec` of what was looked at already."""
    wide = widen(times)
    own, at = (
        constant(each.astype(np.float64), wide) if isinstance(each, np.ndarray) else widen(each)
        for each in (rates, phases)
    )
    xp = namespace(wide)
    angle = wide[..., None] * own + at
    return narrow(xp.concat([angle[..., :1], xp.sin(angle[..., 1:])], axis=-1), times, dtype)


def _read_circles(circles: Any) -> tuple[Circle, ...]:
    if not isinstance(circles, (tuple, list)) or not circles:
        raise ValueError(
            f"circles={circles!r}; give a tuple of one or more of {', '.join(map(repr, CIRCLES))}"
        )
    return tuple(require.choice(circle, "circles", CIRCLES) for circle in circles)


def _read_times(times: Any, dtype: Any) -> tuple[Array, Any]:
    times = require.numbers(times, "times")
    xp = namespace(times)
    reach = extremes(times)
    dtype = result_dtype(times, dtype)
    if reach is None:
        return times, dtype
    refuse_coarse(times)
    short = not is_floating(times) and default_integer(xp) == xp.int32
    if short and max(-reach[0], reach[1]) >= 2**31 - 5 * _DAY:  # sums with an offset and a week's start
        raise ValueError(
            f"times from {reach[0]:.15g} to {reach[1]:.15g} seconds are too far for 32-bit integers; set "
            "jax.config.update('jax_enable_x64', True)"
        )
    if reach[0] < _YEAR_1 or reach[1] >= _YEAR_10000:
        raise ValueError(
            f"times from {reach[0]:.15g} to {reach[1]:.15g} seconds are outside the years 1 to 9999; divide "
            "milliseconds by 1000, and microseconds by 1000000"
        )
    return times, dtype


def refuse_coarse(times: Array, unit: float = 1.0) -> None:
    """Raise ValueError where neighbouring numbers of the times' dtype, in units of so many seconds, are a
    second apart or more."""
    xp, reach = namespace(times), extremes(times)
    if reach is None or not is_floating(times) or xp.finfo(times.dtype).bits >= 64:
        return
    mantissa, power = math.frexp(max(-reach[0], reach[1]))
    if mantissa and 2.0 ** (power - 1) * float(xp.finfo(times.dtype).eps) * unit >= 1:
        units = "seconds" if unit == 1 else f"units of {unit:g} seconds"
        raise ValueError(
            f"times up to {reach[1]:g} {units} are in {times.dtype}, which cannot tell one second from the "
            "next; give integers, or float64"
        )


def _read_offset(offset: Any, local: Array) -> Array:
    """The offset, as an array beside the times."""
    given = require.numbers(offset, "offset")
    if isinstance(given, np.ndarray):
        given = constant(given, local)
    xp = namespace(local, given)
    require.same_device(times=local, offset=given)
    if not is_floating(given):  # in 16 bits PyTorch would wrap the length of a day
        given = xp.astype(given, xp.int64, copy=False)
    seconds = xp.abs(given)
    require.all_hold(
        (given == 0) | ((seconds >= 25) & (seconds < _DAY)),
        offset,
        "offset is in seconds, less than a day: -18000 for five hours behind",
    )
    if require.broadcast(tuple(local.shape), tuple(given.shape)) is None:
        raise ValueError(
            f"offset of shape {tuple(given.shape)} does not fit times of shape {tuple(local.shape)}; give "
            f"one number, or "
            "one for each time"
        )
    return xp.astype(given, local.dtype) if is_floating(local) or not is_floating(given) else widen(given)


def _share(xp: Any, part: Array, whole: int) -> Array:
    return xp.astype(part, xp.float64) / whole


def _since_beginning(xp: Any, local: Array, circle: str) -> tuple[Array, Array]:
    """Days since the month or year began, and how many it has; in float64.

    Years are counted from March, so that the leap day comes last: then the days before month m of such a year
    are (153 m + 2) // 5, and 400 of them have 146,097 days.
    """
    days = xp.astype(xp.floor(local / _DAY) if is_floating(local) else local // _DAY, xp.int64)
    hours = _share(xp, local - xp.astype(days * _DAY, local.dtype), _DAY)
    since_march_0 = days + 719_468  # 0000-03-01
    era = since_march_0 // 146_097
    of_era = since_march_0 - era * 146_097
    year_of_era = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * of_year + 2) // 153  # 0 is March
    year = year_of_era + era * 400 + xp.astype(month >= 10, xp.int64)
    leap = xp.astype(((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0), xp.int64)
    if circle == "year":
        since = xp.where(month >= 10, of_year - 306, of_year + 59 + leap)
        length = 365 + leap
    else:
        since = of_year - (153 * month + 2) // 5
        usual = (153 * (month + 1) + 2) // 5 - (153 * month + 2) // 5
        length = xp.where(month == 11, 28 + leap, usual)
    return xp.astype(since, xp.float64) + hours, xp.astype(length, xp.float64)
