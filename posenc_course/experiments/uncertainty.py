"""How far a number may be trusted, and whether two differ by more than that. Needs NumPy only.

Two things could have come out otherwise: which text happens to be held out, and the seed. The first is asked
by drawing the files anew (the bootstrap), the second by the spread of the seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Reals = NDArray[np.float64]

DRAWS = 2000
LEVEL = 0.95

T_95 = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
"""Student's t for a two-sided 95% interval, for 1, 2, ... 10 degrees of freedom; the last serves for more."""


class Finding(NamedTuple):
    """A difference a - b, how uncertain it is, and what may be said of it."""

    difference: float
    of_the_text: float
    """Half the width of its 95% interval over files."""
    of_the_seeds: float
    """Half the width of its 95% interval over seeds."""
    verdict: str
    """"lower", "higher", or "none": the difference is not above both uncertainties together."""

    @property
    def uncertainty(self) -> float:
        """Both together; they are independent."""
        return float(np.hypot(self.of_the_text, self.of_the_seeds))


def mean_over_files(losses: ArrayLike, weights: ArrayLike) -> tuple[float, float]:
    """The mean of all bytes, and half the width of its 95% interval if other files had been held out.

    Args:
        losses: (files,) the mean loss of each file, or a difference of two such.
        weights: (files,) how many bytes each has.
    """
    values, shares = np.asarray(losses, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    drawn = _resampled(values, shares)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.average(values, weights=shares)), float(high - low) / 2


def compare(a: ArrayLike, b: ArrayLike, weights: ArrayLike) -> Finding:
    """Whether the losses a differ from the losses b.

    Args:
        a, b: (seeds, files) the mean loss of each seed on each file, the same files for both.
        weights: (files,) how many bytes each file has.

    Raises:
        ValueError: fewer than two seeds, or other files.
    """
    one, other = (np.asarray(each, dtype=np.float64) for each in (a, b))
    if one.ndim != 2 or other.ndim != 2 or one.shape[1] != other.shape[1]:
        raise ValueError(
            f"a of shape {one.shape} and b of shape {other.shape}; give (seeds, files), the same files"
        )
    if min(len(one), len(other)) < 2:
        raise ValueError("one seed says nothing about the spread of seeds; give two or more")
    difference, of_the_text = mean_over_files(one.mean(axis=0) - other.mean(axis=0), weights)
    by_seed = [np.average(each, axis=1, weights=np.asarray(weights)) for each in (one, other)]
    of_the_seeds = _between_seeds(by_seed)
    beyond = abs(difference) > np.hypot(of_the_text, of_the_seeds)
    said = "none" if not beyond else "lower" if difference < 0 else "higher"
    return Finding(difference, of_the_text, of_the_seeds, said)


def _between_seeds(samples: Sequence[Any]) -> float:
    """Half the 95% interval of a difference of means: Welch's, with the smaller sample's freedom."""
    error = np.sqrt(sum(np.var(each, ddof=1) / len(each) for each in samples))
    freedom = min(len(each) for each in samples) - 1
    return float(T_95[min(freedom, len(T_95)) - 1] * error)


def _resampled(values: Reals, weights: Reals) -> Reals:
    """The mean in each of many draws of as many files, with replacement. The same draws each time."""
    drawn = np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))
    return np.asarray((values * weights)[drawn].sum(axis=1) / weights[drawn].sum(axis=1))
