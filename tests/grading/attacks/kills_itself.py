# It sends itself the one signal that cannot be caught.
# attacks: frequencies
# verdict: crashed
# %% frequencies
import ctypes
import os
import signal


def frequencies(dim):
    os.kill(os.getpid(), signal.SIGKILL)
    os.abort()
