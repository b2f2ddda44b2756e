# Messages by the million.
# attacks: frequencies
# verdict: tampered
# %% frequencies
import os


def frequencies(dim):
    while True:
        os.write(3, b'{"id": 1}\n' * 6000)
