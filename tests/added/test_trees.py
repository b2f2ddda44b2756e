"""Paths in trees against a walk through a syntax tree, and against the shifts that the paper defines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch

from posenc_lib.added import tree_features, tree_paths


def walk(node: ast.AST, way: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The way down to each node, in the order in which one reads."""
    yield way
    for number, child in enumerate(ast.iter_child_nodes(node)):
        yield from walk(child, (*way, number))


CODE = "def f(x):\n    y = g(x, x + 1)\n    return [y, h(y)]"
WAYS = list(walk(ast.parse(CODE)))
PARENTS = np.asarray([WAYS.index(way[:-1]) if way else -1 for way in WAYS])
BRANCHING, DEPTH = 3, 6


def expected(ways: list[tuple[int, ...]], branching: int, depth: int) -> np.ndarray:
    """The stack of the paper: to go down is to push a one-hot in front; what falls off the end is gone."""
    rows = []
    for way in ways:
        stack = np.zeros(depth * branching)
        for child in way:
            stack = np.concatenate([np.eye(branching)[child], stack[: (depth - 1) * branching]])
        rows.append(stack)
    return np.asarray(rows)


@pytest.mark.parametrize("depth", [1, 3, DEPTH, 9])
def test_code_as_a_tree(depth: int) -> None:
    assert len(WAYS) > 20
    found = tree_paths(PARENTS, BRANCHING, depth)
    np.testing.assert_array_equal(found, expected(WAYS, BRANCHING, depth))
    assert (len(np.unique(found, axis=0)) == len(WAYS)) == (depth >= DEPTH)


def test_going_up_is_one_matrix_at_every_node() -> None:
    found = tree_paths(PARENTS, BRANCHING, 9)
    up = np.eye(9 * BRANCHING, k=-BRANCHING).T
    np.testing.assert_array_equal(found[1:] @ up.T, found[PARENTS[1:]])


def test_a_tree_has_one_root_and_may_be_nothing_else() -> None:
    with pytest.raises(ValueError, match="a tree has one root"):
        tree_paths([-1, -1, 1], 1, 1)
    assert tree_paths(np.asarray([-1]), 4, 2).tolist() == [[0.0] * 8]


def test_decays_weigh_the_steps_by_the_formula() -> None:
    paths, decays = tree_paths(PARENTS, BRANCHING, 4), np.asarray([0.9, -0.5])
    found = tree_features(paths, decays, BRANCHING).reshape(len(WAYS), 4, BRANCHING, 2)
    width = 4 * BRANCHING * 2
    for node, way in enumerate(WAYS):
        for step, child in enumerate(reversed(way[-4:])):
            wanted = decays**step * np.sqrt((1 - decays**2) * width / 2)
            np.testing.assert_allclose(found[node, step, child], wanted)
    assert np.count_nonzero(found) == 2 * sum(min(len(way), 4) for way in WAYS)


def test_a_long_way_is_as_long_as_a_sinusoidal_encoding() -> None:
    """The paper's factor: d / 2 is the squared length of an encoding of d / 2 sines and cosines."""
    endless = np.ones(400)
    for decay in (0.3, 0.9):
        length = np.linalg.norm(tree_features(endless, np.asarray([decay]), 1))
        assert length == pytest.approx(np.sqrt(400 / 2))


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    paths = tree_paths(own(PARENTS), BRANCHING, DEPTH)
    np.testing.assert_array_equal(np.asarray(paths), tree_paths(PARENTS, BRANCHING, DEPTH))
    decays = np.asarray([0.7, 0.8])
    features = tree_features(paths, own(decays.astype(np.asarray(paths).dtype)), BRANCHING)
    assert type(features) is type(paths)
    np.testing.assert_allclose(
        np.asarray(features), tree_features(np.asarray(paths, dtype=float), decays, BRANCHING), rtol=1e-6
    )


def test_gradients_reach_the_decays() -> None:
    paths = torch.from_numpy(tree_paths(PARENTS[:5], BRANCHING, 2))
    decays = torch.tensor([0.7, -0.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: tree_features(paths, p, BRANCHING), decays)
