# One expression each, no loop anywhere.
# %% frequencies
frequencies = lambda dim: np.exp(np.linspace(0, -np.log(1e4), dim // 2, endpoint=False))
# %% encode
encode = lambda position, dim: np.sin(position * np.repeat(frequencies(dim), 2) + np.arange(dim) % 2 * np.pi / 2)
# %% sinusoidal
sinusoidal = lambda positions, dim: np.sin(positions[:, None] * np.repeat(frequencies(dim), 2) + np.arange(dim) % 2 * np.pi / 2)
