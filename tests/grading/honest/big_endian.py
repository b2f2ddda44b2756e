# Bytes in the other order.
# %% frequencies
def frequencies(dim):
    return (10000.0 ** (-np.arange(0, dim, 2) / dim)).astype(">f8")
# %% wrong_columns
wrong_columns = np.array([1, 3], dtype=">i2")
