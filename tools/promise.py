"""What users of the last release may rely on: its public names, their parameters, and the defaults of these.

With each release `python -m tools.promise` writes down what the library has. Until the next one,
`tests/test_promise.py` holds the library to it. CONTRIBUTING, "Release a version", says what may change when.
"""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import posenc_lib
from posenc_lib._stability import EXPERIMENTAL

RECORD = Path(__file__).resolve().parents[1] / "tests" / "promise.json"
REQUIRED = "required"
BY_NAME = "*, "

Parameters = dict[str, str]
"""From each parameter to its default: "x", "*args", "**options", and "*, x" for what goes by name alone."""


def public() -> Iterator[tuple[str, Any]]:
    """The name of all that is promised, and what it stands for; of classes, methods and properties too."""
    nn = importlib.import_module("posenc_lib.nn")
    for module, names in ((posenc_lib, dir(posenc_lib)), (nn, nn.__all__)):
        for name in sorted({*names} - EXPERIMENTAL - {"__doc__", "__version__"}):
            yield from _with_members(f"{module.__name__}.{name}", getattr(module, name))


def _with_members(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    yield name, thing
    if inspect.isclass(thing):
        own = [kind for kind in thing.__mro__ if kind.__module__.startswith("posenc_lib")]
        for member in sorted({each for kind in own for each in vars(kind) if not each.startswith("_")}):
            yield f"{name}.{member}", getattr(thing, member)


def parameters(thing: Any) -> Parameters | None:
    """How it is called; None for what is not."""
    if not callable(thing):
        return None
    found = {}
    for each in inspect.signature(thing).parameters.values():
        written = str(each.replace(annotation=each.empty, default=each.empty))
        name = f"{BY_NAME}{written}" if each.kind == each.KEYWORD_ONLY else written
        free = each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
        found[name] = "any" if free else _written(each.default)
    return found


def _written(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return REQUIRED
    return getattr(default, "__qualname__", None) or repr(default)  # a function's text has its address


def record() -> dict[str, Any]:
    things = dict(public())
    return {
        "version": posenc_lib.__version__,
        "deprecated": [name for name, thing in things.items() if hasattr(thing, "__deprecated__")],
        "names": {name: parameters(thing) for name, thing in things.items()},
    }


def broken(before: Parameters | None, now: Parameters | None) -> str | None:
    """How a call that was right might fail now, or mean something else; None where none would."""
    if before is None or now is None:
        return None if before is now else "it can be called and could not, or the other way round"
    for name, default in before.items():
        if name not in now:
            return f"its parameter {name} is gone"
        if now[name] != default and default != REQUIRED:
            return f"the default of {name} is {now[name]}, and was {default}"
    added = [name for name in now if name not in before and now[name] == REQUIRED]
    if added:
        return f"{', '.join(added)} must be given"
    order, was = ([name for name in each if not name.startswith("*")] for each in (now, before))
    return None if order[: len(was)] == was else f"its parameters stand in the order {', '.join(order)}"


if __name__ == "__main__":
    RECORD.write_text(json.dumps(record(), indent=1) + "\n")
    print(f"wrote tests/{RECORD.name}, of version {posenc_lib.__version__}")
