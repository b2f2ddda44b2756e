# A big table, printed whole.
# %%
print(np.array2string(np.random.default_rng(0).normal(size=(200, 64)), threshold=10**9))
