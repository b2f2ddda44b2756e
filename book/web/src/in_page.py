"""What the page's worker runs under Pyodide: a learner's code, then the same check as in a notebook.

Words are the page's own: what goes back is data, and the library's report.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from posenc_lib.checking import report_on
from posenc_lib.checking.answer import lack, stops_as_released
from posenc_lib.checking.check import show_afterwards
from posenc_lib.checking.messages import _
from posenc_lib.exercises import exercise

OUTPUT_LIMIT = 10_000  # characters; more would only slow the page down
FILE = "your code"


class Output(io.TextIOBase):
    """Shows what is printed, line by line, and only counts what is beyond the limit."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show
        self.waiting = ""
        self.room = OUTPUT_LIMIT
        self.cut = 0
        self.shown_at = time.monotonic()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.waiting += text[: self.room]
        self.cut += max(len(text) - self.room, 0)
        self.room = max(self.room - len(text), 0)
        # At once, and not at the end: a loop that never ends must still show what it printed.
        if "\n" in text or time.monotonic() - self.shown_at > 0.1:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self.waiting:
            self.show(self.waiting)
        self.waiting, self.shown_at = "", time.monotonic()


class NoModule:
    """Comes last of all that find modules, in place of Pyodide's own, whose words are for programmers."""

    PYODIDES = ("UnvendoredStdlibFinder", "RepodataPackagesFinder")

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if path is None:
            raise ModuleNotFoundError(
                _(
                    "there is no {name} in this page, only NumPy and most of what comes with Python. "
                    "Write your answer with these, or do the exercise in the notebook, "
                    "on a machine that has {name}."
                ).format(name=name),
                name=name,
            )


class NoInput(io.TextIOBase):
    """What `input()` and all that reads from the keyboard find here."""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> NoReturn:
        raise EOFError(
            _("nobody can be asked here. In place of input(), assign the value itself, as in n = 8.")
        )

    readline = read  # type: ignore[assignment]


@contextlib.contextmanager
def _plain_words() -> Iterator[None]:
    """What is not here, a module or somebody to ask, says so, and what to do."""
    stdin, finders = sys.stdin, list(sys.meta_path)
    others = [each for each in finders if type(each).__name__ not in NoModule.PYODIDES]
    sys.stdin, sys.meta_path[:] = NoInput(), [*others, NoModule()]
    try:
        yield
    finally:
        sys.stdin, sys.meta_path[:] = stdin, finders


def run(request: str, show: Callable[[str], None]) -> str:
    """Judge one answer; request and result are JSON.

    Args:
        request: {exercise, setup, earlier: code of the exercises before, unwritten: their functions that the
            learner has not begun, code}.
        show: gets what is printed.

    Returns:
        {kind: "report", passed, headline, html, needs} or {kind: "error", error, line, source, needs} or
        {kind: "unwritten"} or {kind: "missing" or "uncallable", function}; each with cut, the number of
        characters printed that were not shown.
    """
    output = Output(show)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), _plain_words():
        result = _judge(**json.loads(request))
    output.flush()
    return json.dumps(result | {"cut": output.cut})


def _judge(exercise: str, setup: str, earlier: list[str], unwritten: list[str], code: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(setup, namespace)
    for each in earlier:
        _run_quietly(each, namespace)
    _let_errors_quote(code)
    try:
        exec(compile(code, FILE, "exec"), namespace)
        result = _check(exercise, namespace)
    except (Exception, SystemExit) as error:
        result = _explain(exercise, error)
    return result | {"needs": _used(unwritten, code)}


def _run_quietly(code: str, namespace: dict[str, Any]) -> None:
    """An earlier answer, for what it defines; its own exercise tells what is wrong with it."""
    nowhere = Output(lambda text: None)
    with (
        contextlib.suppress(Exception, SystemExit),
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        exec(compile(code, "an earlier answer", "exec"), namespace)


def _check(exercise_id: str, namespace: dict[str, Any]) -> dict[str, Any]:
    asked = exercise(exercise_id)
    if why := lack(asked, namespace):
        return {"kind": why, "function": asked.function}
    report = report_on(exercise_id, namespace[asked.function])
    show_afterwards(report, namespace[asked.function])
    return {
        "kind": "report",
        "passed": report.passed,
        "headline": report.headline,
        "html": report._repr_html_(),
    }


def _explain(exercise_id: str, error: BaseException) -> dict[str, Any]:
    """The error with the learner's own line; nothing of ours."""
    asked, name = exercise(exercise_id), type(error).__name__
    if asked.kind == "value" and stops_as_released(asked, name):
        return {"kind": "unwritten"}
    if isinstance(error, SyntaxError):
        line, text = error.lineno, error.msg
    else:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
        line, text = (own[-1].lineno if own else None), str(error)
    source = linecache.getline(FILE, line).strip() if line else ""
    return {"kind": "error", "error": f"{name}: {text}" if text else name, "line": line, "source": source}


def _let_errors_quote(code: str) -> None:
    """Make the learner's lines known to tracebacks, for which they are no file."""
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)


def _used(functions: list[str], code: str) -> list[str]:
    """Which of the functions the code uses and does not define."""
    try:
        found = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return []
    used = {node.id for node in found if isinstance(node, ast.Name)}
    defined = {node.name for node in found if isinstance(node, ast.FunctionDef)}
    return [name for name in functions if name in used - defined]
