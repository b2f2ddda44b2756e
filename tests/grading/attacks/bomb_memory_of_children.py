# Memory without end, a little in each of many processes.
# attacks: frequencies
# verdict: memory limit
# %% frequencies
import os
import time


def frequencies(dim):
    for _ in range(12):
        if os.fork() == 0:
            block = bytearray(b"x") * (40 * 2**20)
            time.sleep(60)
            os._exit(0)
    block = bytearray(b"x") * (40 * 2**20)
    while os.waitpid(-1, 0)[0]:
        os._exit(9)
