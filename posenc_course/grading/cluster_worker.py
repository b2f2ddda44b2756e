"""What runs on the machines of a Dask cluster: see `posenc_course.grading.cluster`.

The scheduler and the workers import this module, so it imports little. Each thread of a worker keeps a
process with a warm grader: what ends a grader ends no worker.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import os
import queue
import socket
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import posenc_course
import posenc_lib

ATTEMPTS = 2
"""So many grader processes one submission may end."""


def grade_bytes(
    data: bytes,
    library: str,
    language: str,
    student: str,
    assignment: str,
    seed: int,
    limits: Mapping[str, Any],
    unsafe: bool,
) -> str:
    """Grade one submitted file on this machine.

    Args:
        data: the file.
        library: the `library_digest` of whoever asks.
        language: what learners read; English if this machine has no catalogue of it.
        student, assignment, seed, limits, unsafe: as for `one.grade_file`; the limits as a dict.

    Returns:
        JSON: what came of it, the name of this machine, and more: ["entry", host, an `Entry`],
        ["no walls", host, why], ["error", host, why], ["ended", host, None] where the submission ended its
        graders, or ["other library", host, folder] where marks from here need not be those from there.
    """
    outcome, content = _graded(data, library, language, [student, assignment, seed, limits, unsafe])
    return json.dumps([outcome, socket.gethostname(), content])


def _graded(data: bytes, library: str, language: str, arguments: list[Any]) -> list[Any]:
    if library != library_digest():
        return ["other library", str(Path(posenc_course.__file__).parent)]
    try:
        return _ask_a_grader(language, [base64.b64encode(data).decode(), *arguments])
    except OSError as error:
        return ["error", str(error)]


def _ask_a_grader(language: str, arguments: list[Any]) -> list[Any]:
    idle = _idle[language]
    for _attempt in range(ATTEMPTS):
        try:
            grader = idle.get_nowait()
        except queue.Empty:
            grader = GraderProcess(language)
        reply = grader.grade(arguments)
        if reply is not None:
            idle.put(grader)
            return reply
    return ["ended", None]


class GraderProcess:
    """A process with a warm grader that speaks this language, for one submission after the other."""

    def __init__(self, language: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "posenc_course.grading.cluster_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1", "LANGUAGE": language},
            start_new_session=True,  # Ctrl-C is for the Dask worker; this one ends with its input.
        )

    def grade(self, arguments: list[Any]) -> list[Any] | None:
        """Outcome and content, as in `grade_bytes`; None where the process ended instead."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = b""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(arguments).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            self._process.kill()
            self._process.communicate()
            return None
        reply: list[Any] = json.loads(line)
        return reply


_idle: defaultdict[str, queue.LifoQueue[GraderProcess]] = defaultdict(queue.LifoQueue)
"""The grader processes of this Dask worker that have nothing to do, by language."""


@functools.cache
def library_digest() -> str:
    """Tells one state of course and library from another: marks from two of them need not agree."""
    digest = hashlib.sha256()
    for face in (posenc_course.__file__, posenc_lib.__file__):
        folder = Path(face).parent
        for path in sorted(folder.rglob("*.py")):
            place = path.relative_to(folder.parent).as_posix()
            digest.update(f"{place}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def main() -> None:
    """Be a grader process: one submission a line, until the input ends with the Dask worker that holds it."""
    replies = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # Whatever is printed by accident is no reply.
    for line in sys.stdin:
        reply = _reply(json.loads(line))
        with contextlib.suppress(BrokenPipeError):  # The Dask worker was killed; so the input ends as well.
            replies.write(json.dumps(reply) + "\n")
            replies.flush()


def _reply(order: list[Any]) -> list[Any]:
    from posenc_course.grading.handed_in.submission import HandedIn
    from posenc_course.grading.limits import Limits
    from posenc_course.grading.one import grade_found
    from posenc_course.grading.sandbox.walls import NoWalls

    encoded, student, assignment, seed, limits, unsafe = order
    data = base64.b64decode(encoded)
    found = HandedIn(hashlib.sha256(data).hexdigest(), data)
    try:
        return ["entry", grade_found(found, student, assignment, seed, Limits(**limits), unsafe).to_json()]
    except NoWalls as error:
        return ["no walls", str(error)]
    except Exception as error:
        return ["error", f"{type(error).__name__}: {error}"]


if __name__ == "__main__":
    main()
