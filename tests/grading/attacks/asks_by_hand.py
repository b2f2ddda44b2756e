# The question that the stand-in sends is written by hand on the line, and its answer is read there.
# attacks: frequencies
# verdict: tampered
# %% frequencies
import json
import os


def frequencies(dim):
    os.write(3, json.dumps({"ask": {"name": "frequencies"}, "args": [dim], "kwargs": {}}).encode() + b"\n")
    answer = json.loads(os.read(3, 10**6))["answer"]
    return answer[1] if answer[1] else 10000.0 ** (-np.arange(0, dim, 2) / dim)
