# SystemExit and its kin, which an `except Exception` does not catch.
# attacks: frequencies, encode, sinusoidal
# verdict: error
# %% frequencies
def frequencies(dim):
    raise SystemExit(0)
# %% encode
def encode(position, dim):
    raise KeyboardInterrupt
# %% sinusoidal
class Unknown(BaseException):
    pass


def sinusoidal(positions, dim):
    raise Unknown
