# New namespaces, or those of other processes.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
breached = any(libc.unshare(flag) == 0 for flag in (0x10000000, 0x20000, 0x40000000, 0x20000000, 0x10020000))
# clone with a new user namespace
child = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
breached |= child > 0
# A process id as a handle to namespaces
for pid in (1, outside["pid"]):
    handle = libc.syscall(434, pid, 0)
    breached |= handle >= 0 and libc.setns(handle, 0x20000) == 0
