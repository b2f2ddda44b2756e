# Single precision where it is precise enough.
# %% frequencies
def frequencies(dim):
    i = np.arange(dim // 2, dtype=np.float32)
    return np.float32(10000) ** (-2 * i / np.float32(dim))
# %% to_split
def to_split(table):
    table = table.astype(np.float32)
    return np.hstack([table[:, ::2], table[:, 1::2]])
