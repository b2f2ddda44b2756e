# The lent function under its own name, taken from the library, and called as a keyword call.
# %% add_positions
from posenc_lib import sinusoidal as table_of


def add_positions(x, start):
    n, dim = x.shape[-2:]
    return x + table_of(positions=np.arange(start, start + n), dim=dim)
