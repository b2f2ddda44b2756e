"""Pictures of the stored experiments, but for the language model's. Every seed is on them; lines join the
means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from posenc_lib.colours import COLOURS, GREY
from posenc_lib.experiments.results import runs, stored
from posenc_lib.figures.picture import DASHES, Picture, canvas, finish

MARKERS = ("o", "s", "^", "D", "v", "P")

NAMES = {
    "none": "no positions",
    "learned": "learned",
    "sinusoidal": "sinusoidal",
    "rope": "RoPE",
    "alibi": "ALiBi",
}
NAMES |= {"t5": "T5", "grid": "2-D sinusoidal", "axial": "2-D RoPE"}


def length_generalisation(tasks: Sequence[str] | None = None) -> Picture:
    """Accuracy by length, one panel per task, one line per encoding.

    Args:
        tasks: names of tasks; None for all that are stored.
    """
    every = [each["run"] for each in stored("length-generalisation")["runs"]]
    tasks = list(dict.fromkeys(run["task"] for run in every)) if tasks is None else list(tasks)
    told = []
    with canvas(width=3.0 + 2.2 * len(tasks), height=3.9) as figure:
        panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for axes, task in zip(panels, tasks, strict=True):
            encodings = list(dict.fromkeys(run["encoding"] for run in every if run["task"] == task))
            for number, encoding in enumerate(encodings):
                found = runs("length-generalisation", task=task, encoding=encoding)
                lengths = found[0]["run"]["tested_at"]
                values = 100 * _seeds(found, "tokens")
                _line(axes, lengths, values, number, NAMES[encoding])
                told.append(f"{task}, {NAMES[encoding]}: {_ends(lengths, values)}.")
            _trained_to(axes, found[0]["run"]["trained_to"])
            axes.set_title(task.replace("-", " "))
            axes.set_xlabel("length (tokens)")
        panels[0].set_ylabel("right tokens (%)")
        panels[0].set_ylim(0, 104)
        _legend(figure, panels[0])
        return finish(
            figure,
            alt="Share of right tokens in the answer against the length of the question, one panel per task, "
            f"one line per encoding; a dotted line marks the longest length of training. {' '.join(told)}",
        )


def train_live() -> Picture:
    """Letters right by the length of the text, in ten runs of what the page `train-live` does."""
    told = []
    with canvas(width=6.4, height=3.9) as figure:
        axes = figure.subplots()
        for number, encoding in enumerate(("sinusoidal", "rope", "t5")):
            found = runs("train-live", encoding=encoding)
            lengths = found[0]["result"]["lengths"]
            values = 100 * _seeds(found, "accuracy")
            _line(axes, lengths, values, number, NAMES[encoding])
            told.append(f"{NAMES[encoding]}: {_ends(lengths, values)}.")
        _trained_to(axes, 32)
        axes.set_xlabel("length (letters)")
        axes.set_ylabel("letters right (%)")
        axes.set_ylim(0, 104)
        _legend(figure, axes)
        return finish(
            figure,
            alt="Share of the letters right, of those that can be told, against the length of the text: a "
            "thick line per encoding, a thin one for each of ten seeds. A dotted line marks the length of "
            f"the training. {' '.join(told)}",
        )


def does_order_matter() -> Picture:
    """Accuracy on the three tasks: without and with positions, bidirectional and causal."""
    tasks = {"bag": "more C than D?", "order": "A before B?", "place": "A in the first half?"}
    cases = [(encoding, causal) for encoding in ("none", "sinusoidal") for causal in (False, True)]
    told = []
    with canvas(width=8.2, height=3.0) as figure:
        panels = figure.subplots(1, len(tasks), sharey=True)
        for axes, (task, title) in zip(panels, tasks.items(), strict=True):
            rows = {}
            for encoding, causal in cases:
                name = f"{NAMES[encoding]}, {'causal' if causal else 'both ways'}"
                rows[name] = 100 * _seeds(
                    runs("does-order-matter", task=task, encoding=encoding, causal=causal), "accuracy"
                )
                told.append(f"{title} {name}: {rows[name].mean():.0f}%.")
            _dots(axes, rows)
            axes.axvline(50, color=GREY, linestyle=":", linewidth=1.5)
            axes.set_xlim(40, 104)
            axes.set_title(f"{task}: {title}", fontsize=11)
            axes.set_xlabel("right answers (%)")
        panels[0].set_ylabel("model")
        return finish(
            figure,
            alt="Share of right answers for three tasks and four models, a marker per seed; a dotted line "
            f"marks chance, 50%. {' '.join(told)}",
        )


def position_read_out() -> Picture:
    """R2 of the linear probe of the position, by layer, in models without positions."""
    with canvas(width=7.6, height=3.6) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        told = []
        for axes, causal in ((left, True), (right, False)):
            lines = {
                "before training": _seeds(
                    runs("does-order-matter", encoding="none", causal=causal), "probe_untrained"
                )
            }
            for task in ("bag", "order", "place"):
                found = runs("does-order-matter", encoding="none", causal=causal, task=task)
                lines[f"trained on {task}"] = _seeds(found, "probe")
            layers = np.arange(lines["before training"].shape[1])
            for number, (name, values) in enumerate(lines.items()):
                _line(axes, layers, values, number, name)
                last = f"{values.mean(axis=0)[-1]:.2f}"
                told.append(f"{'Causal' if causal else 'Both ways'}, {name}: {last} after the last layer.")
            axes.set_title("causal" if causal else "both ways")
            axes.set_xticks(layers, ["input", *(f"layer {n}" for n in layers[1:])])
            axes.set_xlabel("what the probe reads")
        left.set_ylabel("R² of the position")
        left.set_ylim(-0.08, 1.04)
        _legend(figure, left)
        return finish(
            figure,
            alt="R squared of a linear probe that reads the position out of the hidden states of models "
            f"without positions, against the layer. All start at 0. {' '.join(told)}",
        )


def goldilocks() -> Picture:
    """Accuracy, and what attention looks at, against the size of the encoding beside that of the content."""
    every = runs("goldilocks")
    ratios = sorted({each["run"]["ratio"] for each in every})
    by_ratio = [runs("goldilocks", ratio=ratio) for ratio in ratios]

    def values(key: str) -> np.ndarray:
        return 100 * np.stack([_seeds(found, key) for found in by_ratio], axis=1)

    panels = (
        ("right answers (%)", {"where is this symbol?": "where", "what stands here?": "what"}),
        ("share (%)", {"entropy of the weights": "entropy", "explained by the place": "by_position"}),
    )
    told = []
    with canvas(width=8.2, height=3.9) as figure:
        for axes, (label, lines) in zip(figure.subplots(1, 2), panels, strict=True):
            for number, (name, key) in enumerate(lines.items()):
                _line(
                    axes, ratios, values(key), number + (2 if key in ("entropy", "by_position") else 0), name
                )
                means = ", ".join(f"{mean:.0f}" for mean in values(key).mean(axis=0))
                told.append(f"{name} {means}.")
            axes.set_xscale("log", base=2)
            axes.set_xticks(ratios)
            axes.set_ylim(0, 104)
            axes.set_xlabel("size of the encoding, by that of the content")
            axes.set_ylabel(label)
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), fontsize=10)
        return finish(
            figure,
            alt="Two panels against the ratio of the encoding's size to that of the content, on a "
            f"logarithmic axis from {ratios[0]:g} to {ratios[-1]:g}. In per cent, from the smallest ratio to "
            "the largest: "
            f"{' '.join(told)}",
        )


def aliasing(pairs: int = 1, content: float = 1.0) -> Picture:
    """How often a distance is taken for another, by how far off that is, below the encoding's kernel."""
    found = runs("aliasing", pairs=pairs, content=content)
    offsets = np.asarray(found[0]["result"]["offsets"])
    kernel = np.asarray(found[0]["result"]["kernel"])
    confused = 100 * _seeds(found, "confused")
    far = offsets >= 3
    worst = offsets[far][confused.mean(axis=0)[far].argmax()]
    with canvas(width=7.6, height=4.4) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.plot(offsets, kernel, color=COLOURS[0], marker=".", linestyle="-", linewidth=1.2)
        upper.set_ylabel("kernel (1 at 0)")
        waves = "one wave" if pairs == 1 else f"{pairs} waves"
        upper.set_title(f"{waves}: similarity of two places, and confusion of two distances", fontsize=11)
        lower.bar(offsets, confused.mean(axis=0), color=COLOURS[1], width=0.7, alpha=0.6, label="mean")
        for seed, values in enumerate(confused):
            lower.plot(
                offsets,
                values,
                color=COLOURS[3],
                marker=MARKERS[seed],
                markersize=4,
                linestyle="none",
                markerfacecolor="none",
                label=f"seed {seed}",
            )
        lower.set_ylabel("taken for each other (%)")
        lower.set_xlabel("how far apart (positions)")
        lower.legend(ncols=4, fontsize=10)
        for axes in (upper, lower):
            axes.axvline(worst, color=GREY, linestyle=":", linewidth=1.5, zorder=0)
        return finish(
            figure,
            alt=f"Above, the kernel of an encoding of {waves} against the offset, from {offsets[0]} to "
            f"{offsets[-1]}. Below, how often the model takes a distance for one that is off by that much, a "
            f"marker per seed. Of offsets from 3 on the most confused is {worst}, in "
            f"{confused.mean(axis=0)[offsets == worst][0]:.1f}% of the cases, where the kernel is "
            f"{kernel[offsets == worst][0]:.2f}.",
        )


def damage(mistake: str) -> Picture:
    """Loss with a mistake and without it: "padding-leak", "left-padding", "layout" or "bfloat16"."""
    labels = {
        "padding-leak": "padding after (tokens)",
        "left-padding": "padding before (tokens)",
        "layout": "",
        "bfloat16": "position of the first token",
    }
    if mistake not in labels:
        raise ValueError(f"mistake={mistake!r} is unknown; give one of {', '.join(map(repr, labels))}")
    every = [each for each in stored("damage")["runs"] if mistake in each["result"]["cases"]]
    encodings = list(dict.fromkeys(each["run"]["encoding"] for each in every))
    told = []
    with canvas(width=2.0 + 2.0 * len(encodings) + (2.5 if len(encodings) == 1 else 0), height=3.6) as figure:
        panels = figure.subplots(1, len(encodings), sharey=True, squeeze=False)[0]
        for axes, encoding in zip(panels, encodings, strict=True):
            cases = [
                each["result"]["cases"][mistake] for each in every if each["run"]["encoding"] == encoding
            ]
            places = [str(case["at"]) for case in cases[0]]
            for number, (key, name) in enumerate((("mended", "right"), ("wrong", "with the mistake"))):
                values = np.asarray([[case[key] for case in one] for one in cases])
                if mistake == "layout":
                    _dots(axes, {name: values[:, 0]}, at=number, number=number)
                else:
                    _line(axes, np.arange(len(places)), values, number, name)
                means = ", ".join(f"{mean:.2f}" for mean in values.mean(axis=0))
                told.append(f"{NAMES[encoding]}, {name}: {means}.")
            axes.set_title(NAMES[encoding])
            if mistake == "layout":
                axes.set_yticks([0, 1], ["right", "with the mistake"])
                axes.set_ylim(-0.5, 1.5)
                axes.set_ylabel("how the weights are read")
                axes.set_xlabel("loss (nats per byte)")
            else:
                axes.set_xticks(range(len(places)), places)
                axes.set_xlabel(labels[mistake])
        if mistake != "layout":
            panels[0].set_ylabel("loss (nats per byte)")
            _legend(figure, panels[0])
        across = f", against the {labels[mistake]}" if "padding" in mistake else ""
        across = f", against the {labels[mistake]}" if mistake == "bfloat16" else across
        return finish(
            figure, alt=f"Loss with a mistake and without it{across}, a line per seed. {' '.join(told)}"
        )


def signals() -> Picture:
    """Four signals, each read with several kinds of position; a marker per seed."""
    told = []
    with canvas(width=8.6, height=5.6) as figure:
        times, dna, field, patches = figure.subplots(2, 2).flat

        rows = {}
        for encoding, positions in (
            ("none", "index"),
            *((e, p) for e in ("sinusoidal", "rope") for p in ("index", "time")),
        ):
            name = NAMES[encoding] if encoding == "none" else f"{NAMES[encoding]}, {positions}"
            rows[name] = _seeds(
                runs("signals", signal="times", encoding=encoding, positions=positions), "error"
            )
        _dots(times, rows)
        naive = _seeds(runs("signals", signal="times"), "error_of_mean").mean()
        times.axvline(naive, color=GREY, linestyle=":", linewidth=1.5)
        times.set_title("temperature at an hour not read", fontsize=11)
        times.set_xlabel("error (°C), dotted: mean")
        told.append(_means("Temperatures, error in degrees", rows) + f" The mean of the window: {naive:.2f}.")

        every = [each["run"] for each in runs("signals", signal="dna")]
        rows = {
            NAMES[encoding]: np.subtract(
                *(_seeds(runs("signals", signal="dna", encoding=encoding), key) for key in ("loss", "best"))
            )
            for encoding in dict.fromkeys(run["encoding"] for run in every)
        }
        _dots(dna, rows)
        dna.axvline(0, color=GREY, linestyle=":", linewidth=1.5)
        dna.set_title("next base, period 10.5", fontsize=11)
        dna.set_xlabel("above the best (nats per base)")
        told.append(_means("Bases, nats above the best possible", rows))

        rows = {
            "coordinates": _seeds(runs("signals", signal="field", encoding="coordinates"), "error_between")
        }
        for cycles in (1.0, 4.0, 16.0):
            rows[f"Fourier, scale {cycles:g}"] = _seeds(
                runs("signals", signal="field", cycles=cycles), "error_between"
            )
        _dots(field, rows)
        field.set_title("height of the ground between the points", fontsize=11)
        field.set_xlabel("error (m)")
        told.append(_means("Heights, error in metres", rows))

        rows = {}
        for encoding in ("none", "learned", "sinusoidal", "grid", "rope", "axial"):
            name = "sinusoidal, flattened" if encoding == "sinusoidal" else NAMES[encoding]
            name = "RoPE, flattened" if encoding == "rope" else name
            rows[name] = 100 * _seeds(runs("signals", signal="patches", encoding=encoding), "accuracy")
        _dots(patches, rows)
        patches.set_title("digits of 4 × 4 patches", fontsize=11)
        patches.set_xlabel("right answers (%)")
        told.append(_means("Digits, per cent right", rows))
        for axes in (times, dna, field, patches):
            axes.set_ylabel("positions")
        return finish(
            figure,
            alt="Four panels, one per signal, with a marker per seed for each kind of position. "
            f"{' '.join(told)}",
        )


def field_by_band() -> Picture:
    """How much of a field a network has not learnt, by the fineness of the detail: the spectral bias."""
    variants: dict[str, dict[str, Any]] = {"coordinates": {"encoding": "coordinates"}}
    variants |= {f"Fourier features, scale {c:g}": {"cycles": c} for c in (1.0, 4.0, 16.0)}
    bands = ["0–2", "2–4", "4–8", "8–16", "16–32"]
    told = []
    with canvas(width=7.0, height=3.9) as figure:
        axes = figure.subplots()
        for number, (name, settings) in enumerate(variants.items()):
            values = 100 * _seeds(runs("signals", signal="field", **settings), "left")
            _line(axes, np.arange(len(bands)), values, number, name)
            told.append(f"{name}: {', '.join(f'{mean:.0f}' for mean in values.mean(axis=0))}.")
        axes.axhline(100, color=GREY, linestyle=":", linewidth=1.5)
        axes.set_xticks(range(len(bands)), bands)
        axes.set_xlabel("cycles across the field")
        axes.set_ylabel("amplitude left in the error (%)")
        axes.set_yscale("log")
        axes.set_yticks([1, 10, 100], ["1", "10", "100"])
        axes.legend(fontsize=10)
        return finish(
            figure,
            alt="Share of the amplitude that is left in the error, in per cent on a logarithmic axis, "
            f"against five bands of detail, from {bands[0]} to {bands[-1]} cycles across the field. "
            f"{' '.join(told)}",
        )


def _seeds(found: Sequence[dict[str, Any]], key: str) -> np.ndarray:
    """That part of each result, stacked: (seeds, ...)."""
    return np.asarray([each["result"][key] for each in found], dtype=np.float64)


def _line(axes: Axes, x: Any, values: np.ndarray, number: int, name: str) -> None:
    """Every seed as a thin line, the mean as a thick one with markers. values: (seeds, points)."""
    look: dict[str, Any] = {"color": COLOURS[number], "linestyle": DASHES[number]}
    axes.plot(x, values.T, linewidth=0.8, alpha=0.6, **look)
    hollow = "none" if number % 2 else COLOURS[number]
    axes.plot(x, values.mean(axis=0), marker=MARKERS[number], markerfacecolor=hollow, label=name, **look)


def _dots(axes: Axes, rows: dict[str, np.ndarray], *, at: int = 0, number: int | None = None) -> None:
    """A row per name, from above, with a marker per seed."""
    for row, values in enumerate(rows.values(), start=at):
        look = row % len(COLOURS) if number is None else number
        axes.plot(
            values,
            np.full(len(values), row),
            color=COLOURS[look],
            marker=MARKERS[look],
            linestyle="none",
            markerfacecolor="none",
            markeredgewidth=1.6,
            markersize=7,
        )
    if number is None:
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)


def _trained_to(axes: Axes, length: int) -> None:
    axes.axvline(length, color=GREY, linestyle=":", linewidth=1.5)


def _legend(figure: Any, axes: Axes) -> None:
    lines, names = axes.get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=min(len(names), 6), fontsize=10)


def _ends(lengths: Sequence[int], values: np.ndarray) -> str:
    means = values.mean(axis=0)
    return f"{means[0]:.0f}% at {lengths[0]}, {means[-1]:.0f}% at {lengths[-1]}"


def _means(what: str, rows: dict[str, np.ndarray]) -> str:
    digits = 3 if max(values.max() for values in rows.values()) < 1 else 1
    return (
        f"{what}: " + ", ".join(f"{name} {values.mean():.{digits}f}" for name, values in rows.items()) + "."
    )
