"""What a learner reads after a check: as text, as HTML, and as an exception on failure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from posenc_course.checking.plain import as_array
from posenc_course.colours import RED
from posenc_course.exercises import Exercise, Mistake
from posenc_course.translation import _, joined

SHOWN = 3
"""Wrong cases whose values are told at once."""


@dataclass(frozen=True)
class CaseResult:
    """One case: its label, and how the answer differs from what is right (None where it does not)."""

    label: str
    difference: str | None
    expected: Any = field(default=None, compare=False, repr=False)
    """With `got`: the two values that differ, plain data, for a picture; None where there is none to draw."""
    got: Any = field(default=None, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        return self.difference is None


class CheckFailed(AssertionError):
    """An answer was judged wrong; `report` says why."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        # IPython calls this. The whole report is on display already; our stack would only hide it.
        return [self.report.headline]


@dataclass(frozen=True)
class Report:
    """The judgement of one answer. Prints as text and renders as HTML."""

    exercise: Exercise
    results: tuple[CaseResult, ...]
    mistake: Mistake | None = None
    notes: tuple[str, ...] = ()
    instead: tuple[Exercise, ...] = ()
    """Earlier steps that are not right yet: it was judged with right ones in their place."""

    @property
    def passed(self) -> bool:
        """Whether every case is right."""
        return all(result.passed for result in self.results)

    @property
    def headline(self) -> str:
        """The first line: whether it passed, and how many cases are right."""
        good, total = sum(r.passed for r in self.results), len(self.results)
        if self.passed:
            text = _("Passed: “{title}”. Cases right: {good} of {total}.")
        else:
            text = _("Not yet: “{title}”. Cases right: {good} of {total}.")
        return text.format(title=_(self.exercise.title), good=good, total=total)

    @property
    def explanation(self) -> tuple[str, ...]:
        """The named mistake, or else what can be said for certain; and what it was judged with."""
        why = (_(self.mistake.message),) if self.mistake else self.notes
        return (*why, *map(_judged_with, self.instead))

    @property
    def first_failure(self) -> CaseResult | None:
        """The first wrong case; None if all are right."""
        return next((result for result in self.results if not result.passed), None)

    def raise_on_failure(self) -> None:
        """Raise CheckFailed unless every case passed."""
        if not self.passed:
            raise CheckFailed(self)

    def __str__(self) -> str:
        lines = [self.headline, *self.explanation]
        wrong = [result for result in self.results if not result.passed]
        for result in wrong[:SHOWN]:
            first = result is wrong[0]
            told = _("First wrong case: {label}.") if first else _("Also wrong: {label}.")
            lines += [told.format(label=result.label), f"  {self._told(result)}"]
        if (more := len(wrong) - SHOWN) > 0:
            one, many = _("1 more case is wrong."), _("{count} more cases are wrong.").format(count=more)
            lines.append(one if more == 1 else many)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        mark = "✓" if self.passed else "✗"
        parts = [f"<p><strong>{mark} {escape(self.headline)}</strong></p>"]
        parts += [f"<p>{escape(text)}</p>" for text in self.explanation]
        if not self.passed:
            summary = escape(_("Case by case"))
            parts.append(f"<details open><summary>{summary}</summary>{self._rows()}</details>")
        state = "passed" if self.passed else "failed"
        return (
            f'<div class="posenc-report posenc-{state}" '
            f'style="border-left:4px solid currentColor;padding-left:.8em">{"".join(parts)}</div>'
        )

    def _rows(self) -> str:
        """The cases as HTML: those up to the last wrong one that is shown, the others folded."""
        wrong = [number for number, result in enumerate(self.results) if not result.passed]
        end = (wrong[:SHOWN] or [0])[-1] + 1
        rows = [self._row(result) for result in self.results]
        if len(rows) <= end + 1:  # to fold one row takes as much room as the row
            return f"<ul>{''.join(rows)}</ul>"
        summary = escape(_("{count} more cases").format(count=len(rows) - end))
        others = f"<details><summary>{summary}</summary><ul>{''.join(rows[end:])}</ul></details>"
        return f"<ul>{''.join(rows[:end])}</ul>{others}"

    def _row(self, result: CaseResult) -> str:
        """One case as HTML; one that failed says how, and the first shows it where a picture says more."""
        text = f"{'✓' if result.passed else '✗'} {escape(result.label)}"
        if not result.passed:
            text += f"<br>{escape(self._told(result))}"
        if result is self.first_failure:
            text += _picture(self.exercise, result)
        return f"<li>{text}</li>"

    def _told(self, result: CaseResult) -> str:
        """What came and what was expected; of what is wrong in the first one's very words, that it is."""
        first = self.first_failure
        same = first is not None and result is not first and result.difference == first.difference
        return _("The same as in the first wrong case.") if same else str(result.difference)


def _judged_with(step: Exercise) -> str:
    return _(
        "Your {name} is not right yet. So that this costs no other step, this one was judged with a right "
        "{name} in its place."
    ).format(name=step.function)


# --- The picture: two arrays beside each other, drawn in the colour of the text around ---------------

MOST_ROWS, MOST_COLUMNS = 12, 16
"""More cells than that are too small to tell apart; the part around the first wrong one is drawn."""
CELL = 18
CORNER = 5.5
"""From the middle of a cell's cross to its two nearest edges."""
LABEL_WIDTH = 64
LINES_WIDTH, LINES_HEIGHT = 300, 90
CROSS = f'stroke="var(--pst-color-danger, {RED})" stroke-width="1.8"'


def _picture(exercise: Exercise, result: CaseResult) -> str:
    """Expected and got as inline SVG; "" where a sentence says enough, or would say too much."""
    if exercise.kind == "value":
        return ""  # to draw what was expected would be to give the answer away
    pair = _comparable(result.expected, result.got)
    if pair is None:
        return ""
    want, got = pair
    with np.errstate(all="ignore"):  # a wrong number may be as large as it likes
        wrong = ~np.isclose(
            got, want, rtol=exercise.relative_tolerance, atol=exercise.absolute_tolerance, equal_nan=True
        )
        if not wrong.any():
            return ""
        return _lines(want, got, wrong) if want.ndim == 1 else _heat_maps(want, got, wrong)


def _comparable(expected: Any, got: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Both as float arrays, where they have one shape and enough elements to draw."""
    if isinstance(expected, tuple | dict):
        return None  # several values: a sentence says which is wrong
    try:
        want, have = as_array(expected), as_array(got)
    except ValueError:
        return None
    if want is None or have is None or want.shape != have.shape or "c" in want.dtype.kind + have.dtype.kind:
        return None
    if want.ndim == 0 or want.shape[-1] < 3 or want.size < 4:
        return None
    return want.astype(np.float64), have.astype(np.float64)


def _heat_maps(want: np.ndarray, got: np.ndarray, wrong: np.ndarray) -> str:
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    rows = _window(first[-2], want.shape[-2], MOST_ROWS)
    columns = _window(first[-1], want.shape[-1], MOST_COLUMNS)
    part: tuple[int | slice, ...] = (*first[:-2], rows, columns)
    want, got, wrong = want[part], got[part], wrong[part]
    shade_want, shade_got = _between_0_and_1(want, got)
    high, wide = (size * CELL for size in want.shape)
    right = max(wide, LABEL_WIDTH) + 2 * CELL
    drawn = [
        _label(_("yours")),
        _label(_("expected"), right),
        *_cells(shade_got, 0, 18),
        *_cells(shade_want, right, 18),
        # In the upper right corner: what was returned is to be seen, and compared.
        *(_cross((c + 1) * CELL - CORNER, r * CELL + 18 + CORNER, CORNER - 3) for r, c in np.argwhere(wrong)),
    ]
    alt = _(
        "Two heat maps side by side: what your code returned, and what was expected. "
        "Crosses mark the wrong cells: {wrong} of the {total} shown."
    ).format(wrong=int(wrong.sum()), total=wrong.size)
    caption = _(
        "Rows {first_row} to {last_row}, columns {first_column} to {last_column}. The stronger a cell, the "
        "larger its number. A cross marks a wrong one."
    ).format(
        first_row=rows.start, last_row=rows.stop - 1, first_column=columns.start, last_column=columns.stop - 1
    )
    if first[:-2]:
        before = _("Before these come the indices {leading}.").format(leading=list(first[:-2]))
        caption = joined(caption, before)
    return _svg(drawn, right + max(wide, LABEL_WIDTH), high + 18, alt, caption)


def _label(words: str, x: int = 0) -> str:
    return f'<text x="{x}" y="12">{escape(words)}</text>'


def _lines(want: np.ndarray, got: np.ndarray, wrong: np.ndarray) -> str:
    part = _window(int(np.argwhere(wrong)[0][0]), want.size, 4 * MOST_COLUMNS)
    want, got, wrong = want[part], got[part], wrong[part]
    x = np.linspace(6, LINES_WIDTH - 6, want.size)
    y_want, y_got = (LINES_HEIGHT - 6 - (LINES_HEIGHT - 30) * each for each in _between_0_and_1(want, got))
    drawn = [
        _label(_("yours: dashed; expected: solid")),
        _line(x, y_want, ""),
        _line(x, y_got, 'stroke-dasharray="5 4"'),
        # What is no number has no place on the line: its cross stands at the bottom.
        *(
            _cross(x[i], y_got[i] if np.isfinite(y_got[i]) else LINES_HEIGHT - 6, 4)
            for i in np.flatnonzero(wrong)
        ),
    ]
    alt = _(
        "Two lines over the index: what your code returned, dashed, and what was expected, solid. "
        "Crosses mark the wrong points: {wrong} of the {total} shown."
    ).format(wrong=int(wrong.sum()), total=wrong.size)
    caption = _("Index {first} to {last}. A cross marks a wrong number.").format(
        first=part.start, last=part.stop - 1
    )
    return _svg(drawn, LINES_WIDTH, LINES_HEIGHT, alt, caption)


def _window(index: int, size: int, most: int) -> slice:
    """At most so many of the indices 0 .. size-1, `index` among them."""
    start = 0 if index < most else min(index, size - most)
    return slice(start, min(start + most, size))


def _between_0_and_1(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """The arrays on one common scale; what is not finite becomes NaN."""
    finite = np.concatenate([each[np.isfinite(each)] for each in arrays])
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    span = max(high / 2 - low / 2, np.finfo(np.float64).tiny)  # halves: the span itself may overflow
    return tuple(np.where(np.isfinite(each), (each / 2 - low / 2) / span, np.nan) for each in arrays)


def _cells(shade: np.ndarray, left: int, top: int) -> Iterator[str]:
    for (row, column), value in np.ndenumerate(shade):
        paint = f'fill-opacity="{0.06 + 0.84 * value:.2f}"' if np.isfinite(value) else 'fill="none"'
        yield (
            f'<rect x="{left + column * CELL}" y="{top + row * CELL}" width="{CELL - 1}" height="{CELL - 1}" '
            f'{paint} stroke="currentColor" stroke-opacity="0.35"/>'
        )


def _cross(x: float, y: float, arm: float) -> str:
    # On ground of its own: on a grey cell it would hardly be seen.
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{arm + 2:.1f}" fill="var(--pst-color-background, Canvas)"/>'
        f'<path d="M{x - arm:.1f} {y - arm:.1f}l{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}l{-2 * arm:.1f} '
        f'{2 * arm:.1f}" {CROSS}/>'
    )


def _line(x: np.ndarray, y: np.ndarray, dashes: str) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    return f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5" {dashes}/>'


def _svg(drawn: list[str], width: int, height: int, alt: str, caption: str) -> str:
    return (
        f'<figure class="posenc-comparison" style="margin:.6em 0"><svg role="img" aria-label="{escape(alt)}" '
        f'viewBox="-1 -1 {width + 2} {height + 2}" width="{width}" fill="currentColor" font-size="12" '
        f'style="max-width:100%;height:auto">{"".join(drawn)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
