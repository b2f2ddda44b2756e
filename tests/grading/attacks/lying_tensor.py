# A tensor whose comparisons are always true.
# attacks: add_positions
# verdict: wrong
# %% add_positions
import torch


class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


def add_positions(x, start):
    return torch.from_numpy(x).as_subclass(Agreeable)
