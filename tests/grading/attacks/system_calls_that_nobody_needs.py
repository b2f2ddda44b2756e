# Calls that no answer needs, and that have let many a program out of its walls.
# attacks: frequencies
# %%
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(256)
breached = any(
    libc.syscall(*call) >= 0
    for call in (
        (425, 8, room),  # io_uring_setup
        (321, 0, room, 120),  # bpf: a new map
        (298, room, 0, -1, -1, 0),  # perf_event_open
        (323, 1),  # userfaultfd
        (319, b"memory", 0),  # memfd_create
        (447, 0),  # memfd_secret
        (435, room, 64),  # clone3
        (294, 0),  # inotify_init1: who else opens which files
        (101, 0, 0, 0, 0),  # ptrace: whoever started us shall watch
        (278, 1, room, 0, 0),  # vmsplice
        (16, 0, 0x5412, b"x"),  # ioctl, TIOCSTI: type into the teacher's terminal
        (135, 0x40000),  # personality: no more random addresses
    )
)
