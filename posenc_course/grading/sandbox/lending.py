"""Answers the calls that an exercise allows: of the library's own functions, of earlier steps, of callable
arguments.

The learner chooses the arguments: so a process of its own computes the answers, with little time and memory.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import select
import subprocess
import sys
import time
from typing import Any

import posenc_lib
from posenc_course.checking.plain import decode, encode, to_plain
from posenc_course.checking.run import Library, for_library
from posenc_course.exercises import all_exercises, exercise
from posenc_course.translation import _

START_SECONDS = 120.0
SECONDS = 5.0
MEMORY_BYTES = 2**30
MOST_BYTES = 8 * 2**20


class Lender:
    """Starts the process when it is first asked, and again where a question ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: dict[str, Any]) -> list[Any]:
        """["value", data, ""] or ["raised", error type, text], for `answer`'s kind of question."""
        self.start()
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
            answer: list[Any] = json.loads(self._line(SECONDS))
            return answer
        except (OSError, ValueError):
            self.close()
            return [
                "raised",
                "RuntimeError",
                _("this call needs too much time or memory; give it smaller arguments"),
            ]

    def start(self) -> None:
        """Start the process if it does not run."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "posenc_course.grading.sandbox.lending"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            self._line(START_SECONDS)  # It says so when it has imported everything.

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _line(self, seconds: float) -> bytes:
        """The next line; OSError where none comes in time."""
        assert self._process is not None
        assert self._process.stdout is not None
        deadline, line = time.monotonic() + seconds, b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(deadline - time.monotonic(), 0))
            piece = os.read(self._process.stdout.fileno(), 1 << 16) if ready else b""
            if not piece:
                raise OSError("no answer")
            line += piece
        return line


def answer(question: dict[str, Any]) -> list[Any]:
    """Call what is asked for: `name`, a `step`, or the callable `argument` of one case of an exercise."""
    library: Library = "numpy"
    if "name" in question:
        function = getattr(posenc_lib, question["name"])
    elif "step" in question:
        asked = exercise(question["step"])
        library, function = asked.array_library, asked.reference
    else:
        asked = exercise(question["exercise"])
        library = asked.array_library
        function = asked.cases(question["seed"])[question["case"]].args[question["argument"]]
    try:
        args = [for_library(decode(each), library) for each in question["args"]]
        kwargs = {name: for_library(decode(each), library) for name, each in question["kwargs"].items()}
        # First of all: what Python says of a call that does not fit has the name, which may be the answer.
        inspect.signature(function).bind(*args, **kwargs)
        text = encode(to_plain(function(*args, **kwargs)))
        if len(json.dumps(text)) > MOST_BYTES:
            raise MemoryError(_("the result is too big; give smaller arguments"))
    except Exception as error:
        return ["raised", type(error).__name__, str(error)[:1000]]
    return ["value", text, ""]


def main() -> None:
    """Answer one question a line until the input ends."""
    all_exercises()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        print("[]", flush=True)
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line))), flush=True)
    except BrokenPipeError:  # Whoever asks has ended.
        os._exit(0)


if __name__ == "__main__":
    main()
