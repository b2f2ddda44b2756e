# Memory without end, in one process.
# attacks: frequencies
# verdict: memory limit
# %% frequencies
def frequencies(dim):
    kept = []
    while True:
        kept.append(np.ones(2**20))
