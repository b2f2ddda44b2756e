# Sockets to the host of a virtual machine know no namespaces; kernel sockets have been a way to more rights.
# attacks: frequencies
# %%
import socket

breached = False
for family in ("AF_VSOCK", "AF_ALG", "AF_NETLINK", "AF_PACKET", "AF_BLUETOOTH", "AF_CAN", "AF_TIPC", "AF_INET", "AF_INET6"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        try:
            socket.socket(getattr(socket, family), kind).close()
            breached = True
        except (OSError, AttributeError):
            pass
