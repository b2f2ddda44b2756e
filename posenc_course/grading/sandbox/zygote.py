"""The warm parent, inside the walls: imports once, then forks one child a session.

It never runs a line of a learner's and never holds more than what every learner may see, so a child inherits
nothing worth having. Orders come over one socket, each with the session's own socket attached:

    {"user": 7, "walls": true, "limits": {...}}   ->   {"exit": 0, "signal": 0, "cpu": 0.1, "peak": 123}
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import socket
import sys
from typing import Any

from posenc_course.grading.sandbox import namespaces, system_calls
from posenc_course.grading.sandbox.learner import Learner
from posenc_course.translation import _

ORDER_BYTES = 65536


def main(control_number: int, modules: list[str], *, walls: bool) -> None:
    """Serve sessions until the other end closes the control socket."""
    if walls and (why := system_calls.why_not_shut()):
        sys.exit(_("system calls cannot be filtered here: {why}").format(why=why))
    control = socket.socket(fileno=control_number)
    for module in modules:
        importlib.import_module(module)
    learner = Learner()
    learner.warm_up()
    gc.collect()
    gc.freeze()  # So that a child's garbage collector leaves the shared pages alone.
    control.send(b"{}")
    while True:
        order, numbers, *_flags = socket.recv_fds(control, ORDER_BYTES, 1)
        if not order:
            return
        report = _session(numbers[0], json.loads(order), learner)
        control.send(json.dumps(report).encode())


def _session(number: int, order: dict[str, Any], learner: Learner) -> dict[str, float]:
    left, mapped = os.pipe(), os.pipe()
    porter = os.fork()
    if porter == 0:
        _in_child(lambda: _porter(number, order, learner, left[1], mapped[0]))
    os.close(number)
    os.close(left[1])
    if order["walls"] and os.read(left[0], 1):
        namespaces.map_ids(porter, order["user"])
    os.write(mapped[1], b"\0")
    for end in (left[0], *mapped):
        os.close(end)
    _, status, usage = os.wait4(porter, 0)
    # The porter passes on how its child ended: a signal as 128 and its number.
    code = os.waitstatus_to_exitcode(status)
    signal = code - 128 if code > 128 else max(-code, 0)
    return {
        "exit": max(code, 0),
        "signal": signal,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
    }


def _porter(number: int, order: dict[str, Any], learner: Learner, left: int, mapped: int) -> None:
    """Leave the zygote's namespaces, and wait for the one process that lives in the new ones."""
    if order["walls"]:
        namespaces.unshare_everything()
        os.write(left, b"\0")
    os.read(mapped, 1)
    child = os.fork()
    if child == 0:
        _in_child(lambda: _resident(number, order, learner))
    os.closerange(3, 1024)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def _resident(number: int, order: dict[str, Any], learner: Learner) -> None:
    """The first process of the session's pid namespace: when it ends, everything that it started ends."""
    os.dup2(number, 3)
    os.closerange(4, 1024)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    namespaces.limit(order["limits"])
    if order["walls"]:
        namespaces.close_in(4 * order["limits"]["file_bytes"])
        namespaces.become_learner()
    else:
        os.setsid()
        os.chdir(order["scratch"])
    learner.serve(socket.socket(fileno=3), order["limits"]["output_bytes"])


def _in_child(work: Any) -> None:
    """Run `work` and end this process, whatever happens: a child never returns into the zygote's loop."""
    try:
        work()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(70)
    finally:
        os._exit(0)
