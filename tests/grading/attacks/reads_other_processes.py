# The memory of other processes, by the system calls that debuggers use.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
answers = {
    (libc.ptrace(16, pid, 0, 0), ctypes.get_errno()) for pid in [*range(2, 3000), outside["pid"], os.getppid()] if pid
}
# Nobody is to be had, and one pid answers like the other: not even who is there is told.
breached = len(answers) != 1 or answers.pop()[0] != -1
