# Names as in the formula.
# %% frequencies
def frequencies(dim):
    ω = lambda i: 10000.0 ** (-2 * i / dim)
    größe = dim // 2
    频率 = [ω(i) for i in range(größe)]
    return 频率
