# A general function with some arguments given.
# %% frequencies
from functools import partial


def rates(base, dim, step=2):
    return base ** (-np.arange(0, dim, step) / dim)


frequencies = partial(rates, 10000.0, step=2)
