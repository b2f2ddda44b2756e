"""Pictures of `07-alibi-and-biases`. What each draws is a function of its own, so that it can be tested."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb

from posenc_lib.biased.alibi import alibi_bias
from posenc_lib.biased.fire import fire_distances
from posenc_lib.biased.kerple import kerple_bias
from posenc_lib.biased.t5 import t5_buckets
from posenc_lib.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, RED
from posenc_lib.figures.picture import Picture, canvas, finish

# The smallest number is the page itself, the largest is blue: so it reads on a light and on a dark page.
_SHADES = LinearSegmentedColormap.from_list("numbers", [(*to_rgb(BLUE), 0.0), (*to_rgb(BLUE), 0.75)])


def matrices(tokens: int = 7) -> dict[str, np.ndarray]:
    """What four designs look up or add for each query (row) and key (column), (tokens, tokens)."""
    offset = np.arange(tokens)[None, :] - np.arange(tokens)[:, None]
    share = fire_distances(tokens, tokens, c=1.0, threshold=2.0)
    return {
        "Shaw, k = 3: offset, clipped": np.clip(offset, -3, 3),
        "T5, 8 buckets to 6: bucket": t5_buckets(offset, buckets=8, max_distance=6),
        "ALiBi, slope 1/2: bias": alibi_bias(1, tokens, tokens, causal=False, slopes=np.array([0.5]))[0],
        "FIRE, c = 1, L = 2: share": np.where(offset > 0, np.nan, share),  # it is made for causal attention
    }


def _written(value: Any) -> str:
    """A whole number as it is, any other with one decimal or two, and nothing where there is no number."""
    if np.isnan(value):
        return ""
    if isinstance(value, np.integer):
        return f"{value}".replace("-", "−")
    return f"{value + 0.0:.2f}".removesuffix("0").replace("-", "−")


def four_matrices(tokens: int = 7) -> Picture:
    """`matrices` as tables of numbers, the same numbers in the same shade."""
    with canvas(width=8.0, height=8.2) as figure:
        for axes, (name, values) in zip(figure.subplots(2, 2).flat, matrices(tokens).items(), strict=True):
            axes.imshow(values, cmap=_SHADES)
            for row, column in np.ndindex(*values.shape):
                axes.text(column, row, _written(values[row, column]), ha="center", va="center")
            axes.set_title(name, fontsize=11)
            axes.set_xlabel("position of the key")
            axes.set_ylabel("position of the query")
            axes.set_xticks(range(tokens))
            axes.set_yticks(range(tokens))
            axes.tick_params(length=0)
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
        return finish(
            figure,
            alt=f"Four tables of {tokens} queries by {tokens} keys. In the first three every diagonal holds "
            "one number. Shaw: the offset, key minus query, clipped to minus 3 to 3. T5: the bucket, 0 "
            "on the diagonal, 1 to 3 for the past and 5 to 7 for keys after the query. ALiBi: 0 on the "
            "diagonal, and half less with each step away from it. FIRE: 0 on the diagonal, and in the "
            "past a share that grows to 1 at key 0; here the same offset gives smaller numbers further "
            "down, because each row is divided by its own reach.",
        )


def bucket_steps(reach: int = 160) -> tuple[np.ndarray, np.ndarray]:
    """Offsets -reach .. reach and T5's bucket of each, for 32 buckets and a max_distance of 128."""
    offsets = np.arange(-reach, reach + 1)
    return offsets, np.asarray(t5_buckets(offsets))


def buckets_by_offset(reach: int = 160) -> Picture:
    """T5's buckets as two staircases: narrow steps near the query, ever wider ones further out."""
    offsets, buckets = bucket_steps(reach)
    with canvas(width=7.5, height=3.8) as figure:
        axes = figure.subplots()
        for side, color, dash, name in (
            (offsets <= 0, BLUE, "-", "keys up to the query"),
            (offsets > 0, ORANGE, "--", "keys after the query"),
        ):
            axes.step(offsets[side], buckets[side], where="mid", color=color, linestyle=dash, label=name)
        for border in (-128, 128):
            axes.axvline(border, color=GREY, linestyle=":", linewidth=1.5)
        axes.text(-126, 25, "max_distance", va="bottom")
        axes.set_xlabel("offset, key − query (positions)")
        axes.set_ylabel("bucket (row of the table)")
        axes.set_yticks(range(0, 33, 8))
        axes.set_ylim(-1, 33)
        axes.legend(loc="lower right", bbox_to_anchor=(0.85, 0.02))
        return finish(
            figure,
            alt="T5's bucket against the offset, two staircases. For keys up to the query it climbs from "
            "bucket 0 at offset 0 to bucket 15 at the left; for keys after it from bucket 17 at offset 1 "
            "to bucket 31 at the right. Within eight positions of the query each offset is a step of "
            "its own; further out the steps grow ever longer, and the last ones begin before distance "
            "128 and go on for ever.",
        )


@dataclass(frozen=True)
class Penalty:
    """A curve of `penalties`."""

    name: str
    values: np.ndarray
    color: str
    dash: Any


def penalties(distances: np.ndarray) -> tuple[Penalty, ...]:
    """Biases of one head at these distances from the query, by formula."""
    query, keys = np.array([0.0]), np.asarray(distances, dtype=np.float64)

    def kerple(r1: float, r2: float, kind: str) -> np.ndarray:
        return np.asarray(kerple_bias(np.array([r1]), np.array([r2]), query, keys, kind=kind)[0, 0])

    straight = alibi_bias(1, query, keys, causal=False, slopes=np.array([1 / 16]))[0, 0]
    return (
        Penalty("ALiBi, slope 1/16", np.asarray(straight), BLUE, "-"),
        Penalty("KERPLE power, r1 = 1/2, r2 = 1/2", kerple(0.5, 0.5, "power"), PURPLE, "-."),
        Penalty("KERPLE log, r1 = 1, r2 = 1", kerple(1.0, 1.0, "log"), ORANGE, "--"),
    )


def shapes_of_penalties(furthest: int = 200) -> Picture:
    """Left: penalties by distance. Right: the weight that is left of a key, where all scores are equal."""
    distances = np.arange(furthest + 1)
    with canvas(width=8.2, height=3.9) as figure:
        left, right = figure.subplots(1, 2)
        for each in penalties(distances):
            left.plot(distances, each.values, color=each.color, linestyle=each.dash, label=each.name)
            right.plot(distances, np.exp(each.values), color=each.color, linestyle=each.dash)
        left.set_ylabel("bias (added to the score)")
        right.set_ylabel("weight (query's own key = 1)")
        right.set_yscale("log")
        right.set_ylim(1e-6, 2)
        for axes in (left, right):
            axes.set_xlabel("distance (positions)")
        figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        ends = "; ".join(f"{each.name}: {each.values[-1]:.1f}" for each in penalties(distances))
        return finish(
            figure,
            alt=f"Two plots over distances 0 to {furthest}. Left, the bias: ALiBi is a straight line down, "
            "the two KERPLE curves fall quickly at first and then ever more slowly. At distance "
            f"{furthest} they are at: {ends}. Right, the weight that is left, on a logarithmic axis: "
            "ALiBi's is a straight line that leaves the plot, the power curve bends, and the "
            "logarithmic one falls only as 1 over the distance.",
        )


def peak_bytes(call: Callable[[], Any]) -> int:
    """The most bytes that tensors made by the call take at one time. What a kernel keeps inside is unseen."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    sizes: dict[int, int] = {}  # of the live memory blocks that were seen, by id; 0 for what was there before
    most = 0

    def see(given: Any, made: bool) -> None:
        nonlocal most
        for leaf in tree_leaves(given):
            if isinstance(leaf, torch.Tensor):
                block = leaf.untyped_storage()
                if id(block) not in sizes:
                    sizes[id(block)] = block.nbytes() if made else 0
                    weakref.finalize(block, sizes.pop, id(block))
        most = max(most, sum(sizes.values()))

    class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            see((args, kwargs), made=False)
            result = operation(*args, **(kwargs or {}))
            see(result, made=True)
            return result

    with Watch():  # type: ignore[no-untyped-call]
        call()
    return most


@dataclass(frozen=True)
class Cost:
    """What one encoding costs: learned numbers, bytes above those of no encoding, and times its time."""

    parameters: int
    extra_bytes: int
    times: float


_DOOR_LOOKS = {
    "none": (GREY, "D"),
    "added": (GREEN, "s"),
    "rotated": (PURPLE, "^"),
    "biased": (BLUE, "o"),
    "added and biased": (RED, "v"),
}


def costs(measured: Mapping[str, Cost], doors: Mapping[str, str]) -> Picture:
    """Three panels of dots: learned numbers, memory and time of each encoding.

    Args:
        measured: what each costs, by name, in the order in which they are drawn.
        doors: the door of each name, "none", "added", "rotated" or "biased".
    """
    names = list(measured)
    panels: tuple[tuple[str, list[float], bool], ...] = (
        ("learned numbers", [each.parameters for each in measured.values()], True),
        ("extra memory (MiB)", [each.extra_bytes / 2**20 for each in measured.values()], True),
        ("time (no encoding = 1)", [each.times for each in measured.values()], False),
    )
    with canvas(width=8.6, height=1.3 + 0.3 * len(names)) as figure:
        grid = figure.subplots(1, len(panels), sharey=True)
        for axes, (label, values, wide) in zip(grid, panels, strict=True):
            for row, (name, value) in enumerate(zip(names, values, strict=True)):
                color, marker = _DOOR_LOOKS[doors[name]]
                axes.plot(
                    value, row, marker=marker, color=color, markersize=8, linestyle="none", clip_on=False
                )
            if wide:
                axes.set_xscale("symlog", linthresh=1.0)
                axes.set_xlim(left=0)
            else:
                axes.set_xscale("log")
                axes.axvline(1, color=GREY, linestyle=":", linewidth=1.2)
                axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
                axes.xaxis.set_minor_formatter(lambda x, _: "")
            axes.set_xlabel(label)
        grid[0].set_yticks(range(len(names)), names)
        grid[0].set_ylim(len(names) - 0.4, -0.6)
        grid[0].set_ylabel("encoding")
        used = [door for door in _DOOR_LOOKS if door in doors.values()]
        handles = [
            grid[0].plot(
                [], [], marker=_DOOR_LOOKS[d][1], color=_DOOR_LOOKS[d][0], linestyle="none", label=d
            )[0]
            for d in used
        ]
        figure.legend(handles, used, loc="outside upper center", ncols=len(used), title="door")
        told = "; ".join(
            f"{name}: {each.parameters:,}, {each.extra_bytes / 2**20:.1f} MiB, {each.times:.1f}"
            for name, each in measured.items()
        )
        return finish(
            figure,
            alt="Three panels of dots, one row for each encoding: how many numbers it learns, how much "
            "memory it takes besides that of a model without positions, and its time, where that "
            f"model's is 1. {told}.",
        )
