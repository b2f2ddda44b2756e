# A list of arrays of one element each.
# %% encode
def encode(position, dim):
    row = []
    for i in range(dim // 2):
        angle = np.array(position / 10000.0 ** (2 * i / dim))
        row += [np.sin(angle), np.cos(angle)]
    return row
