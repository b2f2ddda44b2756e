# Files that lie in memory and in no folder: no folder's size bounds them.
# attacks: frequencies
# verdict: error
# %% frequencies
import os


def frequencies(dim):
    kept = []
    while True:
        kept.append(os.memfd_create("memory"))
        os.write(kept[-1], bytes(2**23))
