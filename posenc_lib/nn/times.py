"""Door 1 for times, as modules: circles of the calendar, and learned waves."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib.added import calendar_features
from posenc_lib.added.times import Circle, line_and_waves, refuse_coarse
from posenc_lib.nn.added import add_rows, read_input
from posenc_lib.nn.base import PositionalEncoding, through, wide_dtype
from posenc_lib.nn.positions import Positions, as_tensor, one_axis, read_places


class Calendar(PositionalEncoding):
    """Points on the circles of the calendar, mapped to the width of the model.

    Positions are times, of integers or in float64: seconds since 1970-01-01 00:00 of the clock that the data
    follow. Where people's habits count, that is their wall clock: add `utcoffset()` to UTC first, or summer
    time will be an hour off (`posenc_lib.calendar_phases` says more).

    Args:
        dim: width of x.
        circles: as in `posenc_lib.calendar_phases`.
        unit: seconds in a unit of the positions; 86400 for days.

    Raises:
        TypeError, ValueError: as `posenc_lib.calendar_phases`; dim below 1, unit not above 0; from `add`,
            times in fewer than 64 bits that cannot tell one second from the next.

    Example:
        >>> import torch
        >>> hours = torch.arange(48)  # of two days
        >>> Calendar(32, circles=("day",), unit=3600)(torch.zeros(1, 48, 32), hours).shape
        torch.Size([1, 48, 32])

    Source: as `posenc_lib.calendar_features`.
    """

    def __init__(
        self, dim: int, *, circles: Sequence[Circle] = ("day", "week", "year"), unit: float = 1.0
    ) -> None:
        super().__init__()
        self.dim, self.unit = require.count(dim, "dim"), require.positive(unit, "unit")
        calendar_features(torch.zeros(1, dtype=torch.int64, device="cpu"), circles)
        self.circles = tuple(circles)
        self.features = 2 * len(self.circles)
        self.project = nn.Linear(self.features, self.dim)

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + what the time is mapped to, rounded once."""
        places = one_axis(read_places(positions, read_input(x, self.dim)), self)
        for parameter in self.parameters():
            require.same_device(x=x, **{"the weights": parameter})
        times, dtype = as_tensor(places, x.device), wide_dtype(x)
        if self.unit != 1:
            refuse_coarse(times, self.unit)
            times = times.double() * self.unit
        features: Tensor = calendar_features(times, self.circles, dtype=dtype)
        return add_rows(x, through(self.project, features))

    def extra_repr(self) -> str:
        return f"{self.dim}, circles={self.circles}, unit={self.unit:g}"


class Time2Vec(PositionalEncoding):
    """One straight line and learned waves of the time, evenly spaced or not.

    Args:
        dim: width of x, 2 or more.
        shortest, longest: wavelengths between which the waves start, in a geometric series, in units of the
            positions: what you expect to matter lies between them. The line rises by 1 in `longest`.

    Raises:
        TypeError, ValueError: dim below 2; wavelengths not above 0, or longest below shortest.

    Example:
        >>> import torch
        >>> days = torch.tensor([0.0, 0.4, 3.1])
        >>> Time2Vec(32, shortest=1.0, longest=365.0)(torch.zeros(1, 3, 32), days).shape
        torch.Size([1, 3, 32])

    Source: Kazemi et al. 2019, "Time2Vec: Learning a Vector Representation of Time", equation 1, added to x
    rather than put beside it; their rates start at random.
    """

    def __init__(self, dim: int, *, shortest: float = 4.0, longest: float = 10000.0) -> None:
        super().__init__()
        self.dim = require.count(dim, "dim", 2)
        self.shortest = require.positive(shortest, "shortest")
        self.longest = require.positive(longest, "longest")
        if self.longest < self.shortest:
            raise ValueError(
                f"longest={longest} is less than shortest={shortest}; give the longer wavelength as longest"
            )
        self.rates = nn.Parameter(torch.empty(self.dim))
        self.phases = nn.Parameter(torch.empty(self.dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The series of wavelengths, and random phases."""
        with torch.no_grad():
            ratio = self.longest / self.shortest
            steps = torch.arange(self.dim - 1, device=self.rates.device) / max(self.dim - 2, 1)
            self.rates[0] = 1.0 / self.longest
            self.rates[1:] = 2.0 * math.pi / self.shortest * ratio**-steps
            self.phases[0] = 0.0
            nn.init.uniform_(self.phases[1:], 0.0, 2.0 * math.pi)

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + the line and the waves, rounded once."""
        places = one_axis(read_places(positions, read_input(x, self.dim)), self)
        require.same_device(x=x, **{"the weights": self.rates})
        dtype = wide_dtype(x)
        times = require.numbers(as_tensor(places, x.device), "positions")
        rows: Tensor = line_and_waves(times, self.rates.to(dtype), self.phases.to(dtype), dtype)
        return add_rows(x, rows)

    def extra_repr(self) -> str:
        return f"{self.dim}, shortest={self.shortest:g}, longest={self.longest:g}"
