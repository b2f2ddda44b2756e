# It writes over its input, once that is a copy.
# %% to_split
def to_split(table):
    table = table.copy()
    half = table.shape[1] // 2
    sines, cosines = table[:, 0::2].copy(), table[:, 1::2].copy()
    table[:, :half] = sines
    table[:, half:] = cosines
    return table
# %% add_positions
def add_positions(x, start):
    n, dim = x.shape[-2:]
    x = np.array(x)
    x += posenc_lib.sinusoidal(np.arange(start, start + n), dim)
    return x
