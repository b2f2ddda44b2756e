"""Door 1, added to the input: x + p(position)."""

from posenc_lib.added.fourier import fourier_features, gaussian_frequencies, power_of_two_frequencies
from posenc_lib.added.grid import grid_sinusoidal
from posenc_lib.added.learned import hybrid, learned
from posenc_lib.added.resample import resample_grid
from posenc_lib.added.sinusoidal import shift_matrix, similarity, sinusoidal

__all__ = [
    "fourier_features",
    "gaussian_frequencies",
    "grid_sinusoidal",
    "hybrid",
    "learned",
    "power_of_two_frequencies",
    "resample_grid",
    "shift_matrix",
    "similarity",
    "sinusoidal",
]
