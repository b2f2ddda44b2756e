# Random numbers, seeded, in places where none are needed.
# %%
import random

random.seed(0)
np.random.seed(0)
# %% frequencies
import torch

torch.manual_seed(0)


def frequencies(dim):
    order = np.random.permutation(dim // 2)
    rates = np.empty(dim // 2)
    rates[order] = 10000.0 ** (-2 * order / dim)
    return rates
