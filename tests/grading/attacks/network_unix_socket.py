# An accomplice listens on a Unix socket in the file system.
# attacks: frequencies
# without walls: breaks
# %%
import socket

breached = False
with socket.socket(socket.AF_UNIX) as line:
    line.settimeout(2)
    try:
        line.connect(outside["socket"])
        breached = line.recv(100).decode() == outside["secret"]
    except OSError:
        pass
