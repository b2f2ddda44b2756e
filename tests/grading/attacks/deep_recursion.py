# Recursion without end, and without Python's own limit.
# attacks: frequencies
# verdict: crashed
# %% frequencies
import sys


class Deep:
    def __repr__(self):
        return repr(self)


def frequencies(dim):
    sys.setrecursionlimit(10**9)
    return sorted([Deep()], key=repr)
