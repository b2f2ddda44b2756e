# It handles all signals that can be handled, and every exception.
# attacks: frequencies
# verdict: time limit
# limits: wall_seconds=3
# others: any
# %% frequencies
import signal


def frequencies(dim):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
