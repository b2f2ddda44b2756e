"""Where a node is in a tree: which child to take at each step from the root."""

from __future__ import annotations

from typing import Any

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    count_up,
    namespace,
    narrow,
    result_dtype,
    widen,
)


def tree_paths(parents: ArrayT, branching: int, depth: int, *, dtype: Any = None) -> ArrayT:
    """The way from each node up to the root: for each step, which child of its parent it comes from.

    To go down to child i is to shift all columns by `branching` and to put a 1 in column i; to go up is to
    shift them back. Each is the same map at every node, linear but for that 1, as a shift is for the
    sinusoidal encoding.

    Args:
        parents: (nodes,) whole numbers: the parent of each node, -1 for the root. Parents come before their
            children, and children are in the order of their nodes, as in a walk through a syntax tree.
        branching: the most children that a node has.
        depth: how many steps are kept, the nearest ones. Nodes deeper down forget the top of the tree.
        dtype: of the result; the library's default real type if None.

    Returns:
        (nodes, depth * branching) of 0 and 1, the step that is nearest to the node first; the root has zeros.
        In the library and on the device of the parents.

    Raises:
        TypeError: parents not integers, branching or depth not integers, dtype not a real type.
        ValueError: not (nodes,), a parent that does not come before its child, more roots than one, more
            children than `branching`, sizes below 1.

    Example:
        >>> import numpy as np
        >>> tree = np.asarray([-1, 0, 1, 0])  # f(g(x), y): f, g, x, y
        >>> tree_paths(tree, branching=2, depth=2)
        array([[0., 0., 0., 0.],
               [1., 0., 0., 0.],
               [1., 0., 1., 0.],
               [0., 1., 0., 0.]])

    Source: Shiv and Quirk 2019, "Novel positional encodings to enable tree-based transformers", section 3.1.
    """
    parents = require.whole(require.numbers(parents, "parents"), "parents")
    if parents.ndim != 1 or parents.shape[0] == 0:
        raise ValueError(f"parents have shape {tuple(parents.shape)}; give one for each node, (nodes,)")
    branching, depth = require.count(branching, "branching"), require.count(depth, "depth")
    xp = namespace(parents)
    dtype = result_dtype(parents, dtype)
    parents = xp.astype(parents, xp.int64)
    nodes = xp.astype(count_up(parents.shape[0], parents), xp.int64)
    require.all_hold(
        (parents >= -1) & (parents < nodes),
        parents,
        "each parent must come before its children, and the root's must be -1",
    )
    require.all_hold(
        nodes[:1] == xp.sum(xp.astype(parents < 0, xp.int64)) - 1,
        parents,
        "a tree has one root, -1, and its other nodes a parent each; give the trees of a forest one by one",
    )
    siblings_before = (parents[:, None] == parents) & (nodes < nodes[:, None])
    child = xp.sum(xp.astype(siblings_before, xp.int64), axis=-1)  # the how manieth of its parent
    is_root = parents < 0
    require.all_hold(
        is_root | (child < branching),
        parents,
        f"a node has more than branching={branching} children; give a larger branching",
    )
    which = xp.astype(count_up(branching, parents), xp.int64)
    at, steps = nodes, []
    for _ in range(depth):
        here = xp.take(child, at, axis=0)
        ended = xp.take(is_root, at, axis=0)
        steps.append((here[:, None] == which) & ~ended[:, None])
        above = xp.take(parents, at, axis=0)
        at = xp.where(ended, at, above)
    return xp.astype(xp.concat(steps, axis=-1), dtype)


def tree_features(paths: ArrayT, decays: Array, branching: int) -> ArrayT:
    """Paths in which each step further up counts less, by several factors side by side.

    Args:
        paths: (..., depth * branching), such as `tree_paths` gives.
        decays: (features,) numbers between -1 and 1, learned: the weight of the i-th step up is
            decay^i * sqrt((1 - decay^2) * width / 2), where width is that of the result: then a long path has
            a length like that of a sinusoidal encoding.
        branching: as in `tree_paths`.

    Returns:
        (..., depth * branching * features), in the library, on the device and of the dtype of the paths.
        Gradients reach the decays.

    Raises:
        TypeError: not real numbers, arrays of different libraries, branching not an integer.
        ValueError: shapes that do not fit, decays that are not between -1 and 1, different devices.

    Example:
        >>> import numpy as np
        >>> deep = np.asarray([1.0, 1.0, 1.0])  # three steps down, where each node has one child
        >>> tree_features(deep, np.asarray([0.5]), branching=1).round(3)
        array([1.061, 0.53 , 0.265])

    Source: Shiv and Quirk 2019, section 3.2; the factor is that of its authors' code (microsoft/icecaps).
    """
    paths = require.real_array(paths, "paths", "(..., depth * branching)", 1, more=True)
    branching = require.count(branching, "branching")
    decays = require.numbers(decays, "decays")
    namespace(paths, decays)
    require.same_device(paths=paths, decays=decays)
    if paths.shape[-1] == 0 or paths.shape[-1] % branching:
        raise ValueError(
            f"paths of shape {tuple(paths.shape)} are not steps of branching={branching}; give "
            "(..., depth * branching)"
        )
    if decays.ndim != 1 or decays.shape[0] == 0:
        raise ValueError(f"decays have shape {tuple(decays.shape)}; give (features,), one or more")
    require.all_hold(namespace(decays).abs(decays) < 1, decays, "decays must lie between -1 and 1")
    return weighted(paths, decays, branching)


def weighted(paths: Array, decays: Array, branching: int) -> Array:
    """`tree_features` of what was looked at already."""
    wide, of_steps = widen(paths), widen(decays)
    xp = namespace(wide, of_steps)
    width = paths.shape[-1] * decays.shape[0]
    levels = xp.astype(count_up(paths.shape[-1], wide) // branching, xp.float64)
    weights = of_steps ** levels[:, None] * xp.sqrt((1.0 - of_steps**2) * width / 2.0)
    features = xp.reshape(wide[..., None] * weights, (*paths.shape[:-1], width))
    return narrow(features, paths, paths.dtype)
