# NumPy warns of a division by zero on the way.
# %% frequencies
def frequencies(dim):
    i = np.arange(0, dim, 2)
    with_trouble = np.where(i == 0, 1.0, 10000.0 ** (-1 / (dim / i)))
    return with_trouble
