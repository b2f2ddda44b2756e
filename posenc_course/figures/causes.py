"""Pictures of what causes a rise of the loss, of what mistakes cost, and of what an untrained model knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posenc_course.colours import COLOURS, GREY
from posenc_course.experiments import causes
from posenc_course.experiments.mistakes import OFFSETS, PRECISION, STARTS, cost
from posenc_course.experiments.results import runs
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.picture import DASHES, GUIDE, SEED, Picture, canvas, finish
from posenc_course.figures.shoot_out import TITLES

MARKERS = ("o", "s", "^", "D", "v", "P")


def rises(trained: bool = True, *, full: bool = False) -> Picture:
    """The rise of the loss with each alleged cause and without it, with intervals, and the verdict.

    Args:
        trained: those that were trained without; else those that were read differently.
        full: of the large form.

    Raises:
        ValueError: none is stored and admitted by now.
    """
    found = sorted(
        (each for each in causes.verdicts(full) if each.cause.trained == trained),
        key=lambda each: causes.READ_ONES.index(each.cause.encoding),
    )
    if not found:
        raise ValueError(
            "no cause has stored runs yet; make them: python -m posenc_course.experiments causes"
        )
    told = []
    with canvas(width=8.2, height=2.0 + 0.42 * len(found)) as figure:
        axes = figure.subplots()
        for number, (name, away) in enumerate((("with it", 0.12), ("without it", -0.12))):
            of_each = [each.with_it if number == 0 else each.without for each in found]
            axes.errorbar(
                [finding.difference for finding in of_each],
                np.arange(len(found)) - away,
                xerr=[finding.uncertainty for finding in of_each],
                color=COLOURS[number],
                marker=MARKERS[number],
                markerfacecolor="none" if number else COLOURS[number],
                linestyle="none",
            )
            end = of_each[0].difference + of_each[0].uncertainty
            label_at(axes, name, (end, -away), (8, 10 * away))
        axes.axvline(0, color=GREY, linestyle=":", linewidth=GUIDE)
        names = [f"{TITLES[each.cause.encoding]}: {each.cause.change}" for each in found]
        axes.set_yticks(
            range(len(found)), [f"{name}\n{each.outcome}" for name, each in zip(names, found, strict=True)]
        )
        axes.set_ylabel("what was changed, and what that shows")
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0, labelsize=9)
        axes.set_xlabel("rise of the loss at four times the length of training (nats per byte)")
        for name, each in zip(names, found, strict=True):
            told.append(
                f"{name}: {each.with_it.difference:+.3f} with it, {each.without.difference:+.3f} without "
                f"it: {each.outcome}."
            )
        return finish(
            figure,
            alt="Rise of the loss at four times the length of training with an alleged cause and without "
            f"it, a row per cause, with 95% intervals. {' '.join(told)}",
        )


def costs(
    mistakes: Sequence[str] = tuple(PRECISION), *, encoding: str = "rope", full: bool = False
) -> Picture:
    """What mistakes of precision cost, in loss by where the text begins, and in the scores by the offset."""
    told = []
    with canvas(width=8.2, height=3.9) as figure:
        left, right = figure.subplots(1, 2)
        found = runs("mistakes", full=full, encoding=encoding)
        for number, mistake in enumerate(mistakes):
            look = {"color": COLOURS[number], "linestyle": DASHES[number], "marker": MARKERS[number]}
            spent = [cost(mistake, encoding, at, full=full) for at in STARTS]
            left.errorbar(
                range(len(STARTS)),
                [each.difference for each in spent],
                yerr=[each.uncertainty for each in spent],
                **look,
            )
            errors = np.mean([each["result"]["scores"][mistake] for each in found], axis=0)
            right.plot(range(len(OFFSETS)), errors[STARTS.index(4096)], label=mistake, **look)
            means = ", ".join(f"{each.difference:.3f}" for each in spent)
            told.append(
                f"{mistake}: {means} nats; of the scores, {errors[2, 1]:.3f} at offset {OFFSETS[1]}, "
            )
            told.append(f"{errors[2, -1]:.3f} at {OFFSETS[-1]:,}.")
        left.set_xticks(range(len(STARTS)), [f"{at:,}" for at in STARTS])
        left.set_xlabel("where the text begins")
        left.set_ylabel("cost (nats per byte)")
        right.set_xticks(range(len(OFFSETS)), [f"{far:,}" for far in OFFSETS])
        right.set_xlabel("how far back the key is, from 4,096")
        right.set_ylabel("error of a score (1: their spread)")
        label_at_curve(right)
        return finish(
            figure,
            alt="Left, what rounding costs a trained model, against where the text begins: "
            f"{', '.join(f'{at:,}' for at in STARTS)}. Right, the error that it makes in a score, against "
            f"the offset. {' '.join(told)}",
        )


def untrained() -> Picture:
    """What probes read in untrained models, by all that is varied; the variance; and what explains it."""
    every = runs("untrained")
    told = []
    with canvas(width=9.6, height=6.0) as figure:
        panels = figure.subplots(2, 3)
        for axes, name in zip(panels.flat, ("vocabulary", "length", "layers", "scale"), strict=False):
            for number, (probe, of) in enumerate((("linear", "r2"), ("with squares", "squares"))):
                for count in (16, 256) if name != "vocabulary" else (None,):
                    among = [
                        each
                        for each in every
                        if each["run"]["varied"] in (name, "vocabulary")
                        and count in (None, each["run"]["vocabulary"])
                    ]
                    values = sorted({each["run"][name] for each in among})
                    rows = [
                        [each["result"][of][-1] for each in among if each["run"][name] == value]
                        for value in values
                    ]
                    look = {"color": COLOURS[number], "marker": MARKERS[number]}
                    for value, r2 in zip(values, rows, strict=True):
                        axes.plot([value] * len(r2), r2, linestyle="none", markersize=3, **look)
                    means = [float(np.mean(r2)) for r2 in rows]
                    label = probe if count is None else f"{probe}, {count} tokens"
                    axes.plot(
                        values, means, color=COLOURS[number], linestyle=DASHES[count == 256], label=label
                    )
                    ends = ", ".join(f"{m:.2f} at {v:g}" for v, m in zip(values, means, strict=True))
                    told.append(f"{name}, {label}: {ends}.")
            axes.set_xscale("log", base=2)
            varied = {"scale": "size of the first weights", "vocabulary": "how many tokens there are"}
            axes.set_xlabel(varied.get(name, name))
            axes.set_ylabel("R²")
            axes.set_ylim(-0.05, 1.02)
        shrinking, explained = panels.flat[4:]
        for each in (each for each in every if each["run"]["varied"] == "vocabulary"):
            places = 1 + np.asarray(each["result"]["places"])
            shrinking.plot(places, each["result"]["variance"], color=COLOURS[2], linewidth=SEED)
        shrinking.plot(places, 1 / places, color=GREY, linestyle=":")
        shrinking.set_xscale("log", base=2)
        shrinking.set_yscale("log", base=2)
        shrinking.set_xlabel("tokens seen (dots: 1/n)")
        shrinking.set_ylabel("variance (1: the first token's)")
        kinds = ("all", "mean", "variance", "own token", "all but variance", "nothing")
        for row, left in enumerate(kinds):
            for number, count in enumerate((16, 256)):
                among = [
                    each
                    for each in every
                    if (each["run"]["left"], each["run"]["vocabulary"]) == (left, count)
                    and each["run"]["varied"] in ("left", "vocabulary")
                ]
                r2 = [each["result"]["squares"][-1] for each in among]
                named = {"label": f"{count} tokens"} if row == 0 else {}
                explained.plot(
                    r2,
                    [row] * len(r2),
                    color=COLOURS[1],
                    marker=MARKERS[2 + number],
                    markerfacecolor="none",
                    linestyle="none",
                    **named,
                )
                told.append(f"left {left}, {count} tokens: {np.mean(r2):.2f}.")
        explained.set_yticks(range(len(kinds)), list(kinds))
        explained.set_ylabel("what is left")
        explained.set_ylim(len(kinds) - 0.5, -0.5)
        explained.set_xlabel("R² (with squares)")
        label_at_curve(panels[0, -1], explained)
        return finish(
            figure,
            alt="Share of the variance of positions that probes read from the last states of models that "
            "were never trained, on unseen sequences, a marker per seed; the shrinking variance of what "
            "attention gives; and what is read where only some of it tells positions apart. "
            f"{' '.join(told)}",
        )
