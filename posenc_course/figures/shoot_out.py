"""Pictures of the stored experiment `byte-models`. Every run is on them, and what the gate says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import COLOURS, GREY
from posenc_course.experiments import byte_models, copies
from posenc_course.experiments.results import stored
from posenc_course.figures import counting
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.picture import DASHES, GUIDE, SEED, Picture, canvas, finish
from posenc_lib._arrays import Array

NAME = "byte-models"
LOSS = "loss (nats per byte)"
MARKERS = ("o", "s", "^", "D", "v", "P")

TITLES = {
    "none": "no encoding",
    "none+": "no encoding, 3 times as long",
    "sinusoidal": "sinusoidal",
    "learned": "learned, clamped",
    "learned+": "learned, 3 times as long",
    "rope": "RoPE",
    "rope-partial": "RoPE on a quarter",
    "rope-and-none": "RoPE, 1 layer of 4 without",
    "rope-window-and-none": "RoPE near, 1 layer of 4 far",
    "t5": "T5",
    "alibi": "ALiBi",
    "kerple": "KERPLE",
    "fire": "FIRE",
    "transformer-xl": "Transformer-XL",
}
"""Name of an encoding -> what a picture calls it; with a plus, where it was trained longer than all."""

PANELS = {
    "no door, and added": ("none", "sinusoidal", "learned", "learned+", "none+"),
    "rotated": ("rope", "rope-partial", "rope-and-none", "rope-window-and-none"),
    "biased": ("t5", "alibi", "kerple", "fire", "transformer-xl"),
}

FROM_CONTENT = {"pope": "PoPE", "path": "PaTH", "fox": "FoX"}
"""The same of `by-content`."""

HYBRIDS = {"rope-window-and-rope": "RoPE near and far"}
"""The same of `hybrids`."""

ROUNDS = {
    NAME: "first round",
    "byte-models-beyond-counting": "trained until they beat counting",
    "byte-models-larger": "four times as large",
}
"""Experiment -> what a panel calls its models."""

FOUR = ("rope", "alibi", "sinusoidal", "rope-window-and-none")
"""The encodings that all rounds have."""

_LATER = "byte-models-beyond-counting"
SMALL = "853,000 weights"
OF_COPIES = {
    SMALL: (_LATER, f"{_LATER}-again", f"{_LATER}-others"),
    "3.28 million weights": ("byte-models-larger",),
}
"""What a panel calls models of one size -> the experiments that trained them.

Of twins the last counts: that of the GPU, which is the one that was asked whether it copies.
"""

KINDS = {
    "RoPE": ("rope",),
    "RoPE in part": ("rope-partial", "rope-and-none", "rope-window-and-none", "rope-window-and-rope"),
    "a bias": ("t5", "alibi", "kerple", "fire", "transformer-xl"),
    "added": ("sinusoidal", "learned"),
    "from content": ("fox", "pope", "path"),
}
"""What a picture calls a kind of encodings -> the names of those that beat counting."""

Result = Mapping[str, Any]


def at_the_trained_length(result: Result | None = None) -> Picture:
    """A row for each encoding, a mark for each seed, and the lines of the n-grams.

    Args:
        result: of the experiment; the stored one by default.
    """
    every = _by_encoding(result)
    losses = {name: [_loss(each) for each in runs] for name, runs in every.items()}
    order = _lowest_first({name: float(np.mean(each)) for name, each in losses.items()})
    with canvas(width=7.6, height=1.6 + 0.34 * len(order)) as figure:
        axes = figure.subplots()
        for row, name in enumerate(order):
            for each in every[name]:
                _mark(axes, _loss(each), row, each)
            _name_marks(axes, max(losses[name]), row, every[name])
        counted = _ngrams(every)
        for number, (size, loss) in enumerate(sorted(counted.items(), key=lambda each: each[1])):
            _line_of_ngram(axes, loss, f"{size}-gram", height=1.0 - 0.25 * (number % 2))
        better = _kneser_ney(every)
        _line_of_ngram(axes, better, "Kneser-Ney", height=0.35)  # below the crowd of marks
        _rows(axes, order)
        axes.set_xlabel(LOSS)
        told = " ".join(
            f"{TITLES[name]}: {_each(losses[name])}{'' if _admitted(every[name]) else ', not admitted'}."
            for name in order
        )
        lines = ", ".join(f"{number}-gram {loss:.2f}" for number, loss in counted.items())
        return finish(
            figure,
            alt="A row for each encoding, with its loss in nats per byte at the length of training, a mark "
            f"for each seed, the lowest first. {told} Lines for what counting reaches: {lines}, "
            f"Kneser-Ney {better:.2f}.",
        )


def by_position(result: Result | None = None) -> Picture:
    """The loss in windows of 4,096 bytes by the place in them, a panel for each door; argument as above."""
    every = _by_encoding(result)
    panels = {title: [name for name in names if name in every] for title, names in PANELS.items()}
    panels = {title: names for title, names in panels.items() if names}
    counted = _ngrams(every)[5]
    curves = {
        name: np.array([np.mean(each["result"]["longer"]["whole"], axis=0) for each in runs])
        for name, runs in every.items()
    }
    trained = _trained_length(every)
    with canvas(width=9.6, height=4.4) as figure:
        for axes, (title, names) in zip(
            np.atleast_1d(figure.subplots(1, len(panels), sharey=True)), panels.items(), strict=True
        ):
            looks = zip(names, COLOURS, DASHES, MARKERS, strict=False)
            for name, colour, dash, marker in looks:
                across = trained * (np.arange(curves[name].shape[1]) + 0.5)
                word = TITLES[name] if _admitted(every[name]) else f"{TITLES[name]} ×"
                axes.plot(
                    across,
                    curves[name].mean(axis=0),
                    color=colour,
                    linestyle=dash,
                    label=word.replace(", ", ",\n"),
                )
                for seed in curves[name]:
                    axes.plot(
                        across,
                        seed,
                        color=colour,
                        marker=marker,
                        markersize=3,
                        markerfacecolor="none",
                        linestyle="none",
                    )
            axes.axhline(counted, color=GREY, linewidth=GUIDE, linestyle=":", label="5-gram, mean")
            axes.axvline(trained, color=GREY, linewidth=SEED)
            axes.set_title(title)
            axes.set_xlabel("place in the text (bytes)")
        figure.axes[0].set_ylabel(LOSS)
        label_at_curve(*figure.axes)
        told = " ".join(
            f"{TITLES[name]}: from {curve.mean(axis=0)[0]:.2f} to {curve.mean(axis=0)[-1]:.2f}"
            f"{'' if _admitted(every[name]) else ', not admitted'}."
            for name, curve in curves.items()
        )
        return finish(
            figure,
            alt=f"A panel for each door: the loss in nats per byte against the place in the text, of models "
            f"trained on {trained} bytes, the mean of {trained} at a time, a mark for each seed. {told} "
            f"A dotted line for the 5-gram at {counted:.2f}. A cross behind a name: not admitted.",
        )


def whole_or_sliding(result: Result | None = None) -> Picture:
    """The same bytes after the whole text before them, and after its last bytes; argument as above."""
    every = _by_encoding(result)
    trained = _trained_length(every)
    means = {
        name: [
            [float(np.mean(np.asarray(each["result"]["longer"][way])[:, 1:])) for each in runs]
            for way in ("sliding", "whole")
        ]
        for name, runs in every.items()
    }
    order = _lowest_first({name: float(np.mean(whole)) for name, (_sliding, whole) in means.items()})
    counted = _ngrams(every)[5]
    words = (f"at most the last {trained} bytes", "all of the text")
    with canvas(width=7.6, height=1.6 + 0.34 * len(order)) as figure:
        axes = figure.subplots()
        for row, name in enumerate(order):
            ends = [np.mean(each) for each in means[name]]
            axes.plot(ends, [row, row], color=GREY, linestyle="-", linewidth=GUIDE)
            for values, colour, marker in zip(means[name], COLOURS, MARKERS, strict=False):
                axes.plot(
                    values,
                    [row] * len(values),
                    color=colour,
                    marker=marker,
                    markerfacecolor="none",
                    linestyle="none",
                )
        _line_of_ngram(axes, counted, "5-gram")
        _rows(axes, order, every)
        axes.set_xlabel(f"loss on the bytes past position {trained} (nats per byte)")
        axes.set_title("before a byte, the model reads")
        widest = max(order, key=lambda name: np.ptp(np.concatenate(means[name])))
        for values, word, side in zip(means[widest], words, (1, -1), strict=True):
            at = (float(np.mean(values)), order.index(widest))
            label_at(axes, word, at, (side, 7))
        told = " ".join(
            f"{TITLES[name]}: {np.mean(means[name][0]):.2f} after the last bytes, "
            f"{np.mean(means[name][1]):.2f} after all{'' if _admitted(every[name]) else ', not admitted'}."
            for name in order
        )
        return finish(
            figure,
            alt="A row for each encoding, with the loss in nats per byte of the same bytes twice: after the "
            f"last {trained} bytes before each, and after all of the text. A mark for each seed. {told} "
            f"A line for the 5-gram at {counted:.2f}.",
        )


def beside_the_paper(paper: Mapping[str, Mapping[int, float]], result: Result | None = None) -> Picture:
    """How far the loss rises above that at the length of training, in a paper's models and in ours.

    Args:
        paper: name of an encoding -> {length: perplexity}, the length of training first.
        result: of the experiment; the stored one by default.
    """
    every = _by_encoding(result)
    told = []
    with canvas(width=8.4, height=3.9) as figure:
        theirs, ours = figure.subplots(1, 2)
        for name, colour, dash, marker in zip(paper, COLOURS, DASHES, MARKERS, strict=False):
            look = {"color": colour, "linestyle": dash, "marker": marker, "markerfacecolor": "none"}
            lengths = np.array(list(paper[name]))
            rise = np.log(np.array(list(paper[name].values())) / paper[name][lengths[0]])
            theirs.plot(lengths / lengths[0], rise, **look)
            longer = [each["result"]["longer"] for each in every[name] if _passes(each)]
            times = np.array(longer[0]["lengths"]) / longer[0]["lengths"][0]
            by_seed = np.array([np.mean(each["by_length"], axis=1) for each in longer])
            by_seed -= by_seed[:, :1]
            ours.plot(times, by_seed.mean(axis=0), label=TITLES[name], **look | {"marker": None})
            ours.plot(times, by_seed.T, **look | {"linestyle": "none", "markersize": 4})
            told.append(
                f"{TITLES[name]}: theirs {', '.join(f'{value:+.2f}' for value in rise[1:])}, "
                f"ours {', '.join(f'{value:+.2f}' for value in by_seed.mean(axis=0)[1:])}."
            )
        for axes, title, unit in ((theirs, "theirs", "word"), (ours, "ours", "byte")):
            axes.axhline(0, color=GREY, linestyle=":", linewidth=GUIDE)
            axes.set_xscale("log", base=2)
            axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
            axes.set_title(title)
            axes.set_xlabel("length / length of training")
            axes.set_ylabel(f"rise of the loss (nats per {unit})")
        label_at_curve(ours)
        return finish(
            figure,
            alt="Two panels: how far the loss rises above that at the length of training, against the "
            f"length, for the models of a paper and for ours, a mark for each of our seeds. {' '.join(told)}",
        )


def by_content() -> Picture:
    """The loss by the length of the text, of models with position from content beside RoPE's and ALiBi's."""
    experiments = {"rope": NAME, **dict.fromkeys(FROM_CONTENT, "by-content"), "alibi": NAME}
    with canvas(width=6.4, height=4.0) as figure:
        axes = figure.subplots()
        told = _by_length(axes, experiments)
        axes.set_ylabel(LOSS)
        label_at_curve(axes)
        return finish(figure, alt=f"One panel: {_OF_LENGTHS} {' '.join(told)}")


def rounds() -> Picture:
    """The loss by the length of the text, a panel for each round of the byte models."""
    with canvas(width=9.6, height=3.9) as figure:
        panels = figure.subplots(1, len(ROUNDS), sharey=True)
        told = []
        for axes, (experiment, title) in zip(panels, ROUNDS.items(), strict=True):
            told += [f"{title}:", *_by_length(axes, dict.fromkeys(FOUR, experiment), every=2)]
            axes.set_title(title)
        panels[0].set_ylabel(LOSS)
        label_at_curve(*panels[::-1])
        return finish(figure, alt=f"{len(ROUNDS)} panels: {_OF_LENGTHS} {' '.join(told)}")


_OF_LENGTHS = (
    "the loss in nats per byte against the length of the text, which doubles from that of the training on; "
    "thick lines are means, thin ones seeds."
)


def _by_length(axes: Axes, experiments: Mapping[str, str], every: int = 1) -> list[str]:
    """Draw the losses of each encoding, of the experiment that has it, and name so many lengths; in words."""
    told = []
    looks = zip(experiments.items(), COLOURS, DASHES, MARKERS, strict=False)
    for (name, experiment), colour, dash, marker in looks:
        losses = byte_models.by_length(name, name=experiment)
        lengths = stored(experiment)["runs"][0]["result"]["longer"]["lengths"]
        look: dict[str, Any] = {"color": colour, "linestyle": dash}
        word = (TITLES | FROM_CONTENT)[name]
        axes.plot(lengths, losses.mean(axis=0), marker=marker, label=word.replace(", ", ",\n"), **look)
        axes.plot(lengths, losses.T, linewidth=SEED, alpha=0.6, **look)
        told.append(f"{word}: {_each(losses.mean(axis=0))}.")
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths[::every], [f"{n:,}" for n in lengths[::every]])
    axes.set_xlabel("length of the text (bytes)")
    return told


def copying() -> Picture:
    """What a second reading saves, and the loss at the length of training: a mark for each trained model."""
    with canvas(width=8.4, height=4.2) as figure:
        told = []
        panels = figure.subplots(1, 2, sharex=True)
        for axes, (title, models) in zip(panels, who_copies().items(), strict=True):
            looks = zip(KINDS.items(), COLOURS, MARKERS, strict=False)
            for (kind, names), colour, marker in looks:
                passing = [each for each in models if each.encoding in names and each.admitted]
                _scatter(axes, passing, kind, color=colour, marker=marker, markerfacecolor="none")
            others = [each for each in models if not each.admitted]
            _scatter(axes, others, "not admitted", color=GREY, marker="x")
            axes.set_title(title)
            axes.set_xlabel("the second reading saves (nats per byte)")
            axes.set_ylabel("loss at the trained length (nats per byte)")
            words = (
                f"{(TITLES | FROM_CONTENT | HYBRIDS)[each.encoding]} {each.saved:.2f}, {each.loss:.2f}"
                f"{'' if each.admitted else ', not admitted'}"
                for each in models
            )
            told.append(f"{title}: {'; '.join(words)}.")
        panels[0].legend()
        return finish(
            figure,
            alt="Two panels, a mark for each trained model: what it saves when it reads a passage a second "
            "time, and its loss at the length of training. Mostly, the more it saves, the lower its loss. "
            + " ".join(told),
        )


def _scatter(axes: Axes, models: Sequence[Copier], label: str, **look: Any) -> None:
    if models:
        saved, losses = [each.saved for each in models], [each.loss for each in models]
        axes.plot(saved, losses, label=label, linestyle="none", **look)


def while_training() -> Picture:
    """The loss of some small models while they train, less that of RoPE's model with the same seed."""
    of = stored(_LATER)["runs"] + stored(f"{_LATER}-others")["runs"]
    curves = {
        (each["run"]["encoding"], each["run"]["seed"]): np.array(each["result"]["curve"]) for each in of
    }
    told = []
    with canvas(width=6.4, height=4.0) as figure:
        axes = figure.subplots()
        looks = zip((*FOUR[1:], "rope-partial"), COLOURS[1:], DASHES[1:], strict=False)
        for name, colour, dash in looks:
            word = TITLES[name].replace(", ", ",\n")
            for seed in sorted(seed for encoding, seed in curves if encoding == name):
                steps, losses = curves[name, seed].T
                less = losses - curves["rope", seed][:, 1]
                axes.plot(steps, less, color=colour, linestyle=dash, label=word if seed == 0 else None)
                told.append(f"{TITLES[name]}: {_each(less[[9, 19, 29, 39]])}.")
        axes.axhline(0, color=GREY, linewidth=GUIDE, linestyle=":")
        axes.set_ylim(-0.15, 0.15)
        ticks = range(0, 4000, 1000)
        axes.set_xticks(ticks, [f"{step:,}" for step in ticks])
        axes.set_xlabel("steps of the training")
        axes.set_ylabel("loss less RoPE's (nats per byte)")
        label_at_curve(axes)
        return finish(
            figure,
            alt="The loss in training, less that of RoPE's model with the same seed, against the step, a "
            f"line for each model; at a quarter, half, three quarters and the end: {' '.join(told)}",
        )


class Copier(NamedTuple):
    """A trained model, what a second reading of a passage saves it, and its loss at the trained length."""

    encoding: str
    seed: int
    saved: float
    loss: float
    admitted: bool


def who_copies() -> dict[str, list[Copier]]:
    """Every model that was asked whether it copies, by the size of models."""
    asked = {_model(each["run"]): copies.gain(each["result"])[0] for each in stored("copies")["runs"]}
    found: dict[str, list[Copier]] = {}
    for title, experiments in OF_COPIES.items():
        trained = {_model(each["run"]): each for name in experiments for each in stored(name)["runs"]}
        found[title] = [
            Copier(*model[:2], saved, _loss(trained[model]), _passes(trained[model]))
            for model, saved in asked.items()
            if model in trained
        ]
    return found


def _model(run: Mapping[str, Any]) -> tuple[str, int, int]:
    return run["encoding"], run["seed"], run["dim"]


def admitted(encoding: str) -> list[dict[str, Any]]:
    """The stored runs of an encoding, trained like all others, that pass the gate; none where none does."""
    return [each for each in _by_encoding(None).get(encoding, []) if _passes(each)]


# --- what all have in common


def _by_encoding(result: Result | None) -> dict[str, list[Any]]:
    """The runs of each encoding, admitted or not, all seeds; those that were trained longer by themselves."""
    found: dict[str, list[Any]] = {}
    runs = (stored(NAME) if result is None else result)["runs"]
    usual = min(each["run"]["steps"] for each in runs)
    for each in runs:
        longer = "+" if each["run"]["steps"] > usual else ""
        found.setdefault(each["run"]["encoding"] + longer, []).append(each)
    return {name: found[name] for name in TITLES if name in found}


def _lowest_first(means: Mapping[str, float]) -> list[str]:
    """What was trained longer comes last: it is no match for the others."""
    return sorted(means, key=lambda name: (name.endswith("+"), means[name]))


def _loss(run: Mapping[str, Any]) -> float:
    return float(run["result"]["trained"]["loss"])


def _passes(run: Mapping[str, Any]) -> bool:
    return bool(run["verdict"] == "admitted")


def _admitted(runs: Iterable[Mapping[str, Any]]) -> bool:
    return any(map(_passes, runs))


def _trained_length(every: Mapping[str, list[Any]]) -> int:
    return int(next(iter(every.values()))[0]["run"]["length"])


def _ngrams(every: Mapping[str, list[Any]]) -> dict[int, float]:
    """Order -> loss. All runs were tested on the same bytes."""
    told = next(iter(every.values()))[0]["result"]["trained"]["ngram"]
    return {int(order): float(loss) for order, loss in told.items()}


def _kneser_ney(every: Mapping[str, list[Any]]) -> float:
    """The loss of the best n-gram that counted what the models learned from, on the same bytes."""
    learned = next(iter(every.values()))[0]["run"]["learn"]
    return float(min(counting.found("Kneser-Ney", learned)["loss"]))


def _mark(axes: Axes, loss: float, row: int, run: Mapping[str, Any]) -> None:
    passes = _passes(run)
    axes.errorbar(
        loss,
        row,
        xerr=run["result"]["trained"]["uncertainty"],
        color=COLOURS[0] if passes else GREY,
        marker="o" if passes else "x",
        markerfacecolor="none",
        elinewidth=SEED,
        linestyle="none",
    )


def _name_marks(axes: Axes, loss: float, row: int, runs: Iterable[Mapping[str, Any]]) -> None:
    """What a cross says, next to it."""
    if not _admitted(runs):
        label_at(axes, "not admitted", (loss, row), (26, 0))


def _line_of_ngram(axes: Axes, loss: float, name: str, height: float = 1.0) -> None:
    axes.axvline(loss, color=GREY, linewidth=GUIDE, linestyle=":")
    below = axes.get_xaxis_transform()
    axes.text(loss, height, name, rotation=90, fontsize=9, ha="right", va="top", transform=below)


def _rows(axes: Axes, order: Sequence[str], every: Mapping[str, list[Any]] | None = None) -> None:
    passes = {name: every is None or _admitted(every[name]) for name in order}
    words = [TITLES[name] if passes[name] else f"{TITLES[name]} ×" for name in order]
    axes.set_yticks(range(len(order)), words)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_ylabel("encoding")


def _each(values: Iterable[float] | Array) -> str:
    return ", ".join(f"{value:.2f}" for value in values)
