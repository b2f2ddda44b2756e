# Columns first in memory.
# %% sinusoidal
def sinusoidal(positions, dim):
    table = np.empty((len(positions), dim), order="F")
    theta = positions[:, None] * frequencies(dim)
    table[:, 0::2], table[:, 1::2] = np.sin(theta), np.cos(theta)
    return table
