# An object that becomes an array only when it is asked to, and could choose which.
# attacks: frequencies
# verdict: wrong
# %% frequencies
class Late:
    def __array__(self, *args, **kwargs):
        return np.ones(2)

    __eq__ = lambda self, other: True
    __len__ = lambda self: 2
    __getitem__ = lambda self, index: self


def frequencies(dim):
    return Late()
