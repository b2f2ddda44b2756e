"""Debug: an evaluation that fools itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.ch04_extrapolation._shared import Generator
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array


def _losses(rng: Generator, windows: int, length: int, trained: int, rise: float) -> Array:
    """Losses that fall along a window as context grows, and change past the training length."""
    place = np.arange(length)
    mean = 1.5 + 2.0 / (1 + place / 4) + rise * (place >= trained)
    return np.asarray(mean + 0.2 * rng.normal(size=(windows, length)))


def _far_gap_cases(rng: Generator) -> Iterator[Case]:
    yield Case("two windows, nothing changes", (np.full((2, 16), 1.25), 8))
    for label, shape, rise in (
        ("a model that breaks", (3, 16, 8), 1.0),
        ("a model that hides it well", (4, 24, 20), 0.4),
        ("a model that gains", (5, 64, 16), -0.3),
        ("one token past the training length", (2, 9, 8), 0.7),
    ):
        yield Case(label, (_losses(rng, *shape, rise), shape[2]))
    padded = _losses(rng, 3, 32, 12, 0.8)
    padded[0, 9:] = np.nan
    padded[1, 20:] = np.nan
    yield Case("windows that end early, with NaN after their end", (padded, 12))
    few = _losses(rng, 2, 14, 5, 0.5)
    few[1, 7:] = np.nan
    yield Case("one window shorter than the other", (few, 5))


def _gap(far: Array, near: Array, mean: Callable[[Array], Any] = np.nanmean) -> float:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a mistake may leave nothing to take the mean of
        return float(mean(far) - mean(near))


def _parts(
    *, whole_far: bool = False, whole_near: bool = False, mean: Callable[[Array], Any] = np.nanmean
) -> Callable[[Array, int], float]:
    """The gap, with some of the three slips of the version that is given."""

    def gap(losses: Array, trained: int) -> float:
        far = losses if whole_far else losses[:, trained:]
        near = losses[:, (0 if whole_near else trained // 2) : trained]
        return _gap(far, near, mean)

    return gap


def _between(
    far: Callable[[int], int], near: Callable[[int], tuple[int, int | None]]
) -> Callable[[Array, int], float]:
    """The gap with other ends: where the far part begins, and from where to where the near one goes."""

    def gap(losses: Array, trained: int) -> float:
        return _gap(losses[:, far(trained) :], losses[:, slice(*near(trained))])

    return gap


def _near(trained: int) -> tuple[int, int]:
    return trained // 2, trained


def _mean_of_means(part: Array, axis: int = 1) -> float:
    """Along this axis first, and then over what has any loss."""
    counts = (~np.isnan(part)).sum(axis=axis)
    return float((np.nansum(part, axis=axis)[counts > 0] / counts[counts > 0]).mean())


def _mean_of_gaps(losses: Array, trained: int) -> float:
    """Over the windows that have both parts."""
    gaps = [_parts()(window[None], trained) for window in losses if not np.isnan(window[trained])]
    return float(np.mean(gaps))


def _whole_windows_alone(losses: Array, trained: int) -> float:
    return _parts()(losses[~np.isnan(losses).any(axis=1)], trained)


def _gap_by_masks(losses: Array, trained: int) -> Any:
    place = np.broadcast_to(np.arange(losses.shape[1]), losses.shape)
    there = np.isfinite(losses)
    far, near = there & (place >= trained), there & (place >= trained // 2) & (place < trained)
    return losses[far].mean() - losses[near].mean()


def _gap_by_loop(losses: Array, trained: int) -> float:
    far, near = [], []
    for row in losses.tolist():
        for place, loss in enumerate(row):
            if loss != loss:
                continue
            if place >= trained:
                far.append(loss)
            elif place >= trained // 2:
                near.append(loss)
    return float(np.mean(far) - np.mean(near))


def _gap_by_sums(losses: Array, trained: int) -> Any:
    count, total = (~np.isnan(losses)).sum(axis=0), np.nan_to_num(losses).sum(axis=0)
    half = trained // 2
    return (
        total[trained:].sum() / count[trained:].sum() - total[half:trained].sum() / count[half:trained].sum()
    )


FAR_GAP = Exercise(
    id="04-extrapolation.far_gap",
    title="Debug: an evaluation that fools itself",
    signature="far_gap(losses: array of shape (windows, length), trained: int) -> float, in nats",
    points=3,
    minutes=12,
    difficulty=3,
    reference=_parts(),
    make_cases=_far_gap_cases,
    where_not_finite="Some windows end early and hold NaN after their end: leave those entries out of both "
    "means. An empty slice has no mean either: where does each of your two slices begin and end?",
    properties=(
        Property(
            lambda args, value: np.ndim(value) == 0,
            "Return one number: one mean minus the other.",
            about="form",
        ),
    ),
    mistakes=(
        Mistake(
            "as-given",
            _parts(whole_far=True, whole_near=True, mean=np.mean),
            "This is still the given version, with its three faults: the first mean runs over the whole "
            "window, the second begins at position 0, and both are NaN where a window ends early.",
        ),
        Mistake(
            "far-and-near-mixed",
            _parts(whole_far=True),
            "One fault is left: the first mean runs over the whole window, so the trained positions dilute "
            "the damage. Take only the positions from trained on.",
        ),
        Mistake(
            "early-tokens-kept",
            _parts(whole_near=True),
            "One fault is left: the second mean begins at position 0. The first tokens have little context "
            "and a high loss, which makes the far ones look good. Begin at trained // 2.",
        ),
        Mistake(
            "padding-kept",
            _parts(mean=np.mean),
            "One fault is left: where a window ends early, the result is NaN. Leave out what is not there, "
            "for example with np.nanmean.",
        ),
        Mistake(
            "mixed-and-early",
            _parts(whole_far=True, whole_near=True),
            "Two faults are left: the first mean should begin at position trained, and the second at "
            "position trained // 2.",
        ),
        Mistake(
            "mixed-and-padded",
            _parts(whole_far=True, mean=np.mean),
            "Two faults are left: the first mean should begin at position trained, and NaN should be left "
            "out of both means.",
        ),
        Mistake(
            "early-and-padded",
            _parts(whole_near=True, mean=np.mean),
            "Two faults are left: the second mean should begin at position trained // 2, and NaN should be "
            "left out of both means.",
        ),
        Mistake(
            "padding-as-zero",
            _parts(mean=lambda part: np.nan_to_num(part).mean()),
            "You replaced NaN by 0, so every missing token counts as predicted perfectly. Leave those "
            "entries out: np.nanmean.",
        ),
        Mistake(
            "near-less-far",
            lambda losses, trained: -_parts()(losses, trained),
            "The sign is wrong: a model that gets worse past its training length must have a gap above 0. "
            "Subtract the near mean from the far mean.",
        ),
        Mistake(
            "mean-of-means",
            _parts(mean=_mean_of_means),
            "You average each window first, and then the means of the windows, so a window that ends early "
            "counts as much as a whole one. Take one mean over all tokens that are there.",
        ),
        Mistake(
            "mean-of-positions",
            _parts(mean=lambda part: _mean_of_means(part, axis=0)),
            "You average each position first, and then the means of the positions, so a position that few "
            "windows reach counts as much as any other. Take one mean over all tokens that are there.",
        ),
        Mistake(
            "mean-of-gaps",
            _mean_of_gaps,
            "You take the gap of each window, and then the mean of the gaps, so a window that ends early "
            "counts as much as a whole one. Take one far mean and one near mean over all windows.",
        ),
        Mistake(
            "short-windows-dropped",
            _whole_windows_alone,
            "You drop every window that ends early, with all its tokens. They are tokens like any others: "
            "leave out only the entries that are NaN.",
        ),
        Mistake(
            "median",
            _parts(mean=np.nanmedian),
            "These are medians. The exercise asks for means: a few very bad tokens are what you want to see.",
        ),
        Mistake(
            "sums",
            _parts(mean=np.nansum),
            "These are sums, and the two parts are of different lengths. Subtract one mean from the other.",
        ),
        Mistake(
            "far-one-late",
            _between(lambda trained: trained + 1, _near),
            "The far part begins one position too late. The model was trained on positions 0 to trained - 1, "
            "so the first far one is trained.",
        ),
        Mistake(
            "far-one-early",
            _between(lambda trained: trained - 1, _near),
            "The far part begins one position too early: trained - 1 is the last position of the training.",
        ),
        Mistake(
            "near-ends-one-early",
            _between(lambda trained: trained, lambda trained: (trained // 2, trained - 1)),
            "The near part ends one position too early. A slice leaves its end out by itself: "
            "trained // 2 : trained runs to position trained - 1.",
        ),
        Mistake(
            "near-ends-one-late",
            _between(lambda trained: trained, lambda trained: (trained // 2, trained + 1)),
            "The near part ends one position too late: position trained is already a far one.",
        ),
        Mistake(
            "near-begins-one-late",
            _between(lambda trained: trained, lambda trained: (trained // 2 + 1, trained)),
            "The near part begins one position too late: position trained // 2 belongs to it.",
        ),
        Mistake(
            "near-without-end",
            _between(lambda trained: trained, lambda trained: (trained // 2, None)),
            "The near part has no end, so it holds the far positions too. It ends at position trained - 1.",
        ),
        Mistake(
            "near-too-early",
            _between(lambda trained: trained, lambda trained: (0, trained // 2)),
            "The near part is the first half of the trained positions. Take the second half, from "
            "trained // 2 on: the early tokens have little context.",
        ),
        Mistake(
            "absolute-value",
            lambda losses, trained: abs(_parts()(losses, trained)),
            "You take the absolute value, so a model that gains looks like one that breaks. Keep the sign.",
        ),
        Mistake(
            "ratio",
            lambda losses, trained: (
                _gap(losses[:, trained:], 0 * losses) / _gap(losses[:, slice(*_near(trained))], 0 * losses)
            ),
            "You divide the two means. Subtract the near mean from the far one: the answer is in nats.",
        ),
    ),
    alternatives=(_gap_by_masks, _gap_by_loop, _gap_by_sums),
    hints=(
        "Which positions should each of the two means run over? Write the slices down first.",
        "`losses[:, trained:]` and `losses[:, trained // 2 : trained]`. Which of them can hold NaN?",
        "`np.nanmean` leaves NaN out. `np.mean` gives NaN as soon as one entry is NaN.",
    ),
)
