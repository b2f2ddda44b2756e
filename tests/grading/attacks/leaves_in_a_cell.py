# The same while its cell runs: the cell is left out, everything else is graded.
# attacks: frequencies
# verdict: crashed
# %% frequencies
import os


def frequencies(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)


os._exit(0)
