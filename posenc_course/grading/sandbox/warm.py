"""Sessions of a warm parent, from outside: start it, open one session a submission, talk to it, end it.

Whatever comes out of a session is untrusted: one line at a time, no longer than was said, and in time.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import secrets
import select
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox import memory
from posenc_course.grading.sandbox.cgroup import Cgroup
from posenc_course.grading.sandbox.walls import LENT_USER_IDS, NoWalls, lends_user_ids, warm_process
from posenc_course.grading.verdicts import Verdict
from posenc_course.translation import _

START_SECONDS = 120
WATCH_SECONDS = 0.1
ENDING_SECONDS = 60
MAX_DEPTH = 100
"""How deep a message may be nested: far less than what Python can walk through."""

_CREDENTIALS = struct.Struct("3i")

Question = dict[str, Any]
Answerer = Callable[[Question], list[Any]]
"""From what is asked, to ["value", data, ""], ["raised", error type, text] or ["refused", None, text]."""


class Ended(Exception):
    """A session ended before it was told to; the verdict says of what."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.value)
        self.verdict = verdict


def ran_out_of_time(report: Mapping[str, float], limits: Limits) -> bool:
    """Whether the kernel ended a session because its time on the processor was over.

    The kernel kills it at its own count, and what it reports afterwards is up to 3% less (measured).
    """
    if report["signal"] == signal.SIGKILL:
        return report["cpu"] >= 0.9 * limits.cpu_seconds
    return report["signal"] == signal.SIGXCPU or report["cpu"] >= limits.cpu_seconds


class WarmParent:
    """A process inside the walls that has imported `modules`, and forks one child a session.

    Raises:
        NoWalls: the walls cannot stand here; the text says why.
    """

    def __init__(self, modules: Sequence[str] = (), *, unsafe: bool = False) -> None:
        self.modules = tuple(modules)
        self._unsafe = unsafe
        self._stack = contextlib.ExitStack()
        # From a place of its own, so that the sessions of several warm parents differ too.
        self._users = itertools.count(secrets.randbelow(LENT_USER_IDS))
        with contextlib.ExitStack() as stack:
            self._control, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            stack.callback(self._control.close)
            with inner:
                process = stack.enter_context(warm_process(inner.fileno(), list(modules), unsafe=unsafe))
            self._control.settimeout(START_SECONDS)
            if not _received(self._control):
                assert process.stderr is not None
                process.kill()
                complaint = process.stderr.read().decode(errors="replace").strip()
                told = _("learners' code cannot be walled in here. It said: {complaint}")
                raise NoWalls(told.format(complaint=complaint))
            self.pid = process.pid
            self.cgroup = Cgroup()
            stack.callback(self.cgroup.close)
            self._stack = stack.pop_all()

    def open(self, limits: Limits) -> Session:
        """A new session: a process that has run nothing yet. One at a time."""
        self.cgroup.limit(limits.memory_bytes, limits.processes)
        return Session(self, limits)

    def close(self) -> None:
        """End the warm parent."""
        self._stack.close()

    def __enter__(self) -> WarmParent:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def order(self, limits: Limits, line: socket.socket, scratch: str) -> None:
        """Have a child forked that serves this socket."""
        order = {
            "user": 1 + next(self._users) % LENT_USER_IDS if lends_user_ids() else 0,
            "walls": not self._unsafe,
            "scratch": scratch,
            "limits": {
                "cpu_seconds": max(1, int(limits.cpu_seconds)),
                "memory_bytes": limits.memory_bytes,
                "processes": limits.processes,
                "file_bytes": limits.file_bytes,
                "output_bytes": limits.output_bytes,
            },
        }
        socket.send_fds(self._control, [json.dumps(order).encode()], [line.fileno()])

    def report(self) -> dict[str, float]:
        """How the last child ended; waits for that."""
        self._control.settimeout(ENDING_SECONDS)
        told = _received(self._control)
        if not told:
            raise NoWalls(_("the warm parent ended by itself; start grading again"))
        report: dict[str, float] = json.loads(told)
        return report


class Session:
    """One child of the warm parent, behind walls of its own."""

    def __init__(self, parent: WarmParent, limits: Limits) -> None:
        self._parent, self._limits = parent, limits
        self._buffer = bytearray()
        self._report: dict[str, float] | None = None
        self._line, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._scratch = tempfile.TemporaryDirectory(prefix="posenc-") if parent._unsafe else None
        with inner:
            parent.order(limits, inner, self._scratch.name if self._scratch else "")
        self._line.settimeout(START_SECONDS)
        self.pid = self._await_first_sign()
        self._pidfd = os.pidfd_open(self.pid)
        parent.cgroup.add(self.pid)
        self._inherited = memory.of_process(Path(f"/proc/{self.pid}"))

    def ask(
        self, order: dict[str, Any], *, deadline: float, most_bytes: int, answer: Answerer | None = None
    ) -> dict[str, Any]:
        """Send one order and wait for its reply.

        Args:
            deadline: by `time.monotonic()`.
            most_bytes: the longest line that is read.
            answer: answers what the session asks meanwhile; without it every question is refused.

        Raises:
            Ended: there was no reply, or one that no honest session gives. The session is over then.
        """
        identity = secrets.randbits(52)
        self._send({**order, "id": identity}, deadline)
        while True:
            message = self._receive(deadline, most_bytes)
            if "ask" in message:
                self._send({"answer": _refusal() if answer is None else answer(message)}, deadline)
            elif message.get("ended") == "output limit":
                self._end(Verdict.OUTPUT_LIMIT)
            elif message.get("id") == identity:
                return message
            else:
                self._end(Verdict.TAMPERED)

    def close(self) -> None:
        """End the session and all that runs in it."""
        if self._report is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            if self._scratch:  # No pid namespace ends with it: reach at least what stayed in its group.
                os.killpg(self.pid, signal.SIGKILL)
        os.close(self._pidfd)
        self._line.close()
        self._report = self._parent.report()
        if self._scratch:
            self._scratch.cleanup()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, message: dict[str, Any], deadline: float) -> None:
        left = memoryview(json.dumps(message).encode() + b"\n")
        while left:
            self._await(deadline, to_send=True)
            try:
                left = left[self._line.send(left) :]
            except OSError:
                self._end_by_itself()

    def _receive(self, deadline: float, most_bytes: int) -> dict[str, Any]:
        line = self._next_line(deadline, most_bytes)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if type(message) is not dict or _is_deep(message):
            self._end(Verdict.TAMPERED)
        return dict(message)

    def _next_line(self, deadline: float, most_bytes: int) -> bytes:
        if time.monotonic() > deadline:  # Whatever waits in the buffer was sent to hold us up.
            self._end(Verdict.TIME_LIMIT)
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > most_bytes:
                self._end(Verdict.OUTPUT_LIMIT)
            self._buffer += self._piece(deadline)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _piece(self, deadline: float) -> bytes:
        self._await(deadline)
        try:
            piece = self._line.recv(1 << 18)
        except OSError:
            piece = b""
        if not piece:
            self._end_by_itself()
        return piece

    def _await(self, deadline: float, *, to_send: bool = False) -> None:
        """Wait until the line can be read, or sent to, and watch time and memory meanwhile."""
        lines = [self._line]
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self._end(Verdict.TIME_LIMIT)
            if self._is_over_memory():
                self._end(Verdict.MEMORY_LIMIT)
            wait = min(left, WATCH_SECONDS)
            if any(select.select([] if to_send else lines, lines if to_send else [], [], wait)):
                return

    def _is_over_memory(self) -> bool:
        """Whether it must be ended here, because no control group does so."""
        if self._parent.cgroup.memory is not None:
            return False
        return memory.is_over(self.pid, self._inherited, self._limits.memory_bytes)

    def _end(self, verdict: Verdict) -> None:
        self.close()
        raise Ended(verdict)

    def _end_by_itself(self) -> None:
        """The line is closed: find out why."""
        self.close()
        assert self._report is not None
        if self._parent.cgroup.ran_out_of_memory():
            raise Ended(Verdict.MEMORY_LIMIT)
        raise Ended(Verdict.TIME_LIMIT if ran_out_of_time(self._report, self._limits) else Verdict.CRASHED)

    def _await_first_sign(self) -> int:
        """The process id, as the kernel knows it here: it comes with the first byte."""
        data, extra, *_flags = self._line.recvmsg(1, socket.CMSG_SPACE(_CREDENTIALS.size))
        if not data:
            raise NoWalls(
                _("a session could not be separated from the others; see what the warm parent wrote")
            )
        self._line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        return int(_CREDENTIALS.unpack(extra[0][2][: _CREDENTIALS.size])[0])


def _refusal() -> list[Any]:
    return ["refused", None, _("names of the library answer only inside the exercises that lend them")]


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(1 << 16)
    except OSError:
        return b""


def _is_deep(message: Any) -> bool:
    """Whether it is nested deeper than any honest message. Without recursion, which would fail first."""
    level = [message]
    for _depth in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, list | dict)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True
