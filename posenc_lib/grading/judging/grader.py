"""The judge outside: send hidden inputs to a walled session, judge what comes back, grade.

Points come from a session that is given hidden inputs. What a learner reads comes from another, later one
that is given the inputs of `check` and has never seen a hidden one: nothing of them can show in the feedback.
"""

from __future__ import annotations

import base64
import binascii
import json
import secrets
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any

from posenc_lib.checking.judge import difference, judge, makes, right_outcomes
from posenc_lib.checking.messages import _
from posenc_lib.checking.plain import decode, encode
from posenc_lib.checking.report import CaseResult, Report
from posenc_lib.checking.run import Outcome
from posenc_lib.exercises import Case, Exercise, all_exercises
from posenc_lib.exercises.exercise import BASIC
from posenc_lib.grading.sandbox.lending import Lender
from posenc_lib.grading.sandbox.walls import NoWalls
from posenc_lib.grading.sandbox.warm import Ended, Session, WarmParent
from posenc_lib.grading.verdicts import ExerciseGrade, Limits, SubmissionGrade, Verdict

if TYPE_CHECKING:
    from posenc_lib.grading.handed_in.submission import Submission

__all__ = ["PUBLIC_SEED", "Grader", "NoWalls"]

PUBLIC_SEED = 0
"""The inputs that `check` uses: feedback may show them."""
MOST_ENDINGS = 12
"""So many cells and answers of one submission may end their session; then the rest is not tried any more."""
REPLY_BYTES = 512 * 2**10
EMPTY_REPLY_BYTES = 1000
TEXT_CHARACTERS = 1000
FEEDBACK_CHARACTERS = 5000
WARM_MODULES = {"torch": "torch", "matplotlib": "matplotlib.pyplot"}
"""What is imported before the fork where a notebook mentions it: word in the text, module."""

_MEMORY_ERRORS = ("MemoryError", "_ArrayMemoryError")
_SHOWN = ("text/plain", "text/latex", "image/png", "image/jpeg")
"""What is kept of displayed data. HTML and scripts would run in the browser of whoever grades."""


class Grader:
    """Grades submissions, one at a time, each in sessions of its own; start-up is paid once.

    Args:
        unsafe: grade without walls. Learners' code then runs with your rights: it can read and change
            what you can.

    Raises:
        NoWalls: (on the first `grade`) bubblewrap is missing or cannot work here.
    """

    def __init__(self, *, unsafe: bool = False) -> None:
        self._unsafe = unsafe
        self._warm: WarmParent | None = None
        self._lender = Lender()

    def grade(
        self,
        submission: Submission,
        *,
        student: str,
        assignment: str,
        seed: int,
        limits: Limits | None = None,
    ) -> SubmissionGrade:
        """Grade one submission. The same seed gives the same hidden inputs.

        Raises:
            ValueError: there is no exercise of this assignment.
            NoWalls: learners' code cannot be walled in here.
        """
        started = time.monotonic()
        exercises = [each for each in all_exercises() if each.chapter == assignment]
        if not exercises:
            known = ", ".join(sorted({each.chapter for each in all_exercises()}))
            raise ValueError(
                f"there is no exercise of the assignment {assignment!r}; there are some of {known}"
            )
        for each in exercises:
            # Before the learner's clock starts: it may have to import what the reference needs.
            right_outcomes(each, seed)
            right_outcomes(each, PUBLIC_SEED)
        if any(each.asks_outside(seed) for each in exercises):
            self._lender.start()
        try:
            trial = Trial(self._warm_for(exercises, submission), self._lender, submission, limits or Limits())
            with trial, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # Those that are answered from outside come last: nothing of it is left for another answer.
                in_order = sorted(exercises, key=lambda each: each.asks_outside(seed))
                attempts = {each.id: _attempt(each, trial, seed) for each in in_order}
                outputs = dict(trial.outputs)
                trial.start_afresh()
                grades = tuple(_grade(attempts[each.id], trial) for each in exercises)
        except BaseException:
            # Whatever happened, the next submission finds a warm parent that waits for orders.
            self.close()
            raise
        return SubmissionGrade(
            student=student,
            assignment=assignment,
            verdict=_overall(grades),
            seed=seed,
            digest=submission.digest,
            exercises=grades,
            outputs=outputs,
            notes=(*submission.notes, *trial.notes),
            seconds=time.monotonic() - started,
        )

    def close(self) -> None:
        """End every process that was started."""
        if self._warm is not None:
            self._warm.close()
            self._warm = None
        self._lender.close()

    def __enter__(self) -> Grader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _warm_for(self, exercises: Iterable[Exercise], submission: Submission) -> WarmParent:
        """The warm parent, started anew where this submission needs a module that it has not imported."""
        needed = {
            module for word, module in WARM_MODULES.items() if any(word in c.source for c in submission.cells)
        }
        needed |= {"torch" for each in exercises if each.array_library == "torch"}
        imported = set(self._warm.modules) if self._warm else set()
        if self._warm is None or not needed <= imported:
            if self._warm is not None:
                self._warm.close()
                self._warm = None
            self._warm = WarmParent(sorted(needed | imported), unsafe=self._unsafe)
        return self._warm


class Trial:
    """All that one submission is put through: sessions, each with the cells run, within one time limit.

    A cell that ends its session is left out of the next one; an answer that does so costs only its exercise.
    """

    def __init__(self, warm: WarmParent, lender: Lender, submission: Submission, limits: Limits) -> None:
        self.outputs: dict[int, list[dict[str, Any]]] = {}
        self.notes: list[str] = []
        self.left_out: dict[int, Verdict] = {}
        """Cells that ended a session, by place."""
        self.trespassed = False
        """Whether the last answer called a name of the library that its exercise does not lend."""
        self.cells = [cell for cell in submission.cells if cell.kind == "code"]
        self._warm, self._lender, self._limits = warm, lender, limits
        self._deadline = time.monotonic() + limits.wall_seconds
        self._session: Session | None = None
        self._answered = False
        self._most_output = self._output_left = 8 * limits.output_bytes + REPLY_BYTES
        """For the outputs of all cells together, as JSON; the limit inside can be taken off from inside."""
        self._endings = 0
        self._last_ending = Verdict.CRASHED

    def find(self, asked: Exercise) -> int:
        """How many answers to an exercise the notebook holds: none, one, or two that differ.

        Raises:
            Ended: the session ended.
        """
        if self._answered:
            self.start_afresh()  # What was answered for one exercise must not answer another.
        reply = self._ask({"find": asked.function, "exercise": asked.id})
        return reply["found"] if reply.get("found") in (0, 1, 2) else 0

    def outcomes(self, asked: Exercise, answer: int, seed: int) -> tuple[Outcome, ...]:
        """What answer number `answer` gives on the cases of a seed, which are called in an order of its own.

        Raises:
            Ended: the session ended.
        """
        self.trespassed = False
        deadline = self._step()
        cases, expected = right_outcomes(asked, seed)
        outcomes = {}
        for number in asked.calling_order(seed):
            # A callable is known by a number that is good for this call alone: one that was kept is dead.
            lent = {secrets.randbits(52): i for i, a in enumerate(cases[number].args) if callable(a)}
            tickets = {index: ticket for ticket, index in lent.items()}
            order = {
                "call": answer,
                "value": asked.kind == "value",
                "library": asked.array_library,
                "args": [
                    {"argument": tickets[index]} if callable(each) else {"data": encode(each)}
                    for index, each in enumerate(cases[number].args)
                ],
            }
            # An honest answer is about as big as the right one; what is far bigger is not even looked at.
            expects = encode(expected[number].value)
            most_bytes = max(REPLY_BYTES, 32 * len(json.dumps([expects, order["args"]])))
            reply = self._ask(order, self._answerer(asked, seed, number, lent), deadline, most_bytes)
            outcomes[number] = _outcome(reply.get("outcome"))
        return tuple(outcomes[number] for number in range(len(cases)))

    def start_afresh(self) -> None:
        """Let the next question go to a new session."""
        if self._session is not None:
            self._session.close()
            self._session = None
        self._answered = False

    def __enter__(self) -> Trial:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.start_afresh()

    def _ask(
        self,
        order: dict[str, Any],
        answer: Callable[[dict[str, Any]], list[Any]] | None = None,
        deadline: float | None = None,
        most_bytes: int = REPLY_BYTES,
    ) -> dict[str, Any]:
        try:
            session = self._ready()  # First of all: its cells may take long.
            deadline = self._step() if deadline is None else deadline
            return session.ask(order, deadline=deadline, most_bytes=most_bytes, answer=answer)
        except Ended as ending:
            if self._session is not None:
                self._note_ending(ending)
            raise

    def _ready(self) -> Session:
        """A session in which every cell has run but those that are left out."""
        while self._session is None:
            if self._endings > MOST_ENDINGS:
                raise Ended(self._last_ending)
            self._session = self._warm.open(self._limits)
            for cell in self.cells:
                if cell.place not in self.left_out and not self._run(cell.place, cell.source):
                    break
        return self._session

    def _run(self, place: int, source: str) -> bool:
        """Run a cell; False where that ended the session."""
        assert self._session is not None
        try:
            reply = self._session.ask(
                {"cell": source},
                deadline=self._step(),
                most_bytes=(self._most_output if place in self.outputs else self._output_left)
                + EMPTY_REPLY_BYTES,
            )
        except Ended as ending:
            self._note_ending(ending)
            self.left_out[place] = ending.verdict
            sentence = _ending_sentence(ending.verdict)
            self.outputs[place] = [{"output_type": "stream", "name": "stderr", "text": sentence + "\n"}]
            self.notes.append(
                _("Cell {number} was left out of grading: {reason}").format(number=place + 1, reason=sentence)
            )
            return False
        if place not in self.outputs:
            self.outputs[place] = _clean(reply.get("outputs"))
            self._output_left = max(self._output_left - len(json.dumps(self.outputs[place])), 0)
        return True

    def _note_ending(self, ending: Ended) -> None:
        self._session, self._answered = None, False
        self._endings += 1
        self._last_ending = ending.verdict

    def _step(self) -> float:
        """The deadline of the next step: half of the time that is left, so that what follows has some too."""
        now = time.monotonic()
        return now + (self._deadline - now) / 2

    def _answerer(
        self, asked: Exercise, seed: int, number: int, lent: Mapping[int, int]
    ) -> Callable[[dict[str, Any]], list[Any]]:
        """Answers what is asked while one case is called; `lent`: places of its callables, by ticket."""

        def answer(message: dict[str, Any]) -> list[Any]:
            what = message["ask"] if type(message["ask"]) is dict else {}
            ticket, name = what.get("argument"), str(what.get("name")).rpartition(".")[2]
            question = {"args": message.get("args"), "kwargs": message.get("kwargs")}
            if type(ticket) is int and ticket in lent:
                self._answered = True
                which = {"exercise": asked.id, "seed": seed, "case": number, "argument": lent[ticket]}
                return self._lender.ask({**which, **question})
            if type(ticket) is int:
                return ["refused", None, _("This function answers only in the call that it was given to.")]
            if name in asked.lends:
                self._answered = True
                return self._lender.ask({"name": name, **question})
            self.trespassed = True
            return ["refused", None, _trespass_sentence()]

        return answer


@dataclass(frozen=True)
class _Attempt:
    """How the answers to one exercise did on hidden inputs."""

    asked: Exercise
    verdict: Verdict
    share: float = 0.0
    """Of the points."""
    seed: int = PUBLIC_SEED
    answer: int = 0
    outcomes: tuple[Outcome, ...] = ()
    """Empty where there is no answer, or where it ended its session."""
    passed: tuple[bool, ...] = ()


def _attempt(asked: Exercise, trial: Trial, seed: int) -> _Attempt:
    """The best of the answers to an exercise: what was given to `check`, and what the name is at the end."""
    best: _Attempt | None = None
    try:
        for number in range(trial.find(asked)):
            outcomes = trial.outcomes(asked, number, seed)
            attempt = _judged(asked, seed, number, outcomes, trespassed=trial.trespassed)
            if best is None or attempt.share > best.share:
                best = attempt
            if best.verdict is Verdict.RIGHT:
                break
    except Ended as ending:
        return best if best and best.share > 0 else _Attempt(asked, ending.verdict)
    return best or _Attempt(asked, _missing(asked, trial))


def _judged(
    asked: Exercise, seed: int, number: int, outcomes: tuple[Outcome, ...], *, trespassed: bool
) -> _Attempt:
    cases, expected = right_outcomes(asked, seed)
    passed = tuple(difference(asked, want, got) is None for want, got in zip(expected, outcomes, strict=True))
    share = 0.0 if trespassed else earned(asked, cases, passed)
    verdict = Verdict.PARTLY
    if trespassed:
        verdict = Verdict.TAMPERED
    elif all(passed):
        verdict = Verdict.RIGHT
    elif share == 0:
        verdict = _wrong_kind(asked, outcomes, passed)
    return _Attempt(asked, verdict, share, seed, number, outcomes, passed)


def earned(asked: Exercise, cases: Sequence[Case], passed: Sequence[bool]) -> float:
    """The share of the points that these results earn, from 0 to 1.

    A group counts where all its cases are right, and none does where the basic one does not: an answer that
    refuses everything must not gain from the inputs that are to be refused.
    """
    wrong = {case.group for case, right in zip(cases, passed, strict=True) if not right}
    if BASIC in wrong:
        return 0.0
    return 1.0 if not wrong else sum(share for group, share in asked.credit if group not in wrong)


def _wrong_kind(asked: Exercise, outcomes: Sequence[Outcome], passed: Sequence[bool]) -> Verdict:
    first = next(outcome for outcome, right in zip(outcomes, passed, strict=True) if not right)
    if _unwritten(outcomes) or _nothing(asked, outcomes):
        return Verdict.UNWRITTEN
    if first.kind == "malformed":
        return Verdict.MALFORMED
    if first.kind == "raised":
        out_of_memory = first.error_type in _MEMORY_ERRORS or "allocate memory" in first.text
        return Verdict.MEMORY_LIMIT if out_of_memory else Verdict.ERROR
    return Verdict.WRONG


def _unwritten(outcomes: Sequence[Outcome]) -> bool:
    """Whether a function still raises what the released one does, whatever it is given."""
    return bool(outcomes) and all(each.error_type == "NotImplementedError" for each in outcomes)


def _nothing(asked: Exercise, outcomes: Sequence[Outcome]) -> bool:
    """Whether a value is None: a function that returns None forgot its `return`."""
    return asked.kind == "value" and all(o.kind == "value" and o.value is None for o in outcomes)


def _missing(asked: Exercise, trial: Trial) -> Verdict:
    """Why there is no answer: its cell ended the session or failed, or none was written."""
    own = [each for each in trial.cells if asked.function in each.source or asked.function == each.grade_id]
    for cell in own:
        if cell.place in trial.left_out:
            return trial.left_out[cell.place]
    failed = any(_fails(asked, output) for cell in own for output in trial.outputs.get(cell.place, ()))
    return Verdict.ERROR if failed else Verdict.UNWRITTEN


def _fails(asked: Exercise, output: Mapping[str, Any]) -> bool:
    """Whether this is an error of the answer's own: not the released one, nor a check's without answer."""
    name, text = output.get("ename"), str(output.get("evalue"))
    expected = name == "NotImplementedError" or (name == "NameError" and f"'{asked.function}'" in text)
    return output["output_type"] == "error" and not expected


def _grade(attempt: _Attempt, trial: Trial) -> ExerciseGrade:
    asked = attempt.asked
    report, mistake = None, None
    if attempt.verdict is Verdict.RIGHT:
        # The labels of hidden cases may hold hidden numbers.
        report = Report(asked, tuple(CaseResult("", None) for _case in attempt.passed))
    elif attempt.verdict is not Verdict.TAMPERED and attempt.outcomes:
        report = _public_report(attempt, trial)
    if report and report.mistake:
        mistake = report.mistake.name
    if report and (report.passed == (attempt.verdict is Verdict.RIGHT)):
        text, html = str(report), report._repr_html_()
    else:
        text = _sentence(attempt)
        html = _html(asked.title, text)
    if len(text) > FEEDBACK_CHARACTERS:
        text = text[:FEEDBACK_CHARACTERS] + " ..."
        html = _html(asked.title, text)
    if attempt.verdict is Verdict.PARTLY:
        part = _("Part of it is right: {points:g} of {total} points.").format(
            points=_points(attempt), total=asked.points
        )
        text, html = f"{part}\n{text}", f"<p>{escape(part)}</p>{html}"
    return ExerciseGrade(
        exercise_id=asked.id,
        verdict=attempt.verdict,
        points=_points(attempt),
        max_points=float(asked.points),
        feedback=text,
        feedback_html=html,
        mistake=mistake,
    )


def _points(attempt: _Attempt) -> float:
    return round(attempt.share * attempt.asked.points, 4)


def _public_report(attempt: _Attempt, trial: Trial) -> Report | None:
    """The report on the inputs of `check`; a mistake is named only if it fits the hidden inputs too."""
    asked = attempt.asked
    cases, _expected = right_outcomes(asked, PUBLIC_SEED)
    try:
        if asked.kind == "value":
            outcomes = attempt.outcomes[:1] * len(cases)
        elif _unwritten(attempt.outcomes):
            outcomes = (Outcome("raised", error_type="NotImplementedError"),) * len(cases)
        elif attempt.answer < trial.find(asked):
            outcomes = trial.outcomes(asked, attempt.answer, PUBLIC_SEED)
        else:
            return None
    except Ended:
        return None
    report = judge(asked, outcomes, seed=PUBLIC_SEED)
    hidden = right_outcomes(asked, attempt.seed)[0]
    if report.mistake and not makes(asked, report.mistake, attempt.outcomes, hidden):
        return replace(report, mistake=None)
    return report


def _sentence(attempt: _Attempt) -> str:
    """What the learner reads where no report can be shown."""
    asked = attempt.asked
    if attempt.verdict is Verdict.TAMPERED and attempt.outcomes:
        return _trespass_sentence()
    if attempt.verdict in (
        Verdict.WRONG,
        Verdict.UNWRITTEN,
        Verdict.ERROR,
        Verdict.PARTLY,
        Verdict.MALFORMED,
    ):
        if not attempt.outcomes:
            return _(
                "There is no {name} in your notebook when all its cells have run. "
                "Write it under this very name."
            ).format(name=asked.function)
        return _(
            "Your answer is right on the inputs that check() uses, and not on others like them. "
            "Does it hold only for particular numbers, or change from call to call?"
        )
    return _ending_sentence(attempt.verdict)


def _trespass_sentence() -> str:
    return _(
        "This answer calls the library's own function instead of doing the work itself, so it earns nothing. "
        "Write it without posenc_lib, except where the text of the exercise tells you to use it."
    )


def _ending_sentence(verdict: Verdict) -> str:
    return {
        Verdict.TIME_LIMIT: _("It took too long and was stopped. Does a loop never end?"),
        Verdict.MEMORY_LIMIT: _(
            "It needed more memory than there is. Does an array, or a list, grow too large?"
        ),
        Verdict.OUTPUT_LIMIT: _("It printed, showed or returned far more than is allowed, and was stopped."),
        Verdict.TAMPERED: _(
            "It wrote to the grader's own line, which no answer needs to do, and was stopped."
        ),
    }.get(verdict, _("It ended the Python process in which your notebook ran. No answer needs to do that."))


def _html(title: str, text: str) -> str:
    return (
        '<div class="posenc-report posenc-failed" role="status" '
        'style="border-left:4px solid currentColor;padding-left:.8em">'
        f"<p><strong>✗ {escape(title)}</strong></p><p>{escape(text)}</p></div>"
    )


def _overall(grades: Sequence[ExerciseGrade]) -> Verdict:
    verdicts = {each.verdict for each in grades}
    if len(verdicts) == 1:
        return verdicts.pop()
    return Verdict.PARTLY if any(each.points > 0 for each in grades) else Verdict.WRONG


# --- What comes out of a session is untrusted --------------------------------------------------


def _outcome(reply: Any) -> Outcome:
    """An outcome, or one of kind "malformed" where the reply is none."""
    match reply:
        case ["value", value, str(), str()]:
            try:
                return Outcome("value", value=decode(value))
            except ValueError as error:
                return Outcome("malformed", text=_storable(str(error)))
        case ["raised", None, str(error_type), str(text)]:
            return Outcome("raised", error_type=_storable(error_type[:100]), text=_storable(text))
        case ["malformed", None, str(), str(text)]:
            return Outcome("malformed", text=_storable(text))
    return Outcome("malformed", text="the reply is no outcome of a call")


def _storable(text: str, most: int | None = TEXT_CHARACTERS) -> str:
    """A text that files and databases can hold: no halves of characters, no NUL, not too long."""
    return text[:most].encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _clean(outputs: Any) -> list[dict[str, Any]]:
    """The outputs of a cell that are what nbformat allows, with data that is safe to show."""
    return [clean for each in (outputs if type(outputs) is list else []) if (clean := _clean_output(each))]


def _clean_output(output: Any) -> dict[str, Any] | None:
    match output:
        case {"output_type": "stream", "name": "stdout" | "stderr" as name, "text": str(text)}:
            return {"output_type": "stream", "name": name, "text": _storable(text, None)}
        case {"output_type": "error", "ename": str(ename), "evalue": str(evalue), "traceback": [*lines]}:
            return {
                "output_type": "error",
                "ename": _storable(ename, None),
                "evalue": _storable(evalue, None),
                "traceback": [_storable(str(line), None) for line in lines],
            }
        case {"output_type": "display_data" | "execute_result", "data": {**data}} if not _shown(data):
            return None
        case {"output_type": "display_data", "data": {**data}}:
            return {"output_type": "display_data", "data": _shown(data), "metadata": {}}
        case {"output_type": "execute_result", "data": {**data}, "execution_count": int(count)} if (
            type(count) is int and 0 <= count < 2**31
        ):
            return {
                "output_type": "execute_result",
                "data": _shown(data),
                "metadata": {},
                "execution_count": count,
            }
    return None


def _shown(data: Mapping[Any, Any]) -> dict[str, str]:
    return {
        kind: _storable(data[kind], None)
        for kind in _SHOWN
        if isinstance(data.get(kind), str) and (not kind.startswith("image/") or _is_base64(data[kind]))
    }


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
