"""What parts one session from all others, as system calls. Runs inside the walls, in a child of the zygote.

Each session gets its own user, mount, pid, ipc, network and host name spaces, an empty scratch folder, no
/proc, where the zygote holds more than one user id a user id of its own, and the system calls that it needs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
from collections.abc import Mapping
from pathlib import Path

from posenc_course.grading.sandbox import system_calls

LEARNER = 1000
"""User and group id of the learner, as the learner sees them."""
SCRATCH_FILES = 10_000
"""Files, folders and links together: each costs the kernel memory, an empty one too."""
CELL = "/cell"
"""Where the session's own view of the file system is put together."""

_NEW_EVERYTHING = 0x10000000 | 0x00020000 | 0x20000000 | 0x08000000 | 0x40000000 | 0x04000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_PR_CAPBSET_DROP, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def unshare_everything() -> None:
    """Leave the zygote's namespaces. The next child is the first process of the new pid namespace."""
    _call("unshare", _NEW_EVERYTHING)


def map_ids(pid: int, user: int) -> None:
    """Tell a process that left our user namespace which of our ids it has; the zygote calls this."""
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{pid}/{name}").write_text(f"{LEARNER} {user} 1\n")


def close_in(scratch_bytes: int) -> None:
    """Turn the file system into the session's own: read-only but for scratch, and nothing of /proc."""
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    _mount("/", CELL, None, _MS_BIND | _MS_REC)
    scratch = f"size={scratch_bytes},nr_inodes={SCRATCH_FILES},mode=700,uid={LEARNER},gid={LEARNER}"
    for folder in ("/tmp", "/dev/shm"):
        _mount("tmpfs", CELL + folder, "tmpfs", _MS_NOSUID | _MS_NODEV, scratch)
    # Terminals hold memory that nobody counts.
    for folder in ("/proc", "/dev/pts"):
        flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC | _MS_RDONLY
        _mount("tmpfs", CELL + folder, "tmpfs", flags, "size=4k,mode=555")
    # And so does /dev/zero, to who maps it and shares it.
    _mount(CELL + "/dev/null", CELL + "/dev/zero", None, _MS_BIND)
    # From within a chroot the kernel lets nobody make another user namespace, and so no new capabilities.
    os.chroot(CELL)
    os.chdir("/tmp")


def become_learner() -> None:
    """Give up every right, for good."""
    # Not ours to change where an ordinary user grades; the groups are unmapped then and mean nothing in here.
    with contextlib.suppress(PermissionError):
        os.setgroups([])
    os.setresgid(LEARNER, LEARNER, LEARNER)
    os.setresuid(LEARNER, LEARNER, LEARNER)
    _call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    capability = 0
    while _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())
    os.setsid()
    system_calls.shut()


def limit(limits: Mapping[str, int]) -> None:
    """Set the limits of one process. Call it before `close_in`: it reads /proc."""
    used = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    cpu = limits["cpu_seconds"]
    for which, soft, hard in (
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_DATA, used + limits["memory_bytes"], used + limits["memory_bytes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"], limits["file_bytes"]),
        (resource.RLIMIT_NPROC, limits["processes"], limits["processes"]),
        (resource.RLIMIT_NOFILE, 256, 256),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        resource.setrlimit(which, (soft, hard))


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    texts = [None if each is None else each.encode() for each in (source, target, kind, data)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
