# An object that can be called.
# %% frequencies
class Frequencies:
    base = 10000.0

    def __call__(self, dim):
        return self.base ** (-np.arange(0, dim, 2) / dim)


frequencies = Frequencies()
