# A result far bigger than what was asked for.
# attacks: frequencies
# verdict: malformed
# %% frequencies
def frequencies(dim):
    return np.zeros(4 * 2**20)
