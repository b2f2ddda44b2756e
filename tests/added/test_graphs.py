"""Eigenvectors and walks against closed forms, networkx and enumeration; what their signs and bases leave "
"open."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import array_api_strict
import networkx
import numpy as np
import pytest
import torch

from posenc_lib.added import (
    eigenspaces,
    flip_signs,
    laplacian_eigenvectors,
    return_probabilities,
    sign_invariant,
)
from posenc_lib.added.graphs import Normalization


def ring(nodes: int) -> np.ndarray:
    return np.roll(np.eye(nodes), 1, axis=0) + np.roll(np.eye(nodes), -1, axis=0)


def path(nodes: int) -> np.ndarray:
    return np.eye(nodes, k=1) + np.eye(nodes, k=-1)


def some_graph(seed: int = 0, nodes: int = 12) -> np.ndarray:
    """Connected, weighted."""
    generator = np.random.default_rng(seed)
    upper = np.triu(generator.random((nodes, nodes)) * (generator.random((nodes, nodes)) < 0.3), 1)
    return upper + upper.T + path(nodes)


def test_on_a_path_they_are_cosines() -> None:
    """The second-kind discrete cosine transform diagonalises D - A of a path."""
    n = 9
    values, vectors = laplacian_eigenvectors(path(n), n - 1, normalization="none")
    k = np.arange(1, n)
    np.testing.assert_allclose(values, 2 - 2 * np.cos(np.pi * k / n), atol=1e-12)
    waves = np.cos(np.pi * k * (np.arange(n)[:, None] + 0.5) / n)
    np.testing.assert_allclose(np.abs(vectors.T @ waves), np.diag(np.sqrt([n / 2] * (n - 1))), atol=1e-9)


@pytest.mark.parametrize(("normalization", "of_networkx"), [("symmetric", True), ("none", False)])
def test_they_are_those_of_the_laplacian_of_networkx(normalization: Normalization, of_networkx: bool) -> None:
    weights = some_graph()
    graph = networkx.from_numpy_array(weights)
    make = networkx.normalized_laplacian_matrix if of_networkx else networkx.laplacian_matrix
    laplacian = make(graph).toarray()
    values, vectors = laplacian_eigenvectors(weights, 11, normalization=normalization)
    np.testing.assert_allclose(laplacian @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(11), atol=1e-10)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian)[1:], atol=1e-10)


def test_a_node_without_edges_is_a_part_of_its_own() -> None:
    weights = np.pad(ring(3), (0, 1))
    values, vectors = laplacian_eigenvectors(weights, 3)
    np.testing.assert_allclose(values, [0.0, 1.5, 1.5], atol=1e-12)
    np.testing.assert_allclose(
        vectors.T @ networkx.normalized_laplacian_matrix(networkx.from_numpy_array(weights)) @ vectors,
        np.diag(values),
        atol=1e-12,
    )


def test_names_of_nodes_do_not_matter_but_for_signs_and_bases() -> None:
    """Renamed nodes have renamed rows: v v^T of each whole eigenspace says the same."""
    weights, order = some_graph(3), np.random.default_rng(1).permutation(12)
    (values, one), (again, other) = (
        laplacian_eigenvectors(each, 11) for each in (weights, weights[np.ix_(order, order)])
    )
    np.testing.assert_allclose(values, again, atol=1e-10)
    for column in range(11):
        np.testing.assert_allclose(
            np.outer(one[order, column], one[order, column]),
            np.outer(other[:, column], other[:, column]),
            atol=1e-8,
        )


def test_eigenspaces_are_told_and_what_is_summed_over_one_hangs_on_no_basis() -> None:
    values, vectors = laplacian_eigenvectors(ring(8), 7)
    spaces = eigenspaces(values)
    assert spaces.tolist() == [0, 0, 1, 1, 2, 2, 3]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(2, 2)))[0]
    turned = vectors.copy()
    turned[:, :2] = vectors[:, :2] @ turn
    first = spaces == 0
    assert np.abs(turned[:, first] - vectors[:, first]).max() > 0.1
    summed = vectors[:, first] @ vectors[:, first].T
    np.testing.assert_allclose(turned[:, first] @ turned[:, first].T, summed, atol=1e-12)
    offsets = np.arange(8)[:, None] - np.arange(8)
    np.testing.assert_allclose(  # and on a ring it is a function of the offset: a relative encoding
        summed, np.cos(2 * np.pi * offsets / 8) / 4, atol=1e-12
    )
    assert eigenspaces(laplacian_eigenvectors(some_graph(), 11)[0]).tolist() == list(range(11))
    assert eigenspaces(np.asarray([0.0, 0.01, 0.2]), tolerance=0.1).tolist() == [0, 0, 1]
    assert eigenspaces(np.asarray([0.0, 0.25, 0.75]), tolerance=0.25).tolist() == [0, 0, 1]
    assert eigenspaces(np.zeros(0)).tolist() == []


@pytest.mark.parametrize(
    "generator", [np.random.default_rng(5), torch.Generator().manual_seed(5)], ids=["numpy", "torch"]
)
def test_signs_are_flipped_by_columns_and_both_come_up(generator: Any) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 5, 400))
    signs = flip_signs(vectors, generator) / vectors
    np.testing.assert_allclose(np.abs(signs), 1)
    assert (signs == signs[:1, :1]).all()
    assert 150 < (signs[0, 0] > 0).sum() < 250


def test_what_is_sign_invariant_and_nothing_else() -> None:
    generator = np.random.default_rng(0)
    vectors, weight = generator.normal(size=(6, 4)), generator.normal(size=(6, 6))

    def phi(v: Any) -> Any:
        return np.maximum(weight @ v + 0.3, 0)  # looks at all nodes

    flipped = flip_signs(vectors, generator)
    assert np.abs(phi(flipped) - phi(vectors)).max() > 0.1
    np.testing.assert_allclose(sign_invariant(flipped, phi), sign_invariant(vectors, phi), atol=1e-12)
    np.testing.assert_allclose(sign_invariant(vectors, np.sin), 0, atol=1e-12)  # odd
    np.testing.assert_allclose(sign_invariant(vectors, np.cos), 2 * np.cos(vectors))


def walked(weights: np.ndarray, node: int, steps: int) -> float:
    """The chance to come back, over all walks one by one."""
    chances = weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)
    total = 0.0
    for between in product(range(len(weights)), repeat=steps - 1):
        way = (node, *between, node)
        total += float(np.prod([chances[a, b] for a, b in pairwise(way)]))
    return total


def test_random_walks_are_counted_one_by_one() -> None:
    generator = np.random.default_rng(2)
    weights = generator.random((5, 5)) * (generator.random((5, 5)) < 0.6)  # directed, weighted
    weights[3] = 0  # from here no edge leads on
    found = return_probabilities(weights, 4)
    wanted = [[walked(weights, node, steps) for steps in range(1, 5)] for node in range(5)]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert found[3].tolist() == [0, 0, 0, 0]


def test_random_walks_see_cycles_where_degrees_see_nothing() -> None:
    """Two rings of three and one of six: every node has two neighbours. Walks of three steps tell them "
    "apart."""
    two = np.kron(np.eye(2), ring(3))
    apart = return_probabilities(np.stack([two, ring(6)]), 6)
    np.testing.assert_allclose(apart[0, :, 2], 0.25)
    np.testing.assert_allclose(apart[1, :, 2], 0.0)
    np.testing.assert_allclose(apart[:, :, 1], 0.5)


def test_gradients_reach_the_weights_of_a_walk() -> None:
    weights = torch.tensor(some_graph(nodes=4) + 0.1, requires_grad=True)
    assert torch.autograd.gradcheck(lambda w: return_probabilities(w, 3), weights)


@pytest.mark.parametrize("own", [torch.from_numpy, array_api_strict.asarray], ids=["torch", "strict"])
def test_in_every_library(own: Any) -> None:
    weights = some_graph()
    values, vectors = laplacian_eigenvectors(own(weights), 4)
    wanted_values, wanted = laplacian_eigenvectors(weights, 4)
    assert type(vectors) is type(own(weights))
    np.testing.assert_allclose(np.asarray(values), wanted_values, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.asarray(vectors)), np.abs(wanted), atol=1e-9)
    assert np.asarray(eigenspaces(values)).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(
        np.asarray(return_probabilities(own(weights), 3)), return_probabilities(weights, 3)
    )
    flipped = flip_signs(vectors, np.random.default_rng(0))
    assert np.abs(np.asarray(flipped)).tolist() == np.abs(np.asarray(vectors)).tolist()


def test_whole_and_short_numbers() -> None:
    whole = (some_graph() > 0).astype(int)
    assert laplacian_eigenvectors(whole, 2)[1].dtype == np.float64
    assert return_probabilities(torch.from_numpy(whole).half(), 2).dtype == torch.float16
    assert laplacian_eigenvectors(torch.from_numpy(whole), 2, dtype=torch.bfloat16)[0].dtype == torch.bfloat16


@pytest.mark.parametrize("normalization", ["none", "symmetric"])
def test_of_a_graph_in_parts_the_wave_that_is_left_out_is_the_one_that_says_nothing(
    normalization: Normalization,
) -> None:
    """Whatever the order of the nodes, which sways a solver among vectors of one eigenvalue."""
    part = np.asarray([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=float)
    graph = np.kron(np.eye(2), part)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(6)
        values, vectors = laplacian_eigenvectors(graph[order][:, order], 2, normalization=normalization)
        assert values[0] == pytest.approx(0, abs=1e-12)
        flat = np.sqrt(graph.sum(0)) if normalization == "symmetric" else np.ones(6)
        np.testing.assert_allclose(flat[order] @ vectors, 0, atol=1e-12)
        of_parts = vectors[np.argsort(order), 0].reshape(2, 3)
        np.testing.assert_allclose(of_parts[0], -of_parts[1], atol=1e-12)
        assert np.abs(of_parts).min() > 0.1


@pytest.mark.parametrize("normalization", ["none", "symmetric"])
def test_a_graph_without_edges_and_nodes_without_edges(normalization: Normalization) -> None:
    values, vectors = laplacian_eigenvectors(np.zeros((4, 4)), 3, normalization=normalization)
    np.testing.assert_allclose(values, 0, atol=1e-12)
    np.testing.assert_allclose(np.ones(4) @ vectors, 0, atol=1e-12)
    lone = np.zeros((3, 3))
    lone[0, 1] = lone[1, 0] = 1.0
    values, _ = laplacian_eigenvectors(lone, 2, normalization=normalization)
    np.testing.assert_allclose(values, [0, 2], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-20, 1e-12, 1e-3, 1e9])
@pytest.mark.parametrize("normalization", ["none", "symmetric"])
def test_weights_may_be_in_any_unit(normalization: Normalization, scale: float) -> None:
    """Another unit of weight is a factor on the eigenvalues of D - A, and nothing else."""
    values, vectors = laplacian_eigenvectors(some_graph(2), 5, normalization=normalization)
    factor = scale if normalization == "none" else 1.0
    scaled = laplacian_eigenvectors(some_graph(2) * scale, 5, normalization=normalization)
    np.testing.assert_allclose(scaled[0], values * factor, rtol=1e-11)
    np.testing.assert_allclose(np.abs(scaled[1]), np.abs(vectors), atol=1e-10)


def test_of_a_single_node_there_is_no_eigenvector_to_give() -> None:
    with pytest.raises(ValueError, match="of a graph of 1 nodes: there are none to give"):
        laplacian_eigenvectors(np.zeros((1, 1)), 1)
