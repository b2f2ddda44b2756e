# np.vectorize over the columns.
# %% encode
def encode(position, dim):
    number = lambda column: (math.cos if column % 2 else math.sin)(position / 10000 ** (column // 2 * 2 / dim))
    return np.vectorize(number, otypes=[float])(np.arange(dim))
