# A class whose construction is the answer.
# %% frequencies
class frequencies(list):
    def __new__(cls, dim):
        return [10000.0 ** (-i / dim) for i in range(0, dim, 2)]
