# Memory that the kernel needs to know about memory: one page of it for each two megabytes that are looked at.
# attacks: frequencies
# verdict: memory limit
# %% frequencies
import ctypes


def frequencies(dim):
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    start = libc.mmap(None, ctypes.c_size_t(2**40), 1, 0x4022, -1, ctypes.c_long(0))
    for step in range(2**19):
        ctypes.string_at(start + step * 2**21, 1)
