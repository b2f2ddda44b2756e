# It stops itself and never goes on.
# attacks: frequencies
# verdict: time limit
# limits: wall_seconds=3
# others: any
# %% frequencies
import time


def frequencies(dim):
    while True:
        time.sleep(1000)
