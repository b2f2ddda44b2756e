# Helper functions and constants in cells of their own.
# %%
BASE = 10_000.0
# %%
def angle(position, i, dim):
    return position * BASE ** (-2 * i / dim)
# %% encode
def encode(position, dim):
    return [trig(angle(position, i, dim)) for i in range(dim // 2) for trig in (np.sin, np.cos)]
