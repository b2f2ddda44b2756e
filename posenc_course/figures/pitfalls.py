"""Pictures of `05-pitfalls`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon, Wedge

from posenc_course.colours import BLUE, COLOURS, GREEN, GREY, ORANGE
from posenc_course.figures.labels import label_at_curve
from posenc_course.figures.moves import Move, appear
from posenc_course.figures.picture import DASHES, GUIDE, Picture, canvas, finish
from posenc_lib._arrays import Array
from posenc_lib.angles import frequencies

MARKERS = ("o", "s", "^", "D", "v")

SYMPTOM = "The answer changes with padding."
TESTS = (
    "Other words in the padding: a change?",
    "Padding behind the sentence: a change?",
    "The same vector, only shorter?",
)
SUSPECTS = {
    "attention sees padding": (True, True, False),
    "padding takes up positions": (False, False, False),
    "the mean counts padding": (False, True, True),
}
"""What each suspect would do to the answer in each test, if it were the one."""
GUILTY = "padding takes up positions"
"""The suspect that the picture finds guilty."""


PLACES = dict(zip(SUSPECTS, (10, 30, 50), strict=True))
"""Where each stands, in tenths of an inch."""
EVERY = 1.1
"""Seconds from one test to the next."""


def line_up() -> Picture:
    """The idea of the chapter: one symptom, three suspects, and tests that tell them apart."""
    with canvas(width=6.0, height=5.2) as figure:  # narrow enough for a phone
        figure.set_layout_engine("none")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, 60)
        axes.set_ylim(0, 52)
        axes.axis("off")
        axes.text(30, 49.2, f"“{SYMPTOM}”", ha="center", va="center", fontsize=14, fontweight="bold")
        axes.hlines((32.5, 35.5, 38.5, 41.5, 44.5), 1, 59, color=GREY, alpha=0.35, linewidth=GUIDE)
        lit = _lit(axes, 26.3, 46.0)
        moves = [move for suspect in SUSPECTS for move in _suspect(axes, suspect)]
        for number in range(len(TESTS)):
            y = 22.8 - 8 * number
            lit += _lit(axes, y - 5.0, y - 1.9)
            moves.append(_test(axes, y, number))
        moves.append(appear(*lit, start=3.6, end=4.2))
        return finish(
            figure,
            moves=moves,
            alt=f"A line-up. The symptom: {SYMPTOM} Three suspects stand side by side in front of a wall, "
            f"and below them are three tests. {_told_of_suspects()} The tests say no three times. A cross "
            f"marks each suspect that they clear, and a light falls on the one that is left: {GUILTY}.",
        )


def _suspect(axes: Axes, suspect: str) -> Iterator[Move]:
    """Head, shoulders and name; and a cross, as soon as a test clears it."""
    x = PLACES[suspect]
    axes.add_patch(Circle((x, 41.4), 2.5, color=GREY, linewidth=0))
    axes.add_patch(Wedge((x, 32.5), 5.6, 0, 180, color=GREY, linewidth=0))
    for line, words in enumerate(textwrap.wrap(suspect, 14)):  # each centred, in any language
        axes.text(x, 29.4 - 2.4 * line, words, ha="center", fontsize=13)
    contradicted = [would != does for would, does in zip(SUSPECTS[suspect], SUSPECTS[GUILTY], strict=True)]
    if any(contradicted):
        cross = axes.plot(x, 38, color=rcParams["text.color"], marker="x", markersize=56, markeredgewidth=4)
        told = EVERY * contradicted.index(True) + 0.7
        yield appear(*cross, start=told + 0.2, end=told + 0.5)


def _test(axes: Axes, y: float, number: int) -> Move:
    """A test, below it what each suspect would answer, and at its end what comes out."""
    axes.hlines(y + 2.4, 1, 59, color=GREY, linewidth=GUIDE)
    axes.text(1.5, y, TESTS[number], va="center", fontsize=13)
    for suspect, x in PLACES.items():
        would = SUSPECTS[suspect][number]
        colour = BLUE if would else rcParams["text.color"]
        axes.text(x, y - 3.5, _said(would), ha="center", va="center", color=colour, fontsize=13)
    comes_out = _said(SUSPECTS[GUILTY][number])
    answer = axes.text(58.5, y, comes_out, ha="right", va="center", fontsize=13, fontweight="bold")
    return appear(answer, start=EVERY * number + 0.4, end=EVERY * number + 0.7)


def _said(yes: bool) -> str:
    return "yes" if yes else "no"


def _lit(axes: Axes, low: float, high: float) -> list[Polygon]:
    """Light on the guilty one, between two heights."""
    left, right = PLACES[GUILTY] - 9, PLACES[GUILTY] + 9
    return axes.fill(
        [left, right, right, left], [low, low, high, high], color=ORANGE, alpha=0.25, linewidth=0
    )


def _told_of_suspects() -> str:
    def told(answers: Sequence[bool]) -> str:
        return ", ".join(
            f"{test.lower()} {_said(yes).capitalize()}" for test, yes in zip(TESTS, answers, strict=True)
        )

    return " ".join(f"If {suspect}: {told(answers)}." for suspect, answers in SUSPECTS.items())


def tables_on_display(tables: Mapping[str, Array]) -> Picture:
    """Heat maps of tables (positions, dim), side by side, as four people printed them."""
    with canvas(width=8.2, height=3.4) as figure:
        row = figure.subplots(1, len(tables), sharey=True)
        for axes, (name, table) in zip(row, tables.items(), strict=True):
            axes.imshow(table, aspect="auto", vmin=-1, vmax=1)
            axes.set_title(name)
            axes.set_xlabel("column")
        row[0].set_ylabel("position")
        return finish(
            figure,
            alt=f"Four heat maps of a table of {len(next(iter(tables.values())))} positions. A: fine stripes "
            "on the left, which become ever slower waves to the right. B: one flat colour, but for some "
            "columns of the first row. C: stripes of one width in all columns. D: the waves of A, twice side "
            "by side: one half of the columns and then the other.",
        )


def loss_by_place(losses: Mapping[str, Array], best: float, told: str) -> Picture:
    """The loss at each place of the text, one line for each model, and the best that is possible."""
    with canvas(width=7.0, height=3.4) as figure:
        axes = figure.subplots()
        for number, (name, values) in enumerate(losses.items()):
            axes.plot(
                range(len(values)), values, label=name,
                color=COLOURS[number], linestyle=DASHES[number], marker=MARKERS[number], markersize=5,
            )  # fmt: skip
        axes.axhline(best, color=GREY, linestyle=":", linewidth=GUIDE)
        axes.text(0.2, best + 0.08, "the best possible", va="bottom")
        axes.set_ylim(-0.15, best + 0.75)
        axes.set_xlabel("place in the text")
        axes.set_ylabel("loss (nats)")
        label_at_curve(axes)
        return finish(figure, alt=f"The loss at each place of the text, a line for each model. {told}")


def scale_and_tasks(
    ratios: Sequence[float], accuracy: Mapping[str, Sequence[float]], by_place: Mapping[str, Sequence[float]]
) -> Picture:
    """What trained models get right, and what their attention looks at, by the size of the encoding.

    Args:
        ratios: size of the encoding by that of the embedding.
        accuracy: task -> share of right answers, one for each ratio.
        by_place: task -> share of the attention's variance that the place alone explains, one for each ratio.
    """
    panels = (
        ("What is learned", "right answers (%)", accuracy),
        ("What attention looks at", "explained by the place alone (%)", by_place),
    )
    with canvas(width=8.4, height=3.7) as figure:
        for axes, (title, label, shares) in zip(figure.subplots(1, 2, sharey=True), panels, strict=True):
            for number, (task, values) in enumerate(shares.items()):
                axes.plot(
                    ratios, 100 * np.asarray(values), label=f"“{task}”",
                    color=COLOURS[number], linestyle=DASHES[number], marker=MARKERS[number],
                )  # fmt: skip
            axes.set_xscale("log", base=2)
            axes.set_xticks(list(ratios), [_fraction(ratio) for ratio in ratios])
            axes.set_ylim(-5, 105)
            axes.set_title(title)
            axes.set_xlabel("size of the encoding / size of the embedding")
            axes.set_ylabel(label)
        label_at_curve(figure.axes[1])
        told = " ".join(
            f"{title}, task “{task}”: {_told(ratios, values)}."
            for title, _, shares in panels
            for task, values in shares.items()
        )
        return finish(
            figure,
            alt="Two panels against the size of the encoding divided by that of the embedding, on a "
            "logarithmic axis: the share of right answers, and how much of the attention weights the place "
            f"alone explains. {told}",
        )


def _told(ratios: Sequence[float], shares: Sequence[float]) -> str:
    return ", ".join(
        f"{100 * share:.0f}% at {_fraction(ratio)}" for ratio, share in zip(ratios, shares, strict=True)
    )


def _fraction(ratio: float) -> str:
    """A power of 2 as people write it: 1/8, 1, 8."""
    return f"1/{1 / ratio:g}" if ratio < 1 else f"{ratio:g}"


def to_bfloat16(numbers: Array) -> Array:
    """Numbers rounded to the nearest that bfloat16 holds, as float64: float32 without its lower 16 bits."""
    bits = np.asarray(numbers, dtype=np.float32).view(np.uint32).astype(np.uint64)
    to_even = (bits >> np.uint64(16)) & np.uint64(1)
    rounded = (bits + np.uint64(0x7FFF) + to_even) & np.uint64(0xFFFF0000)
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


FORMS = ("exact", "table rounded", "frequencies rounded", "positions rounded")
"""What of an added table was rounded to bfloat16."""


def rounded_rows(form: str, positions: Array, dim: int = 64) -> Array:
    """Rows (n, dim) of the sinusoidal encoding, in pairs, where something was rounded to bfloat16.

    Args:
        form: one of `FORMS`.
    """
    at, rates = np.asarray(positions, dtype=np.float64), frequencies(dim)
    if form == "positions rounded":
        at = to_bfloat16(at)
    if form == "frequencies rounded":
        rates = to_bfloat16(rates)
    theta = np.outer(at, rates)
    rows = np.stack([np.sin(theta), np.cos(theta)], axis=-1).reshape(len(theta), -1)
    return to_bfloat16(rows) if form == "table rounded" else rows


def one_clock(start: int = 1800, length: int = 64, pair: int = 8, dim: int = 64) -> Picture:
    """The sine of one clock beyond `start`, exact and with each of three things rounded."""
    positions = np.arange(start, start + length)
    styles = {
        "exact": (GREY, "-", ""),
        "table rounded": (GREEN, "", "o"),
        "frequencies rounded": (BLUE, "--", ""),
        "positions rounded": (ORANGE, "-", ""),
    }
    with canvas(width=7.2, height=3.6) as figure:
        axes = figure.subplots()
        for form in FORMS:
            colour, dash, marker = styles[form]
            axes.plot(
                positions, rounded_rows(form, positions, dim)[:, 2 * pair], label=form,
                color=colour, linestyle=dash or "none", marker=marker, markersize=4,
                drawstyle="steps-mid" if form == "positions rounded" else "default",
            )  # fmt: skip
        axes.set_xlabel("position")
        axes.set_ylabel("sine of one clock")
        axes.set_ylim(-1.15, 1.15)
        label_at_curve(axes)
        return finish(
            figure,
            alt=f"The sine of one clock of a table of width {dim}, from position {start} on. The dots of the "
            "rounded table lie on the exact wave. With rounded frequencies it is a wave of the same shape, a "
            "little to the side. With rounded positions it is a staircase: several positions share a value.",
        )


def steps_between_rows(form: str, positions: Array, dim: int = 64) -> Array:
    """How far each row is from the one before it, (n - 1,)."""
    return np.asarray(np.linalg.norm(np.diff(rounded_rows(form, positions, dim), axis=0), axis=1))
