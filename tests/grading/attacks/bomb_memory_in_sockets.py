# Memory that belongs to no process: what was sent, and nobody receives.
# attacks: frequencies
# verdict: memory limit
# %% frequencies
import os
import socket
import time


def frequencies(dim):
    for _ in range(15):
        if os.fork() == 0:
            kept = []
            while len(kept) < 240:
                kept += socket.socketpair()
                for line in kept[-2:]:
                    line.setblocking(False)
                    try:
                        while True:
                            line.send(bytes(65536))
                    except BlockingIOError:
                        pass
            time.sleep(60)
            os._exit(0)
    while os.waitpid(-1, 0)[0]:
        os._exit(9)
