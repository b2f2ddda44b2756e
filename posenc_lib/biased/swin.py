"""Swin's and BEiT's bias: one learned number per head and offset in a window of patches."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, namespace, values_are_known
from posenc_lib.biased.relative import queries_and_keys
from posenc_lib.biased.t5 import by_head

EXTRA_ROWS = 3
"""From the class token to a patch, from a patch to it, and to itself."""


def swin_index(
    shape: tuple[int, int],
    queries: int | Array | None = None,
    keys: int | Array | None = None,
    *,
    class_token: bool = False,
    like: Array | None = None,
) -> Array:
    """The row of the table for each query and key: one row for each offset in the window.

    Down and across are those of the query minus those of the key, so that the first row is for a query at
    the upper left and a key at the lower right: row (down + height - 1) * (2 width - 1) + across + width - 1.

    Args:
        shape: (height, width) of the window, in patches.
        queries: which tokens ask, an array of whole numbers (..., queries): a patch is its number in
            reading order. An int n means the last n of the keys; None, all tokens of the window.
        keys: which tokens are asked, (..., keys). An int n means tokens 0 .. n-1; None, all of them.
        class_token: token 0 is not a patch, as in BEiT, and the patches are 1 .. height * width. Three
            more rows are for it: from it to a patch, from a patch to it, and to itself.
        like: an array whose library and device the result has where no array is given; NumPy if None.

    Returns:
        (..., queries, keys) int64, 0 .. (2 height - 1)(2 width - 1) - 1, and three more with `class_token`.

    Raises:
        TypeError: sizes or tokens are not integers; class_token is not a boolean.
        ValueError: shape is not (height, width), or a token lies outside the window.

    Example:
        >>> swin_index((1, 3))  # a row of patches: the table's middle row is for the patch itself
        array([[2, 1, 0],
               [3, 2, 1],
               [4, 3, 2]])
        >>> swin_index((1, 2), class_token=True)
        array([[5, 3, 3],
               [4, 1, 0],
               [4, 2, 1]])

    Source: Liu et al. 2021, "Swin Transformer", equation 4; the order of the rows is that of
    `relative_position_index` in its code, and the three more are those of BEiT's (Bao et al. 2022).
    """
    height, width = read_window(shape)
    extra = int(require.flag(class_token, "class_token"))
    tokens = height * width + extra
    asking, asked = queries_and_keys(
        tokens if queries is None else queries, tokens if keys is None else keys, like
    )
    xp = namespace(asking, asked)
    (q_row, q_column), (k_row, k_column) = (
        _row_and_column(_read_tokens(each, tokens, shape), extra, width) for each in (asking, asked)
    )
    down = q_row[..., :, None] - k_row[..., None, :] + height - 1
    across = q_column[..., :, None] - k_column[..., None, :] + width - 1
    index = down * (2 * width - 1) + across
    if class_token:
        offsets = (2 * height - 1) * (2 * width - 1)
        from_class, to_class = (asking == 0)[..., :, None], (asked == 0)[..., None, :]
        index = xp.where(from_class, xp.full_like(index, offsets), index)
        index = xp.where(to_class, xp.full_like(index, offsets + 1), index)
        index = xp.where(from_class & to_class, xp.full_like(index, offsets + 2), index)
    if not values_are_known(index):  # compiled: send what is outside past the table's end, which raises
        outside = _outside(asking, tokens)[..., :, None] | _outside(asked, tokens)[..., None, :]
        index = xp.where(outside, xp.full_like(index, rows_of_window(shape, class_token)), index)
    return index


def swin_bias(
    table: ArrayT,
    shape: tuple[int, int],
    queries: int | Array | None = None,
    keys: int | Array | None = None,
    *,
    class_token: bool = False,
) -> ArrayT:
    """Swin's bias: table[offset of the patches, head]. With `class_token`, BEiT's.

    Args:
        table: ((2 height - 1)(2 width - 1), heads), learned; with `class_token` three rows more. That is
            `relative_position_bias_table` of a Swin or BEiT checkpoint as it is.
        shape, queries, keys, class_token: as in `swin_index`.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for tokens with more axes; in the library
        and on the device of the table, and of its dtype.

    Raises:
        TypeError: as `swin_index`; table not real numbers, arrays of different libraries.
        ValueError: as `swin_index`; a table with another number of rows, different devices.

    For another window the table has to be resampled: `posenc_lib.resample_grid`, whose grid has
    (2 height - 1, 2 width - 1) cells here. Swin's shifted windows need a mask besides, which is none of the
    encoding's business.

    Example:
        >>> import numpy as np
        >>> table = np.arange(9.0)[:, None]  # one head: shows which row is where
        >>> swin_bias(table, (2, 2))[0]
        array([[4., 3., 1., 0.],
               [5., 4., 2., 1.],
               [7., 6., 4., 3.],
               [8., 7., 5., 4.]])

    Source: Liu et al. 2021, "Swin Transformer", equation 4; Bao et al. 2022, "BEiT", section 2.3.
    """
    table = require.real_array(table, "table", "(rows, heads)", 2)
    rows = rows_of_window(shape, class_token)
    if table.shape[0] != rows:
        raise ValueError(
            f"table has {table.shape[0]} rows, but a window of {tuple(shape)} with class_token={class_token} "
            f"has {rows} kinds of offset; give one row for each, or resample the table (resample_grid)"
        )
    return by_head(table, swin_index(shape, queries, keys, class_token=class_token, like=table))


def rows_of_window(shape: tuple[int, int], class_token: bool) -> int:
    """How many rows the table of a window has."""
    height, width = read_window(shape)
    extra = EXTRA_ROWS * int(require.flag(class_token, "class_token"))
    return (2 * height - 1) * (2 * width - 1) + extra


def read_window(shape: Any, name: str = "shape") -> tuple[int, int]:
    """(height, width) as two ints."""
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"{name}={shape!r} is not a window; give (height, width), in patches")
    return require.count(shape[0], f"{name}[0]"), require.count(shape[1], f"{name}[1]")


def _row_and_column(tokens: Array, extra: int, width: int) -> tuple[Array, Array]:
    patches = tokens - extra
    return patches // width, patches % width


def _read_tokens(tokens: Array, count: int, shape: Any) -> Array:
    """The tokens as int64, all of them in the window."""
    xp = namespace(require.whole(tokens, "tokens of a window"))
    tokens = xp.astype(tokens, xp.int64)
    outside = _outside(tokens, count)
    if values_are_known(tokens) and bool(xp.any(outside)):
        first = int(tokens[outside][0])
        raise ValueError(
            f"position {first} is outside the window {tuple(shape)}, whose tokens are 0 to {count - 1}, in "
            "reading order; give fewer tokens or a larger window"
        )
    return tokens


def _outside(tokens: Array, count: int) -> Array:
    return (tokens < 0) | (tokens >= count)
