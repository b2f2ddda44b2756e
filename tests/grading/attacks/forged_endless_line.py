# One message that never ends.
# attacks: frequencies
# verdict: output limit
# %% frequencies
import os


def frequencies(dim):
    os.write(3, b'{"outcome": "')
    while True:
        os.write(3, b"x" * 60000)
