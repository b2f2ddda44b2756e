"""Pictures of `07-alibi-and-biases`. What each draws is a function of its own, so that it can be tested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import BLUE, GREY, ORANGE, PURPLE
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.moves import At, Move
from posenc_course.figures.picture import GUIDE, SHADES, Picture, canvas, finish
from posenc_lib.biased.alibi import alibi_bias
from posenc_lib.biased.fire import fire_distances
from posenc_lib.biased.kerple import kerple_bias
from posenc_lib.biased.t5 import t5_buckets
from posenc_lib.biased.transformer_xl import relative_shift

WORDS = ("an", "old", "brown", "dog", "chases", "cats")
"""Of `one_head`: the last one asks."""


def one_query() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of one query whose scores are all equal: what three biases add for each key, and the weights."""
    distance = np.arange(len(WORDS))[::-1]
    biases = {
        "no bias: every key alike": np.zeros(len(WORDS)),
        "a slope: each step back costs 1/2": -distance / 2.0,
        "a bonus for the key one back": np.where(distance == 1, 2.5, 0.0),
    }
    raised = {name: np.exp(bias) for name, bias in biases.items()}
    return {name: (biases[name], each / each.sum()) for name, each in raised.items()}


def one_head() -> Picture:
    """One query of one head, three times: the numbers on its scores, and the weights that come of them."""
    drawn = one_query()
    with canvas(width=5.4, height=5.4) as figure:
        rows = figure.subplots(len(drawn), 1, sharex=True)
        alike = 1 / len(WORDS)
        moves = []
        for row, (axes, (name, (bias, weights)), color) in enumerate(
            zip(rows, drawn.items(), (GREY, BLUE, ORANGE), strict=True)
        ):
            bars = axes.bar(range(len(WORDS)), weights, color=color, width=0.7)
            for place, (added, weight) in enumerate(zip(bias, weights, strict=True)):
                number = axes.text(
                    place, weight + 0.03, _written(added) if added else "0", ha="center", fontsize=11
                )
                if row:  # all weights are alike, then the numbers come, and then the weights change
                    start = 2 * row - 1.6  # s
                    waits, there = start + 0.9, At(start + 2)
                    up = 0.0, alike - weight
                    comes = At(start, by=up, opacity=0), At(start + 0.4, by=up), At(waits, by=up)
                    moves += [
                        Move([number], (*comes, there)),
                        Move([bars[place]], (At(waits, grow=(1, alike / weight)), there)),
                    ]
            axes.set_title(name, fontsize=12, loc="left")
            axes.set_ylabel("weight")
            axes.set_ylim(0, 0.95)
            axes.grid(visible=False)
        rows[-1].set_xticks(range(len(WORDS)), WORDS)
        rows[-1].set_xlabel("key (above each bar: the number added to its score)")
        told = "; ".join(
            f"{name}: " + ", ".join(f"{word} {weight:.2f}" for word, weight in zip(WORDS, each, strict=True))
            for name, (_, each) in drawn.items()
        )
        return finish(
            figure,
            moves=moves,
            alt="Three bar charts of how the last word of “an old brown dog chases cats” divides its "
            "attention, with the number that was added to each score above its bar. All scores were "
            f"equal before. {told}.",
        )


def shift_before_and_after(tokens: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """10 times the query plus the distance: a column for each distance, and then one for each key."""
    by_distance = 10 * np.arange(tokens)[:, None] + np.arange(tokens)[::-1]
    return by_distance, np.asarray(relative_shift(1.0 * by_distance, tokens)).astype(int)


def shift_of_four() -> Picture:
    """The relative shift: left as it is computed, right as attention wants it."""
    before, after = shift_before_and_after()
    n = len(before)
    with canvas(width=7.6, height=3.7) as figure:
        left, right = figure.subplots(1, 2)
        _numbers(left, before, np.arange(n)[::-1] <= np.arange(n)[:, None], n)
        left.set_title("a column for each distance")
        left.set_xticks(range(n), [str(d) for d in range(n)][::-1])
        left.set_xlabel("distance")
        _numbers(right, after, np.tri(n, dtype=bool), n)
        right.set_title("a column for each key")
        right.set_xticks(range(n))
        right.set_xlabel("position of the key")
        return finish(
            figure,
            alt="Two tables of four queries. Left, a column for each distance, 3, 2, 1 and 0: the row of "
            "query 2 reads 23, 22, 21, 20. Right, a column for each key: the row of query 2 reads 22, 21, "
            "20 and then nothing. Each row has moved to the left, that of query 0 by three, that of query 3 "
            "not at all; the same number has the same shade in both, and what left the table is pale.",
        )


def _numbers(axes: Axes, values: np.ndarray, kept: np.ndarray, n: int) -> None:
    """A table of numbers, shaded by query; what is not kept is not shaded."""
    axes.imshow(np.where(kept, 1.0 + np.arange(n)[:, None], 0.0), cmap=SHADES, vmin=0, vmax=n + 1)
    for (row, column), value in np.ndenumerate(values):
        if kept[row, column] or value:
            axes.text(
                column, row, f"{value}", ha="center", va="center", alpha=1.0 if kept[row, column] else 0.65
            )
    axes.set_ylabel("query")
    axes.set_yticks(range(n))
    axes.tick_params(length=0)


SENTENCES = "He sat . The dog ran . It barks"


def counts(text: str = SENTENCES) -> tuple[np.ndarray, np.ndarray]:
    """For the last word: how many tokens back each word is, and how many full stops from it on."""
    stop = np.array([word == "." for word in text.split()])
    return np.arange(len(stop))[::-1], np.cumsum(stop[::-1])[::-1]


def what_counts(text: str = SENTENCES) -> Picture:
    """One text and two ways to say how far back a word is: tokens, and full stops."""
    words = text.split()
    tokens, stops = counts(text)
    with canvas(width=7.8, height=3.2) as figure:
        axes = figure.subplots()
        axes.step(range(len(words)), tokens, where="mid", color=GREY, linestyle="--")
        axes.step(range(len(words)), stops, where="mid", color=BLUE)
        axes.text(0.6, tokens[0] - 0.4, "tokens, as the others count", va="bottom")
        axes.text(0.2, stops[0] + 0.25, "full stops, as this query counts", va="bottom")
        for place, word in enumerate(words):
            if word == ".":
                axes.axvline(place, color=ORANGE, linestyle=":", linewidth=GUIDE)
        axes.set_xticks(range(len(words)), words)
        axes.set_xlabel("key (the last one asks; dotted: an open gate)")
        axes.set_ylabel("how far back")
        axes.set_yticks(range(0, len(words), 2))
        return finish(
            figure,
            alt=f"Two staircases over the words of “{text}”, seen from the last word. Counted in tokens, "
            f"each word back is one step higher, up to {tokens[0]}. Counted in full stops, whose gates are "
            "drawn as dotted lines, all words of a sentence are on one step: "
            f"{', '.join(map(str, stops))}.",
        )


def matrices(tokens: int = 7) -> dict[str, np.ndarray]:
    """What four designs look up or add for each query (row) and key (column), (tokens, tokens)."""
    offset = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    share = fire_distances(tokens, tokens, c=1.0, threshold=2.0)
    return {
        "Shaw, k = 3: offset, clipped": np.clip(offset, -3, 3),
        "T5, 8 buckets to 6: bucket": t5_buckets(offset, buckets=8, max_distance=6),
        "ALiBi, slope 1/2: bias": alibi_bias(1, tokens, tokens, causal=False, slopes=np.array([0.5]))[0],
        "FIRE, c = 1, L = 2: share": np.where(offset > 0, np.nan, share),  # it is made for causal attention
    }


def _written(value: Any) -> str:
    """A whole number as it is, any other with one decimal or two, and nothing where there is no number."""
    if np.isnan(value):
        return ""
    if isinstance(value, np.integer):
        return f"{value}".replace("-", "−")
    return f"{value + 0.0:.2f}".removesuffix("0").replace("-", "−")


def four_matrices(tokens: int = 6) -> Picture:
    """`matrices` as tables of numbers, the same numbers in the same shade."""
    with canvas(width=5.2, height=5.6) as figure:
        for axes, (name, values) in zip(figure.subplots(2, 2).flat, matrices(tokens).items(), strict=True):
            axes.imshow(values, cmap=SHADES)
            for row, column in np.ndindex(*values.shape):
                number = _written(values[row, column])
                axes.text(column, row, number, ha="center", va="center", fontsize=10)
            axes.set_title(name, fontsize=10)
            axes.set_xlabel("position of the key", fontsize=10)
            axes.set_ylabel("position of the query", fontsize=10)
            axes.set_xticks(range(tokens))
            axes.set_yticks(range(tokens))
            axes.tick_params(length=0, labelsize=10)
        return finish(
            figure,
            alt=f"Four tables of {tokens} queries by {tokens} keys. In the first three every diagonal holds "
            "one number. Shaw: the offset, key minus query, clipped to minus 3 to 3. T5: the bucket, 0 "
            "on the diagonal, 1 to 3 for the past and 5 to 7 for keys after the query. ALiBi: 0 on the "
            "diagonal, and 1/2 less with each step away from it. FIRE: 0 on the diagonal, and in the "
            "past a share that grows to 1 at key 0; here the same offset gives smaller numbers further "
            "down, because each row is divided by its own reach.",
        )


def bucket_steps(reach: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Offsets -reach .. reach and T5's bucket of each, for 32 buckets and a max_distance of 128."""
    offsets = np.arange(-reach, reach + 1)
    return offsets, np.asarray(t5_buckets(offsets))


def buckets_by_offset(reach: int = 160) -> Picture:
    """T5's buckets as two staircases: narrow steps near the query, ever wider ones further out."""
    offsets, buckets = bucket_steps(reach)
    with canvas(width=7.5, height=3.8) as figure:
        axes = figure.subplots()
        for side, color, dash, name in (
            (offsets <= 0, BLUE, "-", "keys up to the query"),
            (offsets > 0, ORANGE, "--", "keys after the query"),
        ):
            axes.step(offsets[side], buckets[side], where="mid", color=color, linestyle=dash)
            label_at(axes, name, (92 * np.sign(offsets[side].sum()), np.median(buckets[side])), (0, -14))
        for border in (-128, 128):
            axes.axvline(border, color=GREY, linestyle=":", linewidth=GUIDE)
        axes.text(-126, 25, "max_distance", va="bottom")
        axes.annotate(
            "the last bucket\nbegins at 91",
            (-91, 15),
            (-75, 20.5),
            arrowprops={"arrowstyle": "->", "color": GREY},
        )
        axes.set_xlabel("offset, key − query (positions)")
        axes.set_ylabel("bucket (row of the table)")
        axes.set_yticks(range(0, 33, 8))
        axes.set_ylim(-1, 33)
        return finish(
            figure,
            alt="T5's bucket against the offset, two staircases. For keys up to the query it climbs from "
            "bucket 0 at offset 0 to bucket 15 at the left; for keys after it from bucket 17 at offset 1 to "
            "bucket 31 at the right. Within eight positions of the query each offset is a step of its own; "
            "further out the steps grow ever longer, and the last ones begin at distance 91, before the "
            "mark of max_distance at 128, and never end.",
        )


@dataclass(frozen=True)
class Penalty:
    """A curve of `penalties`."""

    name: str
    values: np.ndarray
    color: str
    dash: Any


def penalties(distances: np.ndarray) -> tuple[Penalty, ...]:
    """Biases of one head at these distances from the query, by formula."""
    query, keys = np.array([0.0]), np.asarray(distances, dtype=np.float64)

    def kerple(r1: float, r2: float, kind: str) -> np.ndarray:
        return np.asarray(kerple_bias(np.array([r1]), np.array([r2]), query, keys, kind=kind)[0, 0])  # type: ignore[arg-type]

    straight = alibi_bias(1, query, keys, causal=False, slopes=np.array([1 / 16]))[0, 0]
    return (
        Penalty("ALiBi, slope 1/16", np.asarray(straight), BLUE, "-"),
        Penalty("KERPLE power, r1 = 1/2, r2 = 1/2", kerple(0.5, 0.5, "power"), PURPLE, "-."),
        Penalty("KERPLE log, r1 = 1, r2 = 1", kerple(1.0, 1.0, "log"), ORANGE, "--"),
    )


def shapes_of_penalties(furthest: int = 200) -> Picture:
    """Left: penalties by distance. Right: the weight that is left of a key, where all scores are equal."""
    distances = np.arange(furthest + 1)
    with canvas(width=8.2, height=3.9) as figure:
        left, right = figure.subplots(1, 2)
        for each in penalties(distances):
            name = each.name.replace(", r1", ",\nr1")
            left.plot(distances, each.values, color=each.color, linestyle=each.dash)
            right.plot(distances, np.exp(each.values), color=each.color, linestyle=each.dash, label=name)
        left.set_ylabel("bias (added to the score)")
        right.set_ylabel("weight (query's own key = 1)")
        right.set_yscale("log")
        right.set_ylim(1e-6, 2)
        for axes in (left, right):
            axes.set_xlabel("distance (positions)")
        label_at_curve(right)
        ends = "; ".join(f"{each.name}: {each.values[-1]:.1f}" for each in penalties(distances))
        return finish(
            figure,
            alt=f"Two plots over distances 0 to {furthest}. Left, the bias: ALiBi is a straight line down, "
            "the two KERPLE curves fall quickly at first and then ever more slowly. At distance "
            f"{furthest} they are at: {ends}. Right, the weight that is left, on a logarithmic axis: "
            "ALiBi's is a straight line that leaves the plot, the power curve bends, and the "
            "logarithmic one falls only as 1 over the distance.",
        )
