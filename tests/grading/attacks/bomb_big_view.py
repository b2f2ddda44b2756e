# An array of a million million elements that takes no memory until somebody copies it.
# attacks: frequencies
# verdict: malformed
# %% frequencies
def frequencies(dim):
    return np.broadcast_to(np.float64(1), (10**6, 10**6))
