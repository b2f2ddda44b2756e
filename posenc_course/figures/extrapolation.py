"""Pictures of `04-extrapolation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.moves import appear, draw
from posenc_course.figures.picture import (
    BAND,
    BOLD,
    DASHES,
    DIVERGING,
    GUIDE,
    SEED,
    Picture,
    canvas,
    finish,
)
from posenc_lib.added.learned import learned
from posenc_lib.angles import frequencies
from posenc_lib.attention import attention

ROWS = 64
MARKERS = ("o", "s", "^", "D", "v")


def three_claims() -> Picture:
    """The idea of the chapter: one word, three claims, each with a model that satisfies it and no more."""
    place = np.linspace(0, 4, 200)
    early = 0.9 * np.exp(-5 * place)
    beyond = np.maximum(place - 1, 0)
    claims = (
        ("defined there", ORANGE, "--", 1.0 + early + 1.1 * (1 - np.exp(-2.2 * beyond))),
        ("works there", BLUE, "-", 1.0 + early),
        ("uses what is there", GREEN, "-.", 1.0 + early - 0.5 * (1 - np.exp(-0.7 * beyond))),
    )
    with canvas(width=5.4, height=3.6) as figure:  # narrow enough for a phone
        axes = figure.subplots()
        axes.axvspan(0, 1, color=GREY, alpha=0.22, linewidth=0)
        moves = []  # first the part that is alike, then, from the trained length on, all three
        for title, color, dash, loss in claims:
            curve = axes.plot(place[place > 1], loss[place > 1], color=color, linestyle=dash, linewidth=BOLD)
            above = -16 if title == "uses what is there" else 6
            label = axes.annotate(
                title, (place[-1], loss[-1]), (0, above), textcoords="offset points", ha="right"
            )
            moves += [draw(*curve, start=1.6, end=3.8), appear(label, start=3.6, end=4.0)]
        alike = axes.plot(
            place[place <= 1], (1.0 + early)[place <= 1], color=GREY, linestyle="-", linewidth=BOLD
        )
        moves.append(draw(*alike, start=0.3, end=1.3))
        axes.set_xlabel("position")
        axes.set_xticks([0, 1], ["0", "trained"])
        axes.set_yticks([])
        axes.set_ylim(0.3, 2.5)
        axes.set_ylabel("loss")
        return finish(
            figure,
            moves=moves,
            alt="A sketch of a model's loss against the position in a text. The positions seen in training "
            "are shaded on the left, and there all models are alike: the loss falls. Past the shading there "
            "are three curves. Defined there: the curve continues, and rises steeply. Works there: it stays "
            "level. Uses what is there: it keeps falling.",
        )


def table_and_head(table: np.ndarray, w_q: np.ndarray, w_k: np.ndarray) -> Picture:
    """A learned table: how much its rows resemble one another, and what the head that reads it makes of them.

    Args:
        table: (rows, dim).
        w_q, w_k: (dim, dim) of the head.
    """
    panels = (
        ("the rows themselves", "row", "row", alike(table)),
        ("what the head makes of them", "key at row", "query at row", head_weights(table, w_q, w_k)),
    )
    with canvas(width=7.6, height=3.7) as figure:
        for axes, (title, across, down, shown) in zip(figure.subplots(1, 2), panels, strict=True):
            axes.imshow(shown, cmap=DIVERGING, vmin=-1, vmax=1)
            axes.set_title(title)
            axes.set_xlabel(across)
            axes.set_ylabel(down)
        figure.colorbar(
            figure.axes[0].images[0], ax=figure.axes, label="cosine (left), weight (right)", shrink=0.8
        )
        rows = len(table)
        return finish(
            figure,
            alt=f"Two maps of {rows} by {rows} cells. Left, the cosine of each row of a learned table with "
            "each other: 1 along the diagonal, and elsewhere small numbers of both signs without a pattern. "
            "Right, the weights of the head that reads the table: most of each row's weight lies in one "
            "line, three places to the left of the diagonal.",
        )


def alike(table: np.ndarray) -> np.ndarray:
    """(rows, rows): the cosine of each row with each other, once their mean is taken away."""
    centred = table - table.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)


def head_weights(table: np.ndarray, w_q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    """(rows, rows): what a causal head attends to where all that it is given is the table."""
    return np.asarray(attention(table @ w_q, table @ w_k, np.eye(len(table)), causal=True))


def right_by_position(
    panels: Mapping[str, Mapping[str, Sequence[Any]]], *, trained: int, chance: float, alt: str
) -> Picture:
    """How often heads are right at each position, one line per seed; a panel for each title.

    Args:
        panels: title -> what a line is called -> for each seed (positions,), from position `first` on.
    """
    looks = ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-."), (PURPLE, ":"))
    with canvas(width=8.2, height=3.4) as figure:
        for axes, (title, lines) in zip(
            np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
        ):
            axes.axvspan(0, trained - 1, color=GREY, alpha=0.18, linewidth=0)
            axes.axhline(chance, color=GREY, linestyle=":", linewidth=GUIDE)
            for (name, seeds), (color, dash) in zip(lines.items(), looks, strict=False):
                place = np.arange(len(seeds[0])) + BACK
                for seed in seeds:
                    axes.plot(place, seed, color=color, linestyle="-", linewidth=SEED, alpha=0.35)
                axes.plot(place, np.mean(seeds, axis=0), color=color, linestyle=dash, label=name)
            axes.set_ylim(0, 1.05)
            axes.set_title(title)
            axes.set_xlabel("position (letters)")
        label_at_curve(*figure.axes)
        figure.axes[0].set_ylabel("right answers (share)")
        return finish(figure, alt=alt)


BACK = 3
"""How far the head of the chapter looks back: the first letters have none to name."""


def whole_or_last(found: Sequence[Mapping[str, Any]], counted: float) -> Picture:
    """Loss by position after the whole text, and after the last bytes of it alone; a line per seed.

    Args:
        found: runs of `byte-models`, of one encoding.
        counted: what the n-gram of the gate pays on the same bytes.
    """
    trained = found[0]["run"]["length"]
    with canvas(width=7.4, height=3.9) as figure:
        axes = figure.subplots()
        ways = (
            ("whole", ORANGE, "--", "after the whole text"),
            ("sliding", BLUE, "-", f"after its last {trained} bytes"),
        )
        for way, color, dash, name in ways:
            for number, each in enumerate(found):
                loss = np.mean(each["result"]["longer"][way], axis=0)
                place = trained * (np.arange(len(loss)) + 0.5)
                axes.plot(
                    place,
                    loss,
                    color=color,
                    linestyle=dash,
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=4,
                    label=name if number == 0 else None,
                )
        axes.axhline(counted, color=GREY, linestyle=DASHES[3], label="5-gram")
        axes.axvline(trained, color=GREY, linewidth=GUIDE, linestyle=":")
        axes.set_xlabel("position in the text (bytes)")
        axes.set_ylabel("loss (nats per byte)")
        label_at_curve(axes)
        mean = {
            way: np.mean([np.mean(each["result"]["longer"][way], axis=0) for each in found], axis=0)
            for way in ("whole", "sliding")
        }
        return finish(
            figure,
            alt=f"Loss in nats per byte against the position, up to {trained * len(mean['whole'])} bytes, of "
            f"models trained on {trained} bytes, one line per seed. After the whole text it is "
            f"{mean['whole'][0]:.2f} in the first {trained} bytes, {mean['whole'][1]:.2f} in the next, and "
            f"{mean['whole'][-1]:.2f} in the last. After only the last {trained} bytes, the same bytes cost "
            f"{mean['sliding'][1]:.2f} and {mean['sliding'][-1]:.2f}. A level line at {counted:.2f} is the "
            "5-gram.",
        )


def drawn_table(rows: int = ROWS) -> np.ndarray:
    """A smooth table of one column, (rows, 1), drawn here to stand for a column that was learned."""
    place = np.arange(rows) / rows
    return np.asarray(np.sin(5 * place) + 0.4 * np.cos(19 * place) + 0.8 * place)[:, None]


def past_the_end(length: int = 4 * ROWS) -> Picture:
    """One column of a table of 64 rows, read at four times as many positions, in four ways."""
    table, positions = drawn_table(), np.arange(length)
    ways = {
        "clamp": (learned(table, positions, beyond="clamp"), ORANGE, "--"),
        "zero": (learned(table, positions, beyond="zero"), GREEN, ":"),
        "repeat": (learned(table, positions % ROWS), PURPLE, "-."),
        "interpolate": (learned(table, positions, beyond="interpolate", length=length), BLUE, "-"),
    }
    with canvas(width=7.5, height=3.6) as figure:
        axes = figure.subplots()
        axes.axvspan(0, ROWS - 1, color=GREY, alpha=0.18, linewidth=0)
        axes.text(ROWS / 2, 2.05, "the rows\nthat there are", ha="center", va="top", fontsize=10)
        for name, (rows, color, dash) in ways.items():
            axes.plot(positions, rows[:, 0], color=color, linestyle=dash, label=name, linewidth=BOLD)
        axes.set_ylim(-1.3, 2.1)
        axes.set_xlabel("position (tokens)")
        axes.set_ylabel("one column of the table")
        label_at_curve(axes)
        return finish(
            figure,
            alt=f"One column of a learned table of {ROWS} rows, read at positions 0 to {length - 1}. Up to "
            f"position {ROWS - 1} clamp, zero and repeat follow the table's own curve. From there clamp is a "
            "flat line at the last value, zero a flat line at 0, and repeat the same curve again and again. "
            "Interpolate is the whole curve, drawn out to four times its length: it begins and ends with the "
            "same values, and agrees with the table at position 0 only.",
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
        axes.axhline(1, color=PURPLE, linestyle=":", linewidth=GUIDE)
        axes.text(dim / 2 - 0.5, 1.25, "a whole turn: every angle was seen", ha="right", va="bottom")
        new = seen < 1
        top = np.clip(asked, seen, 1)
        axes.vlines(pairs[new], seen[new], top[new], color=ORANGE, linestyle="-", linewidth=BAND, alpha=0.55)
        axes.plot(
            pairs, asked, color=ORANGE, linestyle="--", marker="s", markersize=5, label=f"{tested} positions"
        )
        axes.plot(
            pairs, seen, color=BLUE, linestyle="-", marker="o", markersize=5, label=f"{trained} positions"
        )
        axes.set_yscale("log")
        axes.set_xlabel("pair i")
        axes.set_ylabel("turns at the last position")
        label_at_curve(axes)
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
        right.plot(lengths, blocks, color=ORANGE, linestyle="--", marker="s")
        right.plot(lengths, late, color=BLUE, linestyle="-", marker="o")
        label_at(right, "all tokens of a block", (lengths[0], blocks[0]), (9, 3))
        label_at(right, "its last token", (lengths[0], late[0]), (9, -5))
        right.set_ylim(bottom=1.5)
        right.set_xscale("log", base=2)
        right.set_xticks(lengths, [str(length) for length in lengths])
        right.set_title("Mean, by length of the block")
        right.set_xlabel("length of the block (tokens)")
        return finish(
            figure,
            alt="Two panels about one imagined model that reads the last 32 tokens. Left: its loss by "
            "position in a block falls from 3.5 nats at position 0 to 1.73 at position 31, and is flat from "
            f"there. Right: its mean loss over all tokens of a block falls from {blocks[0]:.2f} nats in "
            f"blocks of {lengths[0]} to {blocks[-1]:.2f} in blocks of {lengths[-1]}, while the loss of the "
            f"last token of each block stays at {late[0]:.2f}.",
        )
