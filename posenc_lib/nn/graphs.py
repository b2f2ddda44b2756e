"""Door 1 for graphs and trees, as modules: what describes a node, mapped to the width of the model."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from posenc_lib import _require as require
from posenc_lib._arrays import Array, is_compiling
from posenc_lib.added import (
    laplacian_eigenvectors,
    return_probabilities,
    sign_invariant,
    tree_paths,
)
from posenc_lib.added.graphs import Normalization, drawn_signs
from posenc_lib.added.trees import weighted
from posenc_lib.nn.added import add_rows, read_input
from posenc_lib.nn.base import PositionalEncoding, through, wide_dtype
from posenc_lib.nn.positions import Places, Positions, among, read_places
from posenc_lib.nn.tables import KeptTables, rows_of

SIGNS = ("invariant", "random", "fixed")
Signs = Literal["invariant", "random", "fixed"]


class _OfNodes(PositionalEncoding):
    """Numbers that describe each node: those of one graph, by the node's number, or those of a call."""

    dim: int
    features: int
    nodes: np.ndarray | None
    """(nodes, features) of the graph that it was made for."""

    def __init__(self, dim: int, features: int, nodes: np.ndarray | None) -> None:
        super().__init__()
        self.dim, self.features = require.count(dim, "dim"), features
        self.nodes = nodes
        self._kept = KeptTables()

    def add(self, x: Tensor, positions: Positions) -> Tensor:
        """x + what the node's description is mapped to, rounded once."""
        places = read_places(positions, read_input(x, self.dim))
        for parameter in self.parameters():
            require.same_device(x=x, **{"the weights": parameter})
        return add_rows(x, self._mapped(self._described(x, places)))

    def _described(self, x: Tensor, places: Places) -> Tensor:
        """(..., length, features), in float32 at least."""
        dtype = wide_dtype(x)
        if isinstance(places, Tensor) and places.ndim == 3:
            if places.shape[0] != self.features:
                raise ValueError(
                    f"positions of shape {tuple(places.shape)} describe each node by {places.shape[0]} "
                    f"numbers; "
                    f"give {self.features}, as ({self.features}, batch or 1, length)"
                )
            return places.movedim(0, -1).to(dtype)
        nodes = self.nodes
        if nodes is None:
            raise ValueError(
                f"positions are one number per token, and {type(self).__name__} was made without a graph; "
                f"give "
                f"what describes each node, ({self.features}, batch or 1, length), or the graph when it is "
                f"made"
            )
        places = among(
            places,
            len(nodes),
            self,
            of="nodes of the graph",
            outside="the graph, whose nodes are",
            remedy="; give the numbers of its nodes",
        )
        table: Tensor = self._kept.whole(
            lambda: torch.from_numpy(nodes).to(dtype).to(x.device),
            settings=id(nodes) if is_compiling() else nodes.tobytes(),  # somebody may write into them
            device=x.device,
            dtype=dtype,
        )
        return rows_of(table, places)

    def _mapped(self, described: Tensor) -> Tensor:
        """(..., length, features) to (..., length, dim)."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        graph = "no graph" if self.nodes is None else f"a graph of {len(self.nodes)} nodes"
        return f"{graph}, {self.dim}, features={self.features}"


class LaplacianEigenvectors(_OfNodes):
    """The slow waves on a graph, mapped to the width of the model.

    Args:
        adjacency: (nodes, nodes) of one graph, whose nodes tokens are: a position is then the number of a
            node. None where graphs come with each call: positions are then (count, batch or 1, length),
            eigenvectors times the root of the number of nodes, so that their numbers lie near 1.
        dim: width of x.
        count: how many eigenvectors.
        signs: "invariant" for phi(v) + phi(-v) with a small network phi of each number, as SignNet: it cannot
            tell two nodes whose numbers differ in sign alone. "random" for signs that `draw` flips, once for
            each training step. "fixed" for the signs that the solver chose, which another machine may choose
            otherwise.
        hidden: units of phi.
        normalization: as in `posenc_lib.laplacian_eigenvectors`.

    Raises:
        TypeError, ValueError: as `posenc_lib.laplacian_eigenvectors`; from `add`, a position outside the
            graph.
        RuntimeError: from `add`, in training with signs="random" where nothing was drawn yet.

    Example:
        >>> import torch
        >>> ring = torch.eye(6).roll(1, 0) + torch.eye(6).roll(-1, 0)
        >>> LaplacianEigenvectors(ring, 32, count=4)(torch.zeros(1, 6, 32)).shape
        torch.Size([1, 6, 32])

    Source: Dwivedi and Bresson 2020, "A Generalization of Transformer Networks to Graphs", section 2.2; Lim
    et al. 2023, "Sign and Basis Invariant Networks for Spectral Graph Representation Learning", equation 4.
    """

    def __init__(
        self,
        adjacency: Array | None,
        dim: int,
        *,
        count: int = 8,
        signs: Signs = "invariant",
        hidden: int = 16,
        normalization: Normalization = "symmetric",
    ) -> None:
        count = require.count(count, "count")
        nodes = None
        if adjacency is not None:
            _, vectors = laplacian_eigenvectors(adjacency, count, normalization=normalization)
            nodes = as_numpy(vectors) * math.sqrt(vectors.shape[0])
        super().__init__(dim, count, nodes)
        self.signs = require.choice(signs, "signs", SIGNS)
        hidden = require.count(hidden, "hidden")
        if self.signs == "invariant":
            self.first = nn.Linear(1, hidden)
        self.second = nn.Linear(count * hidden if self.signs == "invariant" else count, self.dim)
        self._drawn: np.ndarray | None = None

    def draw(self, generator: Any) -> None:
        """Draw the signs of this training step, for all calls until the next draw.

        Args:
            generator: of NumPy or PyTorch, as in `posenc_lib.flip_signs`.

        In evaluation it has no effect.
        """
        self._drawn = drawn_signs(generator, self.features)

    def _mapped(self, described: Tensor) -> Tensor:
        if self.signs == "invariant":
            described = sign_invariant(described, self._phi).flatten(-2)
        elif self.signs == "random" and self.training:
            if self._drawn is None:
                raise RuntimeError(
                    "this module trains with random signs, but none have been drawn; call draw(generator) "
                    "at the start of each step, or eval()"
                )
            described = described * torch.from_numpy(self._drawn).to(described.dtype).to(described.device)
        return through(self.second, described)

    def _phi(self, described: Tensor) -> Tensor:
        """The small network, on each number by itself: (..., count) to (..., count, hidden)."""
        return through(self.first, described[..., None]).relu()

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, signs={self.signs!r}"


class RandomWalk(_OfNodes):
    """The chances that a random walk comes back, mapped to the width of the model.

    Args:
        adjacency: (nodes, nodes) of one graph, as in `LaplacianEigenvectors`; with None, positions are the
            probabilities, (steps, batch or 1, length).
        dim: width of x.
        steps: how many, as in `posenc_lib.return_probabilities`.

    Raises:
        TypeError, ValueError: as `posenc_lib.return_probabilities`; from `add`, a position outside the
            graph.

    Source: Dwivedi et al. 2022, "Graph Neural Networks with Learnable Structural and Positional
    Representations", equation 11.
    """

    def __init__(self, adjacency: Array | None, dim: int, *, steps: int = 16) -> None:
        steps, nodes = require.count(steps, "steps"), None
        if adjacency is not None:
            chances = return_probabilities(adjacency, steps)
            if chances.ndim != 2:
                raise ValueError(f"adjacency has {chances.ndim} axes; give that of one graph, (nodes, nodes)")
            nodes = as_numpy(chances)
        super().__init__(dim, steps, nodes)
        self.project = nn.Linear(steps, self.dim)

    def _mapped(self, described: Tensor) -> Tensor:
        return through(self.project, described)


class TreePaths(_OfNodes):
    """The way from a node up to the root of its tree, each step of which counts less by learned factors.

    Args:
        parents: (nodes,) of one tree, as in `posenc_lib.tree_paths`: a position is then the number of a node.
            With None, positions are the paths, (depth * branching, batch or 1, length).
        dim: width of x; what depth * branching does not divide stays 0.
        branching, depth: as in `posenc_lib.tree_paths`.

    Raises:
        TypeError, ValueError: as `posenc_lib.tree_paths`; dim below depth * branching; from `add`, a position
            outside the tree.

    Example:
        >>> import torch
        >>> tree = torch.tensor([-1, 0, 1, 0])  # f(g(x), y): f, g, x, y
        >>> TreePaths(tree, 32, branching=2, depth=4)(torch.zeros(1, 4, 32)).shape
        torch.Size([1, 4, 32])

    Source: Shiv and Quirk 2019, "Novel positional encodings to enable tree-based transformers", section 3.2.
    """

    def __init__(self, parents: Array | None, dim: int, *, branching: int, depth: int) -> None:
        self.branching = require.count(branching, "branching")
        width = self.branching * require.count(depth, "depth")
        nodes = None if parents is None else as_numpy(tree_paths(parents, branching, depth))
        super().__init__(dim, width, nodes)
        if self.dim < width:
            raise ValueError(
                f"dim={self.dim} is less than depth * branching = {width}; give a wider model, or keep "
                f"fewer steps"
            )
        self.decays = nn.Parameter(torch.empty(self.dim // width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the factors again."""
        nn.init.uniform_(self.decays, 0.7, 0.999)

    def _mapped(self, described: Tensor) -> Tensor:
        rows: Tensor = weighted(described, torch.tanh(self.decays.to(described.dtype)), self.branching)
        return nn.functional.pad(rows, (0, self.dim - rows.shape[-1]))


def as_numpy(array: Array) -> np.ndarray:
    """The numbers on the host, in float64."""
    host = array.detach().cpu() if isinstance(array, Tensor) else array
    return np.asarray(host, dtype=np.float64)
