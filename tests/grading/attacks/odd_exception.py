# An exception whose class is named like a script, and whose message cannot be told.
# attacks: frequencies
# verdict: error
# %% frequencies
class Silent(Exception):
    def __str__(self):
        return "<script>alert(1)</script>\ud800\x00" * 1000


Silent.__name__ = "<script>\ud800\x00</script>" * 50


def frequencies(dim):
    raise Silent
