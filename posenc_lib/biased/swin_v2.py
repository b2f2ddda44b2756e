"""SwinV2's bias: a small network reads the offset of two patches, on a logarithmic scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import Array, constant, namespace
from posenc_lib._heads import matmul
from posenc_lib.biased.swin import read_window, swin_bias

LARGEST = 16.0
"""The bias lies between 0 and this."""


def swin_v2_coordinates(shape: tuple[int, int], *, pretrained: tuple[int, int] | None = None) -> np.ndarray:
    """What SwinV2's network reads: sign(x) log2(1 + |x|) / 3 of each offset x, of which 8 is the farthest.

    Args:
        shape: (height, width) of the window, in patches.
        pretrained: the window that the network was trained on, whose farthest offset is 8; by default this
            one. In a larger window offsets then reach beyond 8, where the logarithm grows slowly.

    Returns:
        ((2 height - 1)(2 width - 1), 2) NumPy float64: down and across, in the order of `swin_index`.

    Raises:
        TypeError: sizes are not integers.
        ValueError: not (height, width), or a size below 1.

    Example:
        >>> swin_v2_coordinates((1, 3))[:, 1].round(3)
        array([-1.057, -0.774,  0.   ,  0.774,  1.057])

    Source: Liu et al. 2022, "Swin Transformer V2", equation 4; the factor 8 and the division by log2(8) are
    from its code.
    """
    window = read_window(shape)
    trained = window if pretrained is None else read_window(pretrained, "pretrained")
    along = []
    for size, of_training in zip(window, trained, strict=True):
        x = 8.0 * np.arange(1 - size, size) / max(of_training - 1, 1)
        along.append(np.sign(x) * np.log2(1.0 + np.abs(x)) / math.log2(8.0))
    return np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, 2)


def swin_v2_bias(
    weights: tuple[Array, Array, Array],
    shape: tuple[int, int],
    queries: int | Array | None = None,
    keys: int | Array | None = None,
    *,
    pretrained: tuple[int, int] | None = None,
) -> Array:
    """SwinV2's bias: 16 sigmoid(w2 relu(w1 x + b1)), with x the coordinates of the offset.

    Args:
        weights: (w1, b1, w2), learned, of shapes (hidden, 2), (hidden,) and (heads, hidden):
            `continuous_position_bias_mlp` of a SwinV2 checkpoint as it is, with 512 hidden units.
        shape, queries, keys: as in `posenc_lib.swin_index`.
        pretrained: as in `swin_v2_coordinates`.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys), of the weights' library, device and dtype.

    Raises:
        TypeError: as `posenc_lib.swin_index`; weights not three arrays of real numbers of one library,
            tensors of one dtype.
        ValueError: as `posenc_lib.swin_index`; shapes that do not fit, different devices.

    SwinV2 adds it to the cosine of query and key times a learned number of each head, not to
    q . k / sqrt(head_dim): normalise q and k, and give `attention` q * sqrt(head_dim) * that number.

    Example:
        >>> import numpy as np
        >>> weights = np.ones((4, 2)), np.zeros(4), np.zeros((2, 4))  # 4 units, 2 heads; weighs nothing
        >>> swin_v2_bias(weights, (2, 2))[0]  # half of the largest bias
        array([[8., 8., 8., 8.],
               [8., 8., 8., 8.],
               [8., 8., 8., 8.],
               [8., 8., 8., 8.]])

    Source: Liu et al. 2022, "Swin Transformer V2", equations 3 and 4; 16 sigmoid(.) is from its code.
    """
    return swin_bias(swin_v2_table(weights, shape, pretrained), shape, queries, keys)


def swin_v2_table(
    weights: tuple[Array, Array, Array], shape: tuple[int, int], pretrained: tuple[int, int] | None
) -> Array:
    """((2 height - 1)(2 width - 1), heads): the bias of each offset, as `swin_bias` takes it."""
    w1, b1, w2 = _read_weights(weights)
    xp = namespace(w1)
    coordinates = constant(swin_v2_coordinates(shape, pretrained=pretrained), w1)
    hidden = matmul(xp, xp.astype(coordinates, w1.dtype), xp.matrix_transpose(w1)) + b1
    active = xp.where(hidden > 0, hidden, xp.zeros_like(hidden))
    # 1 / (1 + e^-x) = (1 + tanh(x / 2)) / 2, which overflows nowhere
    return LARGEST / 2 * (1.0 + xp.tanh(matmul(xp, active, xp.matrix_transpose(w2)) / 2))


def _read_weights(weights: Any) -> tuple[Array, Array, Array]:
    """The three arrays, of shapes that fit."""
    if not isinstance(weights, (tuple, list)) or len(weights) != 3:
        raise TypeError(
            f"weights is {type(weights).__name__}; give the three arrays (w1, b1, w2) of the network"
        )
    w1, b1, w2 = weights
    require.real_array(w1, "w1", "(hidden, 2)", 2)
    require.real_array(b1, "b1", "(hidden,)", 1)
    require.real_array(w2, "w2", "(heads, hidden)", 2)
    namespace(w1, b1, w2)
    require.same_device(w1=w1, b1=b1, w2=w2)
    require.same_dtype(w1=w1, b1=b1, w2=w2)
    if w1.shape[1] != 2 or b1.shape[0] != w1.shape[0] or w2.shape[1] != w1.shape[0]:
        raise ValueError(
            f"weights have shapes that do not fit: {require.shapes(w1=w1, b1=b1, w2=w2)}; give (hidden, 2), "
            "(hidden,) and (heads, hidden)"
        )
    return w1, b1, w2
