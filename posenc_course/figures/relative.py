"""Pictures of `03-relative-position`. Their data come from the page's cells or from functions here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import BLUE, GREEN, GREY, INKS, ORANGE, PURPLE
from posenc_course.figures.labels import label_at_curve
from posenc_course.figures.moves import At, Move, appear, tick
from posenc_course.figures.picture import BAND, BOLD, CURVE, GUIDE, SHADES, Picture, canvas, finish
from posenc_lib._arrays import Array
from posenc_lib.added.sinusoidal import shift_matrix, similarity, sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.attention import attention

_ON_COLOURS = INKS["light"]
"""Seen on every colour of a map, which does not change with the page."""


def look_back(
    words: tuple[str, ...] = ("dog", "chases", "cat"), starts: tuple[int, ...] = (3, 3000)
) -> Picture:
    """The idea of the chapter: the same words at two places, each with a clock, each looking one back."""
    rate = 0.7
    moves = []  # all clocks begin like that of the first word, and turn by one wedge from word to word
    with canvas(width=5.0, height=3.0) as figure:
        axes = figure.subplots()
        for row, start in enumerate(starts):
            height = -2.6 * row
            for number, word in enumerate(words):
                centre, angle = 2.6 * number, rate * (start + number)
                rim = np.linspace(0, 2 * np.pi, 100)
                axes.plot(
                    centre + 0.55 * np.sin(rim),
                    height + 0.55 * np.cos(rim),
                    color=GREY,
                    linestyle="-",
                    lw=GUIDE,
                )
                if number:
                    there = 1.8 * number - 0.4  # s
                    swept = np.linspace(angle - rate, angle, 30)
                    wedge = axes.fill(
                        np.append(centre, centre + 0.55 * np.sin(swept)),
                        np.append(height, height + 0.55 * np.cos(swept)),
                        color=ORANGE,
                        alpha=0.4,
                        linewidth=0,
                    )
                    asks = (centre - 0.2, height + 0.72)
                    arrow = axes.annotate(
                        "",
                        xy=(centre - 2.6 + 0.2, height + 0.72),
                        xytext=asks,
                        arrowprops={
                            "arrowstyle": "-|>",
                            "color": ORANGE,
                            "lw": 2,
                            "connectionstyle": "arc3,rad=0.35",
                        },
                    )
                    moves += [
                        appear(*wedge, start=there - 0.2, end=there + 0.1),
                        Move([arrow], (At(there, grow=(0, 0)), At(there + 0.5)), about=asks),
                    ]
                tip = (centre + 0.55 * np.sin(angle), height + 0.55 * np.cos(angle))
                hand = axes.plot([centre, tip[0]], [height, tip[1]], color=BLUE, linestyle="-", lw=BOLD)
                if number:
                    moves.append(tick(hand, np.degrees(rate), number, every=1.8, about=(centre, height)))
                axes.text(centre, height - 0.95, f"{word}", ha="center", fontsize=12)
                axes.text(
                    centre + 0.62, height - 0.5, f"{start + number:,}", ha="left", color=GREY, fontsize=10
                )
        axes.set_xlim(-0.9, 6.5)
        axes.set_ylim(-3.8, 1.7)
        axes.set_aspect("equal")
        axes.axis("off")
        return finish(
            figure,
            moves=moves,
            alt=f"The words {', '.join(words)} are at position {starts[0]} and the two after it, and again "
            f"at position {starts[1]:,} and the two after it. Each word has a clock. The hands point in "
            "different directions in the two rows, but from each word to the next the hand turns by the "
            "same wedge. An arrow leads from each word back to the one before it, in both rows alike.",
        )


def same_turn(positions: tuple[int, ...] = (0, 4, 11), offset: int = 3) -> Picture:
    """One pair, of frequency 1/4, at some positions and `offset` further on: the turn is the same."""
    rate = 0.25
    with canvas(width=7.6, height=2.9) as figure:
        rim = np.linspace(0, 2 * np.pi, 200)
        for position, axes in zip(positions, figure.subplots(1, len(positions)), strict=True):
            start, end = rate * position, rate * (position + offset)
            axes.plot(np.sin(rim), np.cos(rim), color=GREY, linestyle="-", linewidth=GUIDE)
            swept = np.linspace(start, end, 60)
            wedge = np.append(0, np.sin(swept)), np.append(0, np.cos(swept))
            axes.fill(*wedge, color=ORANGE, alpha=0.3, linewidth=0)
            for angle, color, dash, marker in ((start, BLUE, "-", "o"), (end, ORANGE, "--", "s")):
                axes.plot([0, np.sin(angle)], [0, np.cos(angle)], color=color, linestyle=dash, linewidth=BOLD)
                axes.plot([np.sin(angle)], [np.cos(angle)], color=color, marker=marker, markersize=8)
            axes.set_title(f"from {position} to {position + offset}")
            axes.set_aspect("equal")
            axes.set_xlim(-1.25, 1.25)
            axes.set_ylim(-1.25, 1.25)
            axes.axis("off")
        starts = ", ".join(map(str, positions))
        return finish(
            figure,
            alt=f"{len(positions)} clock faces of one pair that turns {rate:g} rad per position. A solid "
            f"hand shows position {starts}, a dashed one the position {offset} further on. The hands point "
            "in a different direction on every face, but the wedge between them is the same: "
            f"{rate * offset:g} rad.",
        )


def turning_arrow(arrow: complex = 0.8 + 0.6j) -> Picture:
    """An arrow of length 1 and its powers 1, 2 and 4, on their circle."""
    powers = {0: "1", 1: "z", 2: "z²", 4: "z⁴"}
    looks = {0: (GREY, ":"), 1: (BLUE, "-"), 2: (ORANGE, "--"), 4: (PURPLE, "-.")}
    with canvas(width=4.6, height=4.0) as figure:
        axes = figure.subplots()
        rim = np.linspace(0, 2 * np.pi, 200)
        axes.plot(np.cos(rim), np.sin(rim), color=GREY, linestyle="-", linewidth=GUIDE)
        told = []
        for power, name in powers.items():
            tip = arrow**power
            colour, dash = looks[power]
            axes.plot([0, tip.real], [0, tip.imag], color=colour, linestyle=dash, linewidth=BOLD)
            axes.plot([tip.real], [tip.imag], color=colour, marker="o", markersize=7)
            axes.text(1.17 * tip.real, 1.17 * tip.imag, name, ha="center", va="center", fontsize=12)
            told.append(f"{name} points to {tip.real:.2f} right and {tip.imag:.2f} up")
        axes.set_xlim(-1.45, 1.45)
        axes.set_ylim(-1.3, 1.3)
        axes.set_aspect("equal")
        axes.set_xlabel("to the right")
        axes.set_ylabel("up: times i")
        return finish(
            figure,
            alt="Four arrows from the middle of a circle of radius 1 to its rim. "
            + "; ".join(told)
            + ". Each "
            "product doubles the angle of the arrow before, and they all keep length 1.",
        )


def walks(offsets: tuple[int, int] = (3, 30), dim: int = 8) -> Picture:
    """The arrows of all clocks at two offsets, laid tip to tail, the fastest first."""
    rates = frequencies(dim)
    colours = (ORANGE, GREEN, PURPLE, BLUE)
    with canvas(width=5.2, height=5.2) as figure:
        panels = figure.subplots(len(offsets), 1, sharex=True, sharey=True)
        told = []
        for axes, offset in zip(panels, offsets, strict=True):
            tips = np.concatenate([[0], np.cumsum(np.exp(1j * offset * rates))])
            for number, rate in enumerate(rates):
                here, there = tips[number], tips[number + 1]
                axes.annotate(
                    "",
                    xy=(there.real, there.imag),
                    xytext=(here.real, here.imag),
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": colours[number % len(colours)],
                        "lw": 2.5,
                        "shrinkA": 0,
                        "shrinkB": 0,
                    },
                )
                beside = (here + there) / 2 + 0.13j * (there - here)
                axes.text(beside.real, beside.imag, f"{rate:g}", ha="center", va="center", fontsize=10)
            end = tips[-1]
            axes.plot([0, end.real], [0, 0], color=GREY, linestyle="-", linewidth=BAND, alpha=0.5)
            axes.plot([end.real, end.real], [0, end.imag], color=GREY, linestyle=":", linewidth=GUIDE)
            axes.plot([0], [0], color=GREY, marker="o")
            axes.set_title(f"offset {offset}: {end.real:.3f} to the right")
            axes.set_xlim(-1.4, 2.6)
            axes.set_ylim(-1.25, 0.8)
            axes.set_aspect("equal")
            axes.set_ylabel("up")
            told.append(f"At offset {offset} they end {end.real:.3f} to the right of where they began.")
        panels[-1].set_xlabel("to the right: the dot product")
        return finish(
            figure,
            alt=f"Two walks of {len(rates)} arrows of length 1, laid tip to tail, one for each clock of "
            f"width {dim}, the fastest first. {' '.join(told)} A grey bar shows that distance, which is "
            "the dot product. At the larger offset every arrow but the first points where its faster "
            "neighbour pointed at the smaller one.",
        )


def wide_limit(offsets: Array, base: float = 10000.0) -> Array:
    """The kernel over its peak, for ever more pairs, where 1 << offset << base.

    A sum over ever more pairs is the integral of cos(k base^-x) over x from 0 to 1, which is
    (Ci(k) - Ci(k / base)) / ln base. Between 1 and base that is 1 - (ln k + Euler's constant) / ln base.
    """
    return np.asarray(1 - (np.log(offsets) + np.euler_gamma) / np.log(base))


def kernel_on_a_log_axis(dims: tuple[int, int, int] = (64, 512, 4096)) -> Picture:
    """The kernel over its peak for some widths, with the straight line that wide encodings follow."""
    offsets = np.unique(np.logspace(-1, 5, 1500).round(3))
    with canvas(width=7.4, height=3.7) as figure:
        axes = figure.subplots()
        looks = ((ORANGE, ":", GUIDE), (BLUE, "-", CURVE), (PURPLE, "--", BOLD))
        for dim, (color, dash, width) in zip(dims, looks, strict=True):
            share = similarity(offsets, dim) / (dim / 2)
            axes.plot(offsets, share, color=color, linestyle=dash, linewidth=width, label=f"dim {dim}")
        line = np.asarray([2, 5000])
        axes.plot(
            line,
            wide_limit(line),
            color=GREY,
            linestyle="-",
            linewidth=BAND,
            alpha=0.6,
            label="straight line",
        )
        axes.set_xscale("log")
        axes.set_ylim(-0.35, 1.05)
        axes.set_xlabel("offset (positions, logarithmic)")
        axes.set_ylabel("dot product / its peak")
        label_at_curve(axes)
        return finish(
            figure,
            alt="The dot product of two encodings, divided by its peak, against the offset on a "
            f"logarithmic axis from 0.1 to 100,000, for the widths {', '.join(map(str, dims))}. Below "
            "offset 1 all stay at the peak. Then they fall along one grey straight line, which loses a "
            "quarter with each tenfold of the offset, down to zero near the base, 10,000. Beyond, the "
            "widest stays near zero. The narrowest leaves the line first, with ripples of growing size; "
            "the widest follows it beyond offset 300.",
        )


def one_back(count: int, *, loudness: float, dim: int = 64) -> Array:
    """Weights (count, count) of a head among the places alone, whose keys are turned one step on."""
    places = sinusoidal(count, dim)
    keys = places @ shift_matrix(1, dim).T
    return np.asarray(attention(loudness * places, keys, places, return_weights=True)[1])


def _weights_map(axes: Axes, weights: Array, queries: Sequence[str], keys: Sequence[str]) -> Any:
    """Attention weights, 0 to 1, queries down and keys across."""
    image = axes.imshow(weights, cmap=SHADES, vmin=0.0, vmax=1.0)
    axes.set_yticks(range(len(queries)), queries)
    axes.set_xticks(range(len(keys)), keys)
    axes.tick_params(length=0)
    return image


def one_head_at_work(count: int = 12) -> Picture:
    """`one_back`, as quiet as it is by itself and fifty times as loud."""
    maps = {"as it is": one_back(count, loudness=1), "50 times as loud": one_back(count, loudness=50)}
    with canvas(width=7.6, height=3.8) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (name, weights) in zip(panels, maps.items(), strict=True):
            image = _weights_map(axes, weights, *2 * [[str(p) for p in range(count)]])
            axes.set_title(name)
            axes.set_xlabel("place of the key")
        panels[0].set_ylabel("place of the query")
        figure.colorbar(image, ax=list(panels), label="attention weight", shrink=0.9)
        soft, loud = maps.values()
        return finish(
            figure,
            alt=f"Two maps of attention weights among {count} places. On the left all weights are nearly "
            f"the same, between {soft.min():.2f} and {soft.max():.2f}, largest one place before the query. "
            "On the right there is one dark stripe just below the diagonal: every query gives "
            f"{np.floor(100 * np.diagonal(loud, -1).min()) / 100:.2f} or more to the place right before it. "
            "The first query, which has none before it, looks at itself.",
        )


REPEATED = ("start", "dog", "chases", "cat", ",", "dog", "chases")
"""A text that is about to say "cat" again."""


def induction_maps(text: Sequence[str] = REPEATED, loudness: float = 1000.0) -> tuple[Array, Array]:
    """Causal weights (n, n) of two layers: one looks one back, the other at what came after its own word."""
    words = np.asarray([[float(word == other) for other in dict.fromkeys(text)] for word in text])
    places = sinusoidal(len(text), 64)
    keys = places @ shift_matrix(1, 64).T
    notes, first = attention(loudness * places, keys, _as_wide(words, 64), causal=True, return_weights=True)
    own = _as_wide(words, 64)
    _, second = attention(loudness * own, notes, own, causal=True, return_weights=True)
    return np.asarray(first), np.asarray(second)


def _as_wide(rows: Array, dim: int) -> Array:
    return np.pad(rows, ((0, 0), (0, dim - rows.shape[1])))


def two_layers() -> Picture:
    """The two maps of `induction_maps`, with the words, and with the notes that the second layer reads."""
    first, second = induction_maps()
    notes = [REPEATED[max(t - 1, 0)] for t in range(len(REPEATED))]
    with canvas(width=8.6, height=5.2) as figure:
        panels = figure.subplots(1, 2)
        titles = ("layer 1 looks one back: it takes a note", "layer 2 looks for its word among the notes")
        labels = (list(REPEATED), [f"{word} ({note})" for word, note in zip(REPEATED, notes, strict=True)])
        for axes, weights, title, across in zip(panels, (first, second), titles, labels, strict=True):
            _weights_map(axes, weights, REPEATED, across)
            axes.tick_params(axis="x", rotation=60)
            axes.set_title(title)
            axes.set_ylabel("query")
        panels[0].set_xlabel("key")
        panels[1].set_xlabel("key, with its note in brackets")
        return finish(
            figure,
            alt=f"Two maps of attention weights for the text {' '.join(REPEATED)}. In layer 1 each word "
            "looks at the one right before it, a stripe below the diagonal. In layer 2 the last word, "
            "chases, puts all its weight on cat, whose note is chases; the second dog puts it on the first "
            "chases, whose note is dog. Words that have not come up before spread their weight evenly over "
            "everything they can see.",
        )


def right_by_start(curves: Mapping[str, Array], *, chance: float, alt: str) -> Picture:
    """How often heads are right, (starts,) each, against where the text starts."""
    with canvas(width=6.4, height=3.2) as figure:
        axes = figure.subplots()
        looks = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."))
        for (name, share), (color, dash) in zip(curves.items(), looks, strict=False):
            axes.plot(np.arange(len(share)), share, color=color, linestyle=dash, label=name)
        axes.axhline(chance, color=GREY, linestyle=":", linewidth=GUIDE, label="chance")
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("position at which the text starts")
        axes.set_ylabel("letters right (share)")
        label_at_curve(axes)
        return finish(figure, alt=alt)
