"""The pool: worker processes of this machine, of which each may end without harm to the others."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from typing import Any

from posenc_course.grading import interrupts
from posenc_course.grading.processes.helper import Died, Helper

ENDING_SECONDS = 2
"""For a worker that was told to end."""
PRELOADED = [f"posenc_course.grading.{name}" for name in ("one", "judging.grader", "handed_back.write_up")]
"""What every worker has imported when it starts."""


@dataclass(frozen=True)
class Task:
    """One call in a worker process."""

    student: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    """Asked for when the task starts."""


class Workers:
    """Worker processes, each looked after by a thread. A context manager.

    A task whose worker died is tried once more: alone, with all the memory that there is. Then its future
    raises `Died`.
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs or _cores()

    def __enter__(self) -> Workers:
        self._threads = ThreadPoolExecutor(self._jobs)
        self._idle: deque[Helper] = deque()
        self._added: deque[Task] = deque()
        self._running: dict[Future[Any], Task] = {}
        self._unlucky: deque[Task] = deque()
        self._alone: Task | None = None
        self._over = False
        # Every worker is busy by itself; threads of numerical libraries would only compete.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOADED)
        resource_tracker.ensure_running()  # Of its own accord it sees no Ctrl-C.
        with interrupts.kept_from_children():
            forkserver.ensure_running()
        return self

    def __exit__(self, kind: object, *_exception: object) -> None:
        self._over = True
        if kind is not None:
            if kind is interrupts.Interrupted:
                interrupts.ignore()
            workers = multiprocessing.active_children()
            for process in workers:
                process.terminate()
            for process in workers:
                process.join(ENDING_SECONDS)
            _end_forkserver()
        self._threads.shutdown(cancel_futures=True)
        for helper in self._idle:
            helper.close()
        for helper in self._idle:
            helper.join()

    def add(self, task: Task) -> None:
        """Have this done before the tasks that `run` was given."""
        self._added.append(task)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Future[Any]]]:
        """Each task with its result, in the order in which they end; also of tasks added meanwhile."""
        waiting = iter(tasks)
        while True:
            self._fill(waiting)
            if not self._running:
                return
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                task = self._running.pop(future)
                if isinstance(future.exception(), Died) and task is not self._alone:
                    self._unlucky.append(task)
                else:
                    yield task, future

    def _fill(self, waiting: Iterator[Task]) -> None:
        if self._unlucky:
            if not self._running:
                self._alone = self._unlucky.popleft()
                self._submit(self._alone)
            return
        self._alone = None
        while self._has_room():
            task = self._added.popleft() if self._added else next(waiting, None)
            if task is None:
                return
            self._submit(task)

    def _has_room(self) -> bool:
        return len(self._running) < 2 * self._jobs

    def _submit(self, task: Task) -> None:
        self._running[self._threads.submit(self._call, task.function, task.arguments())] = task

    def _call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """In a thread: what the function gives in a worker that has nothing to do."""
        try:
            helper = self._idle.pop()
        except IndexError:
            helper = Helper(has_children=True)
        if self._over:
            helper.kill()
        try:
            return helper.call(None, function, *arguments)
        finally:
            if helper.is_alive:
                self._idle.append(helper)


def _cores() -> int:
    """As many as this process may use, where the system tells; macOS does not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _end_forkserver() -> None:
    """End it at once: it may still be importing, and would then start workers for a run that is over."""
    pid = getattr(forkserver._forkserver, "_forkserver_pid", None)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            if hasattr(os, "waitid"):  # macOS has it from Python 3.13 on
                os.waitid(
                    os.P_PID, pid, os.WEXITED | os.WNOWAIT
                )  # The next one is started where this is gone.
