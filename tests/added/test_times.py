"""Calendars against Python's own, at the ends of years and months and where clocks change; Time2Vec by its "
"formula."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from posenc_lib.added import calendar_features, calendar_phases, sinusoidal, time2vec
from posenc_lib.added.sinusoidal import Layout
from posenc_lib.added.times import Circle
from tests.present import present

EPOCH = datetime(1970, 1, 1)
CIRCLES: tuple[Circle, ...] = ("hour", "day", "week", "month", "year")


def stamp(moment: datetime) -> int:
    return round((moment - EPOCH) / timedelta(seconds=1))


def by_datetime(moment: datetime) -> list[float]:
    """The five phases, as Python's calendar has them."""
    of_hour = timedelta(minutes=moment.minute, seconds=moment.second)
    of_day = timedelta(hours=moment.hour) + of_hour
    of_month = timedelta(days=moment.day - 1) + of_day
    of_year = timedelta(days=moment.timetuple().tm_yday - 1) + of_day
    return [
        of_hour / timedelta(hours=1),
        of_day / timedelta(days=1),
        (timedelta(days=moment.weekday()) + of_day) / timedelta(days=7),
        of_month / timedelta(days=calendar.monthrange(moment.year, moment.month)[1]),
        of_year / timedelta(days=366 if calendar.isleap(moment.year) else 365),
    ]


EDGES = [
    datetime(year, month, day, *clock)
    for year in (1600, 1900, 1904, 1969, 1970, 1999, 2000, 2023, 2024, 2100, 2400)
    for month, day in ((1, 1), (2, 28), (3, 1), (6, 30), (7, 1), (12, 31))
    for clock in ((0, 0, 0), (23, 59, 59))
] + [datetime(year, 2, 29, 12) for year in (1600, 2000, 2024)]


def test_the_ends_of_months_and_years() -> None:
    found = calendar_phases(np.asarray([stamp(each) for each in EDGES]), CIRCLES)
    np.testing.assert_allclose(found, [by_datetime(each) for each in EDGES], rtol=0, atol=1e-12)


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31)))
@settings(max_examples=60, derandomize=True)
def test_any_moment(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    found = calendar_phases(np.asarray([stamp(moment)]), CIRCLES)[0]
    np.testing.assert_allclose(found, by_datetime(moment), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found, calendar_phases(np.asarray([float(stamp(moment))]), CIRCLES)[0], rtol=0, atol=1e-12
    )


def test_fractions_of_a_second() -> None:
    found = calendar_phases(np.asarray([0.5, -0.25]), ("hour", "day"))
    np.testing.assert_allclose(found, [[0.5 / 3600, 0.5 / 86400], [1 - 0.25 / 3600, 1 - 0.25 / 86400]])


def test_neighbours_on_a_circle_are_neighbours() -> None:
    days = 86400 * np.arange(7)
    circle = calendar_features(days, ("week",))
    steps = np.linalg.norm(circle - np.roll(circle, 1, axis=0), axis=-1)
    np.testing.assert_allclose(steps, steps[0])  # from Wednesday to Thursday as from Sunday to Monday
    late, early = calendar_features(np.asarray([86399, 86400]), ("day",))
    assert np.linalg.norm(late - early) < 1e-4


def test_summer_time_moves_what_follows_the_wall_clock() -> None:
    """A shop in Berlin opens at 9: by its own clock always at the same phase, by UTC at two."""
    berlin = ZoneInfo("Europe/Berlin")
    opens = [datetime(2024, month, 15, 9, tzinfo=berlin) for month in range(1, 13)]
    times = np.asarray([round(each.astimezone(UTC).timestamp()) for each in opens])
    ahead = np.asarray([round(present(each.utcoffset()) / timedelta(seconds=1)) for each in opens])
    in_utc = calendar_phases(times, ("day",))[:, 0]
    assert sorted({round(24 * phase) for phase in in_utc}) == [7, 8]
    np.testing.assert_allclose(calendar_phases(times, ("day",), offset=ahead)[:, 0], 9 / 24)
    np.testing.assert_allclose(
        calendar_features(times, ("day",), offset=ahead), calendar_features(times + ahead, ("day",))
    )


@pytest.mark.parametrize("layout", ["interleaved", "split", "split-cos-first"])
def test_features_are_sines_and_cosines_of_the_phases(layout: Layout) -> None:
    times = np.asarray([stamp(each) for each in EDGES])
    turns = 2 * np.pi * calendar_phases(times, CIRCLES)
    pairs = {"interleaved": np.stack([np.sin(turns), np.cos(turns)], -1).reshape(len(EDGES), -1)}
    pairs["split"] = np.concatenate([np.sin(turns), np.cos(turns)], -1)
    pairs["split-cos-first"] = np.concatenate([np.cos(turns), np.sin(turns)], -1)
    np.testing.assert_allclose(calendar_features(times, CIRCLES, layout=layout), pairs[layout], atol=1e-12)


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    times = np.asarray([[stamp(each) for each in EDGES]])
    found = calendar_features(own(times), CIRCLES, offset=3600)
    assert type(found) is type(own(times))
    np.testing.assert_allclose(np.asarray(found), calendar_features(times, CIRCLES, offset=3600), atol=1e-6)
    rates, phases = np.asarray([0.1, 2.0, 3.0]), np.asarray([0.5, 0.0, 1.0])
    some = np.asarray([[0.25, 1e5], [3.0, -2.0]])
    for settings_ in ((rates, phases), (own(rates), own(phases))):
        np.testing.assert_allclose(
            np.asarray(time2vec(own(some), *settings_)), time2vec(some, rates, phases), atol=1e-12
        )


def test_short_types_keep_their_dtype_where_they_can_tell_seconds() -> None:
    assert calendar_phases(torch.tensor([3600.0])).dtype == torch.float32
    assert calendar_phases(torch.tensor([1_700_000_000])).dtype == torch.float32
    assert calendar_phases(np.asarray([1_700_000_000]), dtype=np.float32).dtype == np.float32
    times = np.asarray([stamp(each) for each in EDGES])
    narrow = calendar_features(torch.from_numpy(times), CIRCLES, dtype=torch.bfloat16)  # rounded once
    assert torch.equal(narrow, torch.from_numpy(calendar_features(times, CIRCLES)).bfloat16())


def test_time2vec_is_its_formula_and_the_sinusoidal_encoding_is_a_case_of_it() -> None:
    times = np.asarray([0.0, 0.3, 17.25])
    rates, phases = np.asarray([0.5, 2.0, 7.0]), np.asarray([1.0, 0.1, -3.0])
    wanted = [[0.5 * t + 1.0, np.sin(2 * t + 0.1), np.sin(7 * t - 3)] for t in times]
    np.testing.assert_allclose(time2vec(times, rates, phases), wanted)
    series = 10000.0 ** (-np.arange(4) / 4)
    waves = time2vec(times, np.repeat([0, *series], [1, *(2,) * 4]), np.asarray([0, *(0, np.pi / 2) * 4]))
    np.testing.assert_allclose(waves[:, 1:], sinusoidal(times, 8), atol=1e-12)


def test_time2vec_learns() -> None:
    given_ = [torch.rand(3, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(time2vec, tuple(given_))
    assert time2vec(torch.ones(2), torch.ones(3), torch.ones(3)).dtype == torch.float32


@pytest.mark.parametrize("unit", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("to", [np.asarray, torch.as_tensor], ids=["numpy", "torch"])
def test_stamps_that_are_no_seconds(unit: int, to: Any) -> None:
    with pytest.raises(ValueError, match="divide milliseconds by 1000"):
        calendar_phases(to([1_700_000_000 * unit]))
    ends = to([-62_135_596_800, 253_402_300_799])
    assert float(calendar_phases(ends, ("year",))[0, 0]) == 0.0
    with pytest.raises(ValueError, match="years 1 to 9999"):
        calendar_phases(ends + 1)


@pytest.mark.parametrize("offset", [-5, 2, 5.5, np.asarray([0, -11]), 86_400, -19_800_000])
def test_offsets_that_are_no_seconds(offset: Any) -> None:
    times = np.asarray([1_700_000_000, 1_700_000_000])
    with pytest.raises(ValueError, match="-18000 for five hours behind"):
        calendar_phases(times, offset=offset)
    assert calendar_phases(times, offset=np.asarray([0, -18_000])).shape == (2, 3)


def test_an_offset_in_16_bits_is_one():
    noon = torch.tensor([12 * 3_600])
    seven_hours = torch.tensor([25_200], dtype=torch.int16)
    assert calendar_phases(noon, ("day",), offset=seven_hours).item() == pytest.approx(19 / 24)
    assert calendar_phases(noon.to(torch.uint16), ("day",)).item() == pytest.approx(0.5)
