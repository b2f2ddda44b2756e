"""A process that answers one call after the other. Its end costs only the call that it is busy with."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.util
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

from posenc_course.translation import _

P = ParamSpec("P")
T = TypeVar("T")


class Died(Exception):
    """The process ended, or was ended, instead of an answer."""


def nothing() -> None:
    """No preparation."""


class Helper:
    """One such process.

    Args:
        prepare, before_each: functions of a module, called in it at the start and before each call.
        has_children: whether it may start processes itself. It has to be closed then.
    """

    def __init__(
        self,
        prepare: Callable[[], object] = nothing,
        before_each: Callable[[], object] = nothing,
        *,
        has_children: bool = False,
    ) -> None:
        context = multiprocessing.get_context("forkserver")
        self._line, theirs = context.Pipe()
        serving = (theirs, prepare, before_each)
        self._process = context.Process(target=_serve, args=serving, daemon=not has_children)
        self._process.start()
        theirs.close()
        # Whoever forgets to close it waits for it at the end, and would wait for ever.
        multiprocessing.util.Finalize(self, self._line.close, exitpriority=10)

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def call(
        self, seconds: float | None, function: Callable[P, T], *arguments: P.args, **named: P.kwargs
    ) -> T:
        """Call a function of a module with plain data in there, for at most so many seconds.

        Raises:
            Died: it ended, or took longer and was ended. What the function itself raises is raised here.
        """
        try:
            self._line.send((function, arguments, named))
            if not self._line.poll(seconds):
                raise EOFError
            came_back, result = self._line.recv()
        except (EOFError, OSError) as error:
            self.kill()
            raise Died(_("the process that should have done it ended")) from error
        except BaseException:
            self.kill()
            raise
        if not came_back:
            raise result
        returned: T = result
        return returned

    def close(self) -> None:
        """Let it end by itself, once it has put everything away."""
        self._line.close()

    def join(self) -> None:
        self._process.join()

    def kill(self) -> None:
        """End it at once."""
        self._line.close()
        self._process.kill()
        self._process.join()


def _serve(line: Connection, prepare: Callable[[], object], before_each: Callable[[], object]) -> None:
    """Answer one call after the other, until whoever asks is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare()
    while True:
        try:
            function, arguments, named = line.recv()
        except (EOFError, ConnectionError):
            return
        before_each()
        try:
            answer = (True, function(*arguments, **named))
        except MemoryError:
            os._exit(1)
        except Exception as error:
            answer = (False, error)
        with contextlib.suppress(BrokenPipeError):  # Whoever asked was killed; so the next `recv` ends this.
            line.send(answer)


def _end_with_parent() -> None:
    """A parent that is killed closes nothing; who is busy for it then would be so for nothing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
