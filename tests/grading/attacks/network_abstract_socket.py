# An accomplice listens on a Unix socket that has a name and no file.
# attacks: frequencies
# without walls: breaks
# %%
import socket

breached = False
with socket.socket(socket.AF_UNIX) as line:
    line.settimeout(2)
    try:
        line.connect("\0" + outside["abstract"])
        breached = line.recv(100).decode() == outside["secret"]
    except OSError:
        pass
