# A rounded number, as NumPy's integer.
# %% longest_wavelength
longest_wavelength = np.rint(2 * np.pi * 500_000 ** (126 / 128)).astype(np.int64)
# %% smallest_dim
def smallest_dim(length, dims):
    fits = [np.int32(dim) for dim in dims if 2 * math.pi * 10000.0 ** ((dim - 2) / dim) >= length]
    return fits[0] if fits else np.int32(0)
