# The notebook's namespace becomes one that has an answer to everything.
# attacks: frequencies
# verdict: wrong
# others: any
# %% frequencies
class Everything(dict):
    def __contains__(self, name):
        return True

    def __getitem__(self, name):
        return super().get(name, lambda *args: np.zeros(1))


def frequencies(dim):
    return np.zeros(dim // 2)


get_ipython().user_ns = Everything(get_ipython().user_ns)
