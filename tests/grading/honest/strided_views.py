# Views that skip and run backwards, one of them read-only.
# %% frequencies
def frequencies(dim):
    every = 10000.0 ** (-np.arange(dim) / dim)
    return every[::-1][::-2][: dim // 2] if dim % 2 else every[::2]
# %% to_split
def to_split(table):
    view = table[:, ::-1][:, ::-1].reshape(len(table), -1, 2).transpose(0, 2, 1).reshape(len(table), -1)
    view.flags.writeable = False
    return view
