# It prints, warns and writes to stderr.
# %% frequencies
import sys
import warnings


def frequencies(dim):
    print("dim is", dim)
    print("careful", file=sys.stderr)
    warnings.warn("this is slow", stacklevel=2)
    sys.stdout.flush()
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
