"""What a learner reads about an answer: made from the public inputs alone, in a session that saw no other."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from posenc_course.checking.answer import unwritten
from posenc_course.checking.judge import judge, makes, right_outcomes
from posenc_course.checking.report import CaseResult, Report
from posenc_course.checking.run import Outcome
from posenc_course.grading.judging.attempts import PUBLIC_SEED, Attempt
from posenc_course.grading.judging.trial import Trial, ending_sentence, trespass_sentence
from posenc_course.grading.sandbox.warm import Ended
from posenc_course.grading.verdicts import ExerciseGrade, Verdict
from posenc_course.translation import _

FEEDBACK_CHARACTERS = 5000


def exercise_grade(attempt: Attempt, trial: Trial) -> ExerciseGrade:
    asked = attempt.asked
    report, mistake = None, None
    if attempt.verdict is Verdict.RIGHT:
        # The labels of hidden cases may hold hidden numbers.
        report = Report(
            asked, tuple(CaseResult("", None) for _case in attempt.passed), instead=attempt.instead
        )
    elif attempt.verdict is not Verdict.TAMPERED and attempt.outcomes:
        report = _public_report(attempt, trial)
    if report and report.mistake:
        mistake = report.mistake.name
    if report and (report.passed == (attempt.verdict is Verdict.RIGHT)):
        text, html = str(report), report._repr_html_()
    else:
        text = _sentence(attempt)
        html = _html(_(asked.title), text)
    if len(text) > FEEDBACK_CHARACTERS:
        text = text[:FEEDBACK_CHARACTERS] + " ..."
        html = _html(_(asked.title), text)
    if attempt.verdict is Verdict.PARTLY:
        part = _("Part of it is right: {points:g} of {total} points.").format(
            points=attempt.points, total=asked.points
        )
        text, html = f"{part}\n{text}", f"<p>{escape(part)}</p>{html}"
    return ExerciseGrade(
        exercise_id=asked.id,
        verdict=attempt.verdict,
        points=attempt.points,
        max_points=float(asked.points),
        feedback=text,
        feedback_html=html,
        mistake=mistake,
    )


def _public_report(attempt: Attempt, trial: Trial) -> Report | None:
    """The report on the inputs of `check`; a mistake is named only if it fits the hidden inputs too."""
    asked = attempt.asked
    cases, _expected = right_outcomes(asked, PUBLIC_SEED)
    try:
        if asked.kind == "value":
            outcomes = attempt.outcomes[:1] * len(cases)
        elif unwritten(asked, attempt.outcomes):
            outcomes = (Outcome("raised", error_type="NotImplementedError"),) * len(cases)
        elif attempt.answer < trial.find(asked):
            outcomes = trial.outcomes(asked, attempt.answer, PUBLIC_SEED, attempt.instead)
        else:
            return None
    except Ended:
        return None
    with trial.clock_stopped():
        report = replace(judge(asked, outcomes, seed=PUBLIC_SEED), instead=attempt.instead)
    hidden = right_outcomes(asked, attempt.seed)[0]
    if report.mistake and not makes(asked, report.mistake, attempt.outcomes, hidden):
        return replace(report, mistake=None)
    return report


def _sentence(attempt: Attempt) -> str:
    """What the learner reads where no report can be shown."""
    asked = attempt.asked
    if attempt.verdict is Verdict.TAMPERED and attempt.outcomes:
        return trespass_sentence()
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
                "Define it under exactly this name."
            ).format(name=asked.function)
        return _(
            "Your answer is right on the inputs that check() uses, but not on others like them. "
            "Does it hold only for particular numbers, or change from call to call?"
        )
    return ending_sentence(attempt.verdict)


def _html(title: str, text: str) -> str:
    return (
        '<div class="posenc-report posenc-failed" role="status" '
        'style="border-left:4px solid currentColor;padding-left:.8em">'
        f"<p><strong>✗ {escape(title)}</strong></p><p>{escape(text)}</p></div>"
    )
