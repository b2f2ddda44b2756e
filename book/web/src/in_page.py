"""What the page's worker runs under Pyodide: a learner's code, then the same check as in a notebook.

Words are the page's own: what goes back is data, and the library's report.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import copy
import io
import json
import linecache
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from posenc_course.checking import Report, report_on
from posenc_course.checking.answer import lack, stops_as_released
from posenc_course.checking.check import drawing_by, show_afterwards
from posenc_course.checking.names import told
from posenc_course.exercises import exercise
from posenc_course.translation import _

OUTPUT_LIMIT = 10_000  # characters; more would only slow the page down
FILE = "your code"
PICTURES = {"matplotlib", "cycler"}


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
    if sys.platform == "emscripten":  # elsewhere a library may well ask for what is not there, and do without
        others = [each for each in finders if type(each).__name__ not in NoModule.PYODIDES]
        sys.meta_path[:] = [*others, NoModule()]
    sys.stdin = NoInput()
    try:
        yield
    finally:
        sys.stdin, sys.meta_path[:] = stdin, finders


def run(request: str, show: Callable[[str], None]) -> str:
    """Do what a page asks; request and result are JSON.

    Args:
        request: {do: "check", exercise, setup, earlier: code of the exercises before, unwritten: their
            functions that the learner has not begun, code}: judge an answer;
            {do: "draw"}: the figure that the last answer draws, which has passed;
            {do: "cell", above: of each cell before [its code, whether the reader changed it], code, pictures:
            of a cell that draws, whether Matplotlib is here}: run a cell of the chapter;
            {do: "scratch", code}: run code for what it prints;
            {do: "play", challenge, act, seed, ...}: for posenc_course/challenges/page.py.
        show: gets what is printed.

    Returns:
        Of an answer {kind: "report", passed, draws, headline, html, needs} or {kind: "error", error, line,
        source, known: which names there are where one is missing, needs} or {kind: "unwritten"} or
        {kind: "missing" or "uncallable", function}. Of a figure {kind: "drawing", html}. Of a cell {kind:
        "cell", shown: [{html} or {text}], undrawn: whether something was left out for want of Matplotlib},
        or the error, or {kind: "above", error} where a cell before it fails. Of a scratch {kind: "ran"}, or
        the error. Of a challenge what it answers. Each with cut, the number of characters printed that were
        not shown, and python, the version that ran it.
    """
    asked = json.loads(request)
    output = Output(show)
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), _plain_words():
        acts = {"check": _judge, "draw": _draw, "cell": cells.run, "scratch": _try_out, "play": _play}
        result = acts[asked.pop("do")](**asked)
    output.flush()
    version = ".".join(map(str, sys.version_info[:2]))
    return json.dumps(result | {"cut": output.cut, "python": version})


_passed: tuple[Report, Any] | None = None
"""The answer that passed last, for the figure that it draws."""


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
        result = _explain(error, namespace, exercise)
    instead = result.pop("instead", ())  # the report speaks of these, and they cost the answer nothing
    return result | {"needs": [each for each in _used(unwritten, code) if each not in instead]}


def _draw() -> dict[str, Any]:
    """After the verdict, which stands whatever becomes of the figure."""
    drawn = drawing_by(*_passed) if _passed else None
    return {"kind": "drawing", "html": drawn._repr_html_() if drawn else ""}


def _play(**asked: Any) -> dict[str, Any]:
    from posenc_course.challenges import page  # other pages do without it

    return page.answer(**asked)


def _try_out(code: str) -> dict[str, Any]:
    """Run code for what it prints."""
    _let_errors_quote(code)
    names = {"__name__": "__main__"}
    try:
        exec(compile(code, FILE, "exec"), names)
    except (Exception, SystemExit) as error:
        return _explain(error, names)
    return {"kind": "ran"}


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
    global _passed
    asked = exercise(exercise_id)
    if why := lack(asked, namespace):
        return {"kind": why, "function": asked.function}
    answer = namespace[asked.function]
    report = report_on(exercise_id, answer)
    _passed = (report, answer)
    show_afterwards(report, answer)
    return {
        "kind": "report",
        "passed": report.passed,
        "draws": report.passed and asked.draws is not None,
        "headline": report.headline,
        "html": report._repr_html_(),
        "instead": [step.function for step in report.instead],
    }


def _explain(error: BaseException, names: dict[str, Any], exercise_id: str = "") -> dict[str, Any]:
    """The error with the learner's own line; nothing of ours. `names` are those of the code that failed."""
    name = type(error).__name__
    if exercise_id:
        asked = exercise(exercise_id)
        if asked.kind == "value" and stops_as_released(asked, name):
            return {"kind": "unwritten"}
    if isinstance(error, SyntaxError):
        line, text = error.lineno, error.msg
    else:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
        line, text = (own[-1].lineno if own else None), str(error)
    source = linecache.getline(FILE, line).strip() if line else ""
    known = told(error.name, names) if type(error) is NameError and error.name else ""
    said = f"{name}: {text}" if text else name
    return {"kind": "error", "error": said, "line": line, "source": source, "known": known}


def _let_errors_quote(code: str) -> None:
    """Make the learner's lines known to tracebacks, for which they are no file."""
    linecache.cache[FILE] = (len(code), None, code.splitlines(keepends=True), FILE)


class Cells:
    """The cells of the chapter: those above run once, the one that is tried runs after them, each time."""

    def __init__(self) -> None:
        self.above: list[tuple[str, bool]] = []
        self.names: dict[str, Any] = {}

    def run(self, above: list[list[Any]], code: str, pictures: bool = True) -> dict[str, Any]:
        try:
            self._catch_up([(str(each), bool(changed)) for each, changed in above])
        except (Exception, SystemExit) as error:
            self.above, self.names = [], {}
            return {"kind": "above", "error": f"{type(error).__name__}: {error}"}
        kept, shown = _copied(self.names), []
        self.names["display"] = lambda *values: shown.extend(map(_shown, values))
        _let_errors_quote(code)
        try:
            tree = ast.parse(code, FILE)
            undrawn = not pictures and _leave_pictures_out(tree, self._lost())
            last = _run_cell(tree, self.names)
            shown += [] if last is None else [_shown(last)]
            return {"kind": "cell", "shown": shown + _open_figures(), "undrawn": undrawn}
        except (Exception, SystemExit) as error:
            return _explain(error, self.names) | {"shown": shown}
        finally:
            # Functions from above look their names up in this very dict: it is set back, not replaced.
            self.names.clear()
            self.names.update(kept)

    def _lost(self) -> set[str]:
        """Names that the cells above would have bound, had nothing been missing."""
        return set().union(*(_bound(ast.parse(code)) for code, _changed in self.above)) - self.names.keys()

    def _catch_up(self, above: list[tuple[str, bool]]) -> None:
        if self.above != above[: len(self.above)]:
            self.above, self.names = [], {}
        self.names.setdefault("__name__", "__main__")
        nowhere = Output(lambda text: None)
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            for code, changed in above[len(self.above) :]:
                _run_above(code, changed, self.names)
                self.above.append((code, changed))


def _run_above(code: str, changed: bool, names: dict[str, Any]) -> None:
    """A cell before the one that is tried. One that the reader changed must run. The book's own does what it
    can, statement by statement: where one cannot run in a page, no cell that is offered hangs on it."""
    if changed:
        exec(compile(code, "a cell above", "exec"), names)
        return
    for statement in ast.parse(code).body:
        with contextlib.suppress(Exception):
            exec(compile(ast.Module([statement], []), "a cell above", "exec"), names)


def _leave_pictures_out(tree: ast.Module, lost: set[str]) -> bool:
    """Take away what needs Matplotlib, or a name that is lost with it; whether there was any."""
    kept = []
    for statement in tree.body:
        read = {node.id for node in _walk(statement, ast.Name) if isinstance(node.ctx, ast.Load)}
        if read & lost or _needs_pictures(statement):
            lost |= _bound(statement)
        else:
            lost -= _bound(statement)
            kept.append(statement)
    left_out = len(kept) < len(tree.body)
    tree.body = kept
    return left_out


def _needs_pictures(statement: ast.stmt) -> bool:
    """Whether it imports Matplotlib, or what does."""
    imports = list(_walk(statement, ast.Import | ast.ImportFrom))
    try:
        exec(compile(ast.Module(imports, []), "imports", "exec"), {})
    except ModuleNotFoundError as error:
        return error.name in PICTURES
    except Exception:
        return False
    return False


def _walk(tree: ast.AST, kind: Any) -> Iterator[Any]:
    return (node for node in ast.walk(tree) if isinstance(node, kind))


def _bound(tree: ast.AST) -> set[str]:
    """The names that it binds."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
    return found


def _run_cell(tree: ast.Module, names: dict[str, Any]) -> Any:
    """The value of the last line, where it is one."""
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, FILE, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), FILE, "eval"), names)


def _copied(names: dict[str, Any]) -> dict[str, Any]:
    """So that a cell that is run again finds the arrays and the random numbers as it found them first."""
    memo: dict[int, Any] = {}
    kept = {}
    for name, value in names.items():
        kept[name] = value
        if name != "__builtins__":
            with contextlib.suppress(Exception):
                kept[name] = copy.deepcopy(value, memo)
    return kept


def _shown(value: Any) -> dict[str, str]:
    """As a notebook shows it: a picture or a table, else its text."""
    if hasattr(value, "savefig"):
        return {"html": _picture(value)}
    for name in ("_repr_html_", "_repr_svg_"):
        if found := getattr(value, name, lambda: None)():
            return {"html": str(found)}
    text = repr(value)
    return {"text": text if len(text) <= OUTPUT_LIMIT else f"{text[:OUTPUT_LIMIT]} ..."}


def _open_figures() -> list[dict[str, str]]:
    """Those that pyplot holds, closed after that; none where nobody has asked for pyplot."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    found = [{"html": _picture(pyplot.figure(number))} for number in pyplot.get_fignums()]
    pyplot.close("all")
    return found


def _picture(figure: Any) -> str:
    """A figure of Matplotlib as SVG on white paper, whose colours nobody has chosen for a dark page."""
    svg = io.StringIO()
    figure.savefig(svg, format="svg", facecolor="white", bbox_inches="tight")
    address = base64.b64encode(svg.getvalue().encode()).decode()
    alt = _("A picture that your code drew with Matplotlib.")
    return f'<img class="posenc-plot" alt="{alt}" src="data:image/svg+xml;base64,{address}">'


cells = Cells()


def _used(functions: list[str], code: str) -> list[str]:
    """Which of the functions the code uses and does not define."""
    try:
        found = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError):
        return []
    used = {node.id for node in found if isinstance(node, ast.Name)}
    defined = {node.name for node in found if isinstance(node, ast.FunctionDef)}
    return [name for name in functions if name in used - defined]
