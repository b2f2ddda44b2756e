# A timer that was set in one answer goes off in the next.
# attacks: smallest_dim
# verdict: crashed
# %% frequencies
import os
import signal


def frequencies(dim):
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)
# %% smallest_dim
def smallest_dim(length, dims):
    signal.signal(signal.SIGALRM, lambda *args: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    while True:
        pass
