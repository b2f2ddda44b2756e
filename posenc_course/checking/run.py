"""The learner's side: call the answer on the inputs, and bring back what it returned as plain data."""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from posenc_course.checking.plain import NotPlain, encode, to_plain
from posenc_course.translation import _

if TYPE_CHECKING:  # Where an answer is graded, no exercise is within reach.
    from posenc_course.exercises import Case

Library = Literal["numpy", "torch"]


@dataclass(frozen=True)
class Outcome:
    """What one call gave: a value (plain data), an exception, or something that is no plain data."""

    kind: Literal["value", "raised", "malformed"]
    value: Any = None
    error_type: str = ""
    """Name of the exception's class."""
    text: str = ""
    """The exception's message and line, or what came back instead of plain data."""
    changed: int | None = None
    """Place of the first argument that is not what it was before the call; None where all are."""


def run(answer: Callable[..., Any], cases: Iterable[Case], library: Library = "numpy") -> tuple[Outcome, ...]:
    """One outcome a case. The answer gets copies, so it cannot spoil the next case's inputs; what it
    changes of them is noted.

    Example:
        >>> from posenc_course.exercises import Case
        >>> [outcome] = run(lambda x: 2 * x, [Case("three", (3,))])
        >>> outcome.kind, outcome.value
        ('value', 6)
    """
    return tuple(call(answer, case.args, library) for case in cases)


def as_function(answer: Any, *, value: bool) -> Callable[..., Any]:
    """What `run` and `call` take: the answer itself, or what gives it back where a value is asked for."""
    return (lambda: answer) if value else answer


def call(answer: Callable[..., Any], args: Sequence[Any], library: Library = "numpy") -> Outcome:
    """The outcome of one call, on copies of the arguments; what a generator raises, the answer raised."""
    copies = list(map(copy.deepcopy, args))
    # A tensor shares its numbers with its copy.
    arguments = copies if library == "numpy" else [for_library(each, library) for each in copies]
    try:
        # nbgrader takes away all points where anything stands on stderr, a warning too.
        with contextlib.redirect_stderr(sys.stdout):
            returned = answer(*arguments)
            try:
                return Outcome("value", value=to_plain(returned), changed=_first_change(args, copies))
            except NotPlain as error:
                return Outcome("malformed", text=str(error))
    except Exception as error:
        return Outcome("raised", error_type=type(error).__name__, text=describe(error, answer))


def _first_change(before: Sequence[Any], after: Sequence[Any]) -> int | None:
    for place, (was, now) in enumerate(zip(before, after, strict=True)):
        if was is now or callable(was):  # the copy of what cannot change is the thing itself
            continue
        if encode(was) != encode(now):
            return place
    return None


@contextlib.contextmanager
def in_place(names: MutableMapping[str, Any], others: Mapping[str, Any]) -> Iterator[None]:
    """Let names mean something else for a while; those that were not there are gone again afterwards."""
    before = {name: names[name] for name in others if name in names}
    names.update(others)
    try:
        yield
    finally:
        for name in others:
            names.pop(name, None)
        names.update(before)


def for_library(value: Any, library: Library) -> Any:
    """An array as that library's; anything else as it is."""
    if library == "numpy" or not isinstance(value, np.ndarray):
        return value
    import torch

    return torch.from_numpy(value)


def undecorated(answer: Any) -> Any:
    """What the learner wrote of a function that is decorated, as by `@torch.no_grad()`."""
    try:
        return inspect.unwrap(answer)
    except ValueError:  # it says that it wraps itself
        return answer


def describe(error: BaseException, answer: Any = None) -> str:
    """The message, with the line of the learner's own code where it happened."""
    ours = (__file__, to_plain.__code__.co_filename)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename not in ours]
    if not frames:
        return str(error)
    # The first frame is the answer itself, or what decorates it; deeper ones may be a library's.
    code = getattr(undecorated(answer), "__code__", None)
    written = [f for f in frames if code is not None and f.filename == code.co_filename]
    own = (written or [f for f in frames if f.filename == frames[0].filename])[-1]
    told = _("{error} (line {line}: {code})") if own.line else _("{error} (line {line})")
    return told.format(error=error, line=own.lineno, code=own.line)
