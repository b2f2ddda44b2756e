"""The filter of system calls: what it says for each call, and that a real kernel takes it as meant.

What it does to a session stands in test_sandbox.py.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import re
import signal
import struct
import subprocess
from collections.abc import Callable
from functools import cache

import pytest

from posenc_course.grading.sandbox.system_calls import (
    ABSENT,
    ALLOWED,
    RULES,
    UNSUPPORTED,
    calls,
    program,
    shut,
)

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000


def answer(machine: str, number: int, *arguments: int, kind: int | None = None) -> int:
    """What the filter says to a call, by running it as the kernel does."""
    kind = MACHINES[machine] if kind is None else kind
    given = struct.pack("<IIQ6Q", number, kind, 0, *arguments, *[0] * (6 - len(arguments)))
    instructions, place, value = program(machine), 0, 0
    while True:
        code, if_true, if_false, constant = instructions[place]
        place += 1
        match code:
            case 0x20:
                [value] = struct.unpack_from("<I", given, constant)
            case 0x54:
                value &= constant
            case 0x05:
                place += constant
            case 0x15:
                place += if_true if value == constant else if_false
            case 0x35:
                place += if_true if value >= constant else if_false
            case 0x06:
                return constant
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


@cache
def listed(machine: str) -> dict[str, int]:
    return calls(ALLOWED, machine) | calls(ABSENT, machine) | calls(UNSUPPORTED, machine)


def fails(machine: str, name_or_number: str | int, *arguments: int) -> int:
    """With which error a call fails; 0 where it is allowed."""
    number = listed(machine)[name_or_number] if isinstance(name_or_number, str) else name_or_number
    said = answer(machine, number, *arguments)
    assert said == ALLOW or said >> 16 == FAIL >> 16
    return 0 if said == ALLOW else said & 0xFFFF


@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_gets_what_its_list_says(machine):
    for name in set(calls(ALLOWED, machine)) - set(RULES):
        assert fails(machine, name) == 0, name
    assert {fails(machine, name) for name in calls(ABSENT, machine)} == {errno.ENOSYS}
    assert {fails(machine, name) for name in calls(UNSUPPORTED, machine)} == {errno.EOPNOTSUPP}
    others = set(range(451)) - set(listed(machine).values())
    assert {fails(machine, number) for number in others} == {errno.EPERM}
    # What is newer than the list, what has a number of x32, and none at all.
    for number in (451, 453, 470, 0x3FFFFFFF, 0x40000000, 0x40000029, 0xFFFFFFFF):
        assert fails(machine, number) == errno.ENOSYS


DANGEROUS = {  # name: number on x86_64, on aarch64
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_setup": (206, 0),
    "userfaultfd": (323, 282),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "reboot": (169, 142),
    "acct": (163, 89),
    "sethostname": (170, 161),
    "syslog": (103, 116),
    "seccomp": (317, 277),
    "landlock_restrict_self": (446, 446),
    "mbind": (237, 235),
    "move_pages": (279, 239),
    "sync": (162, 81),
    "mq_open": (240, 180),
    "setuid": (105, 146),
    "capset": (126, 91),
    "vhangup": (153, 58),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_what_learners_do_not_need_is_forbidden(machine):
    column = list(MACHINES).index(machine)
    assert {name: fails(machine, number[column]) for name, number in DANGEROUS.items()} == dict.fromkeys(
        DANGEROUS, errno.EPERM
    )


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_allowed_with_some_arguments_only(machine):
    def errors(name: str, *tries: tuple[int, ...]) -> set[int]:
        return {fails(machine, name, *each) for each in tries}

    thread, process, vfork = 0x3D0F00, 0x1200011, 0x4111
    assert errors("clone", (thread,), (process,), (vfork,)) == {0}
    spaces = [0x20000, *(1 << bit for bit in range(25, 31))]
    assert errors("clone", *((17 | each,) for each in spaces), (thread | 0x10000000,)) == {errno.EPERM}
    assert errors("clone3", ()) == {errno.ENOSYS}  # Its flags lie where no filter can read them.
    for name in ("socket", "socketpair"):
        assert errors(name, (1, 1), (1, 2), (1, 5), (1, 0x80801)) == {0}
        others = [(family, 1) for family in (0, *range(2, 60))]
        assert errors(name, *others, (1 << 31 | 1, 1)) == {errno.EAFNOSUPPORT}
    private, shared_file, shared_nothing = (0, 1, 3, 0x22), (0, 1, 3, 0x01), (0, 1, 3, 0x21)
    assert errors("mmap", private, shared_file, (0, 1, 3, 0x4002)) == {0}
    assert errors("mmap", shared_nothing, (0, 1, 3, 0x23), (0, 1, 3, 0x8021)) == {errno.ENOMEM}
    assert errors("ioctl", (0, 0x5421), (0, 0x541B)) == {0}
    tiocsti, tioclinux, siocgifconf, ficlone = 0x5412, 0x541C, 0x8912, 0x40049409
    assert errors("ioctl", *((0, each) for each in (tiocsti, tioclinux, siocgifconf, ficlone))) == {
        errno.ENOTTY
    }
    assert errors("fcntl", *((0, each) for each in (0, 1, 2, 3, 4, 1030))) == {0}
    locks_leases_watches = (5, 6, 7, 36, 37, 38, 1024, 1026, 1031)
    assert errors("fcntl", *((0, each) for each in locks_leases_watches)) == {errno.ENOSYS}
    assert errors("flock", (0, 1), (0, 2)) == {errno.ENOSYS}
    assert errors("prctl", (15,), (1,), (38,)) == {0}
    assert errors("prctl", (4,), (22,), (8,), (24,), (35,), (0x59616D61,)) == {errno.EPERM}
    assert errors("setsockopt", (0, 1, 2), (0, 1, 16)) == {0}
    assert errors("setsockopt", (0, 1, 7), (0, 1, 32), (0, 1, 26), (0, 1, 50)) == {errno.ENOPROTOOPT}
    assert errors("personality", (0xFFFFFFFF,)) == {0}
    assert errors("personality", (0,), (0x40000,), (8,)) == {errno.EPERM}
    # The kernel reads such an argument as 32 bits: what stands above them changes nothing.
    assert errors("socket", (1 << 32 | 2, 1)) == {errno.EAFNOSUPPORT}
    assert errors("clone", (1 << 32 | 0x10000011,)) == {errno.EPERM}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_another_kind_of_machine_end_the_process(machine):
    others = (0x40000003, 0x40000028, *(kind for kind in MACHINES.values() if kind != MACHINES[machine]))
    assert {answer(machine, number, kind=kind) for kind in others for number in (0, 3, 64)} == {KILL}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_kernel_takes_it_and_needs_few_steps(machine):
    assert len(program(machine)) <= 4096
    assert all(0 <= jump <= 255 for _, *jumps, _ in program(machine) for jump in jumps)


HEADERS = {
    "x86_64": ("asm/unistd_64.h", ()),
    "aarch64": (
        "asm-generic/unistd.h",
        ("RENAMEAT", "NEW_STAT", "SET_GET_RLIMIT", "SYS_CLONE3", "MEMFD_SECRET"),
    ),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(machine):
    header, wanted = HEADERS[machine]
    options = ["-E", "-dM", "-D__BITS_PER_LONG=64", *(f"-D__ARCH_WANT_{each}" for each in wanted)]
    try:
        text = subprocess.run(
            ["cc", *options, "-"], input=f"#include <{header}>\n", capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the kernel's headers or a C compiler are missing here: apt install gcc linux-libc-dev")
    found = dict(re.findall(r"#define __NR(?:3264)?_(\w+) (\d+)$", text, re.MULTILINE))
    found |= {"newfstatat": found["fstatat"]} if "fstatat" in found else {}
    ours = listed(machine) | {
        name: number[list(HEADERS).index(machine)] for name, number in DANGEROUS.items()
    }
    newer_than_some_headers = {"fchmodat2"}
    known = set(found) | newer_than_some_headers
    assert set(ours) <= known
    assert {name: number for name, number in ours.items() if name in found} == {
        name: int(found[name]) for name in ours if name in found
    }


# --- A real kernel ---------------------------------------------------------------------------------------


def ends(work: Callable[[], int]) -> int:
    """How a child ends that is held to the list and then does this."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            shut()
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(platform.system() != "Linux", reason="seccomp is Linux's")
def test_the_kernel_reads_it_as_the_tests_above_do():
    """Every call that is forbidden without a look at its arguments, by its number."""
    machine = platform.machine()
    probes_of_the_kernel = (
        (335, 336) if machine == "x86_64" else ()
    )  # It answers these before it asks filters.
    said = {
        number: fails(machine, number)
        for number in (*range(500), 0x40000000)
        if number not in (*calls(ALLOWED, machine).values(), *probes_of_the_kernel)
    }
    libc = ctypes.CDLL(None, use_errno=True)

    def work() -> int:
        wrong = 0
        for number, code in said.items():
            ctypes.set_errno(0)
            wrong += libc.syscall(number, 0, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != code
        return min(wrong, 98)

    assert ends(work) == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="int 0x80 is of x86 alone")
def test_the_calls_of_32_bits_end_the_process():
    def work() -> int:
        # mov eax, 20; int 0x80; ret: getpid, by its number of 32 bits
        code = mmap.mmap(
            -1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_WRITE | mmap.PROT_EXEC | 1
        )
        code.write(bytes.fromhex("b814000000cd80c3"))
        address = ctypes.addressof(ctypes.c_char.from_buffer(code))
        ctypes.CFUNCTYPE(ctypes.c_int)(address)()
        return 0

    assert ends(work) == -signal.SIGSYS
