"""What a learner reads after a check: as text, as HTML, and as an exception on failure."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from posenc_lib.checking.messages import _
from posenc_lib.exercises import Exercise, Mistake


@dataclass(frozen=True)
class CaseResult:
    """One case: its label, and how the answer differs from what is right (None where it does not)."""

    label: str
    difference: str | None

    @property
    def passed(self) -> bool:
        return self.difference is None


class CheckFailed(AssertionError):
    """An answer was judged wrong; `report` says why."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report

    def _render_traceback_(self) -> list[str]:
        # IPython calls this. The whole report is on display already; our stack would only hide it.
        return [self.report.headline]


@dataclass(frozen=True)
class Report:
    """The judgement of one answer. Prints as text and renders as HTML."""

    exercise: Exercise
    results: tuple[CaseResult, ...]
    mistake: Mistake | None = None
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return all(result.passed for result in self.results)

    @property
    def headline(self) -> str:
        good, total = sum(r.passed for r in self.results), len(self.results)
        if self.passed:
            text = _("Passed: {title}. Cases right: {good} of {total}.")
        else:
            text = _("Not yet: {title}. Cases right: {good} of {total}.")
        return text.format(title=self.exercise.title, good=good, total=total)

    @property
    def explanation(self) -> tuple[str, ...]:
        """The named mistake, or else what can be said for certain; empty on a pass."""
        return (_(self.mistake.message),) if self.mistake else self.notes

    @property
    def first_failure(self) -> CaseResult | None:
        return next((result for result in self.results if not result.passed), None)

    def raise_on_failure(self) -> None:
        """Raise CheckFailed unless every case passed."""
        if not self.passed:
            raise CheckFailed(self)

    def __str__(self) -> str:
        lines = [self.headline, *self.explanation]
        if self.first_failure:
            lines.append(_("First wrong case: {label}.").format(label=self.first_failure.label))
            lines.append(f"  {self.first_failure.difference}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        mark = "✓" if self.passed else "✗"
        parts = [f"<p><strong>{mark} {escape(self.headline)}</strong></p>"]
        parts += [f"<p>{escape(text)}</p>" for text in self.explanation]
        if not self.passed:
            rows = "".join(
                f"<li>{'✓' if r.passed else '✗'} {escape(r.label)}"
                + (f"<br>{escape(r.difference)}" if r is self.first_failure and r.difference else "")
                + "</li>"
                for r in self.results
            )
            summary = escape(_("Case by case"))
            parts.append(f"<details open><summary>{summary}</summary><ul>{rows}</ul></details>")
        state = "passed" if self.passed else "failed"
        return (
            f'<div class="posenc-report posenc-{state}" role="status" '
            f'style="border-left:4px solid currentColor;padding-left:.8em">{"".join(parts)}</div>'
        )
