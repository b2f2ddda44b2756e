"""Pictures of the stored experiment `train-short-test-long`. Every seed is on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from posenc_lib._arrays import Array
from posenc_lib.colours import COLOURS, GREY
from posenc_lib.experiments.results import stored
from posenc_lib.figures.picture import DASHES, Picture, canvas, finish

NAME = "train-short-test-long"
MARKERS = ("o", "s", "^", "D", "v", "P")
LOSS = "loss (nats per byte)"

TITLES = {
    "none": "no encoding",
    "sinusoidal": "sinusoidal",
    "hybrid": "hybrid",
    "t5": "T5",
    "t5-near": "T5, buckets to half the length",
    "transformer-xl": "Transformer-XL",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "kerple": "KERPLE",
    "fire": "FIRE",
    "clamp": "learned, clamped",
    "interpolate": "learned, interpolated",
    "linear": "PI",
    "ntk": "NTK",
    "yarn": "YaRN",
}
"""What a line is called: by the way in which a model reads where it has several, else by its encoding."""

AS_TRAINED = "as trained"
Line = tuple[str, str]
"""An encoding, and the way in which its model reads."""

MAIN: tuple[Line, ...] = tuple(
    (encoding, AS_TRAINED) for encoding in ("none", "sinusoidal", "rope", "t5", "alibi")
)
PANELS: Mapping[str, tuple[Line, ...]] = {
    "no door, and added": (
        ("none", AS_TRAINED),
        ("sinusoidal", AS_TRAINED),
        ("hybrid", AS_TRAINED),
        ("learned", "clamp"),
        ("learned", "interpolate"),
    ),
    "rotated": (("rope", AS_TRAINED), ("rope", "linear"), ("rope", "ntk"), ("rope", "yarn")),
    "biased": tuple(
        (encoding, AS_TRAINED) for encoding in ("t5", "t5-near", "transformer-xl", "alibi", "kerple", "fire")
    ),
}


def loss_by_length(result: Mapping[str, Any] | None = None, *, trained: int = 64) -> Picture:
    """Loss against the length of the text, one panel per door, one line per encoding.

    Args:
        result: of the experiment; the stored one by default.
        trained: length of the texts in training.

    Raises:
        ValueError: no model was trained at that length.
    """
    found = _lines(result, trained, "by_length", [line for lines in PANELS.values() for line in lines])
    panels = {door: [line for line in lines if line in found] for door, lines in PANELS.items()}
    lengths = _of(result, trained)[0]["result"]["lengths"]
    with canvas(width=8.6, height=4.6) as figure:
        for axes, (door, lines) in zip(figure.subplots(1, 3, sharey=True), panels.items(), strict=True):
            _draw(axes, lengths, {line: found[line] for line in lines})
            axes.set_title(door)
            _lengths_below(axes, lengths)
            axes.legend(loc="upper left", fontsize=9)
        figure.axes[0].set_ylabel(LOSS)
        _room_above(figure.axes[0], 1.45)
        return finish(
            figure,
            alt=f"Three panels, one per door: the loss in nats per byte against the length of the text, from "
            f"{lengths[0]} to {lengths[-1]} bytes, of models trained on {trained} bytes. {_ends(found)}",
        )


def loss_by_position(result: Mapping[str, Any] | None = None, *, trained: int = 64) -> Picture:
    """Loss against the position in the longest windows, of the main encodings; arguments as above."""
    found = _lines(result, trained, "by_position", MAIN)
    first = np.asarray(_of(result, trained)[0]["result"]["positions"])
    with canvas(width=7.6, height=4.4) as figure:
        axes = figure.subplots()
        _draw(axes, first + trained / 2, found)
        axes.axvline(trained, color=GREY, linewidth=1.2, linestyle=":")
        axes.text(trained * 1.15, 0.02, "past here nothing was trained", transform=axes.get_xaxis_transform())
        axes.set_xlabel("position in the text (bytes)")
        axes.set_ylabel(LOSS)
        _room_above(axes, 1.2)
        axes.legend(loc="upper left", ncols=3, fontsize=9)
        return finish(
            figure,
            alt=f"The loss in nats per byte against the position in texts of {first[-1] + trained} bytes, of "
            f"models trained on {trained} bytes, a mean over {trained} positions each. {_ends(found)}",
        )


def sliding_or_whole(result: Mapping[str, Any] | None = None, *, trained: int = 64) -> Picture:
    """The same bytes after all of the text before them, and after its last bytes only; arguments as above."""
    whole = _lines(result, trained, "sampled_whole")
    sliding = _lines(result, trained, "sampled_sliding")
    lines = [line for door in PANELS.values() for line in door if line in whole]
    # Past the first stretch alone: there, the whole is less than a sliding window has.
    means = {line: [values[:, 1:].mean(axis=1) for values in (sliding[line], whole[line])] for line in lines}
    words = (f"its last {trained} bytes", "all of the text")
    with canvas(width=7.6, height=0.9 + 0.34 * len(lines)) as figure:
        axes = figure.subplots()
        for row, line in enumerate(lines):
            ends = [values.mean() for values in means[line]]
            axes.plot(ends, [row, row], color=GREY, linewidth=1.2, linestyle="-")
            looks = zip(means[line], COLOURS, MARKERS, words, strict=False)
            for values, colour, marker, word in looks:
                axes.plot(
                    values,
                    [row] * len(values),
                    color=colour,
                    marker=marker,
                    markerfacecolor="none",
                    linestyle="none",
                    label=word if row == 0 else None,
                )
        axes.set_yticks(range(len(lines)), [_title(line) for line in lines])
        axes.invert_yaxis()
        axes.set_xlabel(f"loss of bytes past position {trained} (nats per byte)")
        axes.set_ylabel("encoding")
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, title="before a byte, the model reads"
        )
        told = " ".join(
            f"{_title(line)}: {means[line][0].mean():.2f} after its last {trained} bytes, "
            f"{means[line][1].mean():.2f} after all."
            for line in lines
        )
        return finish(
            figure,
            alt="A row per encoding, with the loss in nats per byte of the same bytes twice: each after its "
            f"last {trained} bytes alone, and after all of the text before it. A mark per seed. {told}",
        )


def rescaled_rope(result: Mapping[str, Any] | None = None, *, trained: int = 64) -> Picture:
    """RoPE with its frequencies rescaled: as it is, and after some training at 4 times the length."""
    ways = (AS_TRAINED, "linear", "ntk", "yarn")
    panels = {
        "without further training": [("rope", way) for way in ways],
        "tuned at 4 times the length": [("rope", f"{way}, tuned") for way in ways],
    }
    every = [line for lines in panels.values() for line in lines]
    found = _lines(result, trained, "by_length", every)
    lengths = _of(result, trained)[0]["result"]["lengths"]
    with canvas(width=8.2, height=4.0) as figure:
        for axes, (title, lines) in zip(figure.subplots(1, 2, sharey=True), panels.items(), strict=True):
            _draw(axes, lengths, {line: found[line] for line in lines if line in found})
            axes.set_title(title)
            axes.axvline(4 * trained, color=GREY, linewidth=1.2, linestyle=":")
            _lengths_below(axes, lengths)
        figure.axes[0].set_ylabel(LOSS)
        _room_above(figure.axes[0], 1.3)
        figure.axes[0].legend(loc="upper left", ncols=2)
        return finish(
            figure,
            alt="Two panels: the loss in nats per byte against the length of the text, of RoPE models "
            f"trained on {trained} bytes, without further training and after some at {4 * trained} bytes, "
            "the length of the dotted line. "
            f"{_ends(found)}",
        )


def _of(result: Mapping[str, Any] | None, trained: int) -> list[Mapping[str, Any]]:
    """The runs of models that were trained at that length."""
    every = (stored(NAME) if result is None else result)["runs"]
    found = [each for each in every if each["run"]["length"] == trained]
    if not found:
        lengths = sorted({each["run"]["length"] for each in every})
        raise ValueError(f"trained={trained}: no model was trained at that length; give one of {lengths}")
    return found


def _lines(
    result: Mapping[str, Any] | None, trained: int, what: str, only: Sequence[Line] | None = None
) -> dict[Line, Array]:
    """(seeds, points) of each line, of the losses called `what`."""
    found: dict[Line, list[list[float]]] = {}
    for each in _of(result, trained):
        for way, losses in each["result"]["tests"].items():
            found.setdefault((each["run"]["encoding"], way), []).append(losses[what])
    return {line: np.asarray(found[line]) for line in only or found if line in found}


def _draw(axes: Axes, across: Sequence[float] | Array, lines: Mapping[Line, Array]) -> None:
    """The mean of each line, and each seed as a mark."""
    for (line, seeds), colour, dash, marker in zip(lines.items(), COLOURS, DASHES, MARKERS, strict=False):
        axes.plot(across, seeds.mean(axis=0), color=colour, linestyle=dash, linewidth=1.6)
        for seed in seeds:
            axes.plot(
                across,
                seed,
                color=colour,
                marker=marker,
                markersize=5,
                markerfacecolor="none",
                linestyle="none",
            )
        axes.plot(
            [], [], color=colour, linestyle=dash, marker=marker, markerfacecolor="none", label=_title(line)
        )


def _title(line: Line) -> str:
    encoding, way = line
    kind, _, tuned = way.partition(", ")
    name = TITLES[encoding if kind == AS_TRAINED else kind]
    return f"{name}, {tuned}" if tuned else name


def _lengths_below(axes: Axes, lengths: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, [str(n) for n in lengths])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("length of the text (bytes)")


def _room_above(axes: Axes, factor: float) -> None:
    """Let the axis reach further up, where the legend stands."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, low + factor * (high - low))


def _ends(lines: Mapping[Line, Array]) -> str:
    """Where each line begins and ends, in words."""
    return " ".join(
        f"{_title(line)}: from {seeds[:, 0].mean():.2f} to {seeds[:, -1].mean():.2f}."
        for line, seeds in lines.items()
    )
