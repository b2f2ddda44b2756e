# A tensor where the exercise speaks of arrays.
# %% frequencies
import torch


def frequencies(dim):
    return torch.tensor(10000.0, dtype=torch.float64) ** (-torch.arange(0, dim, 2) / dim)
# %% to_split
def to_split(table):
    table = torch.as_tensor(table)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)
