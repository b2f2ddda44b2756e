# Kernel keyrings, System V memory and message queues outlive a process: here they would reach the next learner.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
NAME = b"posenc-left-by-the-one-before"
breached = any(libc.syscall(250, 10, ring, b"user", NAME, 0) > 0 for ring in (-3, -4, -5))
for ring in (-3, -4, -5):
    libc.syscall(248, b"user", NAME, b"stolen", 6, ring)
breached |= libc.shmget(0x5EC, 4096, 0) >= 0
libc.shmget(0x5EC, 4096, 0o1666)
breached |= os.path.exists("/dev/shm/" + NAME.decode()) or os.path.exists(NAME.decode())
open("/dev/shm/" + NAME.decode(), "w").close()
open(NAME.decode(), "w").close()
