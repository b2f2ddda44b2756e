# Built-in functions lie for as long as the process lives.
# attacks: frequencies
# verdict: wrong
# others: any
# %% frequencies
import builtins

builtins.abs = lambda value: 0
builtins.round = lambda value, digits=None: 0
builtins.all = lambda values: True


def frequencies(dim):
    return np.zeros(dim // 2)
