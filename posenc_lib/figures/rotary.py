"""Pictures of `06-rotary`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from posenc_lib.added.sinusoidal import similarity
from posenc_lib.angles import frequencies
from posenc_lib.colours import BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE
from posenc_lib.figures.picture import DASHES, Picture, canvas, finish
from posenc_lib.rotated import RotaryTables, apply_rotary
from posenc_lib.rotated.axial import axial_tables, mrope_tables
from posenc_lib.rotated.turn import LAYOUTS, columns

HEAD_DIM = 128


def pair_of_column(dim: int, layout: str) -> np.ndarray:
    """Which pair each column belongs to, (dim,)."""
    pairs = np.empty(dim, dtype=np.int64)
    for members in columns(dim, layout):
        pairs[members] = np.arange(dim // 2)
    return pairs


def layouts(dim: int = 8) -> Picture:
    """The columns of a head in both layouts, with a bow from the first to the second member of each pair."""
    with canvas(width=7.5, height=3.0) as figure:
        axes = figure.subplots()
        for row, layout in enumerate(LAYOUTS):
            _draw_layout(axes, dim, layout, top=-1.9 * row)
        axes.set_xlim(-2.6, dim)
        axes.set_ylim(-3.0, 1.1)
        axes.axis("off")
        told = "; ".join(
            f"{layout}: " + ", ".join(map(str, pair_of_column(dim, layout).tolist())) for layout in LAYOUTS
        )
        return finish(
            figure,
            alt=f"Two rows of {dim} boxes, the columns of a head. Each box bears the number of its pair, and "
            "a bow joins the two boxes of a pair. In the interleaved layout the bows join neighbours; in the "
            f"half layout they reach half way across the row. The pairs from left to right: {told}.",
        )


def _draw_layout(axes: Axes, dim: int, layout: str, *, top: float) -> None:
    pairs = pair_of_column(dim, layout)
    axes.text(-0.3, top, layout, ha="right", va="center", fontsize=12)
    for column, pair in enumerate(pairs.tolist()):
        colour = COLOURS[pair % len(COLOURS)]
        axes.add_patch(
            Rectangle((column + 0.05, top - 0.35), 0.9, 0.7, facecolor="none", edgecolor=colour, lw=2.5)
        )
        axes.text(column + 0.5, top, str(pair), ha="center", va="center", fontsize=12)
    for pair in range(dim // 2):
        left, right = np.flatnonzero(pairs == pair) + 0.5
        bow = np.linspace(0, np.pi, 40)
        height = 0.25 + 0.1 * (right - left - 1) + 0.02 * pair
        axes.plot(
            (left + right) / 2 - (right - left) / 2 * np.cos(bow),
            top + 0.37 + height * np.sin(bow),
            color=COLOURS[pair % len(COLOURS)],
            linestyle=DASHES[pair % len(DASHES)],
            linewidth=2,
        )
    axes.text(dim / 2, top - 0.6, f"columns 0 to {dim - 1}", ha="center", va="center", fontsize=10)


# --- Which axis turns which pair -------------------------------------------------------------------


def owners(
    tables_at: Callable[[np.ndarray], RotaryTables], axes: int, *, step: float = 1e-3
) -> tuple[np.ndarray, np.ndarray]:
    """Which axis turns each pair, and with which wavelength, read off the tables.

    Token t moves along axis t alone, by a step so small that no pair is past its first quarter turn.

    Returns:
        (dim/2,) numbers of axes, and (dim/2,) wavelengths in positions.
    """
    angles = np.arcsin(tables_at(step * np.eye(axes)).sin)
    return angles.argmax(axis=0), 2 * np.pi * step / angles.max(axis=0)


def axes_of_pairs(dim: int = HEAD_DIM) -> Picture:
    """The wavelengths that each axis gets: axial RoPE, and M-RoPE in runs and dealt out in turn."""
    panels = (
        ("axial", ("height", "width"), lambda positions: axial_tables(positions, dim)),
        (
            "M-RoPE, in runs",
            ("time", "height", "width"),
            lambda positions: mrope_tables(positions, dim, _shares(dim, (2, 3, 3))),
        ),
        (
            "M-RoPE, dealt out",
            ("time", "height", "width"),
            lambda positions: mrope_tables(positions, dim, _shares(dim, (6, 5, 5)), interleaved=True),
        ),
    )
    looks = {"time": (ORANGE, "^"), "height": (BLUE, "o"), "width": (GREEN, "s")}
    with canvas(width=7.5, height=4.2) as figure:
        every = figure.subplots(
            len(panels), 1, sharex=True, height_ratios=[len(names) for _t, names, _m in panels]
        )
        for axes, (title, names, tables_at) in zip(every, panels, strict=True):
            axis, waves = owners(tables_at, len(names))
            for row, name in enumerate(names):
                colour, marker = looks[name]
                own = waves[axis == row]
                axes.plot(
                    own, np.full(own.size, -row), color=colour, marker=marker, markersize=5, linestyle="none"
                )
            axes.set_yticks([-row for row in range(len(names))], names)
            axes.set_ylim(0.6 - len(names), 0.6)
            axes.set_xscale("log")
            axes.set_ylabel("axis")
            axes.set_title(title, fontsize=11, loc="left")
        every[-1].set_xlabel("wavelength (positions)")
        return finish(
            figure,
            alt=f"Three panels, one above the other, over the wavelengths of the {dim // 2} pairs of a head "
            "on a logarithmic axis. Axial: height and width each have wavelengths from the shortest to the "
            "longest. M-RoPE in runs: time has the shortest wavelengths, then height those in the middle, "
            "and width the longest. M-RoPE dealt out: time, height and width take turns from the shortest "
            "wavelengths to nearly the longest, and time has the very longest.",
        )


def _shares(dim: int, parts: tuple[int, ...]) -> tuple[int, ...]:
    """The pairs of a head, shared out in these proportions."""
    return tuple(dim // 2 * part // sum(parts) for part in parts)


# --- Decay with distance ---------------------------------------------------------------------------


def bound(offsets: np.ndarray, dim: int = HEAD_DIM, *, base: float = 10000.0) -> np.ndarray:
    """The paper's bound on a score, up to a factor that the content sets: the mean of |S_1| ... |S_(dim/2)|.

    S_j is the sum of the first j unit arrows exp(i * offset * frequency). (n,) offsets give (n,).

    Source: Su et al. 2021, "RoFormer", section 3.4.3.
    """
    arrows = np.exp(1j * np.asarray(offsets)[:, None] * frequencies(dim, base=base))
    return np.asarray(np.abs(np.cumsum(arrows, axis=1)).mean(axis=1))


def scores(q: np.ndarray, k: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Scores, divided by sqrt(head_dim), of a query that stands these offsets after the key.

    q, k: (..., head_dim). (n,) offsets give (..., n).
    """
    offsets = np.asarray(offsets)
    # Turning the key back is the same as turning the query forwards.
    turned = apply_rotary(np.repeat(k[..., None, :], offsets.size, axis=-2), -offsets)
    return np.asarray((turned @ q[..., None])[..., 0] / np.sqrt(q.shape[-1]))


def trained_pair(
    look_back: int, *, dim: int = HEAD_DIM, length: int = 256, steps: int = 300, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A query and a key, trained by gradient descent so that attention falls `look_back` positions back.

    All keys are the same vector, so that position is all there is to go by. The loss is the cross-entropy
    of the softmax over offsets 0 to length - 1.

    Returns:
        q and k, (dim,) each.
    """
    rng = np.random.default_rng(seed)
    q, k = 0.5 * rng.normal(size=(2, dim // 2, 2)) @ np.array([1, 1j])
    offsets = np.arange(length)
    arrows = np.exp(1j * offsets[:, None] * frequencies(dim)) / np.sqrt(dim)
    for _step in range(steps):
        raised = np.exp((arrows @ (q * k.conj())).real)
        slope = raised / raised.sum() - (offsets == look_back)  # of the loss, by each score
        pull = slope @ arrows
        q, k = q - pull.conj() * k, k - pull * q
    return q.view(np.float64), k.view(np.float64)


def decay(look_back: int = 40, length: int = 256) -> Picture:
    """The bound that falls with distance, beside scores that do and that do not."""
    offsets = np.arange(length)
    q, k = np.random.default_rng(1).normal(size=(2, HEAD_DIM))
    alike = np.ones(HEAD_DIM)
    curves = (
        ("query = key", scores(alike, alike, offsets), BLUE, "-"),
        ("random pair", scores(q, k, offsets), GREY, "-"),
        (f"trained to look {look_back} back", scores(*trained_pair(look_back), offsets), ORANGE, "--"),
    )
    with canvas(width=8.0, height=3.5) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(offsets, bound(offsets), color=PURPLE, linestyle="-")
        left.set_ylim(0, None)
        left.set_ylabel("bound (times a factor of the content)")
        for name, values, colour, dash in curves:
            right.plot(offsets, values, color=colour, linestyle=dash, linewidth=1.8, label=name)
        right.set_ylabel("score")
        right.set_ylim(-13, 28)
        right.legend(loc="upper right")
        for axes in (left, right):
            axes.set_xlabel("offset (positions from key to query)")
        return finish(
            figure,
            alt=f"Two panels over offsets 0 to {length - 1}. Left: the bound falls steeply at first, then "
            "slowly, with small waves. Right: the score of a query that equals its key falls in the same "
            "way, with waves. The score of a random pair stays near zero and waves at every offset alike. "
            "The score "
            f"of the trained pair, dashed, has one sharp peak, at offset {look_back}.",
        )


def kernels_by_base(bases: tuple[float, ...] = (10_000.0, 500_000.0)) -> Picture:
    """What a query that equals its key scores against the offset, for several bases."""
    offsets = np.unique(np.geomspace(1, 100_000, 600).round())
    with canvas(width=7.5, height=3.5) as figure:
        axes = figure.subplots()
        for base, colour, dash, marker in zip(bases, (BLUE, ORANGE), ("-", "--"), ("o", "s"), strict=True):
            axes.plot(
                offsets,
                similarity(offsets, HEAD_DIM, base=base) / (HEAD_DIM / 2),
                color=colour,
                linestyle=dash,
                linewidth=1.6,
                label=f"base {base:,.0f}",
            )
            axes.plot([first_negative(base)], [0], color=colour, marker=marker, markersize=9)
        axes.axhline(0, color=GREY, linestyle=":", linewidth=1.5)
        axes.set_xscale("log")
        axes.set_xlabel("offset (positions)")
        axes.set_ylabel("score, 1 at offset 0")
        axes.legend(loc="upper right")
        marks = " and ".join(f"{first_negative(base):,} for base {base:,.0f}" for base in bases)
        return finish(
            figure,
            alt="Score of a query that equals its key against the offset, on a logarithmic axis from 1 to "
            "100,000. Both curves fall from 1 with ripples; that of the larger base falls later and more "
            f"slowly. A mark stands where each first goes below zero: at offset {marks}.",
        )


@cache
def first_negative(base: float, dim: int = HEAD_DIM, *, farthest: int = 20_000) -> int:
    """The first offset where a query that equals its key scores below zero; -1 if none up to `farthest`."""
    below = np.flatnonzero(similarity(np.arange(farthest + 1), dim, base=base) < 0)
    return int(below[0]) if below.size else -1


# --- Precision at distance -------------------------------------------------------------------------


def to_bfloat16(values: np.ndarray) -> np.ndarray:
    """float32 rounded to the 8 significant bits of bfloat16, ties to even."""
    bits = np.asarray(values, dtype=np.float32).view(np.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & np.uint32(0xFFFF0000)).view(np.float32)


def table_errors(last: int, dim: int = HEAD_DIM, *, rows: int = 256) -> dict[str, float]:
    """Largest error of a cosine within the `rows` positions up to `last`, for three ways to compute it."""
    positions = np.arange(last - rows + 1, last + 1)
    rates = frequencies(dim)
    exact = np.cos(positions[:, None] * rates)
    in_float32 = positions[:, None].astype(np.float32) * rates.astype(np.float32)
    narrow_rates = positions[:, None].astype(np.float32) * to_bfloat16(rates)
    ways = {
        "bfloat16 frequencies": np.cos(narrow_rates),
        "float32 angles": np.cos(in_float32),
        "float64 angles, cast last": exact.astype(np.float32),
    }
    return {name: float(np.abs(table - exact).max()) for name, table in ways.items()}


def precision() -> Picture:
    """The largest error of the tables against the position, for three ways to compute them."""
    lasts = 2 ** np.arange(9, 21)
    errors = [table_errors(last) for last in lasts.tolist()]
    looks = ((ORANGE, "--", "s"), (BLUE, "-", "o"), (GREEN, "-.", "^"))
    with canvas(width=7.5, height=3.6) as figure:
        axes = figure.subplots()
        for name, (colour, dash, marker) in zip(errors[0], looks, strict=True):
            axes.plot(
                lasts,
                [each[name] for each in errors],
                color=colour,
                linestyle=dash,
                marker=marker,
                label=name,
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(1e-9, 1e2)
        axes.set_xlabel("position")
        axes.set_ylabel("largest error of a cosine")
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.4))
        return finish(
            figure,
            alt="Largest error of a table of cosines against the position, both on logarithmic axes, from "
            "position 512 to about a million. With bfloat16 frequencies the error is near 2, the whole "
            "range, almost everywhere. With float32 angles it grows in a straight line from below 0.0001 to "
            "about 0.06. With float64 angles cast last it stays level, at 0.00000003.",
        )
