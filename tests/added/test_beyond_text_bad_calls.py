"""Wrong calls of what graphs, trees, times, sound and genomes are encoded with, and their messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from posenc_lib.added import (
    calendar_features,
    calendar_phases,
    centred_positions,
    convolution_positions,
    convolution_weight,
    eigenspaces,
    flip_signs,
    laplacian_eigenvectors,
    return_probabilities,
    reverse_complement,
    sign_invariant,
    time2vec,
    tree_features,
    tree_paths,
)

PATH = np.eye(4, k=1) + np.eye(4, k=-1)
X, WEIGHT = np.ones((2, 5, 4)), np.ones((4, 2, 3))

Call = Callable[[], Any]
ROWS: list[tuple[Call, type[Exception], str]] = [
    # graphs
    (lambda: laplacian_eigenvectors(PATH[:3], 2), ValueError, r"shape \(3, 4\); give \(nodes, nodes\)"),
    (lambda: laplacian_eigenvectors(PATH[None], 2), ValueError, r"shape \(1, 4, 4\); give \(nodes, nodes\)"),
    (lambda: laplacian_eigenvectors(np.zeros((0, 0)), 1), ValueError, "no nodes; give a graph"),
    (lambda: laplacian_eigenvectors(np.eye(4, k=1), 2), ValueError, "not symmetric.*give A \\+ A.T"),
    (lambda: laplacian_eigenvectors(-PATH, 2), ValueError, "weights of edges must be 0 or more; got"),
    (lambda: laplacian_eigenvectors(PATH * np.nan, 2), ValueError, "NaN or infinity in adjacency"),
    (lambda: laplacian_eigenvectors(PATH > 0, 2), TypeError, "dtype bool"),
    (
        lambda: laplacian_eigenvectors(PATH, 4),
        ValueError,
        "count=4 eigenvectors of a graph of 4 nodes: give 3",
    ),
    (lambda: laplacian_eigenvectors(PATH, 0), ValueError, "count=0 is too small"),
    (lambda: laplacian_eigenvectors(PATH, 2.0), TypeError, "count=2.0 is not an integer"),  # type: ignore[arg-type]
    (
        lambda: laplacian_eigenvectors(PATH, 2, normalization="rw"),  # type: ignore[arg-type]
        ValueError,
        "'rw' is unknown; choose one of 's",
    ),
    (lambda: laplacian_eigenvectors(PATH, 2, dtype=int), TypeError, "not a real floating-point dtype"),
    (lambda: eigenspaces(PATH), ValueError, r"shape \(4, 4\); give those of one graph, \(count,\)"),
    (lambda: eigenspaces(np.asarray([1.0, 0.5])), ValueError, "must not fall; give them in ascending order"),
    (lambda: eigenspaces(np.ones(2), tolerance=0.0), ValueError, "tolerance=0.0 is not allowed"),
    (
        lambda: flip_signs(np.ones(3), np.random.default_rng(0)),
        ValueError,
        r"give shape \(..., nodes, count\)",
    ),
    (lambda: flip_signs(np.ones((3, 2), int), np.random.default_rng(0)), TypeError, "dtype int64"),
    (lambda: flip_signs(PATH, 0), TypeError, "generator is of type int; give numpy.random.default_rng"),
    (lambda: sign_invariant(PATH, 3), TypeError, "phi is of type int; give a function"),  # type: ignore[arg-type]
    (lambda: sign_invariant(np.ones(3), np.cos), ValueError, r"give shape \(..., nodes, count\)"),
    (lambda: return_probabilities(PATH[0], 2), ValueError, r"give \(..., nodes, nodes\)"),
    (lambda: return_probabilities(-PATH, 2), ValueError, "0 or more; got"),
    (lambda: return_probabilities(PATH, 0), ValueError, "steps=0 is too small"),
    # trees
    (lambda: tree_paths(np.asarray([-1.0, 0.0]), 2, 2), TypeError, "parents have dtype float64"),
    (lambda: tree_paths(np.asarray([[-1, 0]]), 2, 2), ValueError, r"shape \(1, 2\); give one for each node"),
    (lambda: tree_paths(np.asarray([-1, 2, 0]), 2, 2), ValueError, "must come before its children.*got"),
    (lambda: tree_paths(np.asarray([0]), 2, 2), ValueError, "and the root's must be -1"),
    (lambda: tree_paths(np.asarray([-2]), 2, 2), ValueError, "and the root's must be -1"),
    (
        lambda: tree_paths(np.asarray([-1, 0, 0]), 1, 2),
        ValueError,
        "more than branching=1 children; give a larger",
    ),
    (lambda: tree_paths(np.asarray([-1]), 0, 2), ValueError, "branching=0 is too small"),
    (lambda: tree_paths(np.asarray([-1]), 1, 0), ValueError, "depth=0 is too small"),
    (
        lambda: tree_features(np.ones(5), np.ones(2) / 2, 2),
        ValueError,
        r"shape \(5,\) are not steps of branching=2",
    ),
    (
        lambda: tree_features(np.ones(4), np.ones((1, 2)), 2),
        ValueError,
        r"decays have shape \(1, 2\); give \(features,\)",
    ),
    (lambda: tree_features(np.ones(4), np.ones(2), 2), ValueError, "decays must lie between -1 and 1; got"),
    (lambda: tree_features(np.ones(4), -np.ones(2), 2), ValueError, "decays must lie between -1 and 1; got"),
    (lambda: tree_features(np.ones(4), torch.ones(2) / 2, 2), TypeError, "numpy and torch"),
    # times
    (
        lambda: calendar_phases(np.asarray([1.7e9], np.float32)),
        ValueError,
        "1.7e\\+09 seconds are in float32.*float64",
    ),
    (lambda: calendar_phases(torch.tensor([-1.7e9])), ValueError, "cannot tell one second from the next"),
    (lambda: calendar_phases(np.asarray(["2024-01-01"], "M8[s]")), TypeError, "dtype datetime64"),
    (lambda: calendar_phases(np.asarray([np.nan])), ValueError, "NaN or infinity in times"),
    (
        lambda: calendar_phases(np.zeros(2), ()),
        ValueError,
        r"circles=\(\); give a tuple of one or more of 'hour'",
    ),
    (lambda: calendar_phases(np.zeros(2), "day"), ValueError, "circles='day'; give a tuple"),  # type: ignore[arg-type]
    (
        lambda: calendar_phases(np.zeros(2), ("decade",)),  # type: ignore[arg-type]
        ValueError,
        "'decade' is unknown; choose one of 'hour'",
    ),
    (
        lambda: calendar_phases(np.zeros(2), offset=np.zeros(3)),
        ValueError,
        r"offset of shape \(3,\) does not fit",
    ),
    (lambda: calendar_phases(np.zeros(2), offset="CET"), TypeError, "str is not an array"),
    (
        lambda: calendar_phases(torch.zeros(2), offset=torch.zeros(2, device="meta")),
        ValueError,
        "different devices",
    ),
    (lambda: calendar_features(np.zeros(2), layout="half"), ValueError, "'half' is unknown"),  # type: ignore[arg-type]
    (lambda: calendar_features(np.zeros(2), dtype=int), TypeError, "not a real floating-point dtype"),
    (
        lambda: time2vec(np.zeros(2), np.ones(3), np.ones(2)),
        ValueError,
        r"rates \(3,\), phases \(2,\) do not fit",
    ),
    (
        lambda: time2vec(np.zeros(2), np.ones(0), np.ones(0)),
        ValueError,
        r"give \(features,\) for both, one or more",
    ),
    (lambda: time2vec(np.zeros(2), torch.ones(3), np.ones(3)), TypeError, "numpy and torch"),
    (
        lambda: time2vec(np.asarray([np.inf]), np.ones(3), np.ones(3)),
        ValueError,
        "NaN or infinity in times",
    ),
    # sound
    (
        lambda: convolution_positions(X, np.ones((4, 3, 3))),
        ValueError,
        r"weight \(4, 3, 3\) do not fit; give x",
    ),
    (lambda: convolution_positions(X, np.ones((6, 2, 3))), ValueError, "groups that divide dim"),
    (
        lambda: convolution_positions(X, np.ones((4, 2))),
        ValueError,
        r"give shape \(dim, dim / groups, taps\)",
    ),
    (lambda: convolution_positions(X, WEIGHT, np.ones(3)), ValueError, r"bias \(3,\) do not fit"),
    (lambda: convolution_positions(X.astype(int), WEIGHT), TypeError, "x has dtype int64"),
    (lambda: convolution_positions(X, WEIGHT, causal="yes"), TypeError, "causal='yes' is not a boolean"),  # type: ignore[arg-type]
    (
        lambda: convolution_positions(torch.ones(5, 4), torch.ones(4, 2, 3).double()),
        TypeError,
        "dtypes differ",
    ),
    (lambda: convolution_weight(WEIGHT, np.ones(2)), ValueError, r"magnitude \(2,\) do not fit"),
    (
        lambda: convolution_weight(WEIGHT[0], np.ones(3)),
        ValueError,
        r"give shape \(dim, dim / groups, taps\)",
    ),
    # genomes
    (lambda: reverse_complement(np.asarray([0.0])), TypeError, "bases have dtype float64"),
    (lambda: reverse_complement(np.asarray([0, 4])), ValueError, "bases must be 0 to 3, those of pairs; got"),
    (lambda: reverse_complement(np.eye(4, dtype=int)[[0, 2, 2]]), ValueError, "look like one-hot rows"),
    (lambda: reverse_complement(np.asarray(1)), ValueError, "bases have no axis; give a sequence"),
    (lambda: reverse_complement(np.asarray([0]), (1, 2, 0)), ValueError, "not partners of each other"),
    (lambda: reverse_complement(np.asarray([0]), (0, 0)), ValueError, "do not name each base once"),
    (
        lambda: reverse_complement(np.asarray([0]), "TGCA"),  # type: ignore[arg-type]
        TypeError,
        "pairs='TGCA'; give the partner of each",
    ),
    (lambda: centred_positions(-1), ValueError, "length=-1 is too small"),
    (lambda: centred_positions(3.0), TypeError, "length=3.0 is not an integer"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[row[2] for row in ROWS])
def test_a_wrong_call_is_refused(call: Call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
