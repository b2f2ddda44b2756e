"""Door 1, added to the input: x + p(position)."""

from posenc_lib.added.convolution import convolution_positions, convolution_weight
from posenc_lib.added.fourier import fourier_features, gaussian_frequencies, power_of_two_frequencies
from posenc_lib.added.graphs import (
    eigenspaces,
    flip_signs,
    laplacian_eigenvectors,
    return_probabilities,
    sign_invariant,
)
from posenc_lib.added.grid import grid_sinusoidal
from posenc_lib.added.learned import hybrid, learned
from posenc_lib.added.resample import resample_grid
from posenc_lib.added.sinusoidal import shift_matrix, similarity, sinusoidal
from posenc_lib.added.strands import centred_positions, reverse_complement
from posenc_lib.added.times import calendar_features, calendar_phases, time2vec
from posenc_lib.added.trees import tree_features, tree_paths

__all__ = [
    "calendar_features",
    "calendar_phases",
    "centred_positions",
    "convolution_positions",
    "convolution_weight",
    "eigenspaces",
    "flip_signs",
    "fourier_features",
    "gaussian_frequencies",
    "grid_sinusoidal",
    "hybrid",
    "laplacian_eigenvectors",
    "learned",
    "power_of_two_frequencies",
    "resample_grid",
    "return_probabilities",
    "reverse_complement",
    "shift_matrix",
    "sign_invariant",
    "similarity",
    "sinusoidal",
    "time2vec",
    "tree_features",
    "tree_paths",
]
