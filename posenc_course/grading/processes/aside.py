"""Work on what learners handed in, in a process of its own: what it costs is limited, and costs nobody else.

To read a notebook, or to make a page of it, takes a moment. Nobody can list all ways to make it take hours or
all memory; so it is ended then, and whoever asked goes on with the next.
"""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from posenc_course.grading.processes.helper import Died, Helper
from posenc_course.translation import _

CPU_SECONDS = 30
"""Of the processor, for one call; an honest one takes about one."""
WALL_SECONDS = 300.0
"""By the clock: long, so that a busy machine costs nobody anything."""
MEMORY_BYTES = 2 * 2**30
FILE_BYTES = 128 * 2**20

P = ParamSpec("P")
T = TypeVar("T")


class OverLimit(Exception):
    """The call took too long, or too much memory, and was ended."""


_beside: list[Helper] = []
"""The process beside this one, if there is one."""


def aside(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function of a module, with plain data, in the process beside this one.

    Raises:
        OverLimit: it was ended. What the function itself raises is raised here.
    """
    if not (_beside and _beside[0].is_alive):
        _beside[:] = [Helper(_limit, _allow_time)]
    try:
        return _beside[0].call(WALL_SECONDS, function, *arguments, **named)
    except Died as error:
        raise OverLimit(_("it took too long, or too much memory")) from error


def _limit() -> None:
    for which, most in (
        (resource.RLIMIT_DATA, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # not every system has it, or allows so much
            resource.setrlimit(which, (most, most))


def _allow_time() -> None:
    """So many seconds of the processor from now on; then the system ends this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (round(used.ru_utime + used.ru_stime) + CPU_SECONDS, hard))
