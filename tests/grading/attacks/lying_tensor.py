# A tensor whose comparisons are always true.
# attacks: add_positions
# verdict: wrong
# %% add_positions
class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


def add_positions(embeddings):
    return embeddings.as_subclass(Agreeable)
