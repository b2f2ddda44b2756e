"""Pictures of experiments that are solved or not: every run is on them, and those not admitted look it."""

from __future__ import annotations

from typing import Any

import numpy as np

from posenc_lib.colours import COLOURS, GREY
from posenc_lib.experiments.results import runs
from posenc_lib.figures.picture import DASHES, Picture, canvas, finish

MARKERS = ("o", "s", "^", "D", "v", "P")

NOT_ADMITTED = {"color": GREY, "marker": "x", "linestyle": "none", "markeredgewidth": 1.6}


def _admitted(each: dict[str, Any]) -> bool:
    return bool(each["verdict"] == "admitted")


def steps_by_size() -> Picture:
    """Steps to solve against the size of the encoding beside that of the content, a panel a learning rate."""
    every = runs("sizes", every=True)
    rates = sorted({each["run"]["rate"] for each in every})
    ratios = sorted({each["run"]["ratio"] for each in every})
    cap = max(each["run"]["steps"] for each in every)
    told = []
    with canvas(width=8.2, height=3.6) as figure:
        for number, (axes, rate) in enumerate(
            zip(figure.subplots(1, len(rates), sharey=True, squeeze=False)[0], rates, strict=True)
        ):
            for ratio in ratios:
                found = [
                    each for each in every if (each["run"]["rate"], each["run"]["ratio"]) == (rate, ratio)
                ]
                solved = [each["result"]["steps"] for each in found if _admitted(each)]
                lost = [cap for each in found if not _admitted(each)]
                look = {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": "none"}
                axes.plot([ratio] * len(solved), solved, markerfacecolor="none", **look)
                # Side by side, so that one can count them.
                spread = ratio * 2 ** np.linspace(-0.5, 0.5, max(len(lost), 2))[: len(lost)]
                axes.plot(spread, lost, **NOT_ADMITTED)
                steps = f", in {min(solved)} to {max(solved)} steps" if solved else ""
                told.append(f"rate {rate:g}, ratio {ratio:g}: {len(solved)} of {len(found)} solved{steps}.")
            axes.set_xscale("log", base=2)
            axes.set_xticks(ratios)
            axes.set_title(f"learning rate {rate:g}")
            axes.set_xlabel("size of the encoding, by that of the content")
        figure.axes[0].set_ylabel("steps to solve (x: not solved)")
        figure.axes[0].set_ylim(0, 1.06 * cap)
        return finish(
            figure,
            alt="Steps until both kinds of question are answered, against the ratio of the encoding's size "
            "to the content's, a marker per seed, a panel per learning rate; crosses at "
            f"{cap:,} steps are runs that were not solved. {' '.join(told)}",
        )


def confusions() -> Picture:
    """How often a distance is taken for another, by how far off that is: noise by waves, all seeds."""
    every = runs("confusions", every=True)
    noises = sorted({each["run"]["noise"] for each in every})
    waves = sorted({each["run"]["pairs"] for each in every})
    told = []
    with canvas(width=2.2 + 2.0 * len(waves), height=1.2 + 1.7 * len(noises)) as figure:
        panels = figure.subplots(len(noises), len(waves), sharex=True, squeeze=False)
        for row, noise in zip(panels, noises, strict=True):
            for axes, pairs in zip(row, waves, strict=True):
                found = [
                    each for each in every if (each["run"]["noise"], each["run"]["pairs"]) == (noise, pairs)
                ]
                offsets = np.asarray(found[0]["result"]["offsets"])
                best = 100 * np.mean([each["result"]["best_confused"] for each in found], axis=0)
                axes.bar(offsets, best, color=COLOURS[0], width=0.9, alpha=0.6)
                for each in found:
                    colour = COLOURS[1] if _admitted(each) else GREY
                    dash = DASHES[0] if _admitted(each) else DASHES[3]
                    confused = 100 * np.asarray(each["result"]["confused"])
                    axes.plot(offsets, confused, color=colour, linestyle=dash, linewidth=1.0)
                right, possible = (
                    100 * np.mean([each["result"][key] for each in found]) for key in ("accuracy", "best")
                )
                passed = sum(map(_admitted, found))
                axes.set_title(f"{pairs} waves, noise {noise:g}: {right:.0f}% of {possible:.0f}%", fontsize=9)
                told.append(
                    f"{pairs} waves, noise {noise:g}: {right:.1f}% right where {possible:.1f}% are possible, "
                    f"most confused offset {offsets[best.argmax()]}, {passed} of {len(found)} admitted."
                )
        for axes in panels.flat:
            axes.set_xlabel("off by (positions)")
            axes.set_ylabel("confused (%)")
        return finish(
            figure,
            alt="How often a distance is taken for another, against how far off that is. Bars: the best "
            "possible reader; lines: trained models, a line per seed, grey and dotted where not admitted. "
            f"{' '.join(told)}",
        )
