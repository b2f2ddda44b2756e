"""The system calls that a learner's code may make, and the filter (seccomp) that holds it to them.

An allow list: what is not on it gets EPERM, and what no kernel had when the list was written gets ENOSYS, as
from that kernel. The program is put together here, from the list, when a warm parent starts: some sixty lines
that need no library inside the walls and work with every Python. Each session loads it as its last step to
fewer rights, and bubblewrap does not: the warm parent inside still mounts and makes namespaces for sessions.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from posenc_course.translation import _

# Each with its number on x86_64 and on aarch64, from the kernel's tables; "-" where that kind of machine has
# no such call.
ALLOWED = """
# Reading and writing
read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69,
pwritev 296 70, preadv2 327 286, pwritev2 328 287, lseek 8 62, fsync 74 82, fdatasync 75 83,
fadvise64 221 223, fallocate 285 47, truncate 76 45, ftruncate 77 46, copy_file_range 326 285,
# Files and folders
open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57, close_range 436 436, dup 32 23,
dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, access 21 -, faccessat 269 48, faccessat2 439 439,
stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291, statfs 137 43, fstatfs 138 44,
readlink 89 -, readlinkat 267 78, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49,
fchdir 81 50, mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36,
mknod 133 -, mknodat 259 33, chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -,
fchown 93 55, lchown 94 -, fchownat 260 54, umask 95 166, utime 132 -, utimes 235 -, futimesat 261 -,
utimensat 280 88, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11,
llistxattr 195 12, flistxattr 196 13,
# Memory
brk 12 214, munmap 11 215, mremap 25 216, mprotect 10 226, madvise 28 233, mincore 27 232, msync 26 227,
mlock 149 228, mlock2 325 284, munlock 150 229, mlockall 151 230, munlockall 152 231,
pkey_mprotect 329 288, pkey_alloc 330 289, pkey_free 331 290, membarrier 324 283, get_mempolicy 239 236,
# Processes and threads
fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94, wait4 61 260,
waitid 247 95, set_tid_address 218 96, futex 202 98, futex_waitv 449 449, set_robust_list 273 99,
get_robust_list 274 100, rseq 334 293, arch_prctl 158 -, getpid 39 172, getppid 110 173, gettid 186 178,
getpgid 121 155, getpgrp 111 -, setpgid 109 154, getsid 124 156, setsid 112 157, getuid 102 174,
geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, capget 125 90, pidfd_open 434 434, pidfd_send_signal 424 424, kill 62 129,
tkill 200 130, tgkill 234 131,
# Signals
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigpending 127 136, rt_sigreturn 15 139,
rt_sigsuspend 130 133, rt_sigtimedwait 128 137, rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240,
sigaltstack 131 132, signalfd 282 -, signalfd4 289 74, pause 34 -, restart_syscall 219 128,
# Time
time 201 -, gettimeofday 96 169, clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115,
nanosleep 35 101, times 100 153, alarm 37 -, getitimer 36 102, setitimer 38 103, timer_create 222 107,
timer_settime 223 110, timer_gettime 224 108, timer_getoverrun 225 109, timer_delete 226 111,
timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87,
# Waiting
poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
eventfd2 290 19,
# Talking to one's own processes
bind 49 200, listen 50 201, accept 43 202, accept4 288 242, connect 42 203, getsockname 51 204,
getpeername 52 205, sendto 44 206, recvfrom 45 207, sendmsg 46 211, recvmsg 47 212, sendmmsg 307 269,
recvmmsg 299 243, shutdown 48 210, getsockopt 55 209,
# The machine and its limits
uname 63 160, sysinfo 99 179, getcpu 309 168, getrandom 318 278, getrusage 98 165, getrlimit 97 163,
setrlimit 160 164, prlimit64 302 261, getpriority 140 141, setpriority 141 140, sched_yield 24 124,
sched_getaffinity 204 123, sched_setaffinity 203 122, sched_getparam 143 121,
sched_getscheduler 145 120, sched_getattr 315 275, sched_get_priority_max 146 125,
sched_get_priority_min 147 126, sched_rr_get_interval 148 127, ioprio_get 252 31,
# With some arguments only: see RULES
clone 56 220, mmap 9 222, socket 41 198, socketpair 53 199, setsockopt 54 208, ioctl 16 29, fcntl 72 25,
prctl 157 167, personality 135 92
"""

ABSENT = """
clone3 435 435, flock 73 32, sendfile 40 71, splice 275 76, tee 276 77, vmsplice 278 75, shmget 29 194,
shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191,
semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187
"""
"""What fails as on a kernel without it, so that programs fall back to what is allowed; clone3 hides its flags
from a filter, the splices can pin memory that nobody counts, and locks are told of below."""

UNSUPPORTED = """
setxattr 188 5, lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15,
fremovexattr 199 16
"""
"""What fails as on a file system without it."""

_NEWEST = 450
"""The newest call that was looked at, on both kinds of machine; beyond it the list names what it allows."""
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Which of the two numbers, and how the kernel calls this kind of machine."""


@dataclass(frozen=True)
class Rule:
    """A call that is allowed where `argument & mask` is one of `values`, and else fails with `otherwise`.

    The kernel reads these arguments as 32 bits, and so does the filter.
    """

    argument: int
    values: tuple[int, ...]
    otherwise: int
    mask: int = 0xFFFFFFFF


_AF_UNIX = 1
_NEW_NAMESPACES = 0x7E020080
_SHARED, _ANONYMOUS = 0x01, 0x20
RULES = {
    # Threads and processes, but no new namespaces.
    "clone": Rule(0, (0,), errno.EPERM, _NEW_NAMESPACES),
    # Shared memory lies in /dev/shm, where it can be counted: pages that lie in no file stay when they are
    # unmapped, and no file system says how many there are.
    "mmap": Rule(3, (0, _SHARED, _ANONYMOUS), errno.ENOMEM, _SHARED | _ANONYMOUS),
    "socket": Rule(0, (_AF_UNIX,), errno.EAFNOSUPPORT),
    "socketpair": Rule(0, (_AF_UNIX,), errno.EAFNOSUPPORT),
    # By name: REUSEADDR, TYPE, ERROR, BROADCAST, RCVBUF, KEEPALIVE, LINGER, REUSEPORT, PASSCRED, timeouts.
    # Not SNDBUF: it is what bounds the memory that a socket holds.
    "setsockopt": Rule(2, (2, 3, 4, 6, 8, 9, 13, 15, 16, 20, 21, 66, 67), errno.ENOPROTOOPT),
    # FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. There is no terminal in here, and no device that takes orders.
    "ioctl": Rule(1, (0x541B, 0x5421, 0x5450, 0x5451), errno.ENOTTY),
    # DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC, GETPIPE_SZ. No locks and no leases: a file of the
    # system would be locked for everybody outside too, and the filter cannot see which file it is.
    "fcntl": Rule(1, (0, 1, 2, 3, 4, 1030, 1032), errno.ENOSYS),
    # By name: PDEATHSIG, GET_DUMPABLE, GET_KEEPCAPS, NAME, GET_SECCOMP, CAPBSET_READ, GET_SECUREBITS,
    # TIMERSLACK, CHILD_SUBREAPER, NO_NEW_PRIVS, THP_DISABLE, SET_VMA.
    "prctl": Rule(
        0,
        (1, 2, 3, 7, 15, 16, 21, 23, 27, 29, 30, 36, 37, 38, 39, 41, 42, 0x53564D41),
        errno.EPERM,
    ),
    "personality": Rule(0, (0xFFFFFFFF,), errno.EPERM),  # To ask which one it is.
}
"""Calls that are allowed with some arguments only."""

Instruction = tuple[int, int, int, int]
"""Code, jump where true, jump where false, number: as the kernel's `struct sock_filter`."""
_LOAD, _AND, _JUMP, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x54, 0x05, 0x15, 0x35, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where in `struct seccomp_data` these are."""
_ALLOW, _KILL, _FAIL_WITH = 0x7FFF0000, 0x80000000, 0x00050000
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _BY_PROGRAM = 38, 22, 2


def calls(table: str, machine: str) -> dict[str, int]:
    """From the name to the number, of the calls that this kind of machine has."""
    column = _MACHINES[machine][0]
    lines = (line for line in table.splitlines() if not line.startswith("#"))
    rows = [each.split() for each in " ".join(lines).split(",")]
    return {name: int(numbers[column]) for name, *numbers in rows if numbers[column] != "-"}


@cache
def program(machine: str) -> list[Instruction]:
    """The filter, in the kernel's language for filters (classic BPF).

    Raises:
        KeyError: there are no numbers for this kind of machine.
    """
    ways = {number: _fail(errno.EPERM) for number in range(_NEWEST + 1)}
    ways[_NEWEST + 1] = _fail(errno.ENOSYS)
    for name, number in calls(ALLOWED, machine).items():
        ways.setdefault(number + 1, _fail(errno.ENOSYS))
        ways[number] = _way(RULES[name]) if name in RULES else [(_RETURN, 0, 0, _ALLOW)]
    for table, code in ((ABSENT, errno.ENOSYS), (UNSUPPORTED, errno.EOPNOTSUPP)):
        ways |= {number: _fail(code) for number in calls(table, machine).values()}
    numbers = sorted(ways)
    # Neighbours that go the same way are one step of the search.
    starts = [n for before, n in pairwise([-1, *numbers]) if before < 0 or ways[n] != ways[before]]
    return [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, _MACHINES[machine][1]),
        (_RETURN, 0, 0, _KILL),  # Calls of another kind of machine, such as those of 32 bits.
        (_LOAD, 0, 0, _NUMBER),
        *_search([(start, ways[start]) for start in starts]),
    ]


def _search(ways: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """The way of the last start that is not above the number: half of them are left at every step."""
    if len(ways) == 1:
        return ways[0][1]
    middle = len(ways) // 2
    below, above = _search(ways[:middle]), _search(ways[middle:])
    return [(_IF_AT_LEAST, 0, 1, ways[middle][0]), (_JUMP, 0, 0, len(below)), *below, *above]


def _way(rule: Rule) -> list[Instruction]:
    tests = [(_IF_EQUAL, len(rule.values) - n, 0, value) for n, value in enumerate(rule.values)]
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument),
        (_AND, 0, 0, rule.mask),
        *tests,
        *_fail(rule.otherwise),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _fail(code: int) -> list[Instruction]:
    return [(_RETURN, 0, 0, _FAIL_WITH | code)]


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("number", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(_Instruction))]


def shut() -> None:
    """Hold this process, and all that it will start, to the list; for good.

    Raises:
        OSError: the kernel takes no filter.
        KeyError: there are no numbers for this kind of machine.
    """
    load(program(platform.machine()))


def load(instructions: Sequence[Instruction]) -> None:
    """Give the kernel a filter for this process and those that it will start."""
    libc = ctypes.CDLL(None, use_errno=True)
    array = (_Instruction * len(instructions))(*(_Instruction(*each) for each in instructions))
    filter_ = _Program(len(instructions), array)
    for order in ((_PR_SET_NO_NEW_PRIVS, 1), (_PR_SET_SECCOMP, _BY_PROGRAM, ctypes.byref(filter_))):
        if libc.prctl(*order, *[0] * (5 - len(order))) != 0:
            code = ctypes.get_errno()
            raise OSError(code, f"seccomp: {os.strerror(code)}")


def why_not_shut() -> str:
    """What keeps processes from being held to the list here; empty where nothing does. Tried in a child."""
    machine = platform.machine()
    if machine not in _MACHINES:
        no_list = _("there is no list of them for {machine}, only for {known}")
        return no_list.format(machine=machine, known=", ".join(_MACHINES))
    program(machine)  # Every child of this process has it then.
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            shut()
            os.write(writer, b"shut")
        except OSError as error:
            os.write(writer, str(error.strerror).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        told = file.read().decode()
    os.waitpid(child, 0)
    return "" if told == "shut" else told or _("the process that tried has ended")
