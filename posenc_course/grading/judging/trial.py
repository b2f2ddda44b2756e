"""All that one submission is put through: walled sessions, and the answers that come out of them."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from posenc_course.checking.judge import right_outcomes
from posenc_course.checking.plain import encode
from posenc_course.checking.run import Outcome
from posenc_course.exercises import Exercise
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox.lending import Lender
from posenc_course.grading.sandbox.warm import Ended, Session, WarmParent
from posenc_course.grading.untrusted import clean_outputs, outcome_of
from posenc_course.grading.verdicts import Verdict
from posenc_course.translation import _

if TYPE_CHECKING:
    from posenc_course.grading.handed_in.submission import Submission

MOST_ENDINGS = 12
"""So many cells and answers of one submission may end their session; then the rest is not tried any more."""
REPLY_BYTES = 512 * 2**10
EMPTY_REPLY_BYTES = 1000


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
        self.stood_in: set[str] = set()
        """Functions of earlier steps that the last answer called, where right ones stood in for them."""
        self.cells = [cell for cell in submission.cells if cell.kind == "code"]
        self._warm, self._lender, self._limits = warm, lender, limits
        self._deadline = time.monotonic() + limits.wall_seconds
        self._took: dict[int, float] = {}
        """Seconds of each cell's longest run so far."""
        self._to_give_back = 4 * limits.wall_seconds
        """That cells run again in the next session costs no time, up to so many seconds in all."""
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
        found = reply.get("found")
        return found if type(found) is int and 0 <= found <= 2 else 0

    def outcomes(
        self, asked: Exercise, answer: int, seed: int, instead: Sequence[Exercise] = ()
    ) -> tuple[Outcome, ...]:
        """What answer number `answer` gives on the cases of a seed, which are called in an order of its own.

        While it is called, the functions of the steps in `instead` are answered from outside.

        Raises:
            Ended: the session ended.
        """
        self.trespassed, self.stood_in = False, set()
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
                "instead": [step.function for step in instead],
                "args": [
                    {"argument": tickets[index]} if callable(each) else {"data": encode(each)}
                    for index, each in enumerate(cases[number].args)
                ],
            }
            # An honest answer is about as big as the right one; what is far bigger is not even looked at.
            expects = encode(expected[number].value)
            most_bytes = max(REPLY_BYTES, 32 * len(json.dumps([expects, order["args"]])))
            reply = self._ask(order, self._answerer(asked, seed, number, lent, instead), deadline, most_bytes)
            outcomes[number] = outcome_of(reply.get("outcome"))
        return tuple(outcomes[number] for number in range(len(cases)))

    @contextlib.contextmanager
    def clock_stopped(self) -> Iterator[None]:
        """Around what the judge computes: its own time is not taken from the learner's."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._deadline += time.monotonic() - started

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
        started = time.monotonic()
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
            sentence = ending_sentence(ending.verdict)
            self.outputs[place] = [{"output_type": "stream", "name": "stderr", "text": sentence + "\n"}]
            self.notes.append(
                _("Cell {number} was left out of grading: {reason}").format(number=place + 1, reason=sentence)
            )
            return False
        took = time.monotonic() - started
        given_back = min(took, self._took.setdefault(place, 0.0), self._to_give_back)
        self._took[place] = max(self._took[place], took)
        self._deadline += given_back
        self._to_give_back -= given_back
        if place not in self.outputs:
            self.outputs[place] = clean_outputs(reply.get("outputs"))
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
        self, asked: Exercise, seed: int, number: int, lent: Mapping[int, int], instead: Sequence[Exercise]
    ) -> Callable[[dict[str, Any]], list[Any]]:
        """Answers what is asked while one case is called; `lent`: places of its callables, by ticket."""
        steps = {step.function: step for step in instead}

        def answer(message: dict[str, Any]) -> list[Any]:
            what = message["ask"] if type(message["ask"]) is dict else {}
            ticket, name = what.get("argument"), str(what.get("name")).rpartition(".")[2]
            question = {"args": message.get("args"), "kwargs": message.get("kwargs")}
            if type(ticket) is int and ticket in lent:
                self._answered = True
                which = {"exercise": asked.id, "seed": seed, "case": number, "argument": lent[ticket]}
                return self._lender.ask({**which, **question})
            if (step := steps.get(str(what.get("step")))) is not None:
                self._answered = True
                self.stood_in.add(step.function)
                return self._lender.ask({"step": step.id, **question})
            if type(ticket) is int:
                return ["refused", None, _("This function works only in the call that it was passed to.")]
            if name in asked.lends:
                self._answered = True
                return self._lender.ask({"name": name, **question})
            self.trespassed = True
            return ["refused", None, trespass_sentence()]

        return answer


def trespass_sentence() -> str:
    return _(
        "This answer calls the library's own function, so it earns nothing. Write it without posenc_lib, "
        "except where the text of the exercise tells you to use it."
    )


def ending_sentence(verdict: Verdict) -> str:
    return {
        Verdict.TIME_LIMIT: _("It took too long and was stopped. Is there a loop that never ends?"),
        Verdict.MEMORY_LIMIT: _(
            "It needed more memory than there is. Does an array or a list grow too large?"
        ),
        Verdict.OUTPUT_LIMIT: _("It printed, showed or returned far more than is allowed, and was stopped."),
        Verdict.TAMPERED: _(
            "It wrote to the grader's own line, which no answer needs to do, and was stopped."
        ),
    }.get(verdict, _("It ended the Python process in which your notebook ran. No answer needs to do that."))
