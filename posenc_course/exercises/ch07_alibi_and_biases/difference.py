"""The exercise on comparing measured losses, of `07-alibi-and-biases`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib._arrays import Array

Generator = np.random.Generator

COUNTS = {
    "worlds apart": (8.0, 0.5, 0.5, 3.0),
    "far apart": (2.0, 0.5, 0.5, 3.0),
    "near, but every file says so": (1.5, 0.5, 0.5, 60.0),
    "above both together": (1.2, 0.8, 0.8, 3.0),
    "just above the uncertainty of the files": (1.01, 1.0, 0.02, 3.0),
    "worlds apart, and every file says so": (8.0, 0.5, 0.5, 60.0),
}
COUNTS_NOT = {
    "the seeds are too far apart": (1.0, 0.2, 1.5, 3.0),
    "the files do not agree": (1.0, 1.5, 0.2, 3.0),
    "above each alone, not above both": (1.05, 0.8, 0.8, 3.0),
    "above each alone, well below both": (0.95, 0.8, 0.8, 3.0),
    "the files agree, and the seeds are far apart": (0.45, 0.1, 1.2, 3.0),
    "nearly nothing": (0.1, 0.5, 0.5, 60.0),
    "just below the uncertainty of the files": (0.99, 1.0, 0.02, 3.0),
}
"""The difference, what the files and what the seeds make uncertain, and how unlike the files are."""
Kind = tuple[str, int]


def _centred(rng: Generator, n: int, error: float) -> Array:
    """n numbers around 0 whose mean has this standard error."""
    drawn = rng.normal(size=n)
    drawn -= drawn.mean()
    return np.asarray(drawn / drawn.std(ddof=1) * error * np.sqrt(n))


def _uneven(rng: Generator, *shape: int) -> Array:
    """Numbers whose rows and columns have mean 0: no mean of a seed or of a file moves."""
    drawn = rng.normal(size=shape)
    drawn -= drawn.mean(axis=0)
    return np.asarray(drawn - drawn.mean(axis=1, keepdims=True))


def _cases(rng: Generator) -> Iterator[Case]:
    groups: list[list[Kind]] = [
        [(label, -1) for label in COUNTS],
        [(label, 1) for label in COUNTS],
        [(label, sign) for label in COUNTS_NOT for sign in (-1, 1)],
    ]
    for label, sign in enough_of_each(rng, *groups):
        yield _case(rng, label, sign, 4.303)
    yield _case(rng, "above both together", -1, 2.776)
    yield _case(rng, "the seeds are too far apart", 1, 9.925)
    a, b, t = _case(rng, "above each alone, not above both", -1, 4.303).args
    yield Case("more seeds of one", (a, np.concatenate([b, b, b]), t))
    a, b, t = _case(rng, "above each alone, well below both", 1, 4.303).args
    near = b.mean(axis=0) + (b - b.mean(axis=0)) / 10
    yield Case("more seeds of one, which agree", (a, np.concatenate([near, near, near]), t))


def _case(rng: Generator, label: str, sign: int, t: float) -> Case:
    size, of_the_text, of_the_seeds, unlike = (COUNTS | COUNTS_NOT)[label]
    files, unit = int(rng.integers(20, 40)), float(rng.uniform(0.005, 0.03))
    of_files = 1.2 + unit * unlike * rng.uniform(-1, 1, size=files)
    per_file = _centred(rng, files, unit * of_the_text / 1.96)
    # Uneven by enough that single files spread otherwise than the seeds' means, and not by so much that a
    # spread file by file is taken for another mistake.
    per_seed = [
        _centred(rng, 3, unit * of_the_seeds / t / np.sqrt(2))[:, None] + 0.42 * unit * _uneven(rng, 3, files)
        for _model in range(2)
    ]
    a = of_files + per_file + sign * size * unit + per_seed[0]
    return Case(label, (a, of_files + per_seed[1], t))


def _word(difference: Any, uncertainty: Any) -> str:
    if abs(difference) <= uncertainty:
        return "none"
    return "lower" if difference < 0 else "higher"


def _error(values: Array, ddof: int = 1) -> float:
    return float(values.std(ddof=ddof) / np.sqrt(len(values)))


def _of_the_text(a: Array, b: Array, ddof: int = 1) -> float:
    return 1.96 * _error(a.mean(axis=0) - b.mean(axis=0), ddof)


def _of_the_seeds(a: Array, b: Array, t: float, ddof: int = 1) -> float:
    return t * float(np.hypot(_error(a.mean(axis=1), ddof), _error(b.mean(axis=1), ddof)))


def _difference(
    a: Array,
    b: Array,
    t: float,
    *,
    text: Callable[..., float] = _of_the_text,
    seeds: Callable[..., float] = _of_the_seeds,
    together: Callable[[float, float], Any] = np.hypot,
    mean: Callable[[Array], Any] = np.mean,
) -> str:
    return _word(mean(a) - mean(b), together(text(a, b), seeds(a, b, t)))


def _by_hand(a: Array, b: Array, t: float) -> str:
    files = [
        sum(row[f] for row in a.tolist()) / len(a) - sum(row[f] for row in b.tolist()) / len(b)
        for f in range(a.shape[1])
    ]
    mean = sum(files) / len(files)
    square = 1.96**2 * sum((each - mean) ** 2 for each in files) / (len(files) - 1) / len(files)
    for model in (a, b):
        own = [sum(row) / len(row) for row in model.tolist()]
        centre = sum(own) / len(own)
        square += t * t * sum((each - centre) ** 2 for each in own) / (len(own) - 1) / len(own)
    return "none" if mean * mean <= square else ("higher", "lower")[mean < 0]


DIFFERENCE = Exercise(
    id="07-alibi-and-biases.difference",
    title="Measure and conclude: is it a difference?",
    signature="difference(a: (seeds, files) losses, b: (seeds, files) losses, t: float) -> text",
    points=3,
    minutes=15,
    difficulty=3,
    reference=lambda a, b, t: _difference(a, b, t),
    make_cases=_cases,
    properties=(
        Property(
            lambda args, value: value in ("lower", "higher", "none"),
            "Return one of the three words: lower, higher or none.",
            about="form",
        ),
        Property(
            lambda args, value: value != "none" or _difference(*args) == "none",
            "You answer none where the difference is above its uncertainty: yours is too wide. Check each "
            "factor, each root, and how the two are put together.",
        ),
        Property(
            lambda args, value: value not in ("lower", "higher") or _difference(*args) != "none",
            "You see a difference where it is not above its uncertainty: yours is too small. Check each "
            "factor, each root, and how the two are put together.",
        ),
    ),
    mistakes=(
        Mistake(
            "larger-mean-wins",
            lambda a, b, t: _word(a.mean() - b.mean(), 0.0),
            "You never answer none. Is each difference compared with an uncertainty, and is that the root of "
            "the sum of two squares? A difference that is not above its uncertainty does not count.",
        ),
        Mistake(
            "seeds-forgotten",
            lambda a, b, t: _difference(a, b, t, seeds=lambda a, b, t: 0.0),
            "The spread of the seeds hardly counts in your uncertainty. Is it there, with its t? Is it a "
            "standard deviation, not a variance, and divided by the root of the number of seeds? Other seeds "
            "would have given other losses.",
        ),
        Mistake(
            "files-forgotten",
            lambda a, b, t: _difference(a, b, t, text=lambda a, b: 0.0),
            "The spread over the files hardly counts in your uncertainty. Is it there, with its 1.96? Is it "
            "a standard deviation, not a variance, and divided by the root of the number of files? Other "
            "files would have given other losses.",
        ),
        Mistake(
            "larger-of-the-two",
            lambda a, b, t: _difference(a, b, t, together=max),
            "You took the larger of the two uncertainties. Their squares add up: take the root of the sum.",
        ),
        Mistake(
            "added",
            lambda a, b, t: _difference(a, b, t, together=lambda x, y: x + y),
            "Your uncertainty is too wide. Did you add the two? They have nothing to do with each other, so "
            "add their squares, and take the root. And is each error divided by its own root, and t used "
            "for the seeds alone?",
        ),
        Mistake(
            "files-not-paired",
            lambda a, b, t: _difference(
                a,
                b,
                t,
                text=lambda a, b: 1.96 * np.hypot(_error(a.mean(axis=0)), _error(b.mean(axis=0))),
            ),
            "You took the spread of the files for each model separately. Both read the same files, and a "
            "hard file is hard for both: take the difference on each file first, then its spread.",
        ),
        Mistake(
            "spread-for-error",
            lambda a, b, t: _difference(
                a, b, t, text=lambda a, b: 1.96 * (a.mean(axis=0) - b.mean(axis=0)).std(ddof=1)
            ),
            "You took the spread of single files for that of their mean. The mean of n files varies less: "
            "divide by the root of n.",
        ),
        Mistake(
            "divided-by-n",
            lambda a, b, t: _difference(
                a,
                b,
                t,
                text=lambda a, b: _of_the_text(a, b, ddof=0),
                seeds=lambda a, b, t: _of_the_seeds(a, b, t, ddof=0),
            ),
            "The variances were divided by n, as NumPy does by default. The mean was measured on the same "
            "numbers: divide by n - 1, with ddof=1.",
        ),
        Mistake(
            "t-forgotten",
            lambda a, b, t: _difference(a, b, t, seeds=lambda a, b, t: _of_the_seeds(a, b, 1.96)),
            "For the seeds your uncertainty is too small. Did you use 1.96 instead of t? Three seeds say "
            "little about their own spread, and t makes up for that. And is each error divided by the root "
            "of the number of seeds, not by the number?",
        ),
        Mistake(
            "turned-round",
            lambda a, b, t: _difference(b, a, t),
            "Lower and higher are exchanged: the word says what the losses of a are.",
        ),
        Mistake(
            "intervals-that-overlap",
            lambda a, b, t: _word(
                a.mean() - b.mean(),
                t * (_error(a.mean(axis=1)) + _error(b.mean(axis=1))),
            ),
            "You ask whether two intervals overlap. They may, and the difference counts all the same: ask "
            "for the interval of the difference.",
        ),
        Mistake(
            "files-divided-by-n",
            lambda a, b, t: _difference(a, b, t, text=lambda a, b: _of_the_text(a, b, ddof=0)),
            "For the files your uncertainty is a hair too small. Is their variance divided by n, as NumPy "
            "does by default? Divide by n - 1, with ddof=1.",
        ),
    ),
    alternatives=(
        _by_hand,
        lambda a, b, t: _difference(a.astype(np.longdouble), b.astype(np.longdouble), t),
        lambda a, b, t: ("none", "lower", "higher")[
            0
            if (d := (a.mean(0) - b.mean(0))).mean() ** 2
            <= 1.96**2 * d.var(ddof=1) / d.size + t**2 * sum(m.mean(1).var(ddof=1) / len(m) for m in (a, b))
            else 1 + (d.mean() > 0)
        ],
    ),
    hints=(
        "Of the files: `a.mean(axis=0) - b.mean(axis=0)` is one difference per file. Of the seeds: "
        "`a.mean(axis=1)` is one loss per seed.",
        "The error of a mean of n numbers is their `std(ddof=1)` divided by the root of n.",
        "The two uncertainties have nothing to do with each other: the square of the whole is the sum of "
        "their squares.",
    ),
)
