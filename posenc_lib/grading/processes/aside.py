"""Work on what learners handed in, in a process of its own: what it costs is limited, and costs nobody else.

To read a notebook, or to make a page of it, takes a moment. Nobody can list all ways to make it take hours or
all memory; so it is ended then, and whoever asked goes on with the next.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, ParamSpec, TypeVar

CPU_SECONDS = 30
"""Of the processor, for one call; an honest one takes about one."""
WALL_SECONDS = 300.0
"""By the clock: long, so that a busy machine costs nobody anything."""
MEMORY_BYTES = 2 * 2**30
FILE_BYTES = 128 * 2**20

P = ParamSpec("P")
T = TypeVar("T")


class OverLimit(Exception):
    """The call took too long, or too much memory, and was ended."""


def aside(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function of a module, with plain data, in the process beside this one.

    Raises:
        OverLimit: it was ended. What the function itself raises is raised here.
    """
    return _beside.call(function, *arguments, **named)


class _Beside:
    """The process beside this one: started when it is needed first, and anew after it was ended."""

    def __init__(self) -> None:
        self._process: Any = None
        self._line: Connection | None = None

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        line = self._ready()
        try:
            line.send((function, arguments, named))
            if not line.poll(WALL_SECONDS):
                raise OverLimit("it took too long")
            came_back, result = line.recv()
        except (EOFError, OSError) as error:
            self.end()
            raise OverLimit("it took too long, or too much memory") from error
        except BaseException:
            self.end()
            raise
        if not came_back:
            raise result
        returned: T = result
        return returned

    def _ready(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            self.end()
        if self._line is None:
            context = multiprocessing.get_context("forkserver")
            self._line, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()
        return self._line

    def end(self) -> None:
        if self._line is not None:
            self._line.close()
            self._process.kill()
            self._process.join()
        self._line = self._process = None


_beside = _Beside()


def _serve(line: Connection) -> None:
    """Answer one call after the other, until whoever asks is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks.
    for which, most in (
        (resource.RLIMIT_DATA, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # not every system has it, or allows so much
            resource.setrlimit(which, (most, most))
    while True:
        try:
            function, arguments, named = line.recv()
        except (EOFError, ConnectionError):
            return
        _allow_time()
        try:
            answer = (True, function(*arguments, **named))
        except MemoryError:
            os._exit(1)
        except Exception as error:
            answer = (False, error)
        with contextlib.suppress(BrokenPipeError):  # Whoever asked was killed; so the next `recv` ends this.
            line.send(answer)


def _allow_time() -> None:
    """So many seconds of the processor from now on; then the system ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (round(used.ru_utime + used.ru_stime) + CPU_SECONDS, hard))
