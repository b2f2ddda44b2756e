# Pairs as complex numbers: the sine is the imaginary part.
# %% sinusoidal
def sinusoidal(positions, dim):
    turned = np.exp(1j * np.multiply.outer(positions.astype(float), frequencies(dim)))
    return np.ascontiguousarray(1j * turned.conj()).view(float)
