"""Pictures of `01-why-order-matters`. Their data come from the page's cells or from functions here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.text import Text

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.moves import At, Move, appear
from posenc_course.figures.picture import BOLD, CURVE, DASHES, GUIDE, SEED, SHADES, Picture, canvas, finish
from posenc_lib._arrays import Array
from posenc_lib.added import shift_matrix, sinusoidal
from posenc_lib.attention import attention

_WORDS = (BLUE, GREEN, PURPLE, ORANGE)
"""Of the words of a sentence, as in the picture of the Transformer block."""


def one_bag(first: str, second: str) -> Picture:
    """Two sentences of the same words, and the bag that both leave.

    Raises:
        ValueError: they leave different bags.
    """
    sentences = first.split(), second.split()
    if sorted(sentences[0]) != sorted(sentences[1]):
        raise ValueError(
            f"“{first}” and “{second}” are different bags of words; give the same words in two orders"
        )
    colour_of = dict(zip(dict.fromkeys(sentences[0]), _WORDS, strict=False))
    with canvas(width=6.0, height=2.6) as figure:
        axes = _blank(figure, wide=12.0, high=5.2)
        heights = 4.1, 1.1
        arrows = []
        for words, y in zip(sentences, heights, strict=True):
            for place, word in enumerate(words):
                _box(axes, 0.9 + 2.0 * place, y, word, colour_of[word])
            arrow = _arrow((2.0 * len(words) - 0.1, y), (8.3, 2.6 + 0.35 * (y - 2.6)))
            arrows.append(axes.add_patch(arrow))
        axes.add_patch(
            FancyBboxPatch(
                (8.5, 0.5), 3.3, 4.2, boxstyle="round,pad=0,rounding_size=1.4", fill=False, edgecolor=GREY,
                linewidth=BOLD,
            )
        )  # fmt: skip
        lying = ((-0.5, -14), (0.55, 11), (-0.2, -7))  # how far to the side, and how many degrees
        # One sentence falls into the bag, the bag is emptied, and the other one falls into it.
        starts = 0.3, 2.6  # s
        moves = [appear(each, start=at - 0.1, end=at + 0.2) for each, at in zip(arrows, starts, strict=True)]
        for number, word in enumerate(sorted(sentences[0])):
            aside, lean = lying[number % len(lying)]
            x, y = 10.1 + aside, 3.75 - 1.15 * number
            box = _box(axes, x, y, word, colour_of[word], lean)
            falls = []
            for words, height, start in zip(sentences, heights, starts, strict=True):
                place = words.index(word)
                by, at = (0.9 + 2.0 * place - x, height - y), start + 0.75 * place / len(words)
                falls.append(
                    (At(at, by=by, turn=-lean, opacity=0), At(at + 0.15, by=by, turn=-lean), At(at + 1.1))
                )
            emptied = At(2.1), At(2.4, opacity=0), replace(falls[1][0], time=2.41)
            moves.append(Move([box], (*falls[0], *emptied, *falls[1]), about=(x, y)))
        return finish(
            figure,
            moves=moves,
            alt=f"On the left two sentences, “{first}” and “{second}”, each word in a box of its own. An "
            "arrow leads from each of them to the same bag on the right, in which the words lie in a heap: "
            f"{', '.join(sorted(sentences[0]))}. Nobody can tell from the bag which sentence it was.",
        )


def one_query(words: Sequence[str], weights: Array, *, asks: str) -> Picture:
    """One head at work: the word that asks, a line to each word as strong as its weight, and the mixture."""
    weights = np.asarray(weights)
    places = 0.9 + 2.3 * np.arange(len(words))
    middle = places.mean()
    with canvas(width=6.0, height=3.0) as figure:
        axes = _blank(figure, wide=12.0, high=6.0)
        _box(axes, middle, 1.0, asks, _WORDS[list(words).index(asks)])
        axes.text(middle - 1.2, 1.0, "asks", ha="right", va="center", fontsize=12)
        colours = [_WORDS[place % len(_WORDS)] for place in range(len(words))]
        for x, word, weight, colour in zip(places, words, weights, colours, strict=True):
            axes.plot([middle, x], [1.6, 4.4], color=colour, linewidth=1 + 14 * weight, alpha=0.75,
                      linestyle="-", solid_capstyle="butt", zorder=1)  # fmt: skip
            _box(axes, x, 5.0, word, colour)
            aside = -0.5 if x < middle else 0.3
            axes.text(
                middle + 0.55 * (x - middle) + aside,
                3.9 if x == middle else 2.95,
                f"{weight:.2f}",
                va="center",
                ha="right" if aside < 0 else "left",
                fontsize=12,
            )
        bottom = 0.5
        axes.text(8.0, 5.85, "takes", ha="center", va="top", fontsize=12)
        for word, weight, colour in zip(words, weights, colours, strict=True):
            height = 4.6 * weight
            axes.add_patch(
                Rectangle((7.4, bottom), 1.2, height, facecolor=colour, alpha=0.75, edgecolor="none")
            )
            axes.text(8.8, bottom + height / 2, f"{weight:.2f} {word}", va="center", ha="left", fontsize=12)
            bottom += height
        parts = ", ".join(f"{weight:.2f} to “{word}”" for word, weight in zip(words, weights, strict=True))
        return finish(
            figure,
            alt=f"One query at work. Below, the word “{asks}” asks. A line leads from it to each word of the "
            f"sentence above, and its width is the weight of that word: {parts}. Next to them is a column, "
            "made of each word's value in proportion to its weight.",
        )


def weights_by_width(widths: Sequence[int], keys: int = 8, seed: int = 0) -> dict[bool, list[Array]]:
    """What a random query gives to random keys, (keys,) for each width; by whether scores are divided."""
    found: dict[bool, list[Array]] = {False: [], True: []}
    for width in widths:
        q, *k = np.random.default_rng(seed).normal(size=(keys + 1, 1, width))
        for divided, queries in ((False, q * np.sqrt(width)), (True, q)):  # attention divides by itself
            _, weights = attention(queries, np.concatenate(k), np.concatenate(k), return_weights=True)
            found[divided].append(weights[0])
    return found


def with_and_without_the_root(widths: Sequence[int] = (4, 64, 1024)) -> Picture:
    """`weights_by_width` as bars: one row of panels undivided, one divided."""
    found = weights_by_width(widths)
    with canvas(width=6.0, height=3.6) as figure:
        panels = figure.subplots(2, len(widths), sharex=True, sharey=True)
        rows = zip(
            panels,
            ((False, ORANGE, "weight, without dividing"), (True, BLUE, "weight, divided")),
            strict=True,
        )
        for row, (divided, colour, name) in rows:
            for axes, width, weights in zip(row, widths, found[divided], strict=True):
                axes.bar(np.arange(len(weights)), weights, color=colour)
                axes.set_ylim(0, 1)
                axes.set_xticks([])
                axes.set_yticks([0, 0.5, 1])
                if not divided:
                    axes.set_title(f"d = {width}")
            row[0].set_ylabel(name)
        for axes in panels[1]:
            axes.set_xlabel("eight keys")
        largest = {divided: [float(weights.max()) for weights in found[divided]] for divided in found}
        ends = {divided: ", ".join(f"{each:.2f}" for each in largest[divided]) for divided in largest}
        return finish(
            figure,
            alt="Two rows of bar charts, the weights that one random query gives to eight random keys, for "
            f"widths {', '.join(map(str, widths))}. Without the division, the largest bar is {ends[False]}: "
            f"it grows until one key has nearly everything. Divided by the root of d, it is {ends[True]}: "
            "the keys share the weight at every width.",
        )


def shuffled_weights(words: Sequence[str], order: Sequence[int], before: Array, after: Array) -> Picture:
    """Attention weights of a sentence, and of the same words in another order, both (n, n).

    Raises:
        ValueError: a weight did not move with its two words, so that the picture's words would be false.
    """
    moved = np.asarray(before)[np.ix_(order, order)]
    if not np.allclose(after, moved):
        raise ValueError(
            "the weights after the shuffle are not those before it with rows and columns moved; "
            "give the weights of attention without positions, and the order that was used"
        )
    shuffled = [words[i] for i in order]
    with canvas(width=7.2, height=3.6) as figure:
        left, right = figure.subplots(1, 2)
        _heatmap(left, before, words)
        _heatmap(right, after, shuffled)
        left.set_title(f"“{' '.join(words)}”")
        right.set_title(f"“{' '.join(shuffled)}”")
        # The query of row 0, found again in the other sentence.
        for axes, row in ((left, 0), (right, list(order).index(0))):
            axes.add_patch(_frame(row, len(words)))
            axes.set_xlabel("key")
            axes.set_ylabel("query")
        return finish(
            figure,
            alt=f"Two heat maps of attention weights, one for “{' '.join(words)}”, one for "
            f"“{' '.join(shuffled)}”. They hold the same numbers: each weight is in the row and the column "
            f"of the same two words. The row of the first word, “{words[0]}”, is framed in both: it has "
            f"moved from row 1 to row {list(order).index(0) + 1}, and its numbers have moved with the "
            "columns.",
        )


def causal_average(tokens: int) -> tuple[Array, Array]:
    """Causal attention with equal scores: its weights (n, n), and what each token reads, (n,), of a mark of 1
    on the first token."""
    nothing = np.zeros((tokens, 1))
    mark = np.zeros((tokens, 1))
    mark[0] = 1.0
    read, weights = attention(nothing, nothing, mark, causal=True, return_weights=True)
    return weights, read[:, 0]


def reading_of_a_mark(tokens: int = 8) -> Picture:
    """The triangle of equal causal weights, and the mark on the first token as each token reads it."""
    weights, read = causal_average(tokens)
    positions = np.arange(tokens)
    with canvas(width=7.6, height=3.7) as figure:
        left, right = figure.subplots(1, 2)
        _heatmap(left, weights, [str(p) for p in positions], digits=None)
        for position, weight in enumerate(weights[:, 0]):
            left.text(0, position, f"1/{round(1 / weight)}", ha="center", va="center", fontsize=9)
        left.set_xlabel("position of the key")
        left.set_ylabel("position of the query")
        left.set_title("weights under the mask")

        right.plot(positions, read, color=ORANGE, marker="o", linestyle="none")
        along = np.linspace(0, tokens - 1, 200)
        right.plot(along, 1 / (along + 1), color=GREY, linestyle="--", linewidth=GUIDE)
        for name, at in (("what the token reads", 1), ("1 / (position + 1)", 2.5)):
            label_at(right, name, (at, 1 / (at + 1)), (8, 4))
        right.set_xlabel("position of the token")
        right.set_ylabel("output of the head")
        right.set_ylim(0, 1.08)
        right.set_title("a mark on the first token")
        return finish(
            figure,
            alt=f"Left: a triangle of attention weights for {tokens} tokens. Each row shares its weight "
            "equally among the tokens up to itself, so the first column falls from 1/1 to "
            f"1/{tokens}; above the diagonal there is nothing. Right: the output of the head against the "
            "position, points that fall steeply at first and then ever more slowly, on the curve "
            "1 / (position + 1). No two points have the same height.",
        )


def learning_curves(curves: Mapping[tuple[str, str], Sequence[float]], every: int) -> Picture:
    """Accuracy while learning: one panel per task, one line per encoding.

    Args:
        curves: from (task, encoding) to accuracies from 0 to 1, one each `every` steps, the first at step 0.
    """
    tasks = list(dict.fromkeys(task for task, _ in curves))
    with canvas(width=7.6, height=3.6) as figure:
        panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for axes, task in zip(panels, tasks, strict=True):
            axes.axhline(50, color=GREY, linewidth=GUIDE, linestyle="-")
            axes.text(1.0, 46, "chance", ha="right", va="top", transform=axes.get_yaxis_transform())
            lines = [(encoding, values) for (of, encoding), values in curves.items() if of == task]
            looks = zip((BLUE, ORANGE, GREEN, PURPLE), ("o", "s", "^", "D"), DASHES, strict=False)
            for (encoding, values), (color, marker, dash) in zip(lines, looks, strict=False):
                axes.plot(
                    every * np.arange(len(values)),
                    100 * np.asarray(values),
                    color=color,
                    marker=marker,
                    linestyle=dash,
                    # A larger hollow marker stays visible under a second line.
                    markersize=9 if marker == "o" else 5,
                    markerfacecolor="none" if marker == "o" else color,
                    label=encoding,
                )
            axes.set_title(task)
            axes.set_xlabel("training step")
        panels[0].set_ylabel("accuracy on unseen sequences (%)")
        panels[0].set_ylim(0, 105)
        label_at_curve(*panels[::-1])
        ends = " ".join(
            f"Task “{task}”, {encoding}: from {values[0]:.0%} to {values[-1]:.0%}."
            for (task, encoding), values in curves.items()
        )
        return finish(
            figure, alt=f"Learning curves, one panel per task, accuracy against training step. {ends}"
        )


def weights_by_door(tokens: int = 8, dim: int = 16) -> dict[str, Array]:
    """Attention weights (n, n) when the same word stands `tokens` times, by the door that position uses.

    Queries and keys are made of the word's vector alone: what differs between tokens is position.
    """
    word = np.ones((tokens, dim))
    turns = shift_matrix(np.arange(tokens), dim)
    distance = np.abs(np.arange(tokens)[None, :] - np.arange(tokens)[:, None])

    def weights(x: Array, sharpness: float = 3.0, **door: Any) -> Array:
        return attention(sharpness * x, x, x, return_weights=True, **door)[1]

    return {
        "no door": weights(word),
        "added": weights(word + sinusoidal(tokens, dim)),
        "rotated": weights(word, rotate=lambda x: (turns @ x[..., None])[..., 0]),
        "biased": weights(word, bias=-0.5 * distance),
    }


def three_doors(tokens: int = 8) -> Picture:
    """`weights_by_door` as four heat maps."""
    doors = weights_by_door(tokens)
    top = max(float(w.max()) for w in doors.values())
    with canvas(width=8.4, height=2.9) as figure:
        panels = figure.subplots(1, len(doors), sharey=True)
        for axes, (name, weights) in zip(panels, doors.items(), strict=True):
            mesh = _heatmap(axes, weights, [str(p) for p in range(tokens)], digits=None, top=top)
            axes.set_title(name)
            axes.set_xlabel("position of the key")
            axes.set_ylabel(None)
        panels[0].set_ylabel("position of the query")
        figure.colorbar(mesh, ax=list(panels), label="attention weight", shrink=0.9)
        flat = 1 / tokens
        return finish(
            figure,
            alt=f"Four heat maps of attention weights for the same word {tokens} times. With no door open, "
            f"every weight is {flat:.3g}: an even surface without any pattern. With position rotated or "
            "biased, a band runs down the diagonal: each token looks most at itself, less at its neighbours, "
            "and the band is the same all the way down. With position added there is a pattern too, but it "
            "changes from row to row, and its peak is not always on the diagonal.",
        )


def _heatmap(
    axes: Axes, weights: Array, labels: Sequence[str], *, digits: int | None = 2, top: float = 1.0
) -> Any:
    """Queries down, keys across, row 0 on top; with `digits`, each weight is written into its cell."""
    weights = np.asarray(weights)
    # Cells are centred on whole numbers, so that ticks and text are placed by row and column.
    edges = np.arange(len(labels) + 1) - 0.5
    mesh = axes.pcolormesh(
        edges, edges, weights, cmap=SHADES, vmin=0.0, vmax=top, edgecolors=GREY, linewidth=SEED
    )
    if digits is not None:
        for row, column in np.ndindex(*weights.shape):
            axes.text(column, row, f"{weights[row, column]:.{digits}f}", ha="center", va="center")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_aspect("equal")
    return mesh


def _blank(figure: Figure, *, wide: float, high: float) -> Axes:
    """Axes to draw on freely, in units of half an inch."""
    axes = figure.add_subplot()
    axes.set_xlim(0, wide)
    axes.set_ylim(0, high)
    axes.set_aspect("equal")
    axes.axis("off")
    return axes


def _box(axes: Axes, x: float, y: float, word: str, colour: str, lean: float = 0.0) -> Text:
    """A word in a frame of its own, centred at (x, y), and leaning by some degrees."""
    frame = {"boxstyle": "round,pad=0.4", "facecolor": "none", "edgecolor": colour, "linewidth": CURVE}
    return axes.text(x, y, word, ha="center", va="center", rotation=lean, bbox=frame, fontsize=12)


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> FancyArrowPatch:
    return FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=GREY, linewidth=GUIDE)


def _frame(row: int, columns: int) -> Rectangle:
    return Rectangle(
        (-0.5, row - 0.5), columns, 1, fill=False, edgecolor=ORANGE, linewidth=BOLD, zorder=3, clip_on=False
    )
