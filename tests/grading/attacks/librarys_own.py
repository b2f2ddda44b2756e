# The library's own function under a name of one's own.
# attacks: sinusoidal, frequencies
# verdict: tampered
# %% sinusoidal
from posenc_lib import sinusoidal
# %% frequencies
import functools
import posenc_lib.angles

frequencies = functools.partial(posenc_lib.angles.frequencies, base=10000.0)
