# The one after: it looks for what `stores_in_the_kernel` left behind.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
NAME = b"posenc-left-by-the-one-before"
breached = any(libc.syscall(250, 10, ring, b"user", NAME, 0) > 0 for ring in (-3, -4, -5))
breached |= libc.shmget(0x5EC, 4096, 0) >= 0
breached |= os.path.exists("/dev/shm/" + NAME.decode()) or os.path.exists(NAME.decode())
