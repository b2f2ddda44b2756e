# It hangs up while the judge waits, and lives on.
# attacks: frequencies
# verdict: crashed
# %% frequencies
import socket
import time


def frequencies(dim):
    socket.fromfd(3, socket.AF_UNIX, socket.SOCK_STREAM).shutdown(socket.SHUT_WR)
    time.sleep(1000)
