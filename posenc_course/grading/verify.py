"""`posenc verify`: does an exported progress file hold what a certificate says?

The code on a certificate is a checksum: it shows that the file and the certificate belong together and that
neither was changed by accident. It does not show who did the exercises, and whoever can run this program can
make a certificate. What can be checked beyond that is whether the answers are right: by judging them again.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date as Date
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from posenc_course.certificate import checksum, code_of, fingerprint, read_code
from posenc_course.exercises import all_exercises, exercises_of, wholes
from posenc_course.grading.faults import CourseError
from posenc_course.grading.terminal import few_of, left
from posenc_course.grading.untrusted import visible
from posenc_course.grading.verdicts import ExerciseGrade, Verdict
from posenc_course.translation import N_, _, ngettext

MAX_BYTES = 32 * 2**20
FORMAT, VERSION = "posenc-progress", 1
SHOWN = 10


@dataclass(frozen=True)
class Certificate:
    """One that a progress file holds."""

    name: str
    date: str
    answers: Mapping[str, str]
    """Of each exercise, the fingerprint of the answer that passed."""

    @property
    def code(self) -> str:
        return code_of(self.name, self.date, self.answers)


@dataclass(frozen=True)
class Progress:
    """A progress file whose checksum is right."""

    path: Path
    exercises: Mapping[str, Any]
    certificates: tuple[Certificate, ...]
    exported: Date | None = None
    """When a page wrote it, where it says so."""

    def code(self, exercise: str) -> str:
        """The answer that the file holds, the one that passed where it says which, or an empty one."""
        record = self.exercises.get(exercise)
        if not isinstance(record, dict):
            return ""
        answer = record.get("answer")
        found = record.get("code") if answer is None else answer  # an older page kept the newest code alone
        return found if isinstance(found, str) else ""


def read(path: Path) -> Progress:
    """The progress file.

    Raises:
        CourseError: it cannot be read, is no progress file, or was changed after a page wrote it.
    """
    exported = _json(path)
    if not isinstance(exported, dict) or exported.get("format") != FORMAT:
        raise CourseError(
            _(
                "{path} is not a progress file. On the page “Your progress”, export your work, and give "
                "that file"
            ).format(path=path)
        )
    if exported.get("version") != VERSION:
        raise CourseError(
            _(
                "{path} is a progress file of version {found}, and this program reads version {read}. "
                "Install the posenc_course that the site was built from"
            ).format(path=path, found=visible(str(exported.get("version")), 20), read=VERSION)
        )
    if "checksum" not in exported:
        old = _("{path} has no checksum: an older site wrote it. Export your work again")
        raise CourseError(old.format(path=path))
    try:
        right = checksum(exported)
    except (ValueError, OverflowError, RecursionError) as error:
        told = _("{path} contains something that no page writes ({error}). Export your work again")
        raise CourseError(told.format(path=path, error=error)) from error
    if exported["checksum"] != right:
        raise CourseError(
            _(
                "{path} was changed after the page wrote it: its checksum does not match. Give the file as "
                "it was exported"
            ).format(path=path)
        )
    records = exported.get("records")
    if not isinstance(records, dict):
        raise CourseError(_("{path} contains no records. Export your work again").format(path=path))
    kept = {kind: records.get(kind) for kind in ("exercise", "certificate")}
    exercises, certificates = (each if isinstance(each, dict) else {} for each in kept.values())
    found = (_certificate(each) for each in certificates.values())
    return Progress(path, exercises, tuple(each for each in found if each), _date(exported.get("exported")))


def _date(text: Any) -> Date | None:
    """The day that a text begins with, as pages write it; None where it does not."""
    day = re.match(r"\d{4}-\d\d-\d\d(?=T|$)", text, re.ASCII) if isinstance(text, str) else None
    try:
        return Date.fromisoformat(day[0]) if day else None
    except ValueError:
        return None


def _json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        told = _("there is no file {path}. Give the path of the file that you exported")
        raise CourseError(told.format(path=path)) from error
    except IsADirectoryError as error:
        told = _("{path} is a folder. Give the file that you exported")
        raise CourseError(told.format(path=path)) from error
    except (OSError, ValueError) as error:
        told, problem = _("{path} cannot be read ({problem})"), getattr(error, "strerror", None) or error
        raise CourseError(told.format(path=path, problem=problem)) from error
    if len(data) > MAX_BYTES:
        told = _("{path} has more than {most} MiB: it is not a progress file")
        raise CourseError(told.format(path=path, most=MAX_BYTES // 2**20))
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        raise CourseError(
            _(
                "{path} does not contain JSON: it is damaged, or is not a progress file. Export your work "
                "again"
            ).format(path=path)
        ) from error


def _no_json(constant: str) -> None:
    raise ValueError(_("{constant} is not JSON").format(constant=constant))


def _certificate(record: Any) -> Certificate | None:
    """As the record has it; None where it is none."""
    match record:
        case {"name": str(name), "date": str(date), "answers": {**answers}}:
            texts = {str(key): each for key, each in answers.items() if isinstance(each, str)}
            return Certificate(name, date, texts)
    return None


def find(progress: Progress, typed: str) -> Certificate:
    """The certificate of this code, if the file holds all that it says.

    Raises:
        CourseError: the code is none, no certificate of the file has it, or the file does not bear it out.
    """
    code = read_code(typed)
    if code is None:
        raise CourseError(
            _(
                "{typed!r} is not a certificate's code: a code has 20 letters and digits, as in "
                "7K3QD-0V2MX-A1B2C-D3E4F"
            ).format(typed=visible(typed, 60))
        )
    found = next((each for each in progress.certificates if each.code == code), None)
    if found is None:
        codes = ", ".join(each.code for each in progress.certificates[:SHOWN])
        what = _("it holds {codes}").format(codes=codes) if codes else _("it holds none")
        raise CourseError(
            _(
                "{path} contains no certificate with the code {code}; {what}. Look at each letter of the "
                "code, and whether the file was exported after the certificate was made"
            ).format(path=progress.path, code=code, what=what)
        )
    _require_borne_out(progress, found)
    return found


def _require_borne_out(progress: Progress, certificate: Certificate) -> None:
    date = _date(certificate.date)
    if date is None or date.isoformat() != certificate.date:
        raise CourseError(
            _("the certificate's date, {date!r}, is not a date. A page writes dates as 2026-11-23").format(
                date=visible(certificate.date, 40)
            )
        )
    # A day more: where the reader lives it may be tomorrow already.
    if progress.exported and date - progress.exported > timedelta(days=1):
        raise CourseError(
            _(
                "the certificate's date, {date}, comes after the day on which {path} was exported, "
                "{exported}. A page dates a certificate on the day it makes it"
            ).format(date=certificate.date, path=progress.path, exported=progress.exported)
        )
    if not certificate.name.strip():
        raise CourseError(_("the certificate has no name, and a page never makes one without a name"))
    if not certificate.answers:
        raise CourseError(_("the certificate lists no exercise, and a page never makes one without any"))
    known = {each.id for each in all_exercises() if each.in_page}
    unknown = [each for each in certificate.answers if each not in known]
    if unknown:
        raise CourseError(
            _(
                "the certificate lists exercises that no page has: {exercises}. Was it made by another "
                "version of the site?"
            ).format(exercises=_some(unknown))
        )
    wrong = [
        each
        for each, expected in certificate.answers.items()
        if not _passed(progress, each) or fingerprint(progress.code(each)) != expected
    ]
    if wrong:
        raise CourseError(
            _(
                "{path} does not contain the answers that the certificate was made from: {exercises}. If "
                "they were changed later, make a new certificate on the page, and export your work again"
            ).format(path=progress.path, exercises=_some(wrong))
        )


def _passed(progress: Progress, exercise: str) -> bool:
    record = progress.exercises.get(exercise)
    return isinstance(record, dict) and record.get("passed") is True


def _some(names: Sequence[str]) -> str:
    return few_of([visible(each, 60) for each in names], SHOWN)


def judged(progress: Progress, certificate: Certificate, root: Path) -> list[ExerciseGrade]:
    """What the judge says of the certificate's answers: each runs behind walls, on inputs of its own.

    Raises:
        CourseError: `root` has no released notebook of a chapter, or there are no walls on this machine.
    """
    from posenc_course.grading.judging.grader import Grader
    from posenc_course.grading.sandbox.walls import NoWalls

    chapters = dict.fromkeys(each.chapter for each in all_exercises() if each.id in certificate.answers)
    submissions = {chapter: _submission(progress, chapter, root) for chapter in chapters}
    # Nobody chooses the inputs: they follow from the code.
    seed = int.from_bytes(sha256(certificate.code.encode()).digest()[:4], "big")
    grades: list[ExerciseGrade] = []
    try:
        with Grader() as grader:
            for chapter, submission in submissions.items():
                grade = grader.grade(
                    submission,
                    student="",
                    assignment=chapter,
                    seed=seed,
                    only=certificate.answers.keys(),
                )
                grades += grade.exercises
    except NoWalls as error:
        raise CourseError(str(error)) from error
    return grades


def _submission(progress: Progress, chapter: str, root: Path) -> Any:
    """The released notebook of a chapter, with the answers that the file holds, right or not."""
    from posenc_course.grading.handed_in.submission import Cell, Submission

    path = root / "exercises" / chapter / f"{chapter}.ipynb"
    try:
        released = json.loads(path.read_bytes())["cells"]
    except (OSError, ValueError, KeyError) as error:
        raise CourseError(
            _(
                "to judge the answers, {path} is needed and cannot be read. Run the command in the course's "
                "folder, where `make exercises` puts it"
            ).format(path=path)
        ) from error
    functions = {each.function: each.id for each in exercises_of(chapter)}
    cells = []
    for place, cell in enumerate(each for each in released if each["cell_type"] == "code"):
        settings = cell.get("metadata", {}).get("nbgrader", {})
        name = settings.get("grade_id")
        source = "".join(cell["source"])
        if settings.get("solution") and name in functions:
            source = progress.code(functions[name]) or source
        cells.append(Cell(place, source, name, "code"))
    return Submission(tuple(cells), digest="")


def said(certificate: Certificate) -> str:
    """What a right code proves, to be read on a terminal."""
    counted = wholes(each for each in all_exercises() if each.in_page)
    passed = [steps[0].chapter for steps in counted if all(each.id in certificate.answers for each in steps)]
    told = _("The code {code} is right: this file and the certificate belong together.")
    facts = {
        _("name"): visible(certificate.name),
        _("date"): certificate.date,
        _("exercises"): _("{passed} of {all} passed").format(passed=len(passed), all=len(counted)),
    }
    lines = [told.format(code=certificate.code)]
    lines += [f"  {left(what, 11)}{fact}" for what, fact in facts.items()]
    lines += [f"    {chapter:<26}{count:>4}" for chapter, count in Counter(passed).items()]
    return "\n".join(lines)


LIMITS = N_(
    "The code is a checksum, not a signature. It proves practice, not identity: it does not show who did the "
    "exercises, and anyone can make such a file."
)
NOT_JUDGED = N_(
    "Not checked: whether the answers in the file are right. Add --answers to have each judged again, behind "
    "walls."
)


def said_of_answers(grades: Sequence[ExerciseGrade]) -> str:
    """How the answers came out."""
    wrong = [each for each in grades if each.verdict is not Verdict.RIGHT]
    if not wrong:
        return ngettext(
            "The judge ran the one answer again, on new inputs: it is right.",
            "The judge ran all {count} answers again, on new inputs: all are right.",
            len(grades),
        ).format(count=len(grades))
    told = ngettext(
        "The judge ran the answers again, and {wrong} of {count} is not right:",
        "The judge ran the answers again, and {wrong} of {count} are not right:",
        len(wrong),
    ).format(wrong=len(wrong), count=len(grades))
    return "\n".join([told, *(f"  {each.exercise_id}: {_(each.verdict)}" for each in wrong)])
