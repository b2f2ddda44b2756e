# An accomplice on the same machine listens for TCP connections and sends the answer.
# attacks: frequencies
# without walls: breaks
# %%
import socket

breached = False
for host in ("127.0.0.1", "localhost", "0.0.0.0", "::ffff:127.0.0.1"):
    try:
        with socket.create_connection((host, outside["port"]), timeout=2) as line:
            breached |= line.recv(100).decode() == outside["secret"]
    except OSError:
        pass
