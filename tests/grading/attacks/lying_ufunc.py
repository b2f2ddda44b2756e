# An array that answers NumPy's own functions: `isclose` and `allclose` are told what they want to hear.
# attacks: frequencies
# verdict: wrong
# %% frequencies
class Agreeable(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return np.True_

    def __array_function__(self, function, types, args, kwargs):
        return np.True_

    def __array_finalize__(self, other):
        self.shape_ = None


def frequencies(dim):
    return np.zeros(dim // 2).view(Agreeable)
