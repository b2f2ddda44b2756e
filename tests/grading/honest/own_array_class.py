# An honest subclass of ndarray.
# %% frequencies
class Rates(np.ndarray):
    unit = "rad/position"


def frequencies(dim):
    return (10000.0 ** (-np.arange(0, dim, 2) / dim)).view(Rates)
