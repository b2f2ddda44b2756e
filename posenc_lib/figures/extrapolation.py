"""Pictures of `04-extrapolation` that need no experiment. Those of the measured losses are in "
"`experiments.py`."""

from __future__ import annotations

import numpy as np

from posenc_lib.added.learned import learned
from posenc_lib.angles import frequencies
from posenc_lib.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_lib.figures.picture import Picture, canvas, finish

ROWS = 64


def drawn_table(rows: int = ROWS) -> np.ndarray:
    """A smooth table of one column, (rows, 1), drawn here to stand for a column that was learned."""
    place = np.arange(rows) / rows
    return np.asarray(np.sin(5 * place) + 0.4 * np.cos(19 * place) + 0.8 * place)[:, None]


def past_the_end(length: int = 4 * ROWS) -> Picture:
    """One column of a table of 64 rows, read at four times as many positions, in three ways."""
    table, positions = drawn_table(), np.arange(length)
    ways = (
        ("clamp", ORANGE, "--"),
        ("zero", GREEN, ":"),
        ("interpolate", BLUE, "-"),
    )
    with canvas(width=7.5, height=3.6) as figure:
        axes = figure.subplots()
        axes.axvspan(0, ROWS - 1, color=GREY, alpha=0.18, linewidth=0)
        axes.text(ROWS / 2, 2.05, "the rows\nthat there are", ha="center", va="top", fontsize=10)
        for name, color, dash in ways:
            stretch = {"length": length} if name == "interpolate" else {}
            column = learned(table, positions, beyond=name, **stretch)[:, 0]
            axes.plot(positions, column, color=color, linestyle=dash, label=name, linewidth=2.4)
        axes.set_ylim(-1.3, 2.1)
        axes.set_xlabel("position (tokens)")
        axes.set_ylabel("one column of the table")
        axes.legend(loc="upper right", ncols=3)
        return finish(
            figure,
            alt=f"One column of a learned table of {ROWS} rows, read at positions 0 to {length - 1}. Up to "
            f"position {ROWS - 1} clamp and zero follow the table's own curve. From there clamp is a flat "
            "line at the last value, and zero a flat line at 0. Interpolate is the whole curve, drawn out to "
            "four times its length: it begins and ends with the same values, and agrees with the table at "
            "position 0 only.",
        )


def turned(dim: int, length: int, *, base: float = 10000.0) -> np.ndarray:
    """How far each pair has turned at the last of `length` positions, in turns, (dim/2,)."""
    return np.asarray((length - 1) * frequencies(dim, base=base) / (2 * np.pi))


def new_angles(dim: int = 64, trained: int = 64, tested: int = 256) -> Picture:
    """Which pairs are led to angles that training never showed."""
    pairs = np.arange(dim // 2)
    seen, asked = turned(dim, trained), turned(dim, tested)
    with canvas(width=7.5, height=3.8) as figure:
        axes = figure.subplots()
        axes.axhline(1, color=PURPLE, linestyle=":", linewidth=1.8)
        axes.text(dim / 2 - 0.5, 1.25, "a whole turn: every angle was seen", ha="right", va="bottom")
        new = seen < 1
        top = np.minimum(asked, 1)
        axes.vlines(pairs[new], seen[new], top[new], color=ORANGE, linestyle="-", linewidth=5, alpha=0.55)
        axes.plot(
            pairs, asked, color=ORANGE, linestyle="--", marker="s", markersize=5, label=f"{tested} positions"
        )
        axes.plot(
            pairs, seen, color=BLUE, linestyle="-", marker="o", markersize=5, label=f"{trained} positions"
        )
        axes.set_yscale("log")
        axes.set_xlabel("pair i")
        axes.set_ylabel("turns at the last position")
        axes.legend(loc="lower left")
        first = int(np.flatnonzero(new)[0])
        return finish(
            figure,
            alt=f"How many turns each of the {dim // 2} pairs of dim {dim} makes up to the last position, "
            f"with a logarithmic vertical axis: two falling straight lines, the one for {tested} positions "
            f"above the one for {trained}. A dotted line marks a whole turn. Pairs 0 to {first - 1} turn "
            f"round within {trained} positions. For the other {int(new.sum())}, thick bars reach from the "
            "lower line up to the upper one or to the whole turn: these angles are new.",
        )


def loss_with_context(context: np.ndarray, *, reach: int = 32) -> np.ndarray:
    """The loss, in nats, of an imagined model that reads `reach` tokens, itself counted, and no more."""
    return np.asarray(1.5 + 2.0 / (1 + np.minimum(context, reach - 1) / 4))


def in_blocks(length: int, *, reach: int = 32) -> float:
    """Its mean loss where the text is cut into blocks that do not overlap."""
    return float(loss_with_context(np.arange(length), reach=reach).mean())


def early_tokens(lengths: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)) -> Picture:
    """The same model, tested in longer and longer blocks: it seems to gain, and reads nothing more."""
    with canvas(width=8.0, height=3.5) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        place = np.arange(128)
        left.plot(place, loss_with_context(place), color=BLUE, linestyle="-")
        left.axvspan(0, 32, color=GREY, alpha=0.18, linewidth=0)
        left.text(36, 3.3, "early tokens", ha="left", va="top")
        left.set_title("By position in the block")
        left.set_xlabel("position (tokens)")
        left.set_ylabel("loss (nats per token)")

        blocks = [in_blocks(length) for length in lengths]
        late = [float(loss_with_context(np.asarray(length - 1))) for length in lengths]
        right.plot(lengths, blocks, color=ORANGE, linestyle="--", marker="s", label="all tokens of a block")
        right.plot(lengths, late, color=BLUE, linestyle="-", marker="o", label="its last token")
        right.set_xscale("log", base=2)
        right.set_xticks(lengths, [str(length) for length in lengths])
        right.set_title("Mean, by length of the block")
        right.set_xlabel("length of the block (tokens)")
        right.legend(loc="upper right")
        return finish(
            figure,
            alt="Two panels about one imagined model that reads the last 32 tokens. Left: its loss by "
            "position in a block falls from 3.5 nats at position 0 to 1.73 at position 31, and is flat from "
            f"there. Right: its mean loss over all tokens of a block falls from {blocks[0]:.2f} nats in "
            f"blocks of {lengths[0]} to {blocks[-1]:.2f} in blocks of {lengths[-1]}, while the loss of the "
            f"last token of each block stays at {late[0]:.2f}.",
        )
