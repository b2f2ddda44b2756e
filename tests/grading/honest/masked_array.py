# A masked array with nothing masked.
# %% frequencies
def frequencies(dim):
    return np.ma.array(10000.0 ** (-np.arange(0, dim, 2) / dim))
