"""Pictures of `02-the-formula`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.moves import appear, tick
from posenc_course.figures.picture import BAND, BOLD, DIVERGING, GUIDE, Picture, canvas, finish
from posenc_course.translation import _
from posenc_lib.added.sinusoidal import sinusoidal
from posenc_lib.angles import frequencies

# Frequencies that halve from pair to pair, as the bits of a counter do: base^(-2i/dim) = 2^-i.
COUNTER_BITS = 4
COUNTER_BASE = 2.0**COUNTER_BITS


def bits(positions: np.ndarray, count: int = COUNTER_BITS) -> np.ndarray:
    """Binary digits of whole positions, lowest first: (n,) gives (n, count) zeros and ones."""
    return (np.asarray(positions)[:, None] >> np.arange(count)) & 1


def counter_and_waves() -> Picture:
    """The bits of a counter as square waves, beside sines whose wavelengths double in the same way."""
    with canvas(width=8.0, height=3.8) as figure:
        left, right = figure.subplots(1, 2)

        length = 2**COUNTER_BITS
        digits = bits(np.arange(length))
        for row in range(COUNTER_BITS):
            # A position holds its bit until the next one begins.
            held = np.append(digits[:, row], digits[-1, row])
            left.step(np.arange(length + 1), row + 0.35 - 0.7 * held, where="post", color=BLUE, linestyle="-")
        marked = 6
        left.axvspan(marked, marked + 1, color=GREY, alpha=0.25, linewidth=0)
        for row, digit in enumerate(digits[marked]):
            # The digit stands on the free side of the line.
            left.text(marked + 0.5, row + (0.14 if digit else -0.14), str(digit), ha="center", va="center")
        left.set_title("Bits of a counter")
        left.set_xticks(range(0, length + 1, 2))
        left.set_ylabel("bit (bottom of a row 0, top 1)")

        positions = np.linspace(0, np.pi * length, 800)
        waves = sinusoidal(positions, 2 * COUNTER_BITS, base=COUNTER_BASE)[:, 0::2]
        for row in range(COUNTER_BITS):
            right.plot(positions, row - 0.35 * waves[:, row], color=ORANGE, linestyle="-")
        right.set_title("Sines with doubling wavelengths")
        right.set_ylabel("pair (bottom of a row −1, top 1)")

        for axes in (left, right):
            axes.set_yticks(range(COUNTER_BITS))
            axes.set_ylim(COUNTER_BITS - 0.45, -0.55)
            axes.set_xlabel("position")
        return finish(
            figure,
            tells=False,  # rows one above another
            alt="Two panels of four rows. Left: the four bits of the numbers 0 to 15 as square waves; "
            "bit 0 flips at every position, and each bit below it flips half as often. At position 6 "
            "the bits read, from bit 0 to bit 3, 0, 1, 1, 0. Right: four smooth sine waves in the same "
            "arrangement; pair 0 is the fastest, and each wave below it is twice as long.",
        )


def wavelengths(dim: int, *, base: float = 10000.0) -> np.ndarray:
    """Positions that each pair takes for one whole turn, (dim/2,)."""
    return np.asarray(2 * np.pi / frequencies(dim, base=base))


def wavelengths_by_pair(dims: tuple[int, int, int] = (512, 16, 4)) -> Picture:
    """The wavelengths of some widths on a logarithmic axis: a geometric series is a straight line there."""
    with canvas(width=7.0, height=3.8) as figure:
        axes = figure.subplots()
        # Hollow markers on a wide line: each width can be seen through the next.
        looks: tuple[tuple[str, dict[str, Any]], ...] = (
            (GREEN, {"linestyle": "-", "linewidth": BAND, "alpha": 0.85}),
            (ORANGE, {"linestyle": "none", "marker": "o", "markersize": 7}),
            (BLUE, {"linestyle": "none", "marker": "s", "markersize": 12}),
        )
        for dim, (color, look) in zip(dims, looks, strict=True):
            along, turns = 2 * np.arange(dim // 2) / dim, wavelengths(dim)
            look |= {"color": color, "markerfacecolor": "none", "markeredgewidth": 2}
            axes.plot(along, turns, **look)
            last = (along[-1], turns[-1])
            label_at(axes, f"dim {dim} ({dim // 2} pairs)", last, (-8, 6))
            label_at(axes, f"{turns[-1]:,.0f}", last, (9, -6))
        for level, name in ((2 * np.pi, "2π"), (2 * np.pi * 1e4, "2π · 10000, never reached")):
            axes.axhline(level, color=GREY, linestyle=":", linewidth=GUIDE)
            axes.text(0.2, level * 1.15, name, va="bottom")
        axes.set_yscale("log")
        axes.set_ylim(3, 3e5)
        axes.set_xlim(-0.03, 1.14)
        axes.set_xlabel("2i / dim, from the first pair (0) towards 1")
        axes.set_ylabel("wavelength (positions)")
        return finish(
            figure,
            alt="Wavelength against 2i/dim, with a logarithmic vertical axis. The pairs of dim 4, dim 16 "
            "and dim 512 all lie on one straight line that starts at 2 pi, at 2i/dim = 0. Dim 4 has two "
            "points, the last at 628; the last of dim 16 is at 19,869 and the last of dim 512 at 60,611. "
            "A dotted line at 2 pi times 10000 is reached by none of them.",
        )


def clock_angles(position: float, dim: int) -> np.ndarray:
    """How far each pair's hand has turned at a position, in rad, (dim/2,)."""
    return np.asarray(position * frequencies(dim))


def _face(axes: Axes, theta: float) -> tuple[Artist, Sequence[Artist]]:
    """A clock whose hand has turned by an angle since 12 o'clock: its tip is at (sin, cos).

    Returns the way that the hand has come, and the hand.
    """
    rim = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.sin(rim), np.cos(rim), color=GREY, linestyle="-", linewidth=GUIDE)
    # The way that the hand has come since its last pass at 12.
    swept = np.linspace(0, theta % (2 * np.pi), 100)
    [way] = axes.fill(
        np.append(0, np.sin(swept)), np.append(0, np.cos(swept)), color=BLUE, alpha=0.25, linewidth=0
    )
    axes.plot([0, 0], [0.88, 1.12], color=GREY, linestyle="-", linewidth=GUIDE)
    sine, cosine = np.sin(theta), np.cos(theta)
    hand = [
        *axes.plot([0, sine], [0, cosine], color=BLUE, linestyle="-", linewidth=BOLD),
        *axes.plot([sine], [cosine], color=ORANGE, marker="o", markersize=8),
    ]
    axes.set_aspect("equal")
    axes.set_xlim(-1.25, 1.25)
    axes.set_ylim(-1.25, 1.25)
    axes.axis("off")
    return way, hand


def words_and_clocks(words: tuple[str, ...] = ("dog", "chases", "cat")) -> Picture:
    """Each word of a sentence with the clocks of its position, and the vector that their hands make."""
    rates = frequencies(2 * COUNTER_BITS, base=COUNTER_BASE)
    table = sinusoidal(len(words), 2 * COUNTER_BITS, base=COUNTER_BASE)
    # Narrow enough for a phone: below each clock lie the two numbers that it gives.
    with canvas(width=5.4, height=5.6) as figure:
        grid = figure.add_gridspec(
            2 * len(words),
            1 + COUNTER_BITS,
            width_ratios=[1.3, *[1.0] * COUNTER_BITS],
            height_ratios=[1.0, 0.55] * len(words),
        )
        moves = []
        for position, word in enumerate(words):
            there = 1.5 * position - 0.1  # s: the clocks begin at 12, and go on together from word to word
            name = figure.add_subplot(grid[2 * position, 0])
            name.text(0.5, 0.62, word, ha="center", va="center", fontsize=13, weight="bold")
            name.text(0.5, 0.3, _("position {at}").format(at=position), ha="center", va="center")
            name.axis("off")
            for pair, rate in enumerate(rates):
                face = figure.add_subplot(grid[2 * position, 1 + pair])
                way, hand = _face(face, position * rate)
                if position:
                    moves += [
                        tick(hand, np.degrees(rate), position, every=1.5, about=(0, 0)),
                        appear(way, start=there - 0.2, end=there + 0.2),
                    ]
                if position == 0:
                    face.set_title(_("clock {number}").format(number=pair), fontsize=11)
            added = figure.add_subplot(grid[2 * position + 1, 0])
            added.text(0.5, 0.5, _("what is\nadded"), ha="center", va="center", fontsize=11)
            added.axis("off")
            strip = figure.add_subplot(grid[2 * position + 1, 1:])
            vector: list[Artist] = [
                strip.imshow(table[position : position + 1], cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto")
            ]
            for column, number in enumerate(table[position]):
                said = f"{number:.1f}".replace("-", "−")
                ink = "#f8f8f8" if abs(number) > 0.7 else "black"  # on the cell's colour, in either theme
                vector.append(strip.text(column, 0, said, ha="center", va="center", fontsize=11, color=ink))
            strip.axis("off")
            if position:
                moves.append(appear(*vector, start=there, end=there + 0.4))
        told = "; ".join(
            f"{word}: " + ", ".join(f"{number:.1f}" for number in numbers)
            for word, numbers in zip(words, table, strict=True)
        )
        return finish(
            figure,
            moves=moves,
            alt=_(
                "Three rows, one for each word of the sentence “{sentence}”. Each row shows four clocks "
                "with one hand, and below them the vector of eight numbers that the tips of the hands give, "
                "as colours from blue (minus 1) to red (1). In the first row all hands point to 12 o'clock. "
                "From row to row the hand of clock 0 moves furthest, and each clock turns half as fast as "
                "the one before. The vectors are: {vectors}."
            ).format(sentence=" ".join(words), vectors=told),
        )


def clocks(position: float = 40, dim: int = 8) -> Picture:
    """One clock per pair. The hand ends at (sin, cos), so it starts at 12 o'clock and turns clockwise."""
    theta = clock_angles(position, dim)
    points = sinusoidal(np.asarray([position]), dim)[0].reshape(-1, 2)
    with canvas(width=8.0, height=2.6) as figure:
        for pair, axes in enumerate(figure.subplots(1, dim // 2)):
            _face(axes, theta[pair])
            sine, cosine = points[pair]
            axes.set_title(f"pair {pair}")
            words = f"{theta[pair]:g} rad\n{theta[pair] / (2 * np.pi):.3g} turns\n({sine:.2f}, {cosine:.2f})"
            axes.text(0, -1.3, words.replace("-", "−"), ha="center", va="top", fontsize=10)
            axes.set_ylim(-2.3, 1.25)
        told = ", ".join(
            f"pair {pair}: {angle / (2 * np.pi):.3g} turns, at ({s:.2f}, {c:.2f})"
            for pair, (angle, (s, c)) in enumerate(zip(theta, points, strict=True))
        )
        return finish(
            figure,
            alt=f"{dim // 2} clock faces with one hand each, for position {position:g} and dim {dim}. "
            f"All hands started at 12 o'clock and turned clockwise. {told}.",
        )


def heatmap(length: int = 100, dim: int = 64) -> Picture:
    """The whole table as colours: a row per position, a column per wave."""
    table = sinusoidal(length, dim)
    with canvas(width=7.0, height=4.4) as figure:
        axes = figure.subplots()
        image = axes.imshow(table, aspect="auto", cmap=DIVERGING, vmin=-1, vmax=1)
        axes.set_xlabel("column (even: sine, odd: cosine)")
        axes.set_ylabel("position")
        axes.set_xticks(range(0, dim, 8))
        bar = figure.colorbar(image, ax=axes, ticks=[-1, 0, 1])
        bar.set_label("value")
        return finish(
            figure,
            alt=f"Heatmap of the encoding: positions 0 to {length - 1} downwards, columns 0 to {dim - 1} "
            "to the right, values from minus 1 (blue) to 1 (red). The columns on the left alternate "
            "quickly between red and blue; further right the bands grow longer and bend downwards. "
            "Towards the right edge each column keeps one colour: sine columns grey, near 0, and cosine "
            "columns red, near 1.",
        )


def column_number_as_i(positions: np.ndarray, dim: int, *, base: float = 10000.0) -> np.ndarray:
    """The wrong table that comes of putting the column number where the formula has the pair number i."""
    columns = np.arange(dim)
    theta = np.asarray(positions, dtype=np.float64)[:, None] * base ** (-2.0 * columns / dim)
    return np.where(columns % 2 == 0, np.sin(theta), np.cos(theta))


def right_and_wrong(length: int = 100, dim: int = 4) -> Picture:
    """The four columns of dim 4, right and with the column number taken as i."""
    positions = np.linspace(0, length, 1001)
    right, wrong = sinusoidal(positions, dim), column_number_as_i(positions, dim)
    with canvas(width=7.5, height=4.4) as figure:
        grid = figure.subplots(dim // 2, 2, sharex=True, sharey=True)
        for column, axes in enumerate(grid.flat):
            axes.plot(positions, right[:, column], color=BLUE, linestyle="-", label="right")
            axes.plot(
                positions, wrong[:, column], color=ORANGE, linestyle="--", linewidth=BOLD,
                label="column number as i",
            )  # fmt: skip
            axes.set_title(f"column {column} ({'sine' if column % 2 == 0 else 'cosine'})")
            axes.set_ylim(-1.1, 1.1)
            axes.set_yticks([-1, 0, 1])
        for axes in grid[-1]:
            axes.set_xlabel("position")
        for axes in grid[:, 0]:
            axes.set_ylabel("value")
        label_at_curve(grid[1, 1])
        return finish(
            figure,
            alt=f"Four small plots over positions 0 to {length}, one per column of dim 4; the right encoding "
            "is a solid line, the wrong one dashed. In column 0 the two coincide and oscillate fast. In "
            "column 1 the right cosine oscillates just as fast, and the wrong one falls slowly. In "
            "columns 2 and 3 the right sine rises to 0.84 and the right cosine falls to 0.54, while the "
            "wrong ones stay flat at 0 and 1.",
        )


def read_back(
    ratios: np.ndarray, *, dim: int = 512, words: int = 1000, length: int = 100, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """How much of (word + ratio * position) a plain dot product reads back, for each ratio.

    Word vectors are random and have norm 1; position vectors are scaled to norm 1 as well, and then
    by the ratio. The guess is the word, and the position, whose own vector has the largest dot
    product with the sum.

    Returns:
        The shares of words and of positions that are read back right, in [0, 1], each of the
        shape of `ratios`.
    """
    rng = np.random.default_rng(seed)
    embeddings = rng.normal(size=(words, dim))
    embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
    places = sinusoidal(length, dim) / np.sqrt(dim / 2)
    said = rng.integers(words, size=length)

    # The dot product with a sum is the sum of two dot products, which are the same for all ratios.
    def right(candidates: np.ndarray, truth: np.ndarray) -> np.ndarray:
        from_word, from_place = embeddings[said] @ candidates.T, places @ candidates.T
        guesses = [np.argmax(from_word + ratio * from_place, axis=1) for ratio in np.ravel(ratios)]
        hits = np.asarray(guesses).reshape(*np.shape(ratios), length) == truth
        return np.asarray(hits.mean(axis=-1))

    return right(embeddings, said), right(places, np.arange(length))


def scale_sweep(dim: int = 512, *, seeds: int = 5) -> Picture:
    """Words and positions read back from their sum, as the encoding grows against the embedding."""
    ratios = np.geomspace(0.01, 100, 41)
    words, positions = np.mean([read_back(ratios, dim=dim, seed=seed) for seed in range(seeds)], axis=0)
    with canvas(width=7.5, height=3.9) as figure:
        axes = figure.subplots()
        axes.plot(ratios, 100 * words, color=BLUE, linestyle="-", marker="o", markersize=4, label="words")
        axes.plot(
            ratios, 100 * positions, color=ORANGE, linestyle="--", marker="s", markersize=4, label="positions"
        )
        root = np.sqrt(dim)
        places = (
            (np.sqrt(dim / 2) / dim, "entries N(0, 1)\ntimes √dim"),
            (np.sqrt(dim / 2) / root, "entries N(0, 1/dim)\ntimes √dim"),
            (np.sqrt(dim / 2), "entries N(0, 1/dim)\nunscaled"),
        )
        for ratio, name in places:
            axes.axvline(ratio, color=PURPLE, linestyle=":", linewidth=GUIDE)
            axes.text(ratio, 107, name, ha="center", va="bottom", fontsize=9.5)
        axes.set_xscale("log")
        axes.set_ylim(-4, 104)
        axes.set_xlabel("norm of the encoding / norm of the embedding")
        axes.set_ylabel("read back correctly (%)")
        label_at_curve(axes)
        return finish(
            figure,
            alt="Share of words and of positions that a dot product reads back from their sum, against "
            "the ratio of the norms on a logarithmic axis. Positions, dashed, are lost where the ratio is "
            "small; words, solid, are lost where it is large; both are read well in a window in between. "
            f"Dotted lines mark three choices for dim {dim}: at 0.03, where positions are lost; at 0.71, "
            "at its edge, where nearly all positions are read; and at 16, where words are lost.",
        )
