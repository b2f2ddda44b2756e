# Open files, pipes and sockets until there are no more.
# attacks: frequencies
# verdict: error
# %% frequencies
import os
import socket


def frequencies(dim):
    kept = []
    while True:
        kept.append((os.pipe(), socket.socketpair(), open("/dev/zero")))
