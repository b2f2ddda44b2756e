# File systems mounted, moved away or turned writable.
# attacks: frequencies
# %%
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
breached = libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None) == 0
breached |= libc.mount(b"proc", b"/proc", b"proc", 0, None) == 0
breached |= libc.mount(None, b"/", None, 32 | 4096, None) == 0
breached |= any(libc.umount2(each, 2) == 0 for each in (b"/proc", b"/tmp", b"/library", b"/"))
breached |= libc.syscall(155, b".", b".") == 0  # pivot_root
# fsopen
breached |= libc.syscall(430, b"tmpfs", 0) >= 0
