"""Pictures of `09-beyond-text`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from posenc_course.colours import BLUE, COLOURS, GREEN, GREY, ORANGE, PURPLE
from posenc_course.experiments.results import runs
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.moves import At, Move, draw
from posenc_course.figures.picture import DASHES, DIVERGING, GUIDE, SEED, Picture, canvas, finish
from posenc_lib.added import grid_sinusoidal, laplacian_eigenvectors, sinusoidal
from posenc_lib.rotated import axial_tables, mixed_rates, mixed_tables, rotate

# --- The same once more ----------------------------------------------------------------------------

MOLECULE = np.array([[-1.0, -0.5], [0.1, -0.7], [0.3, 0.4], [1.2, 0.6]])


def turned(points: np.ndarray, degrees: float) -> np.ndarray:
    """Points of the plane, (n, 2), about the origin."""
    angle = math.radians(degrees)
    rotation = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return np.asarray(points @ rotation.T)


def _words(axes: Axes, start: float, end: float) -> Iterable[Move]:
    for row, places in ((0.5, 0), (-0.5, 3)):
        for place, word in enumerate(("dog", "chases", "cat")):
            x = 0.55 * places + 1.5 * place - 2.4
            text = axes.text(x, row, word, ha="center", va="center", fontsize=11)
            if places:
                yield Move([text], (At(start, by=(-0.55 * places, 1), opacity=0), At(end)))


def _image(axes: Axes, start: float, end: float) -> Iterable[Move]:
    row, column = np.divmod(np.arange(25), 5)
    lit = np.array([6, 10, 11, 12, 16])
    for corner, shift in ((-2.2, 0), (0.5, 1)):
        x, y = corner + 0.4 * column, 0.8 - 0.4 * row
        style: dict[str, Any] = {"marker": "s", "markersize": 7, "linestyle": "none"}
        axes.plot(x, y, color=GREY, alpha=0.25, **style)
        cross = axes.plot(x[lit + shift], y[lit + shift], color=ORANGE, **style)
        if shift:
            yield Move(cross, (At(start, by=(-0.4 * shift, 0)), At(end)))


def _week(axes: Axes, start: float, end: float) -> Iterable[Move]:
    days = 2 * np.pi * np.arange(7) / 7
    x, y = np.sin(days), np.cos(days)
    way = axes.plot(np.append(x, x[0]), np.append(y, y[0]), color=GREY, linestyle="-", linewidth=GUIDE)
    axes.plot(x, y, color=BLUE, marker="o", linestyle="none")
    for name, at in zip(("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"), days, strict=True):
        axes.text(1.6 * np.sin(at), 1.4 * np.cos(at), name, ha="center", va="center", fontsize=11)
    yield draw(*way, start=start, end=end)


def _strands(axes: Axes, start: float, end: float) -> Iterable[Move]:
    for row, letters in ((0.35, "AACG"), (-0.35, "TTGC")):
        for place, letter in enumerate(letters):
            axes.text(place - 1.5, row, letter, ha="center", va="center", fontsize=13, family="monospace")
    for height, tail, head in ((0.95, -1.7, 1.7), (-0.95, 1.7, -1.7)):
        arrow = axes.annotate(
            "", (head, height), (tail, height), arrowprops={"arrowstyle": "->", "color": GREEN, "lw": 2}
        )
        yield Move([arrow], (At(start, grow=(0, 1)), At(end)), about=(tail, height))


def _molecules(axes: Axes, start: float, end: float) -> Iterable[Move]:
    for degrees, side in ((0, -1.35), (100, 1.35)):
        x, y = 0.85 * turned(MOLECULE, degrees).T + np.array([[side], [0.0]])
        drawn = axes.plot(x, y, color=GREY, linestyle="-", linewidth=GUIDE)
        for place, colour in zip(range(4), (PURPLE, BLUE, ORANGE, GREEN), strict=True):
            drawn += axes.plot(
                x[place], y[place], color=colour, marker="os^D"[place], markersize=9, linestyle="none"
            )
        if degrees:
            yield Move(drawn, (At(start, turn=-degrees), At(end)), about=(side, 0))


def _graphs(axes: Axes, start: float, end: float) -> Iterable[Move]:
    corners = 2 * np.pi * np.arange(5) / 5
    numbers = (1, 2, 3, 4, 5)
    for side, names in ((-1.5, numbers), (1.5, (4, 1, 5, 3, 2))):
        x, y = side + 0.9 * np.sin(corners), 0.9 * np.cos(corners)
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 4)):
            axes.plot(x[[a, b]], y[[a, b]], color=GREY, linestyle="-", linewidth=GUIDE)
        axes.plot(x, y, color=BLUE, marker="o", markersize=5, linestyle="none")
        outside = 1.25 * np.column_stack([np.sin(corners), np.cos(corners)])
        for name, at in zip(names, outside, strict=True):
            number = axes.text(side + at[0], at[1], str(name), ha="center", va="center", fontsize=11)
            across, up = outside[numbers.index(name)] - at
            if across or up:
                yield Move([number], (At(start, by=(across, up)), At(end)))


PANELS: dict[str, Callable[[Axes, float, float], Iterable[Move]]] = {
    "a sentence, later": _words,
    "a picture, moved": _image,
    "a week, again": _week,
    "a strand, and the other": _strands,
    "a molecule, rotated": _molecules,
    "a graph, renumbered": _graphs,
}
"""What draws each, and says how the second comes of the first between two times."""


def same_again() -> Picture:
    """Six kinds of data, each beside what means the same."""
    with canvas(width=5.4, height=5.4) as figure:  # narrow enough for a phone
        moves: list[Move] = []
        for number, (axes, (name, panel)) in enumerate(
            zip(figure.subplots(3, 2).flat, PANELS.items(), strict=True)
        ):
            moves += panel(axes, 0.4 + 0.7 * number, 1.3 + 0.7 * number)
            axes.set_title(name, fontsize=12)
            axes.set_xlim(-3.0, 3.0)
            axes.set_ylim(-1.7, 1.7)
            axes.set_aspect("equal")
            axes.axis("off")
        return finish(
            figure,
            moves=moves,
            alt="Six panels, each showing something twice. A sentence of three words, and the same words "
            "further to the right. A cross of bright patches, and the same cross one patch to the right. "
            "The days of the week on a circle, where Monday follows Sunday. The bases AACG with TTGC "
            "opposite, and an arrow for each strand, in opposite directions. A molecule of four atoms, and "
            "the same one rotated. A graph of five nodes, and the same one with different numbers at its "
            "nodes.",
        )


# --- Images ----------------------------------------------------------------------------------------

SIDE, MIDDLE, DIM = 8, 27, 32


def likeness_maps() -> dict[str, np.ndarray]:
    """How like each patch of an 8 by 8 picture is to patch 27, 1 for the same: (8, 8) for each encoding.

    Of what is added: the cosine of the two vectors. Of what rotates: the mean of the pairs' cosines.
    """
    row, column = np.divmod(np.arange(SIDE**2), SIDE)
    flat = sinusoidal(SIDE**2, DIM)
    halves = grid_sinusoidal((SIDE, SIDE), DIM).reshape(-1, DIM)
    ones = np.tile([1.0, 0.0], (SIDE**2, DIM // 2))
    at = np.stack([row, column]).astype(float)
    axial = rotate(ones, axial_tables(at, DIM, base=100.0))
    mixed = rotate(ones, mixed_tables(at, mixed_rates(DIM, seed=3)))
    tables = {"the index": flat, "added, two halves": halves, "axial RoPE": axial, "mixed RoPE": mixed}
    found = {}
    for name, table in tables.items():
        unit = table / np.linalg.norm(table, axis=-1, keepdims=True)
        found[name] = (unit @ unit[MIDDLE]).reshape(SIDE, SIDE)
    return found


def likeness() -> Picture:
    """`likeness_maps`, side by side."""
    with canvas(width=8.4, height=2.6) as figure:
        every = figure.subplots(1, 4, sharey=True)
        for axes, (name, values) in zip(every, likeness_maps().items(), strict=True):
            image = axes.imshow(values, cmap=DIVERGING, vmin=0, vmax=1)
            axes.plot(MIDDLE % SIDE, MIDDLE // SIDE, marker="x", color="black", markersize=8)
            axes.set_title(name)
            axes.set_xlabel("column")
        every[0].set_ylabel("row")
        figure.colorbar(image, ax=list(every), shrink=0.8).set_label("likeness")
        return finish(
            figure,
            alt="Four squares of 8 by 8 patches, coloured by how like each is to the patch in row 3, column "
            "3, which a cross marks. The index: a bar along row 3, and fainter bars above and below it. "
            "Added in two halves, and axial RoPE: a cross, row 3 and column 3. Mixed RoPE: a cross that "
            "leans, with soft arms.",
        )


# --- What was learned ------------------------------------------------------------------------------

CASES: dict[str, tuple[str, str | None]] = {
    "cycle": ("which nodes lie on a triangle?", None),
    "side": ("which are on the marked side?", None),
    "siblings": ("which are siblings?", "in larger trees"),
    "below": ("which hang below?", "in larger trees"),
    "sound": ("does the tone rise?", "in twice as many frames"),
    "week": ("the next value", "a year later"),
    "strands": ("are the motifs near?", "on the other strand"),
    "resolution": ("which digit?", "each patch cut in four"),
    "points": ("which atom is nearer?", "rotated"),
    "waves": ("a sum of five waves", None),
}
"""Case of the experiment `beyond-text` -> what is asked, and what `elsewhere` is."""

NAMES = {
    "none": "no positions",
    "sinusoidal": "plain index",
    "index": "plain index",
    "laplacian": "eigenvectors, coins",
    "laplacian-invariant": "eigenvectors, |v|",
    "random-walk": "random walk",
    "depth": "depth",
    "tree-paths": "path to the root",
    "convolution": "convolution",
    "time2vec": "Time2Vec",
    "calendar": "calendar circles",
    "alibi": "ALiBi",
    "enformer": "Enformer",
    "enformer-distance": "Enformer, no sign",
    "enformer-both": "Enformer, both strands",
    "learned-grid": "learned, stretched",
    "axial": "axial RoPE",
    "mixed": "mixed RoPE",
    "coordinates": "coordinates",
    "distances": "distances",
    "fourier": "Fourier features",
}
"""Encoding -> its name in pictures; in the case `week`, "sinusoidal" is of the time."""


def name_of(case: str, encoding: str) -> str:
    """How a picture calls it."""
    if encoding == "sinusoidal" and case == "week":
        return "time, sinusoidal"
    return "the coordinate" if (case, encoding) == ("waves", "none") else NAMES[encoding]


def found(case: str) -> dict[str, list[dict[str, Any]]]:
    """Encoding -> its runs, admitted or not, in the order of the experiment."""
    every = runs("beyond-text", every=True, case=case)
    names = dict.fromkeys(each["run"]["encoding"] for each in every)
    return {name: [each for each in every if each["run"]["encoding"] == name] for name in names}


_LOOKS = (("score", BLUE, "o", -0.17), ("elsewhere", ORANGE, "s", 0.17), ("moved", GREEN, "^", 0.0))
"""Where a result is kept, and how it is drawn; `moved` is of `points` alone."""


def learned(*cases: str) -> Picture:
    """Every run of these cases: the score, and the score elsewhere; a cross where one was not admitted."""
    widest = max(len(found(case)) for case in cases)
    told = []
    with canvas(width=5.0 if len(cases) == 1 else 8.4, height=1.5 + 0.42 * widest) as figure:
        alike = len({tuple(name_of(case, each) for each in found(case)) for case in cases}) == 1
        panels = figure.subplots(1, len(cases), squeeze=False, sharey=alike)[0]
        for axes, case in zip(panels, cases, strict=True):
            told.append(_learned(axes, case))
            if alike and axes is not panels[0]:
                axes.set_ylabel("")
        return finish(
            figure,
            alt="Scores of trained models, from 0 for chance to 1 for everything there is to find, a mark "
            "for each seed. " + " ".join(told),
        )


def _learned(axes: Axes, case: str) -> str:
    """Draw one case; in words, the means."""
    question, elsewhere = CASES[case]
    called = {"score": "as in training", "elsewhere": elsewhere, "moved": "moved"}
    rows = found(case)
    words = []
    for row, (encoding, every) in enumerate(rows.items()):
        parts = []
        for key, colour, marker, beside in _LOOKS:
            values = [each["result"][key] for each in every if each["result"].get(key) is not None]
            if not values:
                continue
            for each in every:
                admitted = each["verdict"] == "admitted"
                look: dict[str, Any] = {"color": GREY, "marker": "x"}
                look |= {"color": colour, "marker": marker} if admitted else {}
                axes.plot(
                    each["result"][key], row + beside, markerfacecolor="none", markeredgewidth=1.6, **look
                )
            parts.append(f"{np.mean(values):.2f}" + ("" if key == "score" else f" {called[key]}"))
        out = sum(each["verdict"] != "admitted" for each in every)
        parts += [f"{out} of {len(every)} not admitted"] if out else []
        words.append(f"{name_of(case, encoding)}: {', '.join(parts)}")
    axes.axvline(0, color=GREY, linestyle=":", linewidth=GUIDE)
    axes.set_yticks(range(len(rows)), [name_of(case, encoding) for encoding in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(min(-0.08, axes.get_xlim()[0]), 1.05)
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel("positions")
    axes.set_title(question)
    axes.set_xlabel("score")
    if elsewhere:
        first = next(iter(rows.values()))
        shown = [key for key in ("score", "moved", "elsewhere") if key in first[0]["result"]]
        right = max(each["result"][key] for each in first for key in shown)
        for key, up in zip(shown, (8, 0, -8) if len(shown) == 3 else (1, -1), strict=True):
            label_at(axes, str(called[key]), (right, 0), (10, up))
    return f"{question} {'; '.join(words)}."


# --- Fields ----------------------------------------------------------------------------------------


def left_by_wave(encoding: str) -> np.ndarray:
    """Share of each wave that is not learned after 1/8, 1/4, 1/2 and all steps: (seeds, 4, waves)."""
    return np.array([each["result"]["left"] for each in found("waves")[encoding]])


def spectral_bias() -> Picture:
    """What is left of each wave in the course of the training, from a coordinate and from its waves."""
    periods = found("waves")["none"][0]["result"]["frequencies"]
    told = []
    with canvas(width=7.4, height=3.3) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, encoding in zip(panels, ("none", "fourier"), strict=True):
            values = 100 * left_by_wave(encoding)
            for number, share in enumerate(("1/8", "1/4", "1/2", "all")):
                look: dict[str, Any] = {"color": COLOURS[number], "linestyle": DASHES[number]}
                axes.plot(range(len(periods)), values[:, number].T, linewidth=SEED, alpha=0.6, **look)
                axes.plot(
                    range(len(periods)),
                    values[:, number].mean(axis=0),
                    marker="os^D"[number],
                    label=f"{share} of the steps",
                    **look,
                )
            axes.set_title(f"from {name_of('waves', encoding).lower()}".replace("fourier", "Fourier"))
            axes.set_xticks(range(len(periods)), [str(each) for each in periods])
            axes.set_xlabel("periods of the wave")
            ends = ", ".join(f"{each:.0f}%" for each in values[:, -1].mean(axis=0))
            told.append(f"From {name_of('waves', encoding)}, at the end: {ends}.")
        panels[0].set_ylabel("not learned yet (%)")
        panels[0].set_ylim(-3, 105)
        label_at_curve(*panels[::-1])
        return finish(
            figure,
            alt="How much of each of five waves, with 1, 2, 4, 8 and 16 periods, a network has not learned, "
            f"after 1/8, 1/4, 1/2 and all of its steps; a thin line for each seed. {' '.join(told)}",
        )


# --- Graphs ----------------------------------------------------------------------------------------

PLACES = np.array([[-2.2, 0.5], [-2.2, -0.6], [-1.2, 0.9], [-1.2, -0.9], [-0.5, 0.0],
                   [0.5, 0.0], [1.2, 0.9], [1.2, -0.9], [2.2, 0.5], [2.2, -0.6]])  # fmt: skip
EDGES = (
    (0, 1),
    (0, 2),
    (1, 3),
    (2, 4),
    (3, 4),
    (0, 4),
    (4, 5),
    (5, 6),
    (5, 7),
    (6, 8),
    (7, 9),
    (8, 9),
    (5, 9),
)


def two_clusters() -> np.ndarray:
    """Two groups of five nodes with one edge between them: (10, 10)."""
    adjacency = np.zeros((10, 10))
    for a, b in EDGES:
        adjacency[a, b] = adjacency[b, a] = 1
    return adjacency


def waves_of_a_graph() -> Picture:
    """The slowest wave of a graph, the same with the other sign, and the next two."""
    values, vectors = laplacian_eigenvectors(two_clusters(), 3, normalization="none")
    first = vectors[:, 0] * np.sign(vectors[0, 0])
    panels = {
        "the slowest wave": first,
        "the same wave": -first,
        "the second": vectors[:, 1],
        "the third": vectors[:, 2],
    }
    with canvas(width=7.4, height=4.2) as figure:
        every = figure.subplots(2, 2)
        for axes, (name, wave) in zip(every.flat, panels.items(), strict=True):
            for a, b in EDGES:
                axes.plot(*PLACES[[a, b]].T, color=GREY, linestyle="-", linewidth=GUIDE, zorder=1)
            dots = axes.scatter(
                *PLACES.T, c=wave, cmap=DIVERGING, vmin=-0.7, vmax=0.7, s=150, edgecolors=GREY, zorder=2
            )
            axes.set_title(name)
            axes.set_xlim(-2.7, 2.7)
            axes.set_ylim(-1.4, 1.4)
            axes.axis("off")
        figure.colorbar(dots, ax=every, shrink=0.7).set_label("eigenvector")
        return finish(
            figure,
            alt="Four times the same graph: two groups of five nodes, joined by one edge, nodes coloured by "
            "the entries of an eigenvector. The slowest wave is positive in the left group and negative "
            "in the right one. The same wave with the other sign: negative left, positive right. The second "
            "and the third change sign within the groups. Their eigenvalues are "
            f"{values[0]:.2f}, {values[1]:.2f} and {values[2]:.2f}.",
        )
