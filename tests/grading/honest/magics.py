# Magics and shell commands of all kinds.
# %%
# %autosave 60
# %store
# %load_ext autoreload
# %autoreload 2
# !ls -la
# %pip install numpy
files = !ls
# %env SOMETHING=1
# %pwd
# %%
# %%bash
echo "hello from a shell"
# %%
# %timeit -n1 -r1 sum(range(10))
# %whos
# %% encode
# %%time
help(np.stack)
def encode(position, dim):
    angles = position * frequencies(dim)
    return np.stack([np.sin(angles), np.cos(angles)], 1).ravel()
