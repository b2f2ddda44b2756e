"""Ctrl-C and SIGTERM: one sentence, an honest exit status, and no process left behind, whenever they come.

While modules are imported nothing is held, and an exception could be swallowed by whoever imports: there
the process ends at once. Later they are exceptions, so that what was begun is put away.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from posenc_course.translation import _

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """One of the signals came."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number


def sentence() -> str:
    """What is said of it."""
    return _("interrupted; what was graded is kept. Run the command again to continue")


@contextmanager
def handled(*, to_the_end: bool) -> Iterator[None]:
    """Inside, Ctrl-C and SIGTERM are as said here; afterwards ignored by a process that ends."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    end_at_once()
    try:
        yield
    finally:
        for number, handler in before.items():
            _handle(signal.SIG_IGN if to_the_end else handler, number)


def end_at_once() -> None:
    """Have the signals end this process: for as long as nothing is held."""
    _handle(_end)


def unwind() -> None:
    """Have the signals raise `Interrupted` in the main thread."""
    _handle(_raise)


def ignore() -> None:
    """Leave no signal a chance to interrupt what puts things away."""
    _handle(signal.SIG_IGN)


@contextmanager
def kept_from_children() -> Iterator[None]:
    """Processes started here never see Ctrl-C: it is for this one, which ends them. It waits meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _handle(handler: Any, *numbers: signal.Signals) -> None:
    if threading.current_thread() is threading.main_thread():  # No other may set handlers.
        for number in numbers or SIGNALS:
            signal.signal(number, handler)


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    os.write(2, f"{sentence()}\n".encode())
    os._exit(128 + number)


def _raise(number: int, _frame: FrameType | None) -> NoReturn:
    raise Interrupted(number)
