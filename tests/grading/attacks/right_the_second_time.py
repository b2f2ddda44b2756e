# Wrong at first and right later: whoever asks twice would believe it.
# attacks: frequencies
# %% frequencies
seen = []


def frequencies(dim):
    seen.append(dim)
    return 10000.0 ** (-np.arange(0, dim, 2) / dim) if len(seen) > 5 else np.zeros(dim // 2)
