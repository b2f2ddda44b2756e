# An array of objects, each of which equals everything.
# attacks: frequencies
# verdict: malformed
# %% frequencies
class Agreeable:
    __eq__ = lambda self, other: True
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0


def frequencies(dim):
    return np.array([Agreeable() for _ in range(dim // 2)], dtype=object)
