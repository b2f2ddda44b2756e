# Tuples for arrays.
# %% frequencies
def frequencies(dim):
    return tuple(np.float64(10000.0) ** (-2 * i / dim) for i in range(dim // 2))
# %% wrong_columns
wrong_columns = 1, 3
