"""Pictures of the stored experiments, but for the language model's. Every seed is on them; lines join the
means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import COLOURS, GREY
from posenc_course.experiments.results import runs
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.picture import DASHES, GUIDE, SEED, Picture, canvas, finish
from posenc_course.figures.shoot_out import TITLES

MARKERS = ("o", "s", "^", "D", "v", "P")

NOT_ADMITTED: dict[str, Any] = {
    "color": GREY,
    "marker": "x",
    "linestyle": ":",
    "linewidth": SEED,
    "label": "not admitted",
}

NAMES = {
    "none": "no positions",
    "learned": "learned",
    "sinusoidal": "sinusoidal",
    "rope": "RoPE",
    "alibi": "ALiBi",
    "t5": "T5",
}


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
        label_at_curve(axes)
        return finish(
            figure,
            alt="Share of the letters right, of those that can be told, against the length of the text: a "
            "thick line per encoding, a thin one for each of ten seeds. A dotted line marks the length of "
            f"the training. {' '.join(told)}",
        )


def bags() -> Picture:
    """Accuracy on the three tasks: without and with positions, looking both ways and causal."""
    tasks = {"bag": "more C than D?", "order": "A before B?", "place": "A in the first half?"}
    cases = [(encoding, causal) for encoding in ("none", "sinusoidal") for causal in (False, True)]
    told = []
    with canvas(width=8.2, height=3.0) as figure:
        panels = figure.subplots(1, len(tasks), sharey=True)
        for axes, (task, title) in zip(panels, tasks.items(), strict=True):
            rows = {}
            for encoding, causal in cases:
                name = f"{NAMES[encoding]}, {'causal' if causal else 'both ways'}"
                found = runs("bags", every=True, task=task, encoding=encoding, causal=causal)
                rows[name] = 100 * _seeds(found, "accuracy")
                told.append(f"{title} {name}: {rows[name].mean():.1f}%{_not_admitted(found)}.")
            _dots(axes, rows)
            axes.axvline(50, color=GREY, linestyle=":", linewidth=GUIDE)
            axes.set_xlim(40, 104)
            axes.set_xticks([50, 75, 100])
            axes.set_title(f"{task}: {title}")
            axes.set_xlabel("right answers (%)")
        panels[0].set_ylabel("model")
        return finish(
            figure,
            alt="Share of right answers for three tasks and four models, a marker per seed; a dotted line "
            f"marks chance, 50%. {' '.join(told)}",
        )


def sizes() -> Picture:
    """Steps until both questions are answered, and what attention looks at, by the size of the encoding."""
    every = runs("sizes", every=True)
    ratios, rates = (sorted({each["run"][key] for each in every}) for key in ("ratio", "rate"))
    cap = max(each["run"]["steps"] for each in every)
    told = []
    with canvas(width=8.2, height=3.9) as figure:
        left, right = figure.subplots(1, 2)
        for number, rate in enumerate(rates):
            look = {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": "none"}
            for ratio in ratios:
                found = runs("sizes", every=True, ratio=ratio, rate=rate)
                beside = ratio * 2 ** (0.25 * (2 * number - 1))
                for each in found:
                    shown = look if each["verdict"] == "admitted" else look | {"color": GREY, "marker": "x"}
                    left.plot(beside, each["result"]["steps"], markerfacecolor="none", **shown)
                by_place = 100 * _seeds(found, "by_position")
                named = {"label": f"learning rate {rate:g}"} if ratio == ratios[-1] else {}
                right.plot([beside] * len(found), by_place, markerfacecolor="none", **look, **named)
                solved = sorted(each["result"]["steps"] for each in found if each["verdict"] == "admitted")
                told.append(
                    f"Size {ratio:g}, rate {rate:g}: solved by {len(solved)} of {len(found)}"
                    f"{f' within {solved[0]} to {solved[-1]} steps' if solved else ''}, "
                    f"{by_place.mean():.0f}% explained by the place."
                )
        label_at(left, f"not solved in {cap} steps", (1, cap), (0, -6))
        left.set_ylim(0, 1.06 * cap)
        left.set_ylabel("steps until both questions are answered")
        right.set_ylim(-2, 104)
        right.set_ylabel("attention explained by the place (%)")
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(ratios)
            axes.set_xlabel("size of the encoding / size of the content")
        label_at_curve(right)
        return finish(
            figure,
            alt="Left, the steps of training until a model answers two kinds of question, against the ratio "
            f"of the encoding's size to that of the content, from {ratios[0]:g} to {ratios[-1]:g}; right, "
            f"how much of its attention the place of a token explains. A marker per seed. {' '.join(told)}",
        )


TASKS = {
    "back": "the symbol k back",
    "recall": "the value of a key",
    "copy": "a copy of the text",
    "induction": "what came next last time",
    "addition": "a sum of two numbers",
    "parity": "odd or even",
}
CHANCES = dict.fromkeys(("back", "recall", "copy", "induction"), 100 / 16) | {"parity": 100 / 2}
"""In percent: sixteen symbols, odd or even. A sum has digits and hints of its places."""


def tasks(*, full: bool = False) -> Picture:
    """Right answers by the size of a task: from end to end above, token by token below; every run.

    Args:
        full: of the large form.
    """
    every = runs("position-tasks", every=True, full=full)
    names = [task for task in TASKS if task in _kinds(every, "task")]
    columns = min(3, len(names))
    rows = -(-len(names) // columns)
    told = []
    with canvas(width=2.9 * columns, height=4.4 * rows + 0.6) as figure:
        panels = figure.subplots(2 * rows, columns, sharey=True, squeeze=False)
        pairs = panels.reshape(rows, 2, columns).transpose(0, 2, 1).reshape(-1, 2)  # to the end, and by token
        for task, pair in zip(names, pairs, strict=False):
            for number, encoding in enumerate(_kinds(every, "encoding")):
                found = runs("position-tasks", every=True, full=full, task=task, encoding=encoding)
                passed = [each for each in found if each["verdict"] == "admitted"]
                for axes, key in zip(pair, ("exact", "tokens"), strict=True):
                    for each in found:
                        if each not in passed:
                            axes.plot(100 * np.array(each["result"][key]), **NOT_ADMITTED)
                    if passed:
                        _line(axes, range(5), 100 * _seeds(passed, key), number, TITLES[encoding])
                means = 100 * _seeds(passed, "tokens").mean(axis=0) if passed else ()
                right = ", ".join(f"{mean:.0f}%" for mean in means) or "no run passed"
                told.append(
                    f"{TASKS[task]}, {TITLES[encoding]}: {len(passed)} of {len(found)} admitted, tokens "
                    f"right: {right}."
                )
            _, *sizes = found[0]["result"]["sizes"]
            if task in CHANCES:
                pair[1].axhline(CHANCES[task], color=GREY, linestyle=":", linewidth=GUIDE)
            for axes, named in zip(pair, ([""] * 5, ["all", *map(str, sizes)]), strict=True):
                axes.set_xticks(range(5), named)
                axes.set_ylim(-4, 104)
            pair[0].set_title(TASKS[task])
            pair[1].set_xlabel("size of the task")
        for unused in pairs[len(names) :].flat:
            unused.set_axis_off()
        for upper, lower in panels[:, 0].reshape(rows, 2):
            upper.set_ylabel("right to the end (%)")
            lower.set_ylabel("tokens right (%)")
        label_at_curve(*panels[1::2, -1])
        return finish(
            figure,
            alt="Right answers against the size of a task, two panels for each task: above, those right "
            "from end to end, below, token by token. All sizes of the training come first, then twice, "
            "four times and eight times the largest. Thick lines are means, thin ones seeds, a dotted one "
            f"is chance. {' '.join(told)}",
        )


def tasks_by_distance(*, full: bool = False) -> Picture:
    """Tokens right at eight times the largest trained size, by how far back the answer stands.

    Args:
        full: of the large form.
    """
    every = runs("position-tasks", full=full)
    names = [name for name in _kinds(every, "task") if name in ("back", "recall", "induction")]
    told = []
    with canvas(width=8.2, height=3.6) as figure:
        panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
        for axes, task in zip(panels, names, strict=True):
            among = [each for each in every if each["run"]["task"] == task]
            for number, encoding in enumerate(_kinds(every, "encoding")):
                found = [each["result"] for each in among if each["run"]["encoding"] == encoding]
                if not found:
                    continue
                bands = np.array([each["by_distance"][-1] for each in found])  # (seeds, bands, 3)
                _line(axes, bands[0, :, 0], 100 * bands[..., 2], number, TITLES[encoding])
                shares = ", ".join(
                    f"{100 * share:.0f}% up to {far:.0f}"
                    for far, share in zip(bands[0, :, 0], bands[..., 2].mean(axis=0), strict=True)
                )
                told.append(f"{TASKS[task]}, {TITLES[encoding]}: {shares}.")
            axes.axhline(CHANCES[task], color=GREY, linestyle=":", linewidth=GUIDE)
            axes.set_xscale("log", base=2)
            axes.xaxis.set_major_formatter("{x:g}")
            axes.set_title(TASKS[task])
            axes.set_xlabel("how far back (tokens, at most)")
            axes.set_ylim(-4, 104)
        panels[0].set_ylabel("tokens right (%)")
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="Tokens right at eight times the largest trained size, against how far back the token is "
            "that has to be found. Thick lines are means, thin ones admitted seeds, a dotted one is chance. "
            f"{' '.join(told)}",
        )


def confusions() -> Picture:
    """Right distances by the number of waves: models beside the best possible reader, in two noises."""
    every = runs("confusions", every=True)
    noises, pairs = (sorted({each["run"][key] for each in every}) for key in ("noise", "pairs"))
    told = []
    with canvas(width=7.6, height=3.7) as figure:
        panels = figure.subplots(1, len(noises), sharey=True)
        for axes, noise in zip(panels, noises, strict=True):
            best = []
            for column, count in enumerate(pairs):
                found = runs("confusions", every=True, pairs=count, noise=noise)
                best.append(100 * _seeds(found, "best").mean())
                for number, admitted in enumerate((True, False)):
                    shares = [
                        100 * each["result"]["accuracy"]
                        for each in found
                        if (each["verdict"] == "admitted") == admitted
                    ]
                    axes.plot(
                        [column] * len(shares),
                        shares,
                        color=COLOURS[1] if admitted else GREY,
                        marker="ox"[number],
                        markerfacecolor="none",
                        linestyle="none",
                        label="model, a seed each" if admitted else "not admitted",
                    )
                mean = 100 * _seeds(found, "accuracy").mean()
                told.append(
                    f"Noise {noise:g}, {count} waves: {mean:.0f}%, at best {best[-1]:.0f}%"
                    f"{_not_admitted(found)}."
                )
            axes.plot(best, color=COLOURS[0], marker="_", markersize=14, label="best possible reader")
            axes.set_xticks(range(len(pairs)), map(str, pairs))
            axes.set_xlabel("waves")
            axes.set_title(f"noise {noise:g}")
            axes.set_ylim(0, 104)
        panels[0].set_ylabel("right distances (%)")
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="Share of distances named right against the number of waves that the encoding has, a panel "
            f"for each noise; a line for the best possible reader, a marker per seed. {' '.join(told)}",
        )


def confused(pairs: int, noise: float) -> Picture:
    """How often a distance is taken for another, by how far off that is: models and the best reader.

    Args:
        pairs: waves of the encoding.
        noise: its size.
    """
    found = runs("confusions", every=True, pairs=pairs, noise=noise)
    offsets = np.asarray(found[0]["result"]["offsets"])
    kernel = np.asarray(found[0]["result"]["kernel"])
    models, best = (100 * _seeds(found, key) for key in ("confused", "best_confused"))
    far = offsets >= 3
    worst = offsets[far][best.mean(axis=0)[far].argmax()]
    passes = all(each["verdict"] == "admitted" for each in found)
    look = {"color": COLOURS[3]} if passes else {"color": GREY}
    name = "model, a seed each" if passes else "model, a seed each, not admitted"
    waves = "one wave" if pairs == 1 else f"{pairs} waves"
    with canvas(width=7.6, height=4.4) as figure:
        upper, lower = figure.subplots(2, 1, sharex=True)
        upper.plot(offsets, kernel, color=COLOURS[0], marker=".", linestyle="-")
        upper.set_ylabel("kernel (1 at 0)")
        upper.set_title(f"{waves}, noise {noise:g}: likeness of two places, confusion of two distances")
        lower.bar(offsets, best.mean(axis=0), color=COLOURS[1], width=0.7, alpha=0.6)
        for number, values in enumerate(models):
            lower.plot(
                offsets,
                values,
                marker=MARKERS[number],
                markersize=4,
                linestyle="none",
                markerfacecolor="none",
                **look,
            )
        lower.set_ylabel("confused (%)")
        lower.set_xlabel("how far off (positions)")
        for axes in (upper, lower):
            axes.axvline(worst, color=GREY, linestyle=":", linewidth=GUIDE, zorder=0)
        at = offsets == worst
        for word, height in ((name, models[:, at].mean()), ("best reader", best.mean(axis=0)[at][0])):
            label_at(lower, word, (worst, height), (-8, 0))
        return finish(
            figure,
            alt=f"Above, the kernel of an encoding of {waves} against the offset, from {offsets[0]} to "
            f"{offsets[-1]}. Below, how often a distance is mistaken for one that is off by that much: bars "
            f"for the best possible reader, a marker per seed of the model{_not_admitted(found)}. Among "
            f"offsets of 3 or more, the one that this reader confuses most is {worst}: in "
            f"{best.mean(axis=0)[at][0]:.1f}% of the cases, the models in {models.mean(axis=0)[at][0]:.1f}%, "
            f"where the kernel is {kernel[at][0]:.2f}.",
        )


def _seeds(found: Sequence[dict[str, Any]], key: str) -> np.ndarray:
    """That part of each result, stacked: (seeds, ...)."""
    return np.asarray([each["result"][key] for each in found], dtype=np.float64)


def _kinds(every: Sequence[dict[str, Any]], setting: str) -> list[str]:
    """What a setting of runs is, each once, in their order."""
    return list(dict.fromkeys(each["run"][setting] for each in every))


def _look(number: int) -> dict[str, Any]:
    return {"color": COLOURS[number], "linestyle": DASHES[number]}


def _line(axes: Axes, x: Any, values: np.ndarray, number: int, name: str) -> None:
    """Every seed as a thin line, the mean as a thick one with markers. values: (seeds, points)."""
    look = _look(number)
    axes.plot(x, values.T, linewidth=SEED, alpha=0.6, **look)
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
    axes.axvline(length, color=GREY, linestyle=":", linewidth=GUIDE)


def _not_admitted(found: Sequence[dict[str, Any]]) -> str:
    """What the words of a picture add where some of its runs did not pass."""
    count = sum(each["verdict"] != "admitted" for each in found)
    return f", {count} of {len(found)} not admitted" if count else ""


def _ends(lengths: Sequence[int], values: np.ndarray) -> str:
    means = values.mean(axis=0)
    return f"{means[0]:.0f}% at {lengths[0]}, {means[-1]:.0f}% at {lengths[-1]}"
