"""Grade on a Dask cluster that is there already: `posenc grade ASSIGNMENT --scheduler tls://host:8786`.

A submitted file and its own seed travel to a worker, and its grade comes back as JSON. The journal, the
gradebook and everything in the course's folder are written by the process that submits, alone.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from posenc_course.grading.cluster_worker import grade_bytes, library_digest
from posenc_course.grading.faults import CourseError, kept
from posenc_course.grading.handed_in.submission import read_file
from posenc_course.grading.one import crashed, grade_found
from posenc_course.grading.processes.workers import Task, Workers
from posenc_course.grading.recorded.journal import Entry
from posenc_course.grading.sandbox.walls import NoWalls
from posenc_course.translation import _, joined, spoken

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as Away

TASKS_PER_THREAD = 2
"""One that is graded, and one that waits beside it."""


class GraderError(Exception):
    """Grading failed on a worker's machine, for no fault of the submission."""


class Cluster(Workers):
    """Dask workers for the grading, and processes of this machine for what is written here.

    Args:
        scheduler: address of the Dask scheduler. Certificates for `tls://` come from Dask's own settings.
        jobs: processes of this machine; 0 for one a core.

    Raises:
        CourseError: (on entering) there is no Dask here, no scheduler at that address, or no worker.
    """

    def __init__(self, scheduler: str, jobs: int) -> None:
        super().__init__(jobs)
        self._scheduler = scheduler
        self._away: dict[Future[Any], Away] = {}

    def __enter__(self) -> Cluster:
        self._client = _connect(self._scheduler)
        super().__enter__()
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        super().__exit__(kind, *exception)
        # The scheduler forgets what nobody waits for any more.
        self._client.close()

    def _fill(self, waiting: Iterator[Task]) -> None:
        super()._fill(iter(()))  # What was added writes to the course's folder: that is done here.
        self._away = {future: away for future, away in self._away.items() if future in self._running}
        with self._reached():
            most = TASKS_PER_THREAD * max(1, _threads(self._client))
        while len(self._away) < most and (task := next(waiting, None)):
            self._send(task)

    def _has_room(self) -> bool:
        return len(self._running) - len(self._away) < 2 * self._jobs

    def _send(self, task: Task) -> None:
        path, student, assignment, seed, limits, unsafe = task.arguments()
        found = read_file(path)
        future: Future[Any] = Future()
        self._running[future] = task
        if found.problem:  # There is nothing to run.
            future.set_result(grade_found(found, student, assignment, seed, limits, unsafe))
            return

        def entry(reply: str) -> Entry:
            return _entry(reply) or crashed(student, assignment, seed, found.fingerprint)

        order = (found.data, library_digest(), spoken(), student, assignment, seed, asdict(limits), unsafe)
        # A name of its own for each task: Dask would take two of one name for the same.
        with self._reached():
            away = self._client.submit(grade_bytes, *order, key=f"posenc-grade-{uuid.uuid4()}", pure=False)
            away.add_done_callback(lambda _away: self._hand_over(away, future, entry))
        self._away[future] = away

    def _hand_over(self, away: Away, future: Future[Any], entry: Callable[[str], Entry]) -> None:
        """Pass on how a task ended; called in a thread of Dask's client."""
        try:
            with self._reached():
                failed = away.exception() if away.status == "error" else None
                reply = "" if failed else away.result()
            if failed:
                raise _explained(failed)
            future.set_result(entry(reply))
        except Exception as error:
            future.set_exception(error)

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Around whatever asks the scheduler: Dask has many exceptions for one that is gone."""
        try:
            yield
        except Exception as error:
            lost = _("the Dask scheduler at {address} was lost.").format(address=self._scheduler)
            raise CourseError(joined(lost, kept())) from error


def _connect(scheduler: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise CourseError(
            _("--scheduler needs Dask, which is not installed here: pip install 'posenc_course[grading]'")
        ) from error
    try:
        client = Client(scheduler, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise CourseError(
            _(
                "no Dask scheduler answers at {address}: {error}. Is the address right, is it running "
                "(dask scheduler), and does it want TLS (tls://...) with certificates that you have not set?"
            ).format(address=scheduler, error=error)
        ) from error
    if not _threads(client):
        client.close()
        raise CourseError(
            _(
                "the Dask scheduler at {address} has no workers; start some: "
                "dask worker {address} --nthreads 1"
            ).format(address=scheduler)
        )
    return client


def _threads(client: Client) -> int:
    return int(client.scheduler_info(n_workers=1)["total_threads"])


def _explained(error: Exception) -> Exception:
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return GraderError(
            _(
                "one Dask worker after another ended while grading this submission, the last one at "
                "{address}; its log says why. Run the command again to try it again"
            ).format(address=error.last_worker.address)
        )
    if isinstance(error, ImportError):
        return CourseError(
            _(
                "a Dask worker cannot run this posenc_course: {error}. Install the same version there, "
                "with everything that grading needs, and run the command again"
            ).format(error=error)
        )
    return error


def _entry(reply: str) -> Entry | None:
    """The entry that `grade_bytes` gave, or None where all graders ended; what else it gave is raised."""
    outcome, host, content = json.loads(reply)
    match outcome:
        case "entry":
            return Entry.from_json(content)
        case "ended":
            return None
        case "no walls":
            raise NoWalls(_on_worker(host, content))
        case "other library":
            raise CourseError(
                _(
                    "posenc_course on the Dask worker {host} ({folder}) is not the same as here. "
                    "Install the same version there, restart its workers, and run the command again"
                ).format(host=host, folder=content)
            )
    raise GraderError(_on_worker(host, content))


def _on_worker(host: str, problem: str) -> str:
    return _("on the Dask worker {host}: {problem}").format(host=host, problem=problem)
