"""Run, judge and report in one call: `check` for notebooks, `report_on` for those who show the report."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from posenc_course.checking.answer import fits, lack
from posenc_course.checking.judge import judge
from posenc_course.checking.names import told_of_outcomes
from posenc_course.checking.report import Report
from posenc_course.checking.run import as_function, in_place, run, undecorated
from posenc_course.exercises import Exercise, exercise, exercises_of
from posenc_course.translation import _, joined


def check(exercise_id: str, answer: Any, *, seed: int = 0) -> Report:
    """Check an answer to an exercise.

    Args:
        exercise_id: "<chapter>.<function>", such as "02-the-formula.frequencies".
        answer: your function itself (not a call of it), or your value where one is asked for.
        seed: chooses the random inputs.

    Returns:
        The report, where every case is right.

    Raises:
        CheckFailed: a case is wrong; the exception prints the report.
        ValueError: there is no such exercise.
        TypeError: a function was expected and something else was given.

    Example:
        >>> import numpy as np
        >>> def frequencies(dim):
        ...     return 10000.0 ** (-np.arange(0, dim, 2) / dim)
        >>> check("02-the-formula.frequencies", frequencies).passed
        True
    """
    report = report_on(exercise_id, answer, seed=seed)
    if not report.passed:
        _display(report)
        report.raise_on_failure()
    show_afterwards(report, answer)
    if drawn := drawing_by(report, answer):
        _display(drawn)
    return report


def show_afterwards(report: Report, answer: Any) -> None:
    """Print what the answer is good for, once it has passed with the learner's own earlier steps."""
    afterwards = report.exercise.afterwards
    if afterwards is None or not report.passed or report.instead:
        return
    try:
        print(afterwards(answer))
    except Exception as error:  # it has passed: what comes now takes nothing away
        print(f"{type(error).__name__}: {error}")


class Drawn:
    """The figure that an answer drew, as HTML; or why there is none, in words."""

    def __init__(self, html: str, words: str) -> None:
        self.html, self.words = html, words

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.words


def drawing_by(report: Report, answer: Any) -> Drawn | None:
    """The chapter's figure, drawn by an answer that has passed, where the exercise has one."""
    asked = report.exercise
    if asked.draws is None or not report.passed:
        return None
    name, look = asked.function, _(asked.draws.look)
    try:
        drawing = asked.draws.by(answer)
    except (Exception, SystemExit) as error:  # it has passed: what comes now takes nothing away
        why = _("Your {name} was called once more, to draw the picture, and gave nothing to draw: {error}")
        words = why.format(name=name, error=f"{type(error).__name__}: {error}")
        return Drawn(f"<p>{escape(words)}</p>", words)
    html = drawing.figure(joined(drawing.said_by(f"`{name}`"), look))
    return Drawn(html, joined(drawing.said_by(name), look))


def report_on(exercise_id: str, answer: Any, *, seed: int = 0) -> Report:
    """The report on an answer, right or wrong; arguments and other errors are those of `check`.

    Example:
        >>> report_on("02-the-formula.frequencies", lambda dim: dim).passed
        False
    """
    asked = exercise(exercise_id)
    if not fits(asked, answer):
        raise TypeError(
            _(
                "check({id!r}, ...) was given {kind}; give the function itself: check({id!r}, {function}), "
                "without calling it"
            ).format(id=asked.id, kind=type(answer).__name__, function=asked.function)
        )
    report = _judged(asked, answer, seed)
    names = getattr(undecorated(answer), "__globals__", None)
    earlier = asked.steps_before(exercises_of(asked.chapter))
    if report.passed or not earlier or not isinstance(names, dict):
        return report
    with contextlib.redirect_stdout(io.StringIO()):  # what is printed from here on was printed before
        return _with_right_steps(report, answer, earlier, names, seed)


def _with_right_steps(
    report: Report, answer: Any, earlier: Sequence[Exercise], names: MutableMapping[str, Any], seed: int
) -> Report:
    """The report with right ones in place of the earlier steps that it calls and that are not right yet.

    A step that it does not call is not run: it may be one that never ends.
    """
    asked = report.exercise
    written = {step.function: names[step.function] for step in earlier if not lack(step, names)}
    called: set[str] = set()
    with in_place(names, _noting(written, called)):
        _judged(asked, answer, seed)
    wrong = [step for step in earlier if not _is_right(step, written, called, seed)]
    if not wrong:
        return report
    stood_in: set[str] = set()
    with in_place(names, _noting({step.function: step.reference for step in wrong}, stood_in)):
        again = _judged(asked, answer, seed)
    instead = tuple(step for step in wrong if step.function in stood_in)
    return replace(again, instead=instead) if instead else report


def _is_right(step: Exercise, written: Mapping[str, Any], called: set[str], seed: int) -> bool:
    """Whether a step is right, as far as that matters: it is written, and right where it was called."""
    if step.function not in written:
        return False
    return step.function not in called or _judged(step, written[step.function], seed).passed


def _judged(asked: Exercise, answer: Any, seed: int) -> Report:
    function = as_function(answer, value=asked.kind == "value")
    outcomes = run(function, asked.cases(seed), asked.array_library)
    report = judge(asked, outcomes, seed=seed)
    return replace(report, notes=(*report.notes, *told_of_outcomes(answer, outcomes)))


def _noting(functions: Mapping[str, Callable[..., Any]], called: set[str]) -> dict[str, Callable[..., Any]]:
    """The functions by name; each notes that it was called."""

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            called.add(name)
            return function(*args, **kwargs)

        return noted

    return {name: noting(name, function) for name, function in functions.items()}


def _display(shown: Report | Drawn) -> None:
    """Show the HTML in a notebook; elsewhere the text of an exception is all there is."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        from IPython.display import display

        display(shown)
