# Memory that belongs to no process alone, and so counts in no process's own limit.
# attacks: frequencies
# verdict: memory limit
# %% frequencies
import mmap


def frequencies(dim):
    kept = []
    while True:
        kept.append(mmap.mmap(-1, 2**24))
        kept[-1].write(bytes(2**24))
