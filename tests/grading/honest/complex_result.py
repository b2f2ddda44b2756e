# Frequencies as complex numbers whose imaginary part is 0.
# %% frequencies
def frequencies(dim):
    return np.power(10000 + 0j, -np.arange(0, dim, 2) / dim)
