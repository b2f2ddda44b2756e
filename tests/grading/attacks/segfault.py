# A pointer to nowhere.
# attacks: frequencies
# verdict: crashed
# %% frequencies
import ctypes


def frequencies(dim):
    return ctypes.string_at(0)
