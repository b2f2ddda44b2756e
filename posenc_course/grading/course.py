"""Where a course keeps things, as its `nbgrader_config.py` says, and who may grade in it just now."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from traitlets.config import Config, PyFileConfigLoader

from posenc_course.grading.faults import CourseError
from posenc_course.grading.recorded.journal import is_empty
from posenc_course.translation import _, joined

SECRET_BYTES = 32
PART = ".part-"
"""What the name of a file begins with that is not written to its end yet."""


def find_own_programs() -> None:
    """Let nbgrader find alembic, which it calls by name, where no environment is activated too."""
    own = str(Path(sys.executable).parent)
    if own not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = f"{own}{os.pathsep}{os.environ['PATH']}"


@dataclass(frozen=True)
class Course:
    """The folders and the database of one course. Plain data: it may travel to another process."""

    root: Path
    course_id: str
    db_url: str
    submitted: Path
    autograded: Path
    feedback: Path
    source: Path
    """The assignments with their answers."""
    released: Path

    @classmethod
    def load(cls, root: Path) -> tuple[Course, Config]:
        """The course in this folder, with nbgrader's whole configuration.

        Raises:
            CourseError: there is no `nbgrader_config.py`, or it lays the folders out in its own way.
        """
        if not (root / "nbgrader_config.py").is_file():
            told = _("there is no nbgrader_config.py in {root}; run the command in the course's folder")
            raise CourseError(told.format(root=root))
        try:
            config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
            return cls.from_config(config, root), config
        except (CourseError, OSError):
            raise
        except Exception as error:  # The file is a program of the instructor's, and may raise anything.
            raise CourseError(
                _("nbgrader_config.py in {root} does not work: {error}. Fix it first").format(
                    root=root, error=f"{type(error).__name__}: {error}"
                )
            ) from error

    @classmethod
    def from_config(cls, config: Config, root: Path) -> Course:
        """The course that nbgrader sees under this configuration; CourseError as in `load`."""
        from nbgrader.coursedir import CourseDirectory

        directory = CourseDirectory(config=config)
        if not directory.root:
            directory.root = str(root)
        base = Path(directory.root).resolve()
        expected = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")  # noqa: PTH118
        if directory.directory_structure != expected:
            raise CourseError(
                _(
                    "CourseDirectory.directory_structure is {found!r}; "
                    "grading only works with {expected!r}: remove the setting"
                ).format(found=directory.directory_structure, expected=expected)
            )
        return cls(
            root=base,
            course_id=directory.course_id,
            db_url=directory.db_url,
            submitted=base / directory.submitted_directory,
            autograded=base / directory.autograded_directory,
            feedback=base / directory.feedback_directory,
            source=base / directory.source_directory,
            released=base / directory.release_directory,
        )

    @property
    def state(self) -> Path:
        """The folder of the journal, the lock and the secret: beside the submissions, never inside them."""
        return self.submitted.parent / "grading"

    def submitted_file(self, student: str, assignment: str) -> Path:
        return self.submitted / student / assignment / f"{assignment}.ipynb"

    def students(self, assignment: str) -> list[str]:
        """Everyone who handed in this assignment, in order of name; one listing of the folder."""
        if not self.submitted.is_dir():
            return []
        with os.scandir(self.submitted) as entries:
            names = [each.name for each in entries if not each.name.startswith(".")]
        return sorted(name for name in names if _may_lie_there(self.submitted / name / assignment))

    def seed(self, student: str, assignment: str) -> int:
        """Chooses this submission's hidden inputs: always the same, unknown without the course's secret."""
        message = json.dumps([assignment, student]).encode()
        return int.from_bytes(hmac.digest(self._secret(), message, hashlib.sha256)[:6], "big")

    def require_secret(self) -> None:
        """CourseError where the course's secret is damaged or lost."""
        self._secret()

    def _secret(self) -> bytes:
        """The course's secret, made where nothing was graded yet.

        Raises:
            CourseError: it is not as it was made, or lost. Marks hang on it, so no other takes its place.
        """
        path = self.state / "secret"
        if not os.path.lexists(path):
            if not is_empty(self.state):
                missing = _("the course's secret {path} is missing.").format(path=path)
                raise CourseError(joined(missing, self._secret_help()))
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A link from a file that is complete fails where another process was quicker.
            with tempfile.NamedTemporaryFile("w", dir=self.state, prefix=".secret-") as file:
                file.write(secrets.token_hex(SECRET_BYTES))
                file.flush()
                os.fsync(file.fileno())
                with contextlib.suppress(FileExistsError):
                    os.link(file.name, path)
        try:
            secret = bytes.fromhex(path.read_text(encoding="ascii"))
        except ValueError:
            secret = b""
        if len(secret) != SECRET_BYTES:
            damaged = _("the course's secret {path} is damaged.").format(path=path)
            raise CourseError(joined(damaged, self._secret_help()))
        return secret

    def _secret_help(self) -> str:
        return _(
            "All hidden inputs are made from it, and the marks depend on them. Restore a copy of it. If "
            "there is none, move {folder} to another place: then a new secret is made, and `posenc grade` "
            "grades everything again"
        ).format(folder=self.state)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the course: one grading run at a time. A run that died holds nothing.

        Raises:
            CourseError: another run holds it; the message says who.
        """
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self.state / "lock").open("a+", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                file.seek(0)
                raise CourseError(
                    _(
                        "another grading run is using this course: {run}. "
                        "Wait for it, or end it; what it graded is kept"
                    ).format(run=file.read().strip() or _("it just started"))
                ) from error
            file.truncate(0)
            started = datetime.now(UTC).isoformat(timespec="seconds")
            run = _("process {number} on {host}, since {started}")
            file.write(run.format(number=os.getpid(), host=socket.gethostname(), started=started))
            file.flush()
            yield

    def require_space(self, needed: int) -> None:
        """CourseError where the journal's, the notebooks' or the feedback's disk has fewer bytes free."""
        self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.state, self.autograded, self.feedback):
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
            if free < needed:
                raise CourseError(
                    _(
                        "the disk of {folder} is nearly full: {free} MiB are free, {needed} MiB are needed. "
                        "Free some space and run the command again"
                    ).format(folder=folder, free=free // 2**20, needed=-(-needed // 2**20))
                )


def _may_lie_there(path: Path) -> bool:
    """False where it does not; what may not be looked at is told of, and not passed over."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def write_atomically(path: Path, text: str, mode: int = 0o444) -> None:
    """The whole text or nothing: under a temporary name first, then renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=PART)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(handle)
        Path(part).chmod(mode)
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
