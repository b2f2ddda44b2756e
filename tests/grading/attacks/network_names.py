# Names are looked up, which tells whoever owns the name.
# attacks: frequencies
# %%
import socket

breached = False
for name in ("example.org", socket.gethostname() + ".local"):
    try:
        breached |= bool(socket.getaddrinfo(name, 80))
    except OSError:
        pass
