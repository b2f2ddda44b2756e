"""Pictures of texts longer than the training: RoPE stretched after it, and needles in them."""

from __future__ import annotations

import numpy as np

from posenc_course.colours import COLOURS, GREY
from posenc_course.experiments import needle, rescaled
from posenc_course.experiments.results import runs, stored
from posenc_course.figures.labels import label_at_curve
from posenc_course.figures.picture import DASHES, GUIDE, SEED, SHADES, Picture, canvas, finish

MARKERS = ("o", "s", "^", "D", "v")
RULES = {
    "plain": "RoPE as it is",
    "pi": "PI",
    "ntk": "NTK",
    "yarn": "YaRN",
    "dropped": "RoPE left out",
    "log-length": "RoPE, log-length temperature",
}
MAPS = {
    ("rope", "plain"): "RoPE as it is",
    ("rope", "pi"): "PI",
    ("rope", "yarn"): "YaRN",
    ("alibi", "plain"): "ALiBi",
    ("rope-and-none", "plain"): "RoPE in 3 layers of 4",
    ("rope-window-and-none", "plain"): "RoPE in a window, nothing in the rest",
    ("rope-window-and-rope", "plain"): "RoPE in a window, RoPE in the rest",
}


def stretched(*, full: bool = False, name: str = "rescaled") -> Picture:
    """The loss of a RoPE model by the length of the text: stretched to it by each rule, or in a window.

    Args:
        full: of the large form.
        name: "rescaled", or "rescaled-beyond-counting", of models that know more.
    """
    first = runs(name, full=full, encoding="rope", rule="plain")[0]
    lengths, trained = first["result"]["lengths"], first["run"]["length"]
    told = []
    window = f"RoPE, a window of {trained}"
    slid = np.stack([rescaled.in_a_window(n, full=full, name=name).mean(axis=1) for n in lengths], axis=1)
    of_window = ", ".join(f"{mean:.2f} at {n:,}" for n, mean in zip(lengths, slid.mean(axis=0), strict=True))
    with canvas(width=8.2, height=4.2) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, share, title in zip(
            panels, (0, rescaled.SHARE), ("without tuning", "tuned for 1% of the training"), strict=True
        ):
            for number, rule in enumerate(("plain", "pi", "ntk", "yarn")):
                at, rows = _at_own_factor(rule, share, lengths, trained, full, name)
                look = {"color": COLOURS[number], "linestyle": DASHES[number]}
                axes.plot(at, rows.T, linewidth=SEED, alpha=0.6, **look)
                axes.plot(at, rows.mean(axis=0), marker=MARKERS[number], label=RULES[rule], **look)
                means = ", ".join(
                    f"{mean:.2f} at {n:,}" for n, mean in zip(at, rows.mean(axis=0), strict=True)
                )
                told.append(f"{title}, {RULES[rule]}: {means}.")
            look = {"color": COLOURS[4], "linestyle": DASHES[4]}
            axes.plot(lengths, slid.T, linewidth=SEED, alpha=0.6, **look)
            axes.plot(lengths, slid.mean(axis=0), marker=MARKERS[4], label=window, **look)
            axes.axvline(trained, color=GREY, linestyle=":", linewidth=GUIDE)
            axes.set_xscale("log", base=2)
            axes.set_xticks(lengths, [f"{n:,}" for n in lengths])
            axes.set_xlabel("length of the text (bytes)")
            axes.set_title(title)
        panels[0].set_ylabel("loss (nats per byte)")
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="Loss of a RoPE model against the length of the text, a panel without and with a short "
            "tuning; each rule stretches to the length that is read. Thick lines are means, thin ones seeds; "
            f"a dotted line marks the length of training. {' '.join(told)} In both panels, the model as it "
            f"was trained, in a window of {trained} bytes that slides: {of_window}.",
        )


def _at_own_factor(
    rule: str, share: float, lengths: list[int], trained: int, full: bool, name: str
) -> tuple[list[int], np.ndarray]:
    """Lengths, and (seeds, lengths) of losses, each with the factor that just reaches the length."""
    at, columns = [], []
    for length in lengths:
        factor = length // trained
        try:
            found, weights = rescaled.losses(
                rule, 1 if rule == "plain" and not share else factor, share, length, full=full, name=name
            )
        except ValueError:  # this form was not run at this factor
            if factor > 1 or share:
                continue
            found, weights = rescaled.losses("plain", length=length, full=full, name=name)
        at.append(length)
        columns.append(np.average(found, axis=1, weights=weights))
    return at, np.stack(columns, axis=1)


def needles(*, full: bool = False, name: str = "needle") -> Picture:
    """Values found, by the length of the text and the depth of the needle; a map for each way to read.

    Args:
        full: of the large form.
        name: "needle", or "needle-beyond-counting", of models that know more, or "needle-and-windows", of two
            kinds more of these.
    """
    asked = {(each["run"]["encoding"], each["run"]["rule"]) for each in stored(name, full)["runs"]}
    ways = [way for way in MAPS if way in asked]
    told = []
    with canvas(width=8.6, height=3.4) as figure:
        panels = figure.subplots(1, len(ways), sharey=True)
        image = None
        for axes, (encoding, rule) in zip(panels, ways, strict=True):
            every = runs(name, every=True, full=full, encoding=encoding, rule=rule)
            found = [each for each in every if each["verdict"] == "admitted"]
            shown = found or every
            share = 100 * np.mean([each["result"]["exact"] for each in shown], axis=0)
            lengths, depths = shown[0]["result"]["lengths"], shown[0]["result"]["depths"]
            image = axes.imshow(share.T, cmap=SHADES, vmin=0, vmax=100, aspect="auto")
            axes.set_xticks(range(len(lengths)), [f"{n:,}" for n in lengths], rotation=45, fontsize=9)
            axes.set_yticks(range(len(depths)), [f"{100 * depth:.0f}" for depth in depths])
            left_out = "" if len(found) == len(every) else f"\n{len(found)} of {len(every)} admitted"
            title = MAPS[encoding, rule].replace(", ", ",\n")
            axes.set_title(f"{title}{left_out}", fontsize=10)
            axes.set_xlabel("length (bytes)")
            means = ", ".join(
                f"{mean:.0f}% at {n:,}" for n, mean in zip(lengths, share.mean(axis=1), strict=True)
            )
            told.append(f"{MAPS[encoding, rule]}, {len(found)} of {len(every)} runs admitted: {means}.")
        panels[0].set_ylabel("depth of the needle (%)")
        assert image is not None
        bar = figure.colorbar(image, ax=panels, shrink=0.9)
        bar.set_label("values found (%)")
        return finish(
            figure,
            alt="Five heat maps: the share of values found, by the length of the text and by how deep in it "
            f"the needle is hidden, as the mean of the seeds. {' '.join(told)}".replace(
                "Five", str(len(ways))
            ),
        )


KINDS = {
    "word for word": "asked word for word",
    "alike": "among four that look alike",
    "capitals": "asked in capitals",
}


def kinds_of_needles(*, full: bool = False, name: str = "needle") -> Picture:
    """Values found, by the length of the text: a panel for each kind of question, a line for each way.

    Args:
        full: of the large form.
        name: "needle", or "needle-beyond-counting", of models that know more.
    """
    told = []
    with canvas(width=8.6, height=3.6) as figure:
        panels = figure.subplots(1, len(KINDS), sharey=True)
        for axes, (kind, title) in zip(panels, KINDS.items(), strict=True):
            out = 0
            for number, (encoding, rule) in enumerate(needle.HARDER):
                every = runs(name, every=True, full=full, encoding=encoding, rule=rule)
                lengths, way = every[0]["result"]["lengths"], MAPS[encoding, rule]
                able = needle.harder(encoding, rule, kind, full=full, name=name)
                look = {"color": COLOURS[number], "linestyle": DASHES[number]}
                for harder in (each["result"]["harder"] for each in every):
                    seed = 100 * np.mean(harder["exact"][kind], axis=1)
                    thin = {"linewidth": SEED, "alpha": 0.6} if harder in able else {"linestyle": ":"}
                    axes.plot(lengths, seed, **look | thin)
                out += len(every) - len(able)
                if not able:
                    told.append(f"{title}, {way}: no run can do it at the trained length.")
                    continue
                mean = 100 * np.mean([each["exact"][kind] for each in able], axis=(0, 2))
                axes.plot(lengths, mean, marker=MARKERS[number], label=way, **look)
                means = ", ".join(f"{share:.0f}% at {n:,}" for n, share in zip(lengths, mean, strict=True))
                told.append(f"{title}, {way}, {len(able)} of {len(every)} runs: {means}.")
            axes.set_xscale("log", base=2)
            axes.set_xticks(lengths, [f"{n:,}" for n in lengths])
            axes.set_xlabel("length of the text (bytes)")
            left_out = f"\n{out} of {len(needle.HARDER) * len(every)} not learned" if out else ""
            axes.set_title(f"{title}{left_out}")
        panels[0].set_ylabel("values found (%)")
        panels[0].set_ylim(-3, 103)
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="Share of values found against the length of the text, a panel for each kind of question: "
            "mean over all depths. Thick lines are means, thin ones seeds, dotted ones those that had not "
            f"learned this kind at the length of training. {' '.join(told)}",
        )
