"""The memory of a whole session, watched from outside, where no control group counts it.

Private memory is counted by process. What is shared lies in the session's two scratch folders, for the filter
of system calls leaves no other place. What waits in sockets is counted at the most that they can hold. Pipes
are not counted: the kernel lets one user have 64 MiB in them, and one page more for each pipe.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

SCRATCH = ("/tmp", "/dev/shm")
_SEND_BUFFER = Path("/proc/sys/net/core/wmem_default")
_DATAGRAM, _DATAGRAMS_THAT_WAIT = "0002", 11
"""A socket for datagrams holds those of senders that have gone: so many."""


def is_over(pid: int, inherited: int, allowed: int) -> bool:
    """Whether a session holds more than is allowed.

    Args:
        pid: of the session's first process.
        inherited: what that process had from the warm parent, by `of_process`.
        allowed: in bytes.
    """
    shared = _in_scratch(pid) + _in_sockets(pid)
    processes = list(_processes(pid))
    # What processes share is counted in each of them here: quickly, and never too little.
    if shared + sum(map(of_process, processes)) <= allowed:
        return False
    return shared + sum(map(_share_of_process, processes)) - inherited > allowed


def of_process(process: Path) -> int:
    """Bytes of a process that lie in no file, and of its page tables; `process` is its folder in /proc."""
    facts = _facts(process / "status")
    return sum(facts.get(name, 0) for name in ("RssAnon", "VmSwap", "VmPTE", "HugetlbPages"))


def _share_of_process(process: Path) -> int:
    """The same, where each page is divided among the processes that share it."""
    facts = _facts(process / "smaps_rollup")
    anonymous = facts.get("Pss_Anon", facts.get("Pss", 0))  # Linux before 5.4 knows only all of it.
    tables = _facts(process / "status").get("VmPTE", 0)
    return anonymous + facts.get("SwapPss", 0) + facts.get("Private_Hugetlb", 0) + tables


def _processes(pid: int) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        space = Path(f"/proc/{pid}/ns/pid").readlink()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (entry / "ns/pid").readlink() == space:
                    yield entry


def _facts(file: Path) -> dict[str, int]:
    """From the name to the bytes, for the lines of a file in /proc that tell kilobytes."""
    try:
        words = [line.split() for line in file.read_text().splitlines()]
    except OSError:  # It has ended.
        return {}
    return {line[0].rstrip(":"): 1024 * int(line[1]) for line in words if line[-1:] == ["kB"]}


def _in_scratch(pid: int) -> int:
    used = 0
    for folder in SCRATCH:
        with contextlib.suppress(OSError):
            facts = os.statvfs(f"/proc/{pid}/root{folder}")
            used += (facts.f_blocks - facts.f_bfree) * facts.f_frsize
    return used


def _in_sockets(pid: int) -> int:
    try:
        kinds = [line.split()[4] for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]]
    except OSError:
        return 0
    waiting = sum(_DATAGRAMS_THAT_WAIT if kind == _DATAGRAM else 1 for kind in kinds)
    return waiting * int(_SEND_BUFFER.read_text())
