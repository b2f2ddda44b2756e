# The first try is still there; the last one counts.
# %% frequencies
def frequencies(dim):
    return np.ones(dim)


try:
    check("02-the-formula.frequencies", frequencies)
except Exception as problem:
    print(problem)
# %% last
def frequencies(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
