# NumPy is told to raise where it would warn, and warnings become errors.
# %%
import warnings

np.seterr(all="raise")
warnings.simplefilter("error")
np.set_printoptions(precision=2, suppress=True, legacy="1.13")
# %% frequencies
def frequencies(dim):
    return np.float64(10000) ** (-np.arange(0, dim, 2) / dim)
