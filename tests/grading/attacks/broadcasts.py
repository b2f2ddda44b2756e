# Shapes that broadcast against the right one, or hold nothing that could be wrong.
# attacks: frequencies, sinusoidal, to_split
# verdict: wrong
# %% frequencies
def frequencies(dim):
    return np.ones((0, dim // 2))
# %% sinusoidal
def sinusoidal(positions, dim):
    return np.zeros((len(positions), 1, dim))
# %% to_split
def to_split(table):
    return []
