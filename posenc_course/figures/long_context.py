"""Pictures of `08-long-context`. What each one draws is a function of its own, so that it can be tested."""

from __future__ import annotations

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from posenc_course.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from posenc_course.figures.labels import label_at
from posenc_course.figures.moves import appear, draw
from posenc_course.figures.picture import BAND, BOLD, DIVERGING, GUIDE, Picture, canvas, finish
from posenc_course.figures.released import RELEASED
from posenc_course.translation import _
from posenc_lib.angles import frequencies
from posenc_lib.biased import dual_chunk_distances, self_extend_distances
from posenc_lib.rotated.checkpoints import layers_from_config
from posenc_lib.rotated.settings import LayerPositions
from posenc_lib.scaling.rules import LinearScaling, Llama3Scaling, NTKScaling, Scaling, YaRNScaling

HEAD_DIM = 128
TRAINED = 4096
PAIRS = (20, 46, 55, 63)

# --- Arcs ------------------------------------------------------------------------------------------


def arcs_of(pair: int, factor: float = 32, dim: int = HEAD_DIM) -> tuple[float, float]:
    """How far a pair turns in training and in a text `factor` times as long, in radians, one turn at most."""
    rate = frequencies(dim)[pair]
    seen, longer = (min((length - 1) * rate, 2 * np.pi) for length in (TRAINED, factor * TRAINED))
    return float(seen), float(longer)


def arcs() -> Picture:
    """The part of its circle that each of four pairs met in training, and what is new to it beyond."""
    with canvas(width=3.6, height=3.9) as figure:
        moves = []
        rates = frequencies(HEAD_DIM)
        for axes, pair in zip(figure.subplots(2, 2).flat, PAIRS, strict=True):
            seen, longer = arcs_of(pair)
            _arc(axes, 0, 2 * np.pi, GREY, ":", GUIDE)
            met = _arc(axes, 0, seen, BLUE, "-", BAND)
            new = _arc(axes, seen, longer, ORANGE, "--", BOLD)
            axes.plot([0, 1], [0, 0], color=GREY, linestyle="-", linewidth=GUIDE)
            share = axes.text(0, 0.12, f"{seen / (2 * np.pi):.0%}", ha="center", fontsize=13)
            says = axes.text(0, -0.25, "seen", ha="center", fontsize=10)
            # Each pair turns as long as the text lasts, or until it has been all the way round.
            moves += [
                draw(met, start=0.3, end=0.6 + 1.3 * seen / rates[pair] / TRAINED),
                appear(share, says, start=1.9, end=2.2),
            ]
            if seen < longer:
                moves.append(draw(new, start=2.5, end=2.8 + 1.8 * rates[PAIRS[-1]] / rates[pair]))
            axes.set_title(f"pair {pair} of {HEAD_DIM // 2}", fontsize=11)
            axes.set_aspect("equal")
            axes.axis("off")
        told = ", ".join(f"pair {pair} {arcs_of(pair)[0] / (2 * np.pi):.0%}" for pair in PAIRS)
        return finish(
            figure,
            moves=moves,
            alt=f"Four circles, one for each of four pairs of a head. A thick arc shows the angles that the "
            f"pair met in training, a dashed one those that are new in a text 32 times as long. Of its "
            f"circle "
            f"was seen: {told}. The rest of each circle is new.",
        )


def _arc(axes: Axes, start: float, end: float, colour: str, dash: str, width: float) -> Line2D:
    angle = np.linspace(start, end, 200)
    [arc] = axes.plot(np.cos(angle), np.sin(angle), color=colour, linestyle=dash, linewidth=width)
    return arc


# --- Rules -----------------------------------------------------------------------------------------

RULES: dict[str, tuple[Scaling, str, str]] = {
    "PI": (LinearScaling(8.0), GREY, ":"),
    "NTK": (NTKScaling(8.0), GREEN, "-."),
    "YaRN": (YaRNScaling(8.0, 8192), BLUE, "--"),
    "Llama 3": (Llama3Scaling(8.0, 8192, 1.0, 4.0), ORANGE, "-"),
}
_AT = ((8, (0, -5)), (52, (6, -4)), (34, (-8, 0)), (31, (8, 0)))
"""Where the name of each rule is: at which pair, and how far from its curve."""


def slowed_by() -> Picture:
    """By what four rules slow each pair of a head as Llama 3 has it."""
    plain = frequencies(HEAD_DIM, base=500_000.0)
    with canvas(width=6.4, height=3.6) as figure:
        axes = figure.subplots()
        for (name, (rule, colour, dash)), (pair, aside) in zip(RULES.items(), _AT, strict=True):
            slower = plain / frequencies(HEAD_DIM, base=500_000.0, scaling=rule)
            axes.plot(slower, color=colour, linestyle=dash)
            label_at(axes, name, (pair, slower[pair]), aside)
        axes.set_xlabel("pair, the fastest first")
        axes.set_ylabel("slowed by")
        axes.set_ylim(0.5, 8.6)
        return finish(
            figure,
            alt="The factor by which each of 64 pairs is slowed, where the context grows 8 times. PI: all "
            "pairs by 8. NTK: from 1 for the first in a smooth rise to 8 for the last. YaRN stays at 1 up "
            "to about pair 18, and is at 8 from pair 35. Llama 3 stays at 1 for longer, up to about pair "
            "28, and rises more steeply to 8.",
        )


def turns(trained: int, factor: float) -> dict[str, np.ndarray]:
    """By rule, of the four pairs: the turns in training and in the text, in radians, and what slows them."""
    plain = frequencies(HEAD_DIM)
    found = {}
    for name, rule in _stretching(trained, factor).items():
        rates = frequencies(HEAD_DIM, scaling=rule)
        sizes = (trained - 1) * plain, (factor * trained - 1) * rates, plain / rates
        found[name] = np.stack(sizes)[:, PAIRS]
    return found


def _stretching(trained: int, factor: float) -> dict[str, Scaling | None]:
    return {
        _("plain RoPE"): None,
        _("PI"): LinearScaling(factor),
        _("NTK"): NTKScaling(factor),
        _("YaRN"): YaRNScaling(factor, original_length=trained),
    }


def stretched(*, trained: int, factor: float) -> Picture:
    """What each of four pairs has seen of its circle, and how far four rules lead it in a longer text."""
    found = turns(trained, factor)
    with canvas(width=7.2, height=8.2) as figure:
        for column, (rule, sizes) in zip(
            figure.subplots(len(PAIRS), len(found)).T, found.items(), strict=True
        ):
            for axes, pair, seen, reached, slowed in zip(column, PAIRS, *sizes, strict=True):
                known, end = min(seen, 2 * np.pi), min(reached, 2 * np.pi)
                _arc(axes, 0, 2 * np.pi, GREY, ":", GUIDE)
                _arc(axes, 0, known, BLUE, "-", BAND)
                _arc(axes, known, max(known, end), ORANGE, "--", BOLD)
                axes.plot([0, 0.6 * np.cos(reached)], [0, 0.6 * np.sin(reached)], color=GREY, linestyle="-")
                axes.set_title(_("pair {pair}").format(pair=pair), fontsize=10)
                words = _("{share}% new").format(share=round(_new_percent(seen, reached)))
                axes.text(0, -1.25, f"{words}\n÷ {slowed:.3g}", ha="center", va="top", fontsize=9)
                axes.set_aspect("equal")
                axes.axis("off")
            column[0].set_title(f"{rule}\n\n" + _("pair {pair}").format(pair=PAIRS[0]), fontsize=10)
        most = {rule: round(max(map(_new_percent, *sizes[:2]))) for rule, sizes in found.items()}
        plain, linear, ntk, yarn = most.values()
        return finish(
            figure,
            alt=_(
                "Four circles for each of four rules, one for each of the pairs {pairs}. A thick arc shows "
                "the angles that the pair met in training on {trained:,} positions, a dashed one those that "
                "are new in a text {factor:g} times as long. The pair that meets most that is new meets so "
                "much of its circle: {plain}% with plain RoPE, {linear}% with PI, {ntk}% with NTK, {yarn}% "
                "with YaRN."
            ).format(
                pairs=", ".join(map(str, PAIRS)),
                trained=trained,
                factor=factor,
                plain=plain,
                linear=linear,
                ntk=ntk,
                yarn=yarn,
            ),
        )


def _new_percent(seen: float, reached: float) -> float:
    """The share of its circle that is new to a pair."""
    known, met = (min(angle / (2 * np.pi), 1) for angle in (seen, reached))
    return 100 * max(met - known, 0)


# --- Position maps ---------------------------------------------------------------------------------


def self_extend_map(tokens: int, *, group: int, window: int) -> np.ndarray:
    """The distance that each query takes each key to have, (tokens, tokens); -1 for keys after it."""
    return _past(np.asarray(self_extend_distances(tokens, tokens, group=group, window=window)))


def dual_chunk_map(tokens: int, *, chunk: int, window: int) -> np.ndarray:
    """The same for dual chunk attention."""
    return _past(np.asarray(dual_chunk_distances(tokens, tokens, chunk=chunk, window=window)))


def _past(distances: np.ndarray) -> np.ndarray:
    return np.where(np.tri(len(distances), dtype=bool), distances, -1)


def position_maps(tokens: int = 24) -> Picture:
    """Both maps as heat maps, beside the true distances."""
    at = np.arange(tokens)
    panels = {
        "true": _past(at[:, None] - at),
        "Self-Extend": self_extend_map(tokens, group=3, window=6),
        "dual chunk": dual_chunk_map(tokens, chunk=6, window=4),
    }
    with canvas(width=7.5, height=3.1) as figure:
        every = figure.subplots(1, 3, sharey=True)
        for axes, (name, values) in zip(every, panels.items(), strict=True):
            image = axes.imshow(np.ma.masked_less(values, 0), cmap=DIVERGING, vmin=0, vmax=tokens - 1)
            axes.set_title(f"{name}: up to {values.max()}")
            axes.set_xlabel("key")
        every[0].set_ylabel("query")
        figure.colorbar(image, ax=list(every), shrink=0.8).set_label("distance used")
        return finish(
            figure,
            alt=f"Three triangles of the distances of {tokens} queries and keys. The true ones grow with "
            f"each step from the diagonal, up to {tokens - 1}. Self-Extend is the same in a band along the "
            f"diagonal and then grows in steps of three keys, up to {panels['Self-Extend'].max()}. Dual "
            "chunk attention repeats the same stripes in each chunk of six keys, and is nowhere above "
            f"{panels['dual chunk'].max()}.",
        )


# --- Configurations --------------------------------------------------------------------------------


@cache
def all_layers() -> dict[str, tuple[LayerPositions, ...]]:
    """What each layer of each of the models does."""
    return {name: layers_from_config(config) for name, (_, config) in RELEASED.items()}


def described(layers: tuple[LayerPositions, ...]) -> str:
    """What the layers of a model do, as one line: how many of which kind, base, columns, window, rule."""
    counted: dict[str, int] = {}
    for layer in layers:
        words = _described(layer)
        counted[words] = counted.get(words, 0) + 1
    return "; ".join(f"{times} {words}" for words, times in counted.items())


def _described(layer: LayerPositions) -> str:
    if kind_of(layer) == STATE:
        return f"with {STATE}"
    parts = ["no RoPE"]
    if layer.rope:
        turning = int(
            (frequencies(layer.rope.rotary_dim, base=layer.rope.base, scaling=layer.rope.scaling) > 0).sum()
        )
        parts = [f"rotate {2 * turning} columns of {layer.rope.head_dim} at base {layer.rope.base:,.0f}"]
        rule = layer.rope.scaling
        if isinstance(rule, LinearScaling | YaRNScaling | Llama3Scaling):
            parts.append(f"{RULE_NAMES[type(rule)]} by {rule.factor:g}")
    parts.append(f"window {layer.window:,}" if layer.window else "see everything")
    if layer.temperature:
        parts.append("louder with length")
    return ", ".join(parts)


def read_configs() -> dict[str, str]:
    """By its name on Hugging Face, each model's layers in words."""
    return {RELEASED[name][0]: described(layers) for name, layers in all_layers().items()}


RULE_NAMES: dict[type[Scaling], str] = {
    LinearScaling: "PI",
    YaRNScaling: "YaRN",
    Llama3Scaling: "Llama 3's rule",
}
STATE = "a state in place of attention"
KINDS = {
    "RoPE, with a window": (BLUE, "t"),
    "RoPE, sees everything": (ORANGE, "T"),
    "no RoPE, sees everything": (PURPLE, "o"),
    STATE: (GREY, "-"),
}


def kind_of(layer: LayerPositions) -> str:
    """One of `KINDS`."""
    if layer.rope:
        return "RoPE, with a window" if layer.window else "RoPE, sees everything"
    return "no RoPE, sees everything" if "attention" in layer.kind and "linear" not in layer.kind else STATE


def layers_of_models(shown: int = 12) -> Picture:
    """The first layers of each model as a row of squares."""
    with canvas(width=6.0, height=5.6) as figure:
        axes = figure.subplots()
        for row, (name, layers) in enumerate(all_layers().items()):
            axes.text(-0.3, -row, name, ha="right", va="center", fontsize=10)
            for column, layer in enumerate(layers[:shown]):
                colour, sign = KINDS[kind_of(layer)]
                axes.add_patch(
                    Rectangle(
                        (column, -row - 0.42), 0.84, 0.84, facecolor=colour, alpha=0.35, edgecolor=colour
                    )
                )
                axes.text(column + 0.42, -row, sign, ha="center", va="center", fontsize=10)
        for place, (name, (_, sign)) in enumerate(KINDS.items()):
            at = -3 + 8 * (place % 2), -len(RELEASED) - 0.3 - 0.9 * (place // 2)
            axes.text(*at, f"{sign}  {name}", fontsize=10)
        axes.set_xlim(-4.6, shown)
        axes.set_ylim(-len(RELEASED) - 1.6, 0.6)
        axes.axis("off")
        rows = "; ".join(
            f"{name}: " + "".join(KINDS[kind_of(layer)][1] for layer in layers[:shown])
            for name, layers in all_layers().items()
        )
        return finish(
            figure,
            alt=f"Twelve models as rows of {shown} squares, their first layers. T is a layer with RoPE that "
            f"sees everything, t one with RoPE and a window, o one that sees everything and has no "
            f"RoPE, - one with {STATE}. {rows}.",
        )
