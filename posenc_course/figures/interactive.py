"""The figures that a reader can move: their sliders, and the picture that stands where no script runs.

A page draws them itself, without Python (`book/web/src/figures/`). What each slider may hold and where it
starts is written here alone, and reaches the page with the picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures import beyond_text, extrapolation, formula, long_context
from posenc_course.figures.labels import label_at, label_at_curve
from posenc_course.figures.picture import BAND, BOLD, CURVE, DIVERGING, GUIDE, Picture, canvas, finish
from posenc_course.translation import _
from posenc_lib.added.sinusoidal import similarity, sinusoidal
from posenc_lib.angles import frequencies
from posenc_lib.biased.alibi import alibi_slopes
from posenc_lib.biased.gates import data_dependent_alibi
from posenc_lib.rotated.rotary import apply_rotary
from posenc_lib.scaling.rules import LinearScaling, NTKScaling, YaRNScaling

# One pair of a query and of a key, before they are turned.
QUERY, KEY = (1.2, 0.4), (0.6, 1.0)


@dataclass(frozen=True)
class Slider:
    """A setting that a reader moves: the values that it may take, in order, and where it starts."""

    name: str
    values: tuple[float, ...]
    start: float


@dataclass(frozen=True)
class LiveFigure:
    """A figure that a page can draw: its sliders, and how to draw it once, by name of the slider."""

    sliders: tuple[Slider, ...]
    draw: Callable[..., Picture]

    def at(self, **given: float) -> LiveFigure:
        """The same figure with other starts.

        Raises:
            ValueError: there is no such slider, or it has no such value.
        """
        names = [slider.name for slider in self.sliders]
        for name in given:
            if name not in names:
                raise ValueError(f"there is no slider {name!r} here; the sliders are {', '.join(names)}")
        started = (_started(slider, given.get(slider.name, slider.start)) for slider in self.sliders)
        return replace(self, sliders=tuple(started))

    def picture(self) -> Picture:
        """The figure as it is before anybody moves a slider."""
        return self.draw(**{slider.name: slider.start for slider in self.sliders})


def _started(slider: Slider, start: float) -> Slider:
    if start not in slider.values:
        allowed = ", ".join(f"{value:g}" for value in slider.values)
        raise ValueError(f"{slider.name}={start:g} is not a value of this slider; give one of {allowed}")
    own = slider.values[slider.values.index(start)]  # 40, where 40.0 was given
    return replace(slider, start=own)


def heatmap(*, dim: int, base: float, length: int) -> Picture:
    """The table of the sinusoidal encoding as colours."""
    with canvas(width=7.0, height=4.2) as figure:
        axes = figure.subplots()
        table = sinusoidal(length, dim, base=base)
        image = axes.imshow(table, aspect="auto", cmap=DIVERGING, vmin=-1, vmax=1, extent=(0, dim, length, 0))
        axes.set_xlabel(_("column (even: sine, odd: cosine)"))
        axes.set_ylabel(_("position"))
        figure.colorbar(image, ax=axes, ticks=[-1, 0, 1]).set_label(_("value"))
        return finish(
            figure,
            alt=_(
                "Heat map of the sinusoidal encoding: {length} positions downwards, {dim} columns to the "
                "right, base {base:,g}, values from minus 1 (blue) to 1 (red). The columns on the left "
                "change quickly from position to position, those on the right slowly."
            ).format(length=length, dim=dim, base=base),
        )


def clocks(*, position: int, dim: int) -> Picture:
    """One clock per pair."""
    return formula.clocks(position, dim)


def first_rise(values: np.ndarray) -> int | None:
    """The first index from which the next value is larger; None where none is."""
    rises = np.flatnonzero(np.diff(values) > 0)
    return int(rises[0]) if rises.size else None


def dot_product(*, dim: int, base: float, length: int) -> Picture:
    """The dot product of two encodings against their offset, with its first rise marked."""
    values = similarity(np.arange(length + 1), dim, base=base)
    rise = first_rise(values)
    with canvas(width=7.0, height=3.6) as figure:
        axes = figure.subplots()
        axes.plot(values, color=BLUE, linestyle="-", marker="o", markersize=3)
        if rise is not None:
            axes.axvline(rise, color=ORANGE, linestyle=":", linewidth=GUIDE)
            axes.plot([rise], [values[rise]], color=ORANGE, marker="D", markersize=8)
            words = _("first rise: after offset {offset}").format(offset=rise)
            axes.annotate(words, (rise, dim / 2), textcoords="offset points", xytext=(8, -4))
        axes.set_xlabel(_("offset (positions)"))
        axes.set_ylabel(_("dot product of the two encodings"))
        told = _(
            "Dot product of two sinusoidal encodings of width {dim}, base {base:,g}, against their offset "
            "from 0 to {length}. It is largest, {largest:g}, at offset 0."
        ).format(dim=dim, base=base, length=length, largest=dim / 2)
        if rise is not None:
            told += " " + _("It rises for the first time after offset {offset}, which is marked.").format(
                offset=rise
            )
        return finish(figure, alt=told)


def rotary(*, query: int, key: int, shift: int, frequency: float) -> Picture:
    """One pair of a query and of a key, turned by their positions, and their score."""

    def turned(pair: tuple[float, float], position: float) -> np.ndarray:
        # Width 2 has frequency 1: the position times the frequency is the angle.
        return np.asarray(apply_rotary(np.asarray([pair]), np.asarray([position * frequency]))[0])

    def score(offset: int) -> float:
        return float(turned(QUERY, 0) @ turned(KEY, offset))

    offsets = np.arange(-40, 41)
    with canvas(width=8.0, height=3.4) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
        rim = np.linspace(0, 2 * np.pi, 200)
        left.plot(1.3 * np.cos(rim), 1.3 * np.sin(rim), color=GREY, linestyle="-", linewidth=GUIDE)
        placed = (
            (QUERY, query + shift, BLUE, "o", _("query, position {at}")),
            (KEY, key + shift, ORANGE, "s", _("key, position {at}")),
        )
        for pair, position, colour, marker, words in placed:
            (x, y), (a, b) = turned(pair, 0), turned(pair, position)
            left.plot([0, x], [0, y], color=colour, linestyle=":", linewidth=GUIDE)
            left.plot([0, a], [0, b], color=colour, linestyle="-")
            label_at(left, words.format(at=position), (a, b), (9 * np.sign(a), 9 * np.sign(b)))
            left.plot([a], [b], color=colour, marker=marker, markersize=7)
        left.set_aspect("equal")
        left.axis("off")
        right.plot(offsets, [score(offset) for offset in offsets.tolist()], color=GREEN, linestyle="-")
        right.plot([key - query], [score(key - query)], color=PURPLE, marker="D", markersize=9)
        right.set_xlabel(_("key position − query position"))
        right.set_ylabel(_("score (dot product)"))
        return finish(
            figure,
            alt=_(
                "Left: one pair of a query and one of a key, as arrows from the centre of a circle. RoPE has "
                "turned each, counterclockwise, by its position times {frequency:g} rad: the query by "
                "position {query}, the key by position {key}. Right: their score against the difference of "
                "the positions, a wave. At the difference {offset} a mark shows the score of the two arrows, "
                "{score:.3f}."
            ).format(
                frequency=frequency,
                query=query + shift,
                key=key + shift,
                offset=key - query,
                score=score(key - query),
            ),
        )


def alibi(*, heads: int, distance: int) -> Picture:
    """ALiBi's slopes, and the bias of each head against the distance."""
    slopes = alibi_slopes(heads)
    power = 2 ** (heads.bit_length() - 1)
    number = np.arange(1, heads + 1)
    with canvas(width=8.0, height=3.6) as figure:
        left, right = figure.subplots(1, 2)
        left.plot(number[:power], slopes[:power], color=BLUE, linestyle="none", marker="o", markersize=5)
        left.plot(number[power:], slopes[power:], color=ORANGE, linestyle="none", marker="s", markersize=5)
        left.set_yscale("log", base=2)
        left.set_xlabel(_("head"))
        left.set_ylabel(_("slope (per position)"))
        for head, slope in enumerate(slopes):
            colour, dash = (BLUE, "-") if head < power else (ORANGE, "--")
            right.plot([0, 200], [0, -200 * slope], color=colour, linestyle=dash, linewidth=GUIDE)
        right.axvline(distance, color=GREY, linestyle=":", linewidth=GUIDE)
        right.set_xlim(0, 200)
        right.set_ylim(-30, 1)
        right.set_xlabel(_("distance back to the key (positions)"))
        right.set_ylabel(_("bias on the score"))
        return finish(
            figure,
            alt=_(
                "Left: the slopes of {heads} heads on a logarithmic axis, from {steepest:.3g} down to "
                "{gentlest:.3g}. Right: the bias of each head against the distance, a straight line down "
                "from 0. At distance {distance} the steepest is at {lowest:.3g} and the gentlest at "
                "{highest:.3g}."
            ).format(
                heads=heads,
                steepest=slopes.max(),
                gentlest=slopes.min(),
                distance=distance,
                lowest=-distance * slopes.max(),
                highest=-distance * slopes.min(),
            ),
        )


def wavelengths(*, head_dim: int, base: float, original_length: int, factor: float) -> Picture:
    """The wavelength of each pair, plain and with three rules that stretch the context."""
    rules = (
        (_("plain RoPE"), None, GREY, "-", BAND),
        (_("PI"), LinearScaling(factor), BLUE, "--", CURVE),
        (_("NTK"), NTKScaling(factor), ORANGE, "-.", CURVE),
        (_("YaRN"), YaRNScaling(factor, original_length=original_length), GREEN, ":", BOLD),
    )
    with canvas(width=7.5, height=4.0) as figure:
        axes = figure.subplots()
        for name, rule, colour, dash, width in rules:
            turns = 2 * np.pi / frequencies(head_dim, base=base, scaling=rule)
            axes.plot(turns, color=colour, linestyle=dash, linewidth=width, label=name)
        levels = (
            (original_length, _("trained context: {length:,g}")),
            (factor * original_length, _("stretched context: {length:,g}")),
        )
        for level, words in levels:
            axes.axhline(level, color=PURPLE, linestyle="--", linewidth=GUIDE)
            axes.text(0, level * 1.1, words.format(length=level), va="bottom")
        axes.set_yscale("log")
        axes.set_xlabel(_("pair"))
        axes.set_ylabel(_("wavelength (positions)"))
        label_at_curve(axes)
        return finish(
            figure,
            alt=_(
                "Wavelength of each of the {pairs} pairs of a head of width {head_dim}, base {base:,g}, on a "
                "logarithmic axis. Plain RoPE is a straight line upwards. For a context {factor:g} times as "
                "long, PI lifts it everywhere by that factor; NTK lifts the first pair not at all and the "
                "last by the factor; YaRN leaves the fast pairs, lifts the slow ones by the factor, and "
                "ramps in between. Two level lines mark the trained context, {trained:,g} positions, and the "
                "stretched one, {stretched:,g}."
            ).format(
                pairs=head_dim // 2,
                head_dim=head_dim,
                base=base,
                factor=factor,
                trained=original_length,
                stretched=factor * original_length,
            ),
        )


def shift(*, position: int, offset: int, base: float) -> Picture:
    """Four clocks at a position and an offset on: the turn between the two hands of each."""
    rates = frequencies(8, base=base)
    with canvas(width=8.0, height=2.6) as figure:
        for pair, axes in enumerate(figure.subplots(1, len(rates))):
            start, end = position * rates[pair], (position + offset) * rates[pair]
            rim, swept = np.linspace(0, 2 * np.pi, 200), np.linspace(start, end, 60)
            axes.plot(np.sin(rim), np.cos(rim), color=GREY, linestyle="-", linewidth=GUIDE)
            wedge = np.append(0, np.sin(swept)), np.append(0, np.cos(swept))
            axes.fill(0.72 * wedge[0], 0.72 * wedge[1], color=ORANGE, alpha=0.3, linewidth=0)
            for angle, length, colour, dash in ((start, 1.0, BLUE, "-"), (end, 0.72, ORANGE, "--")):
                tip = length * np.sin(angle), length * np.cos(angle)
                axes.plot([0, tip[0]], [0, tip[1]], color=colour, linestyle=dash, linewidth=BOLD)
                axes.plot(*tip, color=colour, marker="o" if colour == BLUE else "s", markersize=7)
            axes.set_title(_("pair {pair}").format(pair=pair))
            turn = offset * rates[pair]
            words = f"cos {np.cos(turn):.3f}\nsin {np.sin(turn):.3f}".replace("-", "−")
            axes.text(0, -1.3, words, ha="center", va="top", fontsize=10)
            axes.set_aspect("equal")
            axes.set_xlim(-1.25, 1.25)
            axes.set_ylim(-2.1, 1.25)
            axes.axis("off")
        return finish(
            figure,
            alt=_(
                "Four clock faces, base {base:,g}. On each a solid hand shows position {position} and a "
                "shorter, dashed one position {later}. The wedge between them has the same angle at every "
                "position: {turn:.3g} rad on the first clock, less on each of the others."
            ).format(base=base, position=position, later=position + offset, turn=offset * rates[0]),
        )


# Of the figure `ruler`: how wide its vectors are, what a step of distance costs, how far the phrase can be
# moved, and how far its tokens can stand apart.
DIM, SLOPE, FARTHEST, REACH = 8, 1 / 16, 100, 40


def drawn(seed: int, count: int) -> np.ndarray:
    """Numbers that no model has learned: of size 1, and without a pattern that one would see."""
    return np.asarray(np.sqrt(2) * np.sin(seed + np.arange(1, count + 1) ** 2))


def scores(query: np.ndarray, key: np.ndarray) -> dict[str, np.ndarray]:
    """The score of the same two words at these positions, through each of the three doors."""
    w_q, w_k = (drawn(seed, DIM * DIM).reshape(DIM, DIM).T / np.sqrt(DIM) for seed in (1, 2))
    asks, asked = drawn(3, DIM), drawn(4, DIM)

    def product(q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return np.asarray((q * k).sum(axis=-1) / np.sqrt(DIM))

    def turned(vector: np.ndarray, positions: np.ndarray) -> np.ndarray:
        return np.asarray(apply_rotary(np.tile(vector, (len(positions), 1)), positions))

    return {
        "added": product((asks + sinusoidal(query, DIM)) @ w_q, (asked + sinusoidal(key, DIM)) @ w_k),
        "rotated": product(turned(asks @ w_q, query), turned(asked @ w_k, key)),
        "biased": product(asks @ w_q, asked @ w_k) - SLOPE * np.abs(query - key),
    }


def ruler(*, query: int, key: int, shift: int) -> Picture:
    """The score of two tokens through each door, wherever the phrase that holds them begins."""
    moved = np.arange(FARTHEST + 1)
    found = scores(query + moved, key + moved)
    names = (_("added: sinusoidal"), _("rotated: RoPE"), _("biased: ALiBi"))
    with canvas(width=8.2, height=2.9) as figure:
        panels = figure.subplots(1, 3, sharey=True)
        looks = zip(panels, found.items(), names, (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=True)
        for axes, (door, score), name, colour, dash in looks:
            axes.plot(moved, score, color=colour, linestyle=dash)
            axes.plot([shift], [score[shift]], color=PURPLE, marker="s", markersize=8)
            axes.set_title(f"{name}\n{found[door][shift]:.3f}".replace("-", "−"))
            axes.set_xlabel(_("where the phrase begins"))
            axes.set_ylim(-4, 4)
        panels[0].set_ylabel(_("score"))
        return finish(
            figure,
            alt=_(
                "The score of the same two words, {offset} positions apart, against where the phrase that "
                "holds them begins, a panel for each door. Added: it goes up and down, from {lowest:.2f} to "
                "{highest:.2f}. Rotated: a level line at {rotated:.2f}. Biased: a level line at "
                "{biased:.2f}. Marks show the phrase at {shift}: the query at position {query}, the key at "
                "{key}."
            ).format(
                offset=abs(key - query),
                lowest=found["added"].min(),
                highest=found["added"].max(),
                rotated=found["rotated"][shift],
                biased=found["biased"][shift],
                shift=shift,
                query=query + shift,
                key=key + shift,
            ),
        )


def seen(*, trained: int, length: int, dim: int) -> Picture:
    """Which angles of which clocks a longer text shows for the first time."""
    return extrapolation.new_angles(dim=dim, trained=trained, tested=length)


# Of the figure `gates`: how many tokens, of which every so manieth is a full stop, and the lowest bias drawn.
TOKENS, SENTENCE, LOWEST = 24, 6, -10


def forgotten(*, word: float, stop: float, query: int) -> tuple[np.ndarray, np.ndarray]:
    """FoX's bias of each key up to the query, and the weights that are left where all contents are alike."""
    token = np.arange(query + 1)
    gates = np.where(token % SENTENCE == SENTENCE - 1, stop, word)
    bias = np.asarray(data_dependent_alibi(np.log(gates)[None], 1))[0, 0]
    return bias, np.exp(bias) / np.exp(bias).sum()


def gates(*, word: float, stop: float, query: int) -> Picture:
    """The bias and the weights of a row, with a gate for words and one for full stops."""
    bias, weights = forgotten(word=word, stop=stop, query=query)
    with canvas(width=8.0, height=3.4) as figure:
        left, right = figure.subplots(1, 2)
        for axes in (left, right):
            for token in range(SENTENCE - 1, TOKENS, SENTENCE):
                axes.axvline(token, color=GREEN, linestyle="--", linewidth=GUIDE)
            axes.axvline(query, color=GREY, linestyle=":", linewidth=GUIDE)
            axes.set_xlim(-0.5, TOKENS - 0.5)
            axes.set_xlabel(_("key (position; dashed: a full stop)"))
        left.plot([0, query], [query * np.log(word), 0], color=PURPLE, linestyle=":")
        left.plot(bias, color=ORANGE, linestyle="-", marker="o", markersize=4)
        left.set_ylim(LOWEST, 0.3)
        left.set_ylabel(_("bias on the score"))
        right.bar(np.arange(query + 1), weights, width=0.5, color=BLUE)
        right.set_ylim(0, 1)
        right.set_ylabel(_("attention weight"))
        inside = weights[query // SENTENCE * SENTENCE :].sum()
        return finish(
            figure,
            alt=_(
                "Left: the bias of FoX on each key up to token {query}, a staircase that rises to 0 at the "
                "query, with a gate of {word:g} for words and {stop:g} for the full stops, which are dashed "
                "lines. A dotted straight line is ALiBi with the gate of the words, slope {slope:.3g}. Token "
                "0 has {first:.3g}. Right: the attention weights where all contents are alike; {inside:.0%} "
                "lies in the query's own sentence."
            ).format(
                query=query, word=word, stop=stop, slope=abs(np.log(word)), first=bias[0], inside=inside
            ),
        )


def where_atoms_are(*, turn: float, across: float, mirror: float) -> dict[str, np.ndarray]:
    """Four ways to say where the first and the last atom of a molecule are, after it was moved.

    Returns:
        the coordinates of the last; its difference from the first, and distance; and the area of the triangle
        of the first, the second and the last, with its sign.
    """
    first, second, _third, last = placed(turn=turn, across=across, mirror=mirror)
    difference, side = last - first, second - first
    area = (side[0] * difference[1] - side[1] * difference[0]) / 2
    return {
        "coordinates": last,
        "difference": difference,
        "distance": np.array([np.hypot(*difference)]),
        "area": np.array([area]),
    }


def placed(*, turn: float, across: float, mirror: float) -> np.ndarray:
    """The atoms, (4, 2), after a mirror (1: left for right, 2: up for down), a turn and a shift."""
    signs = ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0))[int(mirror)]
    atoms: np.ndarray = beyond_text.turned(beyond_text.MOLECULE * signs, turn) + np.array([across, 0.0])
    return atoms


def molecule(*, turn: float, across: float, mirror: float) -> Picture:
    """A molecule of the plane, as it was and as it lies now; and what is as it was."""
    atoms = placed(turn=turn, across=across, mirror=mirror)
    before = where_atoms_are(turn=0, across=0, mirror=0)
    now = where_atoms_are(turn=turn, across=across, mirror=mirror)
    names = {
        "coordinates": _("coordinates of D"),
        "difference": _("difference A to D"),
        "distance": _("distance A to D"),
        "area": _("area, with its sign"),
    }
    told = []
    with canvas(width=6.4, height=4.4) as figure:
        plane, table = figure.subplots(2, 1, height_ratios=(2.2, 1))
        plane.plot(*beyond_text.MOLECULE.T, color=GREY, linestyle="--", linewidth=GUIDE)
        plane.fill(*atoms[[0, 1, 3]].T, color=BLUE, alpha=0.2, linewidth=0)
        plane.plot(*atoms.T, color=GREY, linestyle="-")
        for place, marker, colour in ((0, "s", ORANGE), (1, "o", GREY), (2, "o", GREY), (3, "o", BLUE)):
            plane.plot(*atoms[place], color=colour, marker=marker, markersize=9)
        plane.text(atoms[0, 0], atoms[0, 1] - 0.45, _("A"), ha="center", va="center")
        plane.text(atoms[3, 0], atoms[3, 1] + 0.4, _("D"), ha="center", va="center")
        plane.set_xlim(-4.5, 4.5)
        plane.set_ylim(-1.8, 1.8)
        plane.set_aspect("equal")
        plane.set_xlabel(_("x"))
        plane.set_ylabel(_("y"))
        table.axis("off")
        for row, (key, name) in enumerate(names.items()):
            values = ", ".join(f"{each:.2f}" for each in now[key]).replace("-", "−")
            same = np.allclose(now[key], before[key])
            line = (
                name,
                f"({values})" if len(now[key]) > 1 else values,
                _("as it was") if same else _("changed"),
            )
            for x, words, side in zip((0, 0.6, 1), line, ("left", "center", "right"), strict=True):
                table.text(x, 1 - row / 3, words, ha=side, va="center", transform=table.transAxes)
            told.append(_("{name}: {value}, {verdict}").format(name=name, value=line[1], verdict=line[2]))
        return finish(
            figure,
            alt=_(
                "A molecule of four atoms in the plane, turned by {turn} degrees and moved by {across}; "
                "dashed, as it was. Below: {rows}."
            ).format(turn=f"{turn:g}", across=f"{across:g}", rows="; ".join(told)),
        )


_WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)
_BASES = (100, 1000, 10_000, 100_000, 1_000_000)

FIGURES = {
    "heatmap": LiveFigure(
        (
            Slider("dim", _WIDTHS, 64),
            Slider("base", (10, *_BASES), 10_000),
            Slider("length", tuple(range(10, 401, 10)), 100),
        ),
        heatmap,
    ),
    "clocks": LiveFigure(
        (Slider("position", tuple(range(201)), 40), Slider("dim", (4, 8, 16), 8)),
        clocks,
    ),
    "dot-product": LiveFigure(
        (
            Slider("dim", _WIDTHS, 64),
            Slider("base", _BASES, 10_000),
            Slider("length", tuple(range(20, 301, 20)), 60),
        ),
        dot_product,
    ),
    "rotary": LiveFigure(
        (
            Slider("query", tuple(range(41)), 4),
            Slider("key", tuple(range(41)), 12),
            Slider("shift", tuple(range(101)), 0),
            Slider("frequency", (0.05, 0.1, 0.2, 0.5, 1), 0.1),
        ),
        rotary,
    ),
    "alibi": LiveFigure(
        (Slider("heads", tuple(range(1, 33)), 8), Slider("distance", tuple(range(1, 201)), 50)),
        alibi,
    ),
    "wavelengths": LiveFigure(
        (
            Slider("head_dim", (32, 64, 80, 96, 128, 256), 128),
            Slider("base", (1000, 10_000, 100_000, 500_000, 1_000_000), 10_000),
            Slider("original_length", tuple(2**n for n in range(9, 16)), 4096),
            Slider("factor", (1, 2, 4, 8, 16, 32), 4),
        ),
        wavelengths,
    ),
    "shift": LiveFigure(
        (
            Slider("position", tuple(range(101)), 5),
            Slider("offset", tuple(range(-20, 21)), 3),
            Slider("base", (16, 100, 1000, 10_000), 16),
        ),
        shift,
    ),
    "ruler": LiveFigure(
        (
            Slider("query", tuple(range(REACH + 1)), 12),
            Slider("key", tuple(range(REACH + 1)), 9),
            Slider("shift", tuple(range(FARTHEST + 1)), 0),
        ),
        ruler,
    ),
    "molecule": LiveFigure(
        (
            Slider("turn", tuple(range(0, 360, 10)), 0),
            Slider("across", tuple(each / 2 for each in range(-6, 7)), 0),
            Slider("mirror", (0, 1, 2), 0),
        ),
        molecule,
    ),
    "seen": LiveFigure(
        (
            Slider("trained", tuple(range(8, 65, 8)), 24),
            Slider("length", tuple(range(8, 257, 8)), 96),
            Slider("dim", (8, 16, 32, 64), 32),
        ),
        seen,
    ),
    "stretched": LiveFigure(
        (
            Slider("trained", tuple(2**n for n in range(10, 15)), 4096),
            Slider("factor", tuple(range(1, 33)), 8),
        ),
        long_context.stretched,
    ),
    "gates": LiveFigure(
        (
            Slider("word", (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1), 0.9),
            Slider("stop", (0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1), 0.2),
            Slider("query", tuple(range(TOKENS)), 20),
        ),
        gates,
    ),
}
