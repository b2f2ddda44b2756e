# More precision than asked for.
# %% frequencies
def frequencies(dim):
    return np.longdouble(10000) ** (-np.arange(0, dim, 2, dtype=np.longdouble) / dim)
