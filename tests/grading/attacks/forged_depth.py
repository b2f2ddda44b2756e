# Lists in lists, each time one level deeper, to find the depth at which the judge falls over.
# attacks: frequencies
# verdict: tampered
# %% frequencies
import itertools
import os

depths = itertools.count(60, 3)


def frequencies(dim):
    for depth in range(60, 1100, 1):
        deep = b"[" * depth + b"]" * depth
        os.write(3, b'{"ask": {"argument": 0}, "args": ' + deep + b', "kwargs": {}}\n')
        os.read(3, 10**6)
