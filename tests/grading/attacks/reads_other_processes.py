# The memory of other processes, by the system calls that debuggers use.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
breached = False
for pid in [*range(2, 3000), outside["pid"], os.getppid()]:
    breached |= pid != 0 and libc.ptrace(16, pid, 0, 0) == 0
    breached |= pid != 0 and ctypes.get_errno() == 1
