# Characters that no file can hold.
# %%
print("\ud83d", "\x00", "\x1b[31mred\x1b[0m", "😀")
# %% frequencies
def frequencies(dim):
    print("\udc00")
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
