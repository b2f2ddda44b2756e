# A class that pretends to belong to torch, and hands out another array each time it is asked.
# attacks: frequencies
# verdict: malformed
# %% frequencies
class Tensor:
    __module__ = "torch"
    dtype = None
    detach = cpu = resolve_conj = resolve_neg = lambda self: self
    numpy = lambda self: np.full(2, np.nan)


def frequencies(dim):
    return Tensor()
