# A generator, made an array at the end.
# %% frequencies
def each(dim):
    for i in range(dim // 2):
        yield 10000.0 ** (-2 * i / dim)


def frequencies(dim):
    return np.fromiter(each(dim), dtype=float, count=dim // 2)
