"""What is told of a name that code uses and nobody gave."""

from __future__ import annotations

import builtins
import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from posenc_course.checking.run import Outcome, undecorated
from posenc_course.translation import _, joined

MOST = 8
"""Names that are listed."""
SLIP = 0.75
"""How alike two names are that differ by a slip. By difflib's own 0.6, attention is like StopIteration."""
OF_NOTEBOOKS = {"In", "Out", "exit", "quit", "get_ipython", "open"}
"""What IPython puts beside the names of a notebook."""


def told_of_outcomes(answer: Callable[..., Any], outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Of a function that stopped for want of a name: which names it has."""
    answer = undecorated(answer)
    text = next((each.text for each in outcomes if each.error_type == "NameError"), "")
    missing = re.match(r"name '(\w+)'", text)  # not of one whose value comes later
    if missing is None:
        return ()
    own = getattr(getattr(answer, "__code__", None), "co_varnames", ())  # its inputs, and what it assigns
    return (told(missing[1], getattr(answer, "__globals__", {}), own),)


def told(missing: str, names: Mapping[str, Any], own: Iterable[str] = ()) -> str:
    """What there is in place of the missing name.

    Args:
        missing: the name.
        names: those around the code.
        own: those that a function has besides.

    Example:
        >>> told("dims", {"np": ...}, ["dim"])
        'Nothing here is called dims. Did you mean dim? Your code can use dim, np.'
    """
    around = [each for each in names if not each.startswith("_") and each not in OF_NOTEBOOKS]
    usable = list(dict.fromkeys([*own, *around]))
    words = [_("Nothing here is called {name}.").format(name=missing)]
    if missing in sys.stdlib_module_names:
        words.append(_("It is a module of Python: write `import {name}` first.").format(name=missing))
    elif near := _nearest(missing, usable):
        words.append(_("Did you mean {name}?").format(name=near[0]))
    if usable:
        listed = ", ".join([*usable[:MOST], *([_("and others")] if len(usable) > MOST else [])])
        words.append(_("Your code can use {names}.").format(names=listed))
    return joined(*words)


def _nearest(missing: str, usable: Sequence[str]) -> list[str]:
    """At most one name. Python has so many that one is always somewhat alike: of these, only for a slip."""
    slip = difflib.get_close_matches(missing, dir(builtins), n=1, cutoff=SLIP)
    return difflib.get_close_matches(missing, [*usable, *slip], n=1)
