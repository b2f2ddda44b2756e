# A thread goes on after the answer was given, and writes into the reply to the next question.
# attacks: frequencies
# verdict: tampered
# %% frequencies
import os
import threading
import time


def later():
    for _ in range(1000):
        time.sleep(0.001)
        os.write(3, b'{"id": 0, "outcome": ["value", true, "", "", null]}\n')


def frequencies(dim):
    threading.Thread(target=later, daemon=True).start()
    time.sleep(0.01)
    return np.zeros(dim // 2)
