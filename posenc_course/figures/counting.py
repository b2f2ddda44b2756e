"""Pictures of the stored experiment `counting`, beside the byte models that learned from the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_course.colours import COLOURS, GREY
from posenc_course.experiments.results import runs, stored
from posenc_course.figures.labels import label_at_curve
from posenc_course.figures.picture import DASHES, GUIDE, SEED, Picture, canvas, finish

LOSS = "loss (nats per byte)"
WAYS = {
    "Witten-Bell": "Witten-Bell",
    "Kneser-Ney": "Kneser-Ney",
    "Kneser-Ney with a memory": "with a memory of the window",
}
COMPRESSORS = ("xz", "zstd")
MODELS = {"alibi": "ALiBi", "rope": "RoPE", "rope-window-and-none": "RoPE near, 1 layer of 4 far"}
MARKERS = ("o", "s", "^")


def found(way: str, learn: int) -> dict[str, Any]:
    """What one way of counting came to, after so many bytes."""
    result: dict[str, Any] = runs("counting", way=way, learn=learn)[0]["result"]
    return result


def sizes() -> list[int]:
    """After how many bytes it was measured, the fewest first."""
    return sorted({each["run"]["learn"] for each in stored("counting")["runs"]})


def by_order() -> Picture:
    """The loss of each way of counting by how many bytes it looks at, a panel for each size of the text."""
    told = []
    with canvas(width=8.4, height=4.2) as figure:
        panels = figure.subplots(1, len(sizes()), sharey=True)
        for axes, learn in zip(panels, sizes(), strict=True):
            looks = zip(WAYS.items(), COLOURS, DASHES, MARKERS, strict=False)
            for (way, word), colour, dash, marker in looks:
                result = found(way, learn)
                style = {"color": colour, "linestyle": dash, "marker": marker}
                axes.plot(result["orders"], result["loss"], label=word, **style)
                each = ", ".join(f"{loss:.2f}" for loss in result["loss"])
                told.append(f"{learn:,} bytes, {word}, orders 2 to 8: {each}.")
            for way, dash in zip(COMPRESSORS, ("--", ":"), strict=True):
                loss = found(way, learn)["loss"]
                axes.axhline(loss, color=GREY, linestyle=dash, linewidth=GUIDE, label=f"{way}, whole files")
                told.append(f"{learn:,} bytes, {way}, whole files: {loss:.2f}.")
            axes.set_title(f"after {learn / 1e6:.1f} million bytes")
            axes.set_xlabel("longest n-gram (bytes)")
        panels[0].set_ylabel(LOSS)
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="The loss of n-grams by the length of the longest, a panel for each size of the text that "
            f"was counted; lines for what two compressors reach. {' '.join(told)}",
        )


def by_place(learn: int = 1_200_000) -> Picture:
    """The loss by the place in the window: of counting, and of models that learned from the same."""
    curves = {
        "Kneser-Ney": np.array([found("Kneser-Ney", learn)["by_place"][-1]]),
        "Kneser-Ney, the window alone": np.array(
            [found("Kneser-Ney, the window alone", learn)["by_place"][-1]]
        ),
        "with a memory of the window": np.array([found("Kneser-Ney with a memory", learn)["by_place"][-1]]),
    }
    for name, word in MODELS.items():
        models = runs("byte-models", encoding=name, learn=learn)
        curves[word] = np.array([each["result"]["trained"]["by_position"] for each in models])
    length = runs("byte-models", encoding="rope", learn=learn)[0]["run"]["length"]
    told = []
    with canvas(width=7.6, height=4.4) as figure:
        axes = figure.subplots()
        looks = zip(
            curves.items(), (GREY, GREY, GREY, *COLOURS), (":", "--", "-", "-", "-", "-"), strict=False
        )
        for (word, rows), colour, dash in looks:
            at = length / rows.shape[1] * (np.arange(rows.shape[1]) + 0.5)
            axes.plot(at, rows.mean(axis=0), color=colour, linestyle=dash, label=word)
            if len(rows) > 1:
                axes.plot(at, rows.T, color=colour, linestyle="-", linewidth=SEED, alpha=0.6)
            first, last = rows.mean(axis=0)[[0, -1]]
            told.append(f"{word}: from {first:.2f} to {last:.2f}.")
        axes.set_xlabel("place in the window (bytes)")
        axes.set_ylabel(LOSS)
        label_at_curve(axes)
        return finish(
            figure,
            alt="The loss by the place in a window, in stretches of 16 bytes: grey lines for 8-grams by "
            f"modified Kneser-Ney, coloured ones for models, thin ones for each seed. {' '.join(told)}",
        )
