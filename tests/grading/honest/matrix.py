# np.matrix, which old books use: it counts as the table that it is.
# %% sinusoidal
def sinusoidal(positions, dim):
    theta = np.asmatrix(positions.astype(float)).T * np.asmatrix(frequencies(dim))
    return np.asmatrix(np.stack([np.sin(theta.A), np.cos(theta.A)], axis=-1).reshape(len(positions), dim))
