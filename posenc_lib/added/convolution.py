"""A convolution in place of positions: each token is told what is around it."""

from __future__ import annotations

import math

from posenc_lib import _require as require
from posenc_lib._arrays import Array, ArrayT, device_of, erf, namespace
from posenc_lib._heads import matmul


def convolution_positions(
    x: ArrayT, weight: Array, bias: Array | None = None, *, causal: bool = False
) -> ArrayT:
    """GELU of a grouped convolution along the sequence, to be added to x: wav2vec 2.0's positions.

    No position goes in. A token learns what its neighbours are and on which side they are, and near the
    ends of the sequence, where zeros stand in for neighbours, how far away the end is. A common shift of all
    positions changes nothing; padding must be zeros, and packed texts must be taken one at a time.

    Args:
        x: (..., length, dim), real.
        weight: (dim, dim / groups, taps): for output column o, tap t and column i of o's group. For a
            checkpoint, `convolution_weight` makes it of the two parts that are stored.
        bias: (dim,).
        causal: take the token and those before it. By default the taps lie around the token, where their
            number is even one more before it than after it.

    Returns:
        (..., length, dim), of the library, device and dtype of x; summed in float32 or wider. Gradients reach
        all arrays.

    Raises:
        TypeError: not real numbers, arrays of different libraries, tensors of different dtypes; causal not a
            boolean.
        ValueError: shapes that do not fit, different devices.

    Who does what: wav2vec 2.0, HuBERT and WavLM of transformers 5.24.0: 128 taps, 16 groups, dim 768; a layer
    norm follows on the sum. The vision Transformer CPVT has the same idea with a depthwise convolution of
    images.

    Example:
        >>> import numpy as np
        >>> x = np.asarray([[3.0], [0.0], [0.0], [0.0]])
        >>> before_it = np.asarray([[[1.0, 0.0, 0.0]]])  # three taps: the one before, itself, the one after
        >>> convolution_positions(x, before_it).round(3)[:, 0]
        array([0.   , 2.996, 0.   , 0.   ])

    Source: Baevski et al. 2020, "wav2vec 2.0", section 2; the convolution is that of Mohamed et al. 2019,
        "Transformers with convolutional context for ASR"; fairseq, `wav2vec2.py`, `make_conv_pos`.
    """
    x = require.real_array(x, "x", "(..., length, dim)", 2, more=True)
    weight = require.real_array(weight, "weight", "(dim, dim / groups, taps)", 3)
    given = {"x": x, "weight": weight}
    if bias is not None:
        given["bias"] = require.real_array(bias, "bias", "(dim,)", 1)
    xp = namespace(*given.values())
    require.same_device(**given)
    require.same_dtype(**given)
    causal = require.flag(causal, "causal")
    length, dim = x.shape[-2:]
    outputs, inputs, taps = weight.shape
    fits = outputs == dim and inputs > 0 and taps > 0 and dim % max(inputs, 1) == 0
    if not fits or (bias is not None and bias.shape[0] != dim):
        raise ValueError(
            f"{require.shapes(**given)} do not fit; give x (..., length, dim), weight (dim, dim / groups, "
            f"taps) and bias "
            "(dim,), with groups that divide dim"
        )
    kept, wide = x.dtype, xp.result_type(x.dtype, weight.dtype, xp.float32)
    x, weight = xp.astype(x, wide, copy=False), xp.astype(weight, wide, copy=False)
    groups = dim // inputs
    before = taps - 1 if causal else taps // 2
    batch = tuple(x.shape[:-2])
    edge = xp.zeros((*batch, 1, dim), dtype=x.dtype, device=device_of(x))
    padded = xp.concat([*(edge,) * before, x, *(edge,) * (taps - 1 - before)], axis=-2)
    maps = xp.reshape(weight, (groups, dim // groups, inputs, taps))
    total = None
    for tap in range(taps):
        seen = xp.reshape(padded[..., tap : tap + length, :], (*batch, length, groups, 1, inputs))
        part = matmul(xp, seen, xp.matrix_transpose(maps[..., tap]))
        total = part if total is None else total + part
    mixed = xp.reshape(total, (*batch, length, dim))
    if bias is not None:
        mixed = mixed + bias
    return xp.astype(mixed * 0.5 * (1.0 + erf(mixed / math.sqrt(2.0))), kept, copy=False)


def convolution_weight(direction: ArrayT, magnitude: Array) -> ArrayT:
    """Weight normalisation, tap by tap: direction / |direction| * magnitude, |.| over both axes of columns.

    Args:
        direction: (dim, dim / groups, taps), `parametrizations.weight.original1` of a checkpoint (`weight_v`
            in older files).
        magnitude: (taps,), or (1, 1, taps) as stored: `original0`, `weight_g`.

    Returns:
        (dim, dim / groups, taps), for `convolution_positions`, of the direction's library, device and dtype.

    Raises:
        TypeError: not real numbers, arrays of different libraries.
        ValueError: shapes that do not fit, different devices.

    Example:
        >>> import numpy as np
        >>> weight = convolution_weight(np.ones((4, 1, 2)), np.asarray([3.0, 5.0]))
        >>> np.linalg.norm(weight, axis=(0, 1))
        array([3., 5.])

    Source: Salimans and Kingma 2016, "Weight Normalization", equation 2; along the taps as in wav2vec 2.0.
    """
    direction = require.real_array(direction, "direction", "(dim, dim / groups, taps)", 3)
    magnitude = require.real_array(magnitude, "magnitude", "(taps,)", 1, more=True)
    xp = namespace(direction, magnitude)
    require.same_device(direction=direction, magnitude=magnitude)
    taps = direction.shape[-1]
    if tuple(magnitude.shape) not in ((taps,), (1, 1, taps)) or 0 in direction.shape:
        raise ValueError(
            f"{require.shapes(direction=direction, magnitude=magnitude)} do not fit; give (dim, dim / "
            f"groups, taps) and "
            "(taps,)"
        )
    wide = xp.result_type(direction.dtype, xp.float32)  # in which small numbers have a square above 0
    ways = xp.astype(direction, wide, copy=False)
    length = xp.sqrt(xp.sum(ways * ways, axis=(0, 1)))
    scaled = ways * xp.astype(xp.reshape(magnitude, (taps,)), wide, copy=False) / length
    return xp.astype(scaled, direction.dtype, copy=False)
