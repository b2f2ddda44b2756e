"""Pictures of `05-pitfalls`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.colours import COLOURS, GREY, PURPLE
from posenc_lib.figures.picture import DASHES, Picture, canvas, finish

MARKERS = ("o", "s", "^", "D", "v")


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
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
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


def closest(dim: int, length: int, *, base: float = 10000.0) -> tuple[int, float]:
    """The offset, from 1 to length - 1, at which two encodings are closest, and their distance there."""
    table = sinusoidal(length, dim, base=base)
    distances = np.linalg.norm(table[1:] - table[0], axis=1)
    return int(np.argmin(distances)) + 1, float(distances.min())


def closest_pairs(dims: Sequence[int] = (2, 4, 6, 8, 12, 16, 32, 64), length: int = 1000) -> Picture:
    """How close the two most similar positions of a text are, by the width of the encoding."""
    found = [closest(dim, length) for dim in dims]
    with canvas(width=7.0, height=3.6) as figure:
        axes = figure.subplots()
        axes.plot(dims, [distance for _, distance in found], color=COLOURS[0], marker="o", linestyle="-")
        for dim, (offset, distance) in zip(dims, found, strict=True):
            axes.annotate(
                f"{offset}", (dim, distance), textcoords="offset points", xytext=(7, -14), ha="left"
            )
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xticks(dims, [str(dim) for dim in dims])
        axes.minorticks_off()
        axes.set_ylim(1e-5, 10)
        axes.set_xlabel("width of the encoding (dim)")
        axes.set_ylabel("distance of the closest two")
        told = ", ".join(
            f"dim {dim}: {distance:.2g}, {offset} apart"
            for dim, (offset, distance) in zip(dims, found, strict=True)
        )
        return finish(
            figure,
            alt=f"Smallest distance between the encodings of two of {length} positions, against the width, "
            f"with logarithmic axes; beside each point stands how far apart the two positions are. {told}.",
        )


def to_bfloat16(numbers: Array) -> Array:
    """Numbers rounded to the nearest that bfloat16 holds, as float64: float32 without its lower 16 bits."""
    bits = np.asarray(numbers, dtype=np.float32).view(np.uint32).astype(np.uint64)
    to_even = (bits >> np.uint64(16)) & np.uint64(1)
    rounded = (bits + np.uint64(0x7FFF) + to_even) & np.uint64(0xFFFF0000)
    return rounded.astype(np.uint32).view(np.float32).astype(np.float64)


def to_float32(numbers: Array) -> Array:
    """Numbers rounded to the nearest that float32 holds, as float64."""
    return np.asarray(numbers, dtype=np.float32).astype(np.float64)


def angles_in(form: str, positions: Array, dim: int) -> Array:
    """Angles (n, dim/2) of positions (n,), computed as code in the wild computes them.

    Args:
        form: a key of `FORMS`.
    """
    exact, rates = np.asarray(positions, dtype=np.float64), frequencies(dim)
    if form == "bfloat16 positions":
        return np.outer(to_bfloat16(exact), rates)
    if form == "bfloat16 frequencies":
        return np.outer(exact, to_bfloat16(rates))
    if form == "float32 angles":
        return to_float32(np.outer(to_float32(exact), to_float32(rates)))
    return np.outer(exact, rates)


FORMS = ("bfloat16 positions", "bfloat16 frequencies", "float32 angles", "float64 angles")
"""Where the digits go, from the worst to the best. The finished table of all of them is float32."""


def table_error(form: str, positions: Array, dim: int = 64) -> Array:
    """Largest error of each row of the table of sines and cosines, (n,)."""
    exact, computed = angles_in("float64 angles", positions, dim), angles_in(form, positions, dim)
    errors = [to_float32(wave(computed)) - wave(exact) for wave in (np.sin, np.cos)]
    return np.asarray(np.abs(np.concatenate(errors, axis=1)).max(axis=1))


def errors_by_format(dim: int = 64) -> Picture:
    """The largest error of a table up to a position, for each way to compute its angles."""
    ends = [2**power for power in range(4, 21)]
    with canvas(width=7.0, height=3.9) as figure:
        axes = figure.subplots()
        for number, form in enumerate(FORMS):
            # The last 64 rows before each power of two: that is where each power's error is largest.
            worst = [table_error(form, np.arange(max(0, end - 64), end), dim).max() for end in ends]
            axes.plot(
                ends, np.maximum(np.maximum.accumulate(worst), 1e-9), label=form,
                color=COLOURS[number], linestyle=DASHES[number], marker=MARKERS[number], markersize=4,
            )  # fmt: skip
        axes.axhline(2.0, color=GREY, linestyle=":", linewidth=1.5)
        axes.text(1500, 2.6, "the whole range, from −1 to 1", va="bottom")
        axes.axvline(256, color=PURPLE, linestyle=":", linewidth=1.5)
        axes.text(235, 3e-7, "256", va="center", ha="right")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_ylim(1e-8, 20)
        axes.set_xlabel("number of positions")
        axes.set_ylabel("largest error of the table")
        figure.legend(loc="outside upper center", ncols=2)
        return finish(
            figure,
            alt="Largest error of a table of sines and cosines up to a position, both axes logarithmic. With "
            "positions in bfloat16 it is tiny up to position 256 and then jumps; with frequencies in "
            "bfloat16 it grows from the start; both reach the whole range, 2. With angles in float32 it "
            "grows slowly, to a few hundredths at a million. With angles in float64 it stays near a "
            "hundred-millionth everywhere.",
        )
