"""The learner's notebook, inside the walls: run its cells, call its answers. Nothing here decides anything.

One JSON object a line comes in over the session's socket, and one goes back:

    {"id": 1, "cell": "x = 1"}                              ->  {"id": 1, "outputs": [...], "failed": false}
    {"id": 2, "find": "f", "exercise": "chapter.f"}         ->  {"id": 2, "found": 2}
    {"id": 3, "call": 0, "value": false, "library": "numpy", "instead": ["g"], "args": [...]}
                                                            ->  {"id": 3, "outcome": [...]}

While a cell or a call runs, a name of the library or a callable argument may ask back, and so does each
function that something else stands `instead` of:

    {"ask": {"name": "sinusoidal"}, "args": [...], "kwargs": {...}}         <-  {"answer": ["value", ...]}
"""

from __future__ import annotations

import _sitebuiltins
import base64
import builtins
import io
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell

from posenc_course.checking.plain import decode, encode, to_plain
from posenc_course.checking.run import Library, Outcome, as_function, call, describe, for_library, in_place
from posenc_course.grading.sandbox import borrowed
from posenc_course.translation import N_, _

TRACEBACK_CHARACTERS = 20_000
THERE = N_(
    "Graded answers can use NumPy, PyTorch, SciPy, scikit-learn, SymPy, joblib and Matplotlib, and "
    "Python's own modules. Write the answer with these."
)
OF_A_KERNEL = ("autosave", "connect_info", "qtconsole", "store", "subshell")
"""Magics of a notebook that this shell does not have. They change no answer."""


class Outputs:
    """What a cell prints and shows, in nbformat's form, within a limit for the whole session."""

    def __init__(self) -> None:
        self.left = sys.maxsize
        self.finish: Callable[[], Any] = lambda: None
        """What to do where text passes the limit."""
        self.cell: list[dict[str, Any]] = []

    def take(self) -> list[dict[str, Any]]:
        """The outputs since the last time."""
        taken, self.cell = self.cell, []
        return taken

    def text(self, name: str, text: str) -> None:
        self.left -= len(text.encode("utf-8", "replace"))
        if self.left < 0:
            self.finish()
        last = self.cell[-1] if self.cell else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["pieces"].append(text)
        else:
            self.cell.append({"output_type": "stream", "name": name, "pieces": [text]})

    def show(self, output: dict[str, Any]) -> None:
        """Keep something that was displayed; leave out what would pass the limit."""
        size = len(json.dumps(output, default=repr))
        if size > self.left:
            output = {**output, "data": {"text/plain": _("(left out: too big to keep)")}, "metadata": {}}
            size = len(json.dumps(output))
        self.left -= size
        if self.left < 0:
            self.finish()
        self.cell.append(output)


class Stream(io.TextIOBase):
    """Standard output or error of the notebook."""

    def __init__(self, name: str, outputs: Outputs) -> None:
        self._name, self._outputs = name, outputs

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._outputs.text(self._name, text)
        return len(text)


class _Hook(DisplayHook):
    """The value of a cell's last line."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self.shell.outputs.show(
            {
                "output_type": "execute_result",
                "execution_count": self.prompt_count,
                "data": _as_json(format_dict),
                "metadata": md_dict or {},
            }
        )

    def finish_displayhook(self) -> None:
        pass


class _Publisher(DisplayPublisher):
    """What `display` shows, figures too."""

    def publish(
        self, data: dict[str, Any], metadata: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> None:
        self.shell.outputs.show(
            {"output_type": "display_data", "data": _as_json(data), "metadata": metadata or {}}
        )

    def clear_output(self, wait: bool = False) -> None:
        self.shell.outputs.take()


class Shell(InteractiveShell):
    """IPython without a terminal and without a history file."""

    outputs: Outputs

    def enable_gui(self, gui: str | None = None) -> None:
        """What `%matplotlib inline` calls, though it opens no window: nothing is to be done."""

    def system(self, cmd: str) -> None:
        """What `!command` does: a shell inside the walls, whose output is the cell's."""
        done = subprocess.run(
            self.var_expand(cmd, depth=1),
            shell=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        print(done.stdout.decode(errors="replace"), end="")
        self.user_ns["_exit_code"] = done.returncode

    def _showtraceback(self, etype: type[BaseException], evalue: BaseException, stb: list[str]) -> None:
        text = "\n".join(stb)[:TRACEBACK_CHARACTERS]
        self.outputs.show(
            {
                "output_type": "error",
                "ename": etype.__name__,
                "evalue": _with_what_is_there(etype.__name__, str(evalue))[:TRACEBACK_CHARACTERS],
                "traceback": _with_what_is_there(etype.__name__, text).split("\n"),
            }
        )


class Learner:
    """One learner's notebook. Made before the fork; `serve` runs after it."""

    def __init__(self) -> None:
        HistoryManager.enabled = False
        self.outputs = Outputs()
        self.shell = Shell.instance(displayhook_class=_Hook, display_pub_class=_Publisher)
        self.shell.outputs = self.outputs
        for name in OF_A_KERNEL:
            self.shell.register_magic_function(lambda _line: None, "line", name)
        self.found: list[Any] = []
        self.line = threading.RLock()

    def warm_up(self) -> None:
        """Run and forget one cell, so that no session pays for what the first cell of a shell costs."""
        self.shell.run_cell("import numpy as np; del np; 1", store_history=False)
        self.shell.run_cell("1 / 0", store_history=False)
        self.shell.reset()
        # Gone with all other names; processes that are started and not forked ask for it.
        self.shell.user_module.__spec__ = None
        self.outputs.take()
        borrowed.install()

    def serve(self, line: socket.socket, output_bytes: int) -> None:
        """Do what is asked for, until the other end closes the line."""
        self.reader, self.writer = line.makefile("rb"), line.makefile("wb")
        line.sendall(b"\n")  # With it the receiver learns our process id.
        self.outputs.left = output_bytes
        self.outputs.finish = self._end_for_output
        borrowed.ask = lambda name, args, kwargs: self._ask({"name": name}, args, kwargs)
        builtins.input = _no_input
        builtins.help = _sitebuiltins._Helper()  # of the module site, which is not there
        sys.stdin = io.StringIO()
        sys.stdout, sys.stderr = Stream("stdout", self.outputs), Stream("stderr", self.outputs)
        for request in self.reader:
            order = json.loads(request)
            self._send({"id": order["id"], **self._do(order)})

    def _do(self, order: dict[str, Any]) -> dict[str, Any]:
        if "cell" in order:
            return self._cell(order["cell"])
        if "find" in order:
            return {"found": self._find(order["find"], order["exercise"])}
        outcome = self._call(order)
        outcome = replace(outcome, text=_with_what_is_there(outcome.error_type, outcome.text))
        self.outputs.take()
        what = [outcome.kind, encode(outcome.value), outcome.error_type, outcome.text, outcome.changed]
        return {"outcome": what}

    def _cell(self, source: str) -> dict[str, Any]:
        result = self.shell.run_cell(source, store_history=True)
        outputs = self.outputs.take()
        for each in outputs:
            if "pieces" in each:
                each["text"] = "".join(each.pop("pieces"))
        return {"outputs": outputs, "failed": not result.success}

    def _find(self, name: str, exercise_id: str) -> int:
        """How many answers there are: the one given to `check`, and the one that the name has now."""
        now = [self.shell.user_ns[name]] if name in self.shell.user_ns else []
        then = [borrowed.given[exercise_id]] if exercise_id in borrowed.given else []
        self.found = then if then and now and then[0] is now[0] else then + now
        return len(self.found)

    def _call(self, order: dict[str, Any]) -> Outcome:
        found, library = self.found[order["call"]], order["library"]
        answer = as_function(found, value=order["value"])
        args = [
            self._argument(each["argument"], library) if "argument" in each else decode(each["data"])
            for each in order["args"]
        ]
        others = {name: self._step(name, library) for name in order["instead"]}
        try:
            with in_place(self.shell.user_ns, others):
                return call(answer, args, library)
        except BaseException as error:
            # SystemExit and its kin.
            return Outcome("raised", error_type=type(error).__name__, text=_told(error))

    def _argument(self, ticket: int, library: Library) -> Callable[..., Any]:
        return lambda *args, **kwargs: for_library(self._ask({"argument": ticket}, args, kwargs), library)

    def _step(self, name: str, library: Library) -> Callable[..., Any]:
        return lambda *args, **kwargs: for_library(self._ask({"step": name}, args, kwargs), library)

    def _ask(self, what: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        question = {
            "ask": what,
            "args": encode(to_plain(list(args))),
            "kwargs": encode(to_plain(kwargs))["dict"],
        }
        with self.line:
            self._send(question)
            reply = json.loads(self.reader.readline())
        kind, value, text = reply["answer"]
        if kind == "refused":
            raise borrowed.NotForAnswers(text)
        if kind == "raised":
            error = getattr(builtins, value, RuntimeError)
            raise error(text)
        return _like(decode(value), [*args, *kwargs.values()])

    def _send(self, message: dict[str, Any]) -> None:
        with self.line:
            self.writer.write(json.dumps(message, default=repr).encode() + b"\n")
            self.writer.flush()

    def _end_for_output(self) -> None:
        self._send({"ended": "output limit"})
        os._exit(0)


def _told(error: BaseException) -> str:
    try:
        return describe(error)
    except BaseException:
        return _("(its message cannot be shown: __str__ raises)")


def _with_what_is_there(error_type: str, text: str) -> str:
    """The text of an error; with the packages that are there, where it is one that is not."""
    return f"{text}. {_(THERE)}" if error_type == "ModuleNotFoundError" else text


def _no_input(prompt: object = "") -> str:
    raise EOFError(_("nobody can answer input() while a notebook is being graded; assign the value instead"))


def _as_json(data: dict[str, Any]) -> dict[str, Any]:
    return {
        kind: base64.b64encode(each).decode() if isinstance(each, bytes) else each
        for kind, each in data.items()
    }


def _like(value: Any, arguments: list[Any]) -> Any:
    """A tensor where a tensor was given, of the type that the library would give."""
    tensors = [each for each in arguments if type(each).__module__.partition(".")[0] == "torch"]
    if not tensors or not isinstance(value, np.ndarray):
        return value
    import torch

    result = torch.from_numpy(value)
    if result.dtype != torch.float64:
        return result
    floating = [each.dtype for each in tensors if getattr(each, "is_floating_point", bool)()]
    return result.to(floating[0] if floating else torch.get_default_dtype())
