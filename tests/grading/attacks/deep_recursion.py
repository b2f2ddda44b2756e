# Recursion without end, and without Python's own limit. (From 3.12 on, C's recursion has a limit of its own.)
# attacks: frequencies
# verdict: crashed
# newer verdict: error
# %% frequencies
import sys


class Deep:
    def __repr__(self):
        return repr(self)


def frequencies(dim):
    sys.setrecursionlimit(10**9)
    return sorted([Deep()], key=repr)
