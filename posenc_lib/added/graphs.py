"""Where a node is in a graph: eigenvectors of the Laplacian, and the chance that a walk comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from posenc_lib import _require as require
from posenc_lib._arrays import (
    Array,
    ArrayT,
    constant,
    device_of,
    drawn_evenly,
    namespace,
    narrow,
    result_dtype,
    widen,
    widen_all,
)

NORMALIZATIONS = ("symmetric", "none")
Normalization = Literal["symmetric", "none"]


def laplacian_eigenvectors(
    adjacency: ArrayT,
    count: int,
    *,
    normalization: Normalization = "symmetric",
    dtype: Any = None,
) -> tuple[ArrayT, ArrayT]:
    """The slowest waves on a graph: eigenvectors of its Laplacian, as coordinates of its nodes.

    On a path they are cosines, on a ring sines and cosines: the sinusoidal encoding of a graph. The first
    one, the same (or, normalised, the root of the degree) everywhere, says nothing and is left out.

    Nothing but convention makes them what they are: each may change its sign, and those of one eigenvalue
    may be mixed by any rotation. `eigenspaces` says where that is so; `flip_signs` and `sign_invariant` are
    the two remedies.

    Args:
        adjacency: (nodes, nodes), symmetric, 0 or more: the weight of each edge, 1 where edges have none.
        count: how many eigenvectors, at most nodes - 1. To see whether the last one shares its eigenvalue
            with the next, ask for one more than you need.
        normalization: "symmetric" for I - D^-1/2 A D^-1/2, or "none" for D - A, with D the degrees.
        dtype: of the result; by default that of real adjacencies, else the library's default.

    Returns:
        (values, vectors): (count,) eigenvalues, ascending, and (nodes, count), of length 1 each, in the
        library and on the device of the adjacency. Computed in float64 (in float32 where JAX traces without
        float64). A graph in several parts has as many
        eigenvalues 0: what is left out is the wave that says nothing, and those that are kept tell the parts
        apart.

    Raises:
        TypeError: adjacency not real numbers, count not an integer, a dtype that is not a real type.
        ValueError: a matrix that is not square or not symmetric, negative or NaN weights, a count out of
            range, unknown normalization.

    Who does what: Dwivedi's and torch_geometric's code draw a sign for each column in every call; the latter
    counts an isolated node as 1 on the diagonal, this and networkx as 0.

    Example:
        >>> import numpy as np
        >>> path = np.asarray([[0, 1, 0], [1, 0, 1], [0, 1, 0]])  # three nodes in a row
        >>> values, vectors = laplacian_eigenvectors(path, 2, normalization="none")
        >>> values.round(3)
        array([1., 3.])
        >>> np.abs(vectors).round(3)  # the signs are nobody's choice
        array([[0.707, 0.408],
               [0.   , 0.816],
               [0.707, 0.408]])

    Source: Dwivedi and Bresson 2020, "A Generalization of Transformer Networks to Graphs", section 2.2;
        Belkin and Niyogi 2003; normalised as in Chung 1997, "Spectral Graph Theory", section 1.2.
    """
    adjacency = read_adjacency(adjacency)
    nodes = adjacency.shape[0]
    count = require.count(count, "count")
    if count > nodes - 1:
        remedy = f"give {nodes - 1} or less" if nodes > 1 else "there are none to give"
        raise ValueError(
            f"count={count} eigenvectors of a graph of {nodes} nodes: {remedy} (in a batch of graphs of "
            "several sizes, put columns of zeros after those of the small ones)"
        )
    require.choice(normalization, "normalization", NORMALIZATIONS)
    dtype = result_dtype(adjacency, dtype)
    [weights] = widen_all(adjacency)
    xp = namespace(weights)
    require.all_hold(
        weights == xp.matrix_transpose(weights),
        adjacency,
        "adjacency is not symmetric, and directed edges have no such waves; give A + A.T, or a random walk "
        "(return_probabilities)",
    )
    degrees = xp.sum(weights, axis=-1)
    laplacian = xp.eye(nodes, dtype=weights.dtype, device=device_of(degrees)) * degrees - weights
    flat, highest = xp.ones_like(degrees), 2.0 * xp.max(degrees)
    if normalization == "symmetric":
        root = _inverse(xp, xp.sqrt(degrees))
        laplacian = laplacian * root[:, None] * root
        flat = xp.where(highest > 0, xp.sqrt(degrees), flat)
        highest = xp.full_like(highest, 2.0)
    # The wave that says nothing, of eigenvalue 0, is moved above all others: where several have 0, a solver
    # returns any mixture of them. Not far above, or small weights would be lost beside it.
    above = xp.where((highest == 0) | (highest > 1), highest + 1.0, 2.0 * highest)
    flat = flat / xp.sqrt(xp.sum(flat * flat))
    values, vectors = xp.linalg.eigh(laplacian + above * flat[:, None] * flat)
    chosen = slice(0, count)
    return narrow(values[chosen], adjacency, dtype), narrow(vectors[:, chosen], adjacency, dtype)


def eigenspaces(values: ArrayT, *, tolerance: float = 1e-6) -> ArrayT:
    """Which eigenvectors share an eigenvalue, so that their directions are arbitrary: equal numbers do.

    A rotation of such vectors among themselves gives others that are just as right. No choice of signs
    helps: use what does not depend on the basis, as v v^T summed over a whole eigenspace.

    Args:
        values: (count,) eigenvalues, ascending.
        tolerance: by how much neighbours may differ and be the same.

    Returns:
        (count,) int64, counting the eigenspaces from 0, in the library and on the device of the values.

    Raises:
        TypeError: values are not numbers, tolerance not a real number.
        ValueError: not (count,), NaN, values that fall, tolerance not above 0.

    Example:
        >>> import numpy as np
        >>> ring = np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0)
        >>> values, _ = laplacian_eigenvectors(ring, 5)
        >>> eigenspaces(values)  # each wave of a ring may be anywhere: a sine and a cosine
        array([0, 0, 1, 1, 2])

    Source: Lim et al. 2023, "Sign and Basis Invariant Networks for Spectral Graph Representation Learning",
        section 2.1.
    """
    values = require.numbers(values, "eigenvalues")
    tolerance = require.positive(tolerance, "tolerance")
    if values.ndim != 1:
        raise ValueError(f"eigenvalues have shape {tuple(values.shape)}; give those of one graph, (count,)")
    wide = widen(values)
    xp = namespace(wide)
    steps = wide[1:] - wide[:-1]
    require.all_hold(steps >= -tolerance, values, "eigenvalues must not fall; give them in ascending order")
    begins = xp.concat([xp.zeros_like(wide[:1], dtype=xp.int64), xp.astype(steps > tolerance, xp.int64)])
    return narrow(xp.cumulative_sum(begins), values, namespace(values).int64)


def flip_signs(vectors: ArrayT, generator: Any) -> ArrayT:
    """Each column with the sign that a coin gives it: one draw for all nodes, for each training step.

    A model that has seen both signs cannot rely on either.

    Args:
        vectors: (..., nodes, count), such as `laplacian_eigenvectors` gives.
        generator: of NumPy, `np.random.default_rng(seed)`, or of PyTorch, `torch.Generator()`.

    Returns:
        (..., nodes, count), of the vectors' library, device and dtype.

    Raises:
        TypeError: vectors not real numbers, a generator of neither library.
        ValueError: fewer than two axes.

    Example:
        >>> import numpy as np
        >>> flip_signs(np.ones((2, 4)), np.random.default_rng(1))
        array([[ 1.,  1., -1.,  1.],
               [ 1.,  1., -1.,  1.]])

    Source: Dwivedi et al. 2020, "Benchmarking Graph Neural Networks", section 4.4.
    """
    vectors = require.real_array(vectors, "vectors", "(..., nodes, count)", 2, more=True)
    signs = constant(drawn_signs(generator, vectors.shape[-1]), vectors)
    return vectors * namespace(vectors).astype(signs, vectors.dtype)


def sign_invariant(vectors: ArrayT, phi: Callable[[Array], Array]) -> ArrayT:
    """phi(v) + phi(-v): what a function says of eigenvectors whatever their signs.

    Every function that does not see the sign can be written so. Where phi looks at one node's number alone,
    the sum depends on |v|, and two nodes on opposite sides of the graph look alike: let phi look at
    neighbours, or at all nodes.

    Args:
        vectors: (..., nodes, count), such as `laplacian_eigenvectors` gives.
        phi: takes arrays like vectors and treats each column by itself, as `x[..., None] @ weight` does.

    Returns:
        What phi returns, twice.

    Raises:
        TypeError: vectors not real numbers, phi not a function.
        ValueError: fewer than two axes.

    Example:
        >>> import numpy as np
        >>> v = np.asarray([[0.5], [-0.5]])
        >>> sign_invariant(v, np.cos) == sign_invariant(-v, np.cos)
        array([[ True],
               [ True]])

    Source: Lim et al. 2023, "Sign and Basis Invariant Networks for Spectral Graph Representation Learning",
        equation 4 (SignNet, without the network after it).
    """
    vectors = require.real_array(vectors, "vectors", "(..., nodes, count)", 2, more=True)
    if not callable(phi) or isinstance(phi, type):
        raise TypeError(f"phi is of type {type(phi).__name__}; give a function of arrays, such as np.cos")
    return phi(vectors) + phi(-vectors)


def return_probabilities(adjacency: ArrayT, steps: int, *, dtype: Any = None) -> ArrayT:
    """The chance that a walker who leaves a node is back after 1, 2, ... steps.

    It has no sign and no basis to choose. A chance above 0 at step 3 is a triangle; on a tree, the odd ones
    are 0. Nodes that look alike from everywhere, as all of a ring, get the same numbers.

    Args:
        adjacency: (..., nodes, nodes), 0 or more: the weight of the edge from row to column. It need not be
            symmetric.
        steps: how many.
        dtype: of the result; by default that of real adjacencies, else the library's default.

    Returns:
        (..., nodes, steps): the diagonals of P, P^2, ..., with P = D^-1 A, in the library and on the device
        of the adjacency. A node without an edge has 0. Gradients reach the weights.

    Raises:
        TypeError: adjacency not real numbers, steps not an integer, a dtype that is not a real type.
        ValueError: a matrix that is not square, negative or NaN weights, steps below 1.

    Example:
        >>> import numpy as np
        >>> triangle_and_tail = np.asarray([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
        >>> return_probabilities(triangle_and_tail, 3).round(3)
        array([[0.   , 0.417, 0.167],
               [0.   , 0.417, 0.167],
               [0.   , 0.667, 0.167],
               [0.   , 0.333, 0.   ]])

    Source: Dwivedi et al. 2022, "Graph Neural Networks with Learnable Structural and Positional
        Representations", equation 11.
    """
    adjacency = read_adjacency(adjacency, batches=True)
    steps = require.count(steps, "steps")
    dtype = result_dtype(adjacency, dtype)
    [weights] = widen_all(adjacency)
    xp = namespace(weights)
    chances = weights * _inverse(xp, xp.sum(weights, axis=-1))[..., None]
    walk, returns = chances, []
    for step in range(steps):
        walk = xp.matmul(walk, chances) if step else walk
        returns.append(xp.linalg.diagonal(walk))
    return narrow(xp.stack(returns, axis=-1), adjacency, dtype)


def read_adjacency(adjacency: Any, *, batches: bool = False) -> Array:
    """A square matrix of weights, 0 or more."""
    adjacency = require.numbers(adjacency, "adjacency")
    shape = "(..., nodes, nodes)" if batches else "(nodes, nodes)"
    if (
        adjacency.ndim < 2
        or (adjacency.ndim > 2 and not batches)
        or adjacency.shape[-1] != adjacency.shape[-2]
    ):
        raise ValueError(
            f"adjacency has shape {tuple(adjacency.shape)}; give {shape}, a weight for each edge"
        )
    if adjacency.shape[-1] == 0:
        raise ValueError("adjacency has no nodes; give a graph of one or more")
    require.all_hold(adjacency >= 0, adjacency, "weights of edges must be 0 or more")
    return adjacency


def drawn_signs(generator: Any, count: int) -> np.ndarray:
    """(count,) of 1 and -1."""
    return np.where(np.asarray(drawn_evenly(generator, -1.0, 1.0, count)) < 0, -1.0, 1.0)


def _inverse(xp: Any, numbers: Array) -> Array:
    """1 / x, and 0 where x is 0."""
    none = numbers == 0
    return xp.where(none, xp.zeros_like(numbers), 1.0 / xp.where(none, xp.ones_like(numbers), numbers))
