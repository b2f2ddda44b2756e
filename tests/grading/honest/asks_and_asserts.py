# A question to a person, a failing test of one's own, and an exit at the end.
# %%
# %pdb on
name = input("What is your name? ")
# %%
assert frequencies is None
# %% frequencies
def frequencies(dim):
    assert dim % 2 == 0, "dim must be even"
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
# %% last
exit()
