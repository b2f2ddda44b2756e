# Each frequency from the one before, by a function that calls itself.
# %% frequencies
def frequencies(dim, i=0):
    return [] if 2 * i >= dim else [10000.0 ** (-2 * i / dim), *frequencies(dim, i + 1)]
