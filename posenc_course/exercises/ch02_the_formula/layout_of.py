"""The mystery checkpoint: In which order are the columns?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.ch02_the_formula._shared import LAYOUTS, MYSTERY, any_rows, layout_of
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property, enough_of_each
from posenc_lib.angles import SPACINGS


def _layout_cases(rng: np.random.Generator) -> Iterator[Case]:
    kinds = ([(layout, formula) for formula in SPACINGS] for layout in LAYOUTS)
    for layout, formula in enough_of_each(rng, *kinds):
        yield any_rows(rng, layout, formula)


def _layout_by_comparing(rows: np.ndarray) -> str:
    half = rows.shape[1] // 2
    first = {
        "interleaved": np.tile([0.0, 1.0], half),
        "split": np.repeat([0.0, 1.0], half),
        "cosines first": np.repeat([1.0, 0.0], half),
    }
    return next(name for name, row in first.items() if np.allclose(rows[0], row))


def _layout_by_text(rows: np.ndarray) -> str:
    begins = "".join(str(round(float(number))) for number in rows[0, :2])
    return {"01": "Interleaved", "00": "Split", "11": "Cosines first"}[begins]


LAYOUT_OF = Exercise(
    id="02-the-formula.layout_of",
    title="In which order are the columns?",
    signature='layout_of(rows: array of shape (3, dim)) -> "interleaved", "split" or "cosines first"',
    step_of=MYSTERY,
    points=2,
    minutes=8,
    difficulty=2,
    reference=lambda rows: layout_of(rows),
    make_cases=_layout_cases,
    properties=(
        Property(
            lambda args, value: str(value).strip().lower() in LAYOUTS,
            "The answer must be one of the three words interleaved, split and cosines first.",
            about="form",
        ),
        Property(
            lambda args, value: value != "interleaved" or layout_of(args[0]) == "interleaved",
            "In an interleaved table, the row of position 0 begins with 0 and 1. The one that you were given "
            "does not.",
        ),
        Property(
            lambda args, value: value != "split" or layout_of(args[0]) == "split",
            "In a split table, the row of position 0 begins with 0 and 0. The one that you were given does "
            "not.",
        ),
        Property(
            lambda args, value: value != "cosines first" or layout_of(args[0]) == "cosines first",
            "Where the cosines come first, the row of position 0 begins with 1 and 1. The one that you were "
            "given does not.",
        ),
    ),
    mistakes=(
        Mistake(
            "second-column-alone",
            lambda rows: "interleaved" if rows[0, 1] == 1 else "split",
            "A 1 in column 1 was taken for the interleaved layout. Where the cosines come first there is a 1 "
            "as well: look at column 0 too.",
        ),
        Mistake(
            "first-column-alone",
            lambda rows: "interleaved" if rows[0, 0] == 0 else "cosines first",
            "A 0 in column 0 was taken for the interleaved layout. The split layout begins with a 0 as well: "
            "look at column 1 too.",
        ),
        Mistake(
            "first-two-alike",
            lambda rows: "split" if rows[0, 0] == rows[0, 1] else "interleaved",
            "Where columns 0 and 1 are alike, you say split. There are two such layouts: do sines or cosines "
            "come first?",
        ),
        Mistake(
            "halves-confused",
            lambda rows: {"split": "cosines first", "cosines first": "split"}.get(
                layout_of(rows), "interleaved"
            ),
            "The layouts split and cosines first are swapped: at position 0 a sine is 0 and a cosine is 1.",
        ),
        Mistake(
            "interleaved-and-split-confused",
            lambda rows: {"split": "interleaved", "interleaved": "split"}.get(
                layout_of(rows), "cosines first"
            ),
            "The layouts interleaved and split are swapped: interleaved columns go sine, cosine, sine, "
            "cosine.",
        ),
        Mistake(
            "last-column-alone",
            lambda rows: "split" if rows[0, -1] == 1 else "cosines first",
            "A 1 in the last column was taken for the split layout. The interleaved one ends with a cosine "
            "as well: look at the column before it too.",
        ),
    ),
    alternatives=(_layout_by_comparing, _layout_by_text, lambda rows: f" {layout_of(np.asarray(rows))} "),
    hints=(
        "The first of the rows is that of position 0. What is every sine there, and what every cosine?",
        "The first two numbers of that row are enough to tell the three layouts apart.",
    ),
)
