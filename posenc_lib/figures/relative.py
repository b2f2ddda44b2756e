"""Pictures of `03-relative-position`. Their data come from the page's cells or from functions here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import similarity
from posenc_lib.angles import frequencies
from posenc_lib.colours import BLUE, GREEN, GREY, INKS, ORANGE, PURPLE
from posenc_lib.figures.picture import DIVERGING, Picture, canvas, finish

_ON_COLOURS = INKS["light"]
"""Seen on every colour of a map, which does not change with the page."""


def same_turn(positions: tuple[int, ...] = (0, 4, 11), offset: int = 3) -> Picture:
    """One pair, of frequency 1/4, at some positions and `offset` further on: the turn is the same."""
    rate = 0.25
    with canvas(width=7.6, height=2.9) as figure:
        rim = np.linspace(0, 2 * np.pi, 200)
        for position, axes in zip(positions, figure.subplots(1, len(positions)), strict=True):
            start, end = rate * position, rate * (position + offset)
            axes.plot(np.sin(rim), np.cos(rim), color=GREY, linestyle="-", linewidth=1.5)
            swept = np.linspace(start, end, 60)
            wedge = np.append(0, np.sin(swept)), np.append(0, np.cos(swept))
            axes.fill(*wedge, color=ORANGE, alpha=0.3, linewidth=0)
            for angle, color, dash, marker in ((start, BLUE, "-", "o"), (end, ORANGE, "--", "s")):
                axes.plot([0, np.sin(angle)], [0, np.cos(angle)], color=color, linestyle=dash, linewidth=2.5)
                axes.plot([np.sin(angle)], [np.cos(angle)], color=color, marker=marker, markersize=8)
            axes.set_title(f"from {position} to {position + offset}", fontsize=11)
            axes.set_aspect("equal")
            axes.set_xlim(-1.25, 1.25)
            axes.set_ylim(-1.25, 1.25)
            axes.axis("off")
        starts = ", ".join(map(str, positions))
        return finish(
            figure,
            alt=f"{len(positions)} clock faces of one pair that turns {rate:g} rad per position. A solid "
            f"hand shows position {starts}, a dashed one the position {offset} further on. The hands point "
            "in other directions on every face, but the wedge between them is the same: "
            f"{rate * offset:g} rad.",
        )


def parts_of_the_kernel(offsets: Array, dim: int = 64) -> dict[str, Array]:
    """The kernel as the sum of a fast, a middle and a slow part of its pairs, each (offsets,)."""
    cosines = np.cos(np.asarray(offsets)[:, None] * frequencies(dim))
    fast, middle, slow = (part.sum(axis=1) for part in np.array_split(cosines, 3, axis=1))
    return {"fast third": fast, "middle third": middle, "slow third": slow, "all pairs": cosines.sum(axis=1)}


def kernel_and_its_parts(dim: int = 64, reach: int = 60) -> Picture:
    """The kernel against the offset, with what each third of the pairs gives to it."""
    offsets = np.arange(-reach, reach + 1)
    parts = parts_of_the_kernel(offsets, dim)
    looks = ((ORANGE, ":"), (GREEN, "-."), (PURPLE, "--"), (BLUE, "-"))
    with canvas(width=7.4, height=3.7) as figure:
        axes = figure.subplots()
        for (name, values), (color, dash) in zip(parts.items(), looks, strict=True):
            width = 2.4 if name == "all pairs" else 1.6
            axes.plot(offsets, values, color=color, linestyle=dash, linewidth=width, label=name)
        axes.set_xlabel("offset (positions)")
        axes.set_ylabel("dot product")
        axes.legend(loc="upper right", ncols=2)
        axes.set_ylim(-6, 1.3 * dim / 2)
        return finish(
            figure,
            alt=f"The dot product of two encodings of width {dim} against their offset, from {-reach} to "
            f"{reach}, as a solid line with a peak of {dim / 2:g} at 0, the same to both sides. Dashed and "
            "dotted lines show its parts. The fast third of the pairs falls within a few positions and then "
            "wobbles around 0; the middle third makes a broad hump; the slow third stays almost level. The "
            "ripples of the sum are those of the fast third.",
        )


def wide_limit(offsets: Array, base: float = 10000.0) -> Array:
    """The kernel over its peak, for ever more pairs, where 1 << offset << base.

    A sum over ever more pairs is the integral of cos(k base^-x) over x from 0 to 1, which is
    (Ci(k) - Ci(k / base)) / ln base. Between 1 and base that is 1 - (ln k + Euler's constant) / ln base.
    """
    return np.asarray(1 - (np.log(offsets) + np.euler_gamma) / np.log(base))


def kernel_on_a_log_axis(dims: tuple[int, int, int] = (64, 512, 4096)) -> Picture:
    """The kernel over its peak for some widths, with the straight line that wide encodings follow."""
    offsets = np.arange(1, 2001)
    with canvas(width=7.4, height=3.7) as figure:
        axes = figure.subplots()
        looks = ((ORANGE, ":", 1.4), (BLUE, "-", 1.6), (PURPLE, "--", 2.4))
        for dim, (color, dash, width) in zip(dims, looks, strict=True):
            share = similarity(offsets, dim) / (dim / 2)
            axes.plot(offsets, share, color=color, linestyle=dash, linewidth=width, label=f"dim {dim}")
        line = np.asarray([2, 1500])
        axes.plot(
            line, wide_limit(line), color=GREY, linestyle="-", linewidth=5, alpha=0.6, label="straight line"
        )
        axes.set_xscale("log")
        axes.set_ylim(-0.15, 1.02)
        axes.set_xlabel("offset (positions, logarithmic)")
        axes.set_ylabel("dot product / its peak")
        axes.legend()
        return finish(
            figure,
            alt="The dot product of two encodings, divided by its peak, against the offset on a logarithmic "
            f"axis from 1 to 2000, for the widths {', '.join(map(str, dims))}. All three fall along one grey "
            "straight line, which loses a quarter with each tenfold of the offset. The narrowest leaves it "
            "first, with ripples of growing size; the widest follows it beyond offset 300.",
        )


def score_maps(maps: Mapping[str, Array], *, alt: str) -> Picture:
    """Scores (n, n) side by side on one colour scale, queries down, keys across, a dotted line at offset 0.

    Raises:
        ValueError: no map, or maps of different shapes.
    """
    shapes = {np.shape(scores) for scores in maps.values()}
    if len(shapes) != 1:
        raise ValueError(f"the maps have the shapes {sorted(shapes)}; give one or more of the same shape")
    most = max(float(np.abs(scores).max()) for scores in maps.values())
    width = min(2.6 * len(maps) + 0.6, 9.0)
    with canvas(width=width, height=0.6 + (width - 1.0) / len(maps)) as figure:
        panels = figure.subplots(1, len(maps), sharey=True, squeeze=False)[0]
        for axes, (name, scores) in zip(panels, maps.items(), strict=True):
            image = axes.imshow(scores, cmap=DIVERGING, vmin=-most, vmax=most)
            ends = [0, len(np.asarray(scores)) - 1]
            axes.plot(ends, ends, color=_ON_COLOURS, linestyle=":", linewidth=1.2)
            axes.set_title(name, fontsize=11)
            axes.grid(visible=False)
            axes.set_xlabel("position of the key")
        panels[0].set_ylabel("position of the query")
        figure.colorbar(image, ax=list(panels), shrink=0.85).set_label("score")
        return finish(figure, alt=alt)


def along_diagonals(scores: Array) -> tuple[Array, Array, Array, Array]:
    """Offsets (key less query), and mean, lowest and highest score at each, all (2n - 1,)."""
    scores = np.asarray(scores)
    offsets = np.arange(1 - len(scores), len(scores))
    lines = [np.diagonal(scores, offset) for offset in offsets]
    return (
        offsets,
        np.asarray([line.mean() for line in lines]),
        np.asarray([line.min() for line in lines]),
        np.asarray([line.max() for line in lines]),
    )


def by_offset(near: Array, far: Array, *, reach: int, far_starts: int) -> Picture:
    """Place-place scores against the offset, at trained positions and at far ones, both (n, n)."""
    with canvas(width=7.6, height=3.6) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        titles = (f"positions 0 to {len(near) - 1}", f"positions {far_starts} to {far_starts + len(far) - 1}")
        told = []
        for axes, scores, title in zip(panels, (near, far), titles, strict=True):
            offsets, mean, low, high = along_diagonals(scores)
            shown = np.abs(offsets) <= reach
            axes.fill_between(offsets[shown], low[shown], high[shown], color=BLUE, alpha=0.3, linewidth=0)
            axes.plot(offsets[shown], mean[shown], color=BLUE, linestyle="-", marker="o", markersize=3)
            peak = int(offsets[shown][mean[shown].argmax()])
            axes.axvline(peak, color=ORANGE, linestyle="--", linewidth=1.5)
            axes.set_title(title, fontsize=11)
            axes.set_xlabel("offset (key less query)")
            height, spread = mean[shown].max(), (high - low)[shown].mean()
            told.append(
                f"At {title} the mean has its peak of {height:.1f} at offset {peak}, and the band is "
                f"{spread:.1f} wide on average."
            )
        panels[0].set_ylabel("place–place score")
        return finish(
            figure,
            alt="Two panels: the place-place part of a trained head's scores against the offset, as a "
            "line for the mean over all queries and a band from the lowest to the highest. " + " ".join(told),
        )
