"""Limits on a whole session, all its processes together, by control groups, where this user may make them.

Memory and processes have limits. Processor time has none, but a session gets the share of one process
however many it starts: so one that spins in sixty does not slow down all that are graded beside it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")

_CONTROLS = {
    "memory": ("memory.limit_in_bytes", "memory.max"),
    "pids": ("pids.max",),
    "cpu": ("cpu.shares", "cpu.weight"),
}
"""Files of each controller, of the first and of the second version."""
_numbers = itertools.count()


class Cgroup:
    """One group, used for one session after the other. Every method does nothing where there is none."""

    def __init__(self) -> None:
        name = f"posenc-{os.getpid()}-{next(_numbers)}"
        memory, pids, cpu = (_made(controller, name) for controller in _CONTROLS)
        self._folders = list(dict.fromkeys(each for each in (memory, pids, cpu) if each is not None))
        self.memory = memory
        """The folder that limits memory; None where memory must be watched in another way."""
        self._killed_before = 0

    def limit(self, memory_bytes: int, processes: int) -> None:
        """Set the limits of the next session."""
        for names, value in (
            (("memory.limit_in_bytes", "memory.max"), memory_bytes),
            (("memory.swap.max",), 0),
            (("pids.max",), processes),
        ):
            for folder in self._folders:
                for name in names:
                    if (folder / name).exists():
                        (folder / name).write_text(str(value))
        self._killed_before = self._killed()

    def add(self, pid: int) -> None:
        """Put a process into the group; what it starts is in it too."""
        for folder in self._folders:
            with contextlib.suppress(
                ProcessLookupError
            ):  # It has ended already; that is found out elsewhere.
                (folder / "cgroup.procs").write_text(str(pid))

    def ran_out_of_memory(self) -> bool:
        """Whether a process of this session was killed for memory."""
        return self._killed() > self._killed_before

    def close(self) -> None:
        """Remove the group; its processes have ended."""
        for folder in self._folders:
            for _ in range(50):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)  # The kernel has not yet let go of the last process.

    def _killed(self) -> int:
        for folder in self._folders:
            for name in ("memory.oom_control", "memory.events"):
                with contextlib.suppress(OSError):
                    facts = dict(line.split() for line in (folder / name).read_text().splitlines())
                    return int(facts.get("oom_kill", 0))
        return 0


def _made(controller: str, name: str) -> Path | None:
    """A new group under our own that has this controller; None where that cannot be."""
    own = _own_group(controller)
    if own is None:
        return None
    folder = own / name
    is_new = not folder.exists()  # In the second version all controllers share one.
    try:
        folder.mkdir(exist_ok=True)
    except OSError:
        return None
    if any(os.access(folder / each, os.W_OK) for each in _CONTROLS[controller]):
        return folder
    if is_new:
        with contextlib.suppress(OSError):
            folder.rmdir()
    return None


def _own_group(controller: str) -> Path | None:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return ROOT / controller / path.lstrip("/")
    unified = [line.split(":", 2)[2] for line in lines if line.startswith("0::")]
    if unified and (ROOT / "cgroup.controllers").exists():
        return ROOT / unified[0].lstrip("/")
    return None
