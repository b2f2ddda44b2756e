# An exception that raises when its message is asked for.
# attacks: frequencies
# verdict: error
# %% frequencies
class Worse(Exception):
    def __str__(self):
        raise Worse

    __repr__ = __str__


def frequencies(dim):
    raise Worse
