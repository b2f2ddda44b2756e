"""FIRE: a small network that reads distance as a fraction of how far back there is to look."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import Array, move_axis, namespace, narrow, torch_of, without_autocast
from posenc_lib.biased.relative import beside, offsets, queries_and_keys, real_dtype

FireWeights = tuple[Array, Array, Array, Array]


def fire_distances(
    queries: int | Array,
    keys: int | Array,
    *,
    c: float | Array,
    threshold: float | Array,
    like: Array | None = None,
    dtype: Any = None,
) -> Array:
    """What FIRE's network reads: psi(|query - key|) / psi(max(threshold, query)), psi(x) = log(1 + c x).

    Between 0, at the query itself, and 1, at position 0 from a query past the threshold: a longer text is
    squeezed into the range that was seen in training.

    Args:
        queries: an int n for the last n of the keys' positions, or positions of shape (..., queries).
        keys: an int n for positions 0 .. n-1, or positions of shape (..., keys).
        c: above 0, or a 0-d array, learned: how much finer near distances are told apart.
        threshold: above 0, or a 0-d array, learned: the paper's L. Queries before it are not
            stretched, or short texts would look like long ones.
        like: an array whose library, device and dtype the result has where both are ints.
        dtype: of the result; by default that of `like`, else that of real positions.

    Returns:
        (..., queries, keys).

    Raises:
        TypeError: positions, c or threshold no real numbers; arrays of different libraries.
        ValueError: c or threshold not above 0; NaN; more queries than keys as ints.

    Example:
        >>> fire_distances(2, 4, c=1.0, threshold=2.0).round(2)  # the queries are at 2 and 3
        array([[1.  , 0.63, 0.  , 0.63],
               [1.  , 0.79, 0.5 , 0.  ]])

    Source: Li et al. 2024, "Functional Interpolation for Relative Positions improves Long Context
    Transformers", section 3: the transform and the threshold.
    """
    c, threshold = require.positive_scalar(c, "c"), require.positive_scalar(threshold, "threshold")
    placed = queries_and_keys(queries, keys, like)
    anchors = placed if like is None else (like, *placed)
    namespace(*anchors)
    require.same_device(**{f"argument {i}": array for i, array in enumerate(anchors)})
    dtype = real_dtype(dtype, *anchors)
    relative, query, c, threshold = _wide(offsets(*placed), placed[0], c, threshold)
    xp = namespace(relative)
    query = query[..., :, None]
    reach = xp.where(query > threshold, query, threshold)
    return narrow(xp.log1p(c * xp.abs(relative)) / xp.log1p(c * reach), placed[0], dtype)


def fire_bias(
    weights: FireWeights,
    queries: int | Array,
    keys: int | Array,
    *,
    c: float | Array,
    threshold: float | Array,
) -> Array:
    """FIRE's bias: w2 relu(w1 x + b1) + b2, with x from `fire_distances`.

    Args:
        weights: (w1, b1, w2, b2), learned, of shapes (hidden, 1), (hidden,), (heads, hidden) and
            (heads,): what two `torch.nn.Linear` hold. The paper has 32 hidden units. For another
            network, apply it to `fire_distances` yourself.
        queries, keys, c, threshold: as in `fire_distances`.

    Returns:
        (heads, queries, keys), or (..., heads, queries, keys) for positions with more axes; in the
        library, on the device and of the dtype of the weights.

    Raises:
        TypeError: weights, positions, c or threshold no real numbers; arrays of different libraries.
        ValueError: weights of other shapes; c or threshold not above 0; NaN; different devices.

    Who does what: the authors' code adds 1e-6 to the denominator, which moves x by less
    than 1e-6 / psi(threshold); the paper's formula does not, and neither does this. Their positions
    start at 0, as here.

    Example:
        >>> import numpy as np
        >>> weights = np.ones((1, 1)), np.zeros(1), -np.ones((1, 1)), np.zeros(1)  # f(x) = -relu(x)
        >>> fire_bias(weights, 1, 4, c=1.0, threshold=2.0).round(2)
        array([[[-1.  , -0.79, -0.5 ,  0.  ]]])

    Source: Li et al. 2024, section 3, and the implementation in their appendix.
    """
    w1, b1, w2, b2 = read_fire_weights(weights)
    x = fire_distances(queries, keys, c=c, threshold=threshold, like=w1)
    xp = namespace(x, w1)
    by_head = _network(xp, xp.reshape(x, (1, -1)), w1, b1[:, None], w2, b2[:, None])
    return move_axis(xp.reshape(by_head, (w2.shape[0], *x.shape)), 0, -3)


def _network(xp: Any, x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    """w2 relu(w1 x + b1) + b2 of a row of numbers, in few passes over its hidden units."""
    torch = torch_of(x)
    if torch is not None:
        with without_autocast(x):
            by_head: Array = torch.addmm(b2, w2, torch.addcmul(b1, w1, x).relu_())
        return by_head
    hidden = w1 * x + b1
    return xp.matmul(w2, xp.where(hidden > 0, hidden, xp.zeros_like(hidden))) + b2


def read_fire_weights(weights: Any) -> FireWeights:
    """The four arrays, of shapes that fit."""
    if not isinstance(weights, (tuple, list)) or len(weights) != 4:
        raise TypeError(
            f"weights is {type(weights).__name__}; give the four arrays (w1, b1, w2, b2) of the network"
        )
    w1, b1, w2, b2 = weights
    require.real_array(w1, "w1", "(hidden, 1)", 2)
    require.real_array(b1, "b1", "(hidden,)", 1)
    require.real_array(w2, "w2", "(heads, hidden)", 2)
    require.real_array(b2, "b2", "(heads,)", 1)
    namespace(w1, b1, w2, b2)
    require.same_device(w1=w1, b1=b1, w2=w2, b2=b2)
    require.same_dtype(w1=w1, b1=b1, w2=w2, b2=b2)
    hidden, heads = w1.shape[0], w2.shape[0]
    if w1.shape[1] != 1 or b1.shape[0] != hidden or w2.shape[1] != hidden or b2.shape[0] != heads:
        shapes = ", ".join(str(tuple(array.shape)) for array in (w1, b1, w2, b2))
        raise ValueError(
            f"weights have shapes {shapes}; give (hidden, 1), (hidden,), (heads, hidden) and (heads,)"
        )
    return w1, b1, w2, b2


def _wide(relative: Array, query: Array, *numbers: Any) -> list[Any]:
    """All in float64, in one library and on one device; Python's numbers as they are."""
    arrays = {f"argument {i}": each for i, each in enumerate(numbers) if hasattr(each, "dtype")}
    relative, query, *others = beside(relative, queries=query, **arrays)
    wide = dict(zip(arrays, others, strict=True))
    return [relative, query, *(wide.get(f"argument {i}", each) for i, each in enumerate(numbers))]
