# A generator without an end, one of ever more generators, and a range of a million million.
# attacks: frequencies, encode, wrong_columns
# verdict: malformed
# %%
import itertools


def forever():
    while True:
        yield forever()
# %% frequencies
def frequencies(dim):
    return itertools.count()
# %% encode
def encode(position, dim):
    return forever()
# %% wrong_columns
wrong_columns = range(10**12)
