# The same by UDP.
# attacks: frequencies
# without walls: breaks
# %%
import socket

breached = False
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
    line.settimeout(1)
    try:
        line.sendto(b"?", ("127.0.0.1", outside["port"]))
        breached = line.recv(100).decode() == outside["secret"]
    except OSError:
        pass
