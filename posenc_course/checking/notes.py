"""What can be said for certain of an answer whose mistake is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from posenc_course.checking.another_kind import another_array, another_kind
from posenc_course.checking.answer import unwritten
from posenc_course.checking.differences import input_name, of_part
from posenc_course.checking.kinds import array_or_none, in_form, several, truth
from posenc_course.checking.run import Outcome
from posenc_course.exercises import Case, Exercise, Property
from posenc_course.translation import _, joined


def certain_notes(
    exercise: Exercise,
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    first_wrong: int,
) -> tuple[str, ...]:
    if exercise.kind == "function" and unwritten(exercise, outcomes):
        return (_("The function is not written yet: it still raises NotImplementedError."),)
    notes = []
    for case, want, got in zip(cases, expected, outcomes, strict=True):
        if note := _not_finite(case, want.value, got.value):
            notes += [note, _(exercise.where_not_finite)] if exercise.where_not_finite else [note]
            break
    in_order = [first_wrong, *(number for number in range(len(cases)) if number != first_wrong)]
    first = expected[first_wrong], outcomes[first_wrong]
    kind = None if notes else _kind_note(exercise, *first)
    single = _kind_note(exercise, *first, single=False) is None
    if kind and not single:
        notes.append(kind)

    @cache
    def seen(number: int, about: str) -> Any:
        """What a property about numbers, or about the form, is asked of in a case; None where of nothing."""
        want, got = expected[number], outcomes[number]
        if not want.kind == got.kind == "value":
            return None
        if about == "form":
            return _form(want.value, got.value)
        # Where its kind is what is wrong with it, its numbers tell nothing.
        another = _kind_note(exercise, want, got, single=False)
        return None if another else in_form(exercise, want.value, got.value)

    for prop in exercise.properties:
        for number in in_order:
            if _breaks(prop, cases[number], seen(number, prop.about)):
                notes.append(_in_case(_(prop.message), cases[number], shown=number == first_wrong))
                break
    if kind and single:  # after a slip that shows: float32 may be innocent
        notes.append(kind)
    return tuple(notes)


def leave_inputs_alone(exercise: Exercise, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """How to leave the inputs alone; nothing where every outcome did."""
    changed = next((each.changed for each in outcomes if each.changed is not None), None)
    if changed is None:
        return ()
    cases = exercise.make_cases(
        np.random.default_rng(0)
    )  # an input is of one kind in all; what is in it, not
    given = [dict(enumerate(case.args)).get(changed) for case in cases]
    inside = [each for one in given for each in _inside(one)]
    if any(isinstance(each, list | dict | np.ndarray) for each in inside):
        note = _(
            "Your function changes {name}, or something inside it, and the code that called it may still "
            "need the old values. Leave your inputs alone: pop, sort, append, += and [...] = ... all write "
            "into them. {name}.copy() is not enough, because it shares what is inside; "
            "copy.deepcopy({name}) shares nothing."
        )
        return (note.format(name=input_name(exercise, changed)),)
    if inside:
        note = _(
            "Your function changes {name} itself, and the code that called it may still need the old values. "
            "Leave your inputs alone: pop, sort, append, += and [...] = ... all write into them. Build a new "
            "result, or work on a copy, {name}.copy()."
        )
        return (note.format(name=input_name(exercise, changed)),)
    note = _(
        "Your function changes {name} itself, and the code that called it may still need the old values. "
        "Leave your inputs alone: build a new result, or work on a copy, {name}.{copy}(). Watch out for "
        "{name} *= ... and {name}[...] = ..., which both write into the input."
    )
    copy = "clone" if exercise.array_library == "torch" else "copy"
    return (note.format(name=input_name(exercise, changed), copy=copy),)


def _inside(value: Any) -> Iterable[Any]:
    """What a list or a dict holds; of anything else, nothing."""
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _in_case(message: str, case: Case, *, shown: bool) -> str:
    """The message; of another case than the one that the report shows, it might seem to be untrue."""
    if shown:
        return message
    return joined(_("In the case “{case}”:").format(case=_(case.label)), message)


def _kind_note(exercise: Exercise, expected: Outcome, outcome: Outcome, *, single: bool = True) -> str | None:
    """Of which kind it is, where that is all that is wrong, or the first that is."""
    if not expected.kind == outcome.kind == "value":
        return None
    want, got = expected.value, outcome.value
    if isinstance(want, tuple | dict):
        right, parts = several(want, got)
        if parts is None or exercise.kind == "value":  # the difference says it
            return None
        notes = [
            another_array(exercise, one, other, single=single)
            for one, other in zip(right, parts, strict=True)
        ]
        return next((of_part(n, note) for n, note in enumerate(notes) if note), None)
    if exercise.kind == "value":
        return another_kind(exercise, want, got)
    return another_array(exercise, want, got, single=single)


def _not_finite(case: Case, want: Any, got: Any) -> str | None:
    """Where the first NaN or infinity stands that has no business there."""
    found = _first_not_finite(want, got)
    if found is None:
        return None
    number, index = found
    if isinstance(want, tuple | dict) and several(want, got)[1] is not None:
        return of_part(index[0], _told_not_finite(case, number, index[1:]))
    return _told_not_finite(case, number, index)


def _told_not_finite(case: Case, number: complex, index: Sequence[int]) -> str:
    if np.isnan(number):
        where = (
            _("In the case “{case}” your answer contains NaN, “not a number”, first at index {index}.")
            if index
            else _("In the case “{case}” your answer is NaN, “not a number”.")
        )
        why = _(
            "You get NaN from calculations that have no result, such as 0 / 0, 0 times infinity, infinity "
            "minus infinity, or the square root or the logarithm of a negative number."
        )
    else:
        where = (
            _("In the case “{case}” your answer contains infinity, first at index {index}.")
            if index
            else _("In the case “{case}” your answer is infinite.")
        )
        why = _(
            "You get infinity from numbers that are too large, such as exp(1000), and from x / 0 and log(0)."
        )
    return joined(where.format(case=_(case.label), index=list(index)), why)


def _first_not_finite(want: Any, got: Any) -> tuple[complex, tuple[int, ...]] | None:
    """That number, and its index; a tuple's parts count as its first axis."""
    if isinstance(want, tuple | dict):
        right, parts = several(want, got)
        if parts is not None:
            for number, (one, other) in enumerate(zip(right, parts, strict=True)):
                if found := _first_not_finite(one, other):
                    return found[0], (number, *found[1])
            return None
    given, expected = array_or_none(got), array_or_none(want)
    if given is None or np.isfinite(given).all():
        return None
    bad = ~np.isfinite(given)
    if expected is not None and expected.shape == given.shape:
        bad &= np.isfinite(expected) | np.isnan(given)
    elif expected is not None and not np.isfinite(expected).all():
        bad = np.isnan(given)  # some infinities are right, and in another shape nobody knows which
    places = np.argwhere(bad)
    return (given[tuple(places[0])], tuple(int(i) for i in places[0])) if len(places) else None


def _breaks(prop: Property, case: Case, value: Any) -> bool:
    """Whether what the property's message says is certain to be true of this value."""
    if value is None:
        return False
    try:
        return not prop.holds(case.args, value)
    except Exception:
        return False


def _form(want: Any, got: Any) -> Any:
    """What shape and kind can be read from; None where the value is of quite another sort."""
    if isinstance(want, tuple):
        return several(want, got)[1]
    if isinstance(want, dict):
        return got if isinstance(got, dict) and got.keys() == want.keys() else None
    if isinstance(want, str | bool):
        own = truth(got) if isinstance(want, bool) else None
        return got if own is None else own
    return array_or_none(got)
