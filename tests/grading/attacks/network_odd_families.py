# Kinds of sockets that network namespaces are said to forget: to the host of a virtual machine, raw, by packet.
# attacks: frequencies
# %%
import socket

breached = False
for family, kind, address in (
    ("AF_VSOCK", socket.SOCK_STREAM, (2, 22)),
    ("AF_VSOCK", socket.SOCK_STREAM, (1, 22)),
    ("AF_PACKET", socket.SOCK_RAW, None),
    ("AF_INET", socket.SOCK_RAW, None),
    ("AF_BLUETOOTH", socket.SOCK_STREAM, None),
):
    try:
        with socket.socket(getattr(socket, family), kind) as line:
            line.settimeout(1)
            if address:
                line.connect(address)
            breached |= kind == socket.SOCK_RAW or address is not None
    except (OSError, AttributeError):
        pass
