# Questions that keep the judge busy, queued by the hundred before time is up.
# attacks: add_positions
# verdict: time limit
# limits: wall_seconds=3
# others: any
# %% add_positions
import os
import time


def add_positions(x, start):
    os.write(3, b'{"ask": {"name": "sinusoidal"}, "args": [400000, 128], "kwargs": {}}\n' * 200)
    time.sleep(1000)
