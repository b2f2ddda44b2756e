# A list of rows.
# %% sinusoidal
def sinusoidal(positions, dim):
    return [np.asarray(encode(float(position), dim)) for position in positions]
