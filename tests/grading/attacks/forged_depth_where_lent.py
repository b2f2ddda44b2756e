# The same, where the judge passes the question on.
# attacks: add_positions
# verdict: tampered
# %% add_positions
import os


def add_positions(x, start):
    for depth in range(60, 1100, 1):
        deep = b"[" * depth + b"]" * depth
        os.write(3, b'{"ask": {"name": "sinusoidal"}, "args": ' + deep + b', "kwargs": {}}\n')
        os.read(3, 10**6)
