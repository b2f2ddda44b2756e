"""A table for a larger picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from posenc_course.exercises.ch09_beyond_text._shared import Generator
from posenc_course.exercises.drawing import Draws, heat_map
from posenc_course.exercises.exercise import Case, Exercise, Mistake, Property
from posenc_lib._arrays import Array
from posenc_lib.added.resample import resample_grid


def _resize_cases(rng: Generator) -> Iterator[Case]:
    def table(height: int, width: int, dim: int = 3) -> Array:
        return rng.normal(size=(height, width, dim))

    yield Case("2 by 2 to 2 by 4", (table(2, 2, 1), 2, 4))
    yield Case("4 by 3 to 8 by 6", (table(4, 3), 8, 6))
    yield Case("6 by 5 to 3 by 4", (table(6, 5), 3, 4))
    yield Case("the same size", (table(3, 4), 3, 4))
    yield Case("a row of 1 patch becomes a row of 3", (table(1, 1), 1, 3))
    for _ in range(3):
        sizes = [int(each) for each in rng.integers(3, 9, size=4)]
        yield Case("sizes, drawn", (table(sizes[0], sizes[1], 2), sizes[2] + 2, sizes[3]))


Middles = Callable[[int, int], Array]


def _middles(new: int, old: int) -> Array:
    """Where the middles of the new patches lie, in old patches."""
    return np.asarray((np.arange(new) + 0.5) * old / new - 0.5)


def _between(table: Array, at: Array) -> Array:
    """Rows at real places, on straight lines between their neighbours."""
    low = np.clip(np.floor(at).astype(int), 0, max(len(table) - 2, 0))
    high = np.minimum(low + 1, len(table) - 1)
    share = (at - low)[:, None, None]
    return np.asarray(table[low] * (1 - share) + table[high] * share)


def _within(at: Array, old: int) -> Array:
    return np.clip(at, 0, old - 1)


def _resize_with(
    middles: Middles = _middles,
    inside: Callable[[Array, int], Array] = _within,
    take: Callable[[Array, Array], Array] = _between,
) -> Callable[[Array, int, int], Array]:
    def resize(table: Array, height: int, width: int) -> Array:
        rows = take(table, inside(middles(height, len(table)), len(table)))
        columns = np.swapaxes(rows, 0, 1)
        at = inside(middles(width, len(columns)), len(columns))
        return np.ascontiguousarray(np.swapaxes(take(columns, at), 0, 1))

    return resize


_resized = _resize_with()


def _corners(new: int, old: int) -> Array:
    return np.arange(new) * (old - 1) / max(new - 1, 1)


def _hats(table: Array, at: Array) -> Array:
    weights = np.maximum(0, 1 - np.abs(at[:, None] - np.arange(len(table))))
    return np.asarray(np.einsum("no,owd->nwd", weights, table))


def _nearest(table: Array, at: Array) -> Array:
    return np.asarray(table[np.clip(np.floor(at + 0.5).astype(int), 0, len(table) - 1)])


def _resized_by_interp(table: Array, height: int, width: int) -> Array:
    old_height, old_width, dim = table.shape
    down = np.stack(
        [
            [np.interp(_middles(height, old_height), np.arange(old_height), line) for line in plane.T]
            for plane in np.moveaxis(table, -1, 0)
        ]
    )
    rows = np.moveaxis(down, (0, 1, 2), (2, 1, 0))
    return np.stack(
        [
            np.stack(
                [np.interp(_middles(width, old_width), np.arange(old_width), row[:, d]) for d in range(dim)],
                axis=-1,
            )
            for row in rows
        ]
    )


def _resized_by_library(table: Array, height: int, width: int) -> Array:
    old_height, old_width, dim = table.shape
    flat = table.reshape(-1, dim)
    new = resample_grid(flat, (old_height, old_width), (height, width), mode="bilinear")
    return np.asarray(new).reshape(height, width, dim)


def _along_the_line(table: Array, height: int, width: int) -> Array:
    """As if the patches stood in one long row."""
    flat = table.reshape(-1, 1, table.shape[-1])
    new = _between(flat, _within(_middles(height * width, len(flat)), len(flat)))
    return new.reshape(height, width, -1)


RESIZED_TABLE = Exercise(
    id="09-beyond-text.resized_table",
    title="A table for a larger picture",
    signature="resized_table(table: array of shape (old height, old width, dim), height: int, width: int) -> "
    "array of shape (height, width, dim)",
    points=4,
    minutes=18,
    difficulty=4,
    draws=Draws(
        lambda resized_table, rows, columns: heat_map(
            np.asarray(resized_table(np.eye(4)[..., None], 24, 24))[..., 0], rows=rows, columns=columns
        ),
        axes=("row of the new patch", "column of the new patch"),
        look="A diagonal of 4 patches, stretched to 24 by 24: straight lines connect the middles, and "
        "beyond the outermost ones nothing changes.",
    ),
    reference=_resized,
    make_cases=_resize_cases,
    properties=(
        Property(
            lambda args, value: np.shape(value) == (args[1], args[2], args[0].shape[2]),
            "The new table must have the new height and width, and keep its dim.",
            about="form",
        ),
        Property(
            lambda args, value: bool(
                np.max(value) <= np.max(args[0]) + 1e-6 and np.min(value) >= np.min(args[0]) - 1e-6
            ),
            "A number between given ones is never above the largest or below the smallest of them.",
        ),
    ),
    mistakes=(
        Mistake(
            "corners-stay",
            _resize_with(middles=_corners),
            "You keep the middles of the corner patches in their places. Here the edges of the picture "
            "stay, and the new patches divide the space between them evenly.",
        ),
        Mistake(
            "upper-left-corners",
            _resize_with(middles=lambda new, old: np.arange(new) * old / new),
            "You line up the upper left corners of the patches. Line up their middles: the middle of "
            "patch i is at i + 1/2.",
        ),
        Mistake(
            "not-back-to-numbers",
            _resize_with(middles=lambda new, old: (np.arange(new) + 0.5) * old / new),
            "Your places are half a patch too far. The middle of old patch i is at i + 1/2 too.",
        ),
        Mistake(
            "line-goes-on",
            _resize_with(inside=lambda at, old: at),
            "Beyond the middle of the last patch your straight line continues. There only the last patch "
            "counts: cut the places.",
        ),
        Mistake(
            "dark-edges",
            _resize_with(inside=lambda at, old: at, take=_hats),
            "At the edges your numbers are pulled towards 0, as if the picture were surrounded by zeros. "
            "There only the last patch counts.",
        ),
        Mistake(
            "nearest",
            _resize_with(take=_nearest),
            "You take the nearest old patch. Take the two around each place, and the nearer one counts more.",
        ),
        Mistake(
            "cut-off",
            _resize_with(take=lambda table, at: table[np.floor(at).astype(int)]),
            "You cut the fractions off and take one old patch. Take the two around each place, and the "
            "nearer one counts more.",
        ),
        Mistake(
            "the-farther-counts-more",
            _resize_with(take=lambda table, at: _between(table, 2 * np.floor(at) + 1 - at)),
            "The two shares are swapped: the nearer patch should count more.",
        ),
        Mistake(
            "one-long-row",
            _along_the_line,
            "You stretch the patches as one long row. Stretch the rows and the columns separately.",
        ),
        Mistake(
            "averaged-over-all-it-covers",
            lambda table, height, width: np.asarray(
                resample_grid(
                    table.reshape(-1, table.shape[2]),
                    table.shape[:2],
                    (height, width),
                    mode="bilinear",
                    antialias=True,
                )
            ).reshape(height, width, -1),
            "This is right where the picture grows. Where it shrinks, you average over everything that a "
            "new patch covers. Here only the two old ones around its middle count.",
        ),
        Mistake(
            "turned",
            lambda table, height, width: np.swapaxes(_resized(table, width, height), 0, 1),
            "Height and width of the new table are swapped.",
        ),
        Mistake(
            "copied",
            lambda table, height, width: table[np.arange(height) * len(table) // height][
                :, np.arange(width) * table.shape[1] // width
            ],
            "You copy old patches. Take the two around each place, and the nearer one counts more.",
        ),
        Mistake(
            "ratio-upside-down",
            _resize_with(middles=lambda new, old: (np.arange(new) + 0.5) * new / old - 0.5),
            "Your ratio is upside down. One new patch is old / new old patches long.",
        ),
        Mistake(
            "halves-swapped",
            _resize_with(middles=lambda new, old: (np.arange(new) - 0.5) * old / new + 0.5),
            "Both your 1/2 have the wrong sign. The middle of a patch is half a patch after its "
            "beginning: add 1/2 before you change the unit, and subtract it afterwards.",
        ),
        Mistake(
            "mean-of-the-two",
            _resize_with(
                take=lambda table, at: (
                    (
                        table[np.floor(at).astype(int)]
                        + table[np.minimum(np.floor(at).astype(int) + 1, len(table) - 1)]
                    )
                    / 2
                )
            ),
            "You take the mean of the two patches around each place. The nearer one should count more.",
        ),
        Mistake(
            "evenly-from-edge-to-edge",
            _resize_with(middles=lambda new, old: np.linspace(-0.5, old - 0.5, new)),
            "You put the first and the last new middle on the edges of the picture. They are half a new "
            "patch inside.",
        ),
    ),
    alternatives=(_resized_by_interp, _resized_by_library, _resize_with(take=_hats)),
    hints=(
        "Do one axis after the other: first all columns get `height` rows, then each row gets `width` "
        "columns.",
        "The middle of new patch i is at `(i + 0.5) * old / new - 0.5`, counted in old patches. Keep it "
        "between 0 and `old - 1`.",
        "With `low = np.floor(at)` and `share = at - low`, the new row is `(1 - share)` of row `low` and "
        "`share` of the next.",
    ),
)
