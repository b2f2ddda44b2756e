"""`posenc verify`: what a certificate's code proves, what it refuses, and what it says of both."""

from __future__ import annotations

import copy
import io
import json
import math
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from posenc_course.certificate import canonical, checksum, code_of, fingerprint, read_code
from posenc_course.grading.cli import main
from posenc_course.grading.verdicts import ExerciseGrade, Verdict
from posenc_course.grading.verify import said_of_answers
from tests.challenges.test_draws import in_javascript

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "Ada",
    "",
    "  Ada  King ",
    "Zoë",
    "Zoe\u0308",
    "李小龍",
    "محمد بن موسى",
    "שרה",
    "👩‍🚀🏳️‍🌈",
    "\u202eadA",
    'O"Brien \\ <b>&amp;</b>',
    "a\u2028b\u2029c\tend\x7f\x00",
    "\ud800 half",
    "x" * 5000,
)
FREQUENCIES, FAR_GAP = "02-the-formula.frequencies", "04-extrapolation.far_gap"
GAP = """def far_gap(losses, trained):
    far, near = losses[:, trained:], losses[:, trained // 2 : trained]
    return np.nanmean(far) - np.nanmean(near)
"""
ANSWERS = {
    FREQUENCIES: "def frequencies(dim):\n    return 10000.0 ** (-np.arange(0, dim, 2) / dim)",
    FAR_GAP: GAP,
}
STAMP = {"updated": "2026-11-23T10:00:00.000Z"}


def exported(name: str = "Ada", answers: dict[str, str] = ANSWERS) -> tuple[dict[str, Any], str]:
    """A progress file with a certificate, as the page writes it, and the code."""
    marks = {each: fingerprint(code) for each, code in answers.items()}
    code = code_of(name, "2026-11-23", marks)
    exercises = {
        each: {"code": code, "passed": True, "attempts": 2, **STAMP} for each, code in answers.items()
    }
    records = {
        "exercise": exercises,
        "quiz": {},
        "certificate": {code: {"name": name, "date": "2026-11-23", "answers": marks, **STAMP}},
    }
    file = {"format": "posenc-progress", "version": 1, "exported": STAMP["updated"], "records": records}
    return file | {"checksum": checksum(file)}, code


def written(tmp_path: Path, file: Any) -> Path:
    path = tmp_path / "progress.json"
    path.write_text(file if isinstance(file, str) else json.dumps(file, indent=1), encoding="utf-8")
    return path


def verify(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, str, str]:
    status = main(["verify", *map(str, arguments)])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


# --- the code


def test_the_page_computes_the_same_codes():
    numbers = [0, -0.0, 1, 0.1, -2.5, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308, 1e-6]
    rng = random.Random(0)
    while len(numbers) < 300:
        (value,) = struct.unpack(">d", rng.randbytes(8))
        numbers += [value] if math.isfinite(value) else []
    keys = {each: index for index, each in enumerate([*NAMES, "é", "z", "Z", "\ufb33", "😀"])}
    values = [numbers, keys, [None, True, False, [], {}, [[{}]]], *NAMES]
    given = json.dumps({"names": NAMES, "values": values})
    found = in_javascript(
        "import { canonical, codeOf, fingerprint } from 'SRC/certificate-code.js';"
        f"const {{ names, values }} = {given};"
        "const answers = { b: fingerprint('x'), a: fingerprint('😀') };"
        "console.log(JSON.stringify({ canonical: values.map(canonical),"
        " prints: names.map(fingerprint),"
        " codes: names.map((name) => codeOf({ name, date: '2026-11-23', answers })) }))"
    )
    assert found["canonical"] == [canonical(each) for each in values]
    assert found["prints"] == [fingerprint(each) for each in NAMES]
    answers = {"a": fingerprint("😀"), "b": fingerprint("x")}
    assert found["codes"] == [code_of(each, "2026-11-23", answers) for each in NAMES]
    assert len(set(found["codes"])) == len(NAMES)


def test_a_code_hangs_on_all_that_it_is_made_of():
    code = code_of("Ada", "2026-11-23", {"a": "1"})
    others = [
        ("ada", "2026-11-23", {"a": "1"}),
        ("Ada", "2026-11-24", {"a": "1"}),
        ("Ada", "2026-11-23", {"a": "2"}),
    ]
    others += [("Ada", "2026-11-23", {"b": "1"}), ("Ada", "2026-11-23", {"a": "1", "b": "1"})]
    assert len({code, *(code_of(*each) for each in others)}) == 6


@pytest.mark.parametrize(
    "typed",
    [
        "WAGCC-PZ2XB-Q89JX-KSY6W",
        "wagcc pz2xb q89jx ksy6w",
        "WAGCCPZ2XBQ89JXKSY6W",
        " WAGCC–PZ2XB–Q89JX–KSY6W\n",
    ],
)
def test_a_code_is_read_as_people_type_it(typed):
    assert read_code(typed) == code_of("Ada", "2026-11-23", {})


def test_letters_that_look_like_digits_are_taken_for_them():
    assert read_code("OIL00-00000-00000-00000") == "01100-00000-00000-00000"
    for wrong in ("", "WAGCC", "U" * 20, "0" * 21, "0" * 19 + "é"):
        assert read_code(wrong) is None


# --- the command


@pytest.mark.parametrize("name", [each for each in NAMES if each.strip()], ids=ascii)
def test_a_right_code_is_told_what_it_proves_and_what_not(tmp_path, capsys, name):
    file, code = exported(name)
    status, out, err = verify(capsys, written(tmp_path, file), code.lower().replace("-", " "))
    assert (status, err) == (0, "")
    assert f"The code {code} is right" in out
    assert "2 of " in out
    assert "practice, not identity" in out
    assert "Not checked: whether the answers in the file are right" in out
    assert "\u202e" not in out
    assert "\x00" not in out


def changed(path: str, value: Any, *, sealed: bool) -> tuple[dict[str, Any], str]:
    """The file with one thing changed; `sealed` by somebody who knows how to compute a checksum."""
    file, code = exported()
    file = copy.deepcopy(file)
    place = file
    *way, last = (code if each == "CODE" else each for each in path.split("/"))
    for each in way:
        place = place[each]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return (file | {"checksum": checksum(file)} if sealed else file), code


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("exported", "2026-11-24T10:00:00.000Z"),
        ("records/quiz/x", {}),
        (f"records/exercise/{FREQUENCIES}/attempts", 1),
        (f"records/exercise/{FREQUENCIES}/code", "x = 1"),
        (f"records/exercise/{FREQUENCIES}", None),
        ("records/certificate/CODE/name", "Eve"),
        ("checksum", "0" * 64),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path, capsys, path, value):
    file, code = changed(path, value, sealed=False)
    status, out, err = verify(capsys, written(tmp_path, file), code)
    assert (status, out) == (1, "")
    assert "was changed after the page wrote it" in err


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("records/certificate/CODE/name", "Eve", "no certificate with the code"),
        ("records/certificate/CODE/date", "2020-01-01", "no certificate with the code"),
        (f"records/certificate/CODE/answers/{FAR_GAP}", None, "no certificate with the code"),
        ("records/certificate", None, "it holds none"),
        ("records/certificate/CODE", "x", "it holds none"),
        (f"records/exercise/{FREQUENCIES}/code", "x = 1", f"was made from: {FREQUENCIES}."),
        (f"records/exercise/{FREQUENCIES}/answer", "x = 1", f"was made from: {FREQUENCIES}."),
        (f"records/exercise/{FREQUENCIES}/answer", [ANSWERS[FREQUENCIES]], f"was made from: {FREQUENCIES}."),
        (f"records/exercise/{FREQUENCIES}/passed", False, f"was made from: {FREQUENCIES}."),
        (f"records/exercise/{FREQUENCIES}/passed", "yes", f"was made from: {FREQUENCIES}."),
        (f"records/exercise/{FREQUENCIES}", None, f"was made from: {FREQUENCIES}."),
        ("records/exercise", [], f"was made from: {FREQUENCIES}, {FAR_GAP}."),
        ("exported", "2026-11-20T10:00:00.000Z", "comes after the day on which"),
        ("records", [], "contains no records"),
        ("format", "other", "is not a progress file. On the page “Your progress”, export your work"),
        ("version", 2, "version 2"),
    ],
)
def test_a_file_that_does_not_bear_the_certificate_out_is_refused(tmp_path, capsys, path, value, said):
    """Whoever can compute a checksum still has to put the answers in."""
    file, code = changed(path, value, sealed=True)
    status, out, err = verify(capsys, written(tmp_path, file), code)
    assert (status, out) == (1, "")
    assert said in err
    assert err.startswith("error: ")


@pytest.mark.parametrize(("code", "answer"), [("x = 1", GAP), (GAP, None)])
def test_the_answer_that_passed_counts_and_not_what_was_written_since(tmp_path, capsys, code, answer):
    file, certified = exported()
    file["records"]["exercise"][FAR_GAP] |= {"code": code, "answer": answer}
    del file["checksum"]
    assert verify(capsys, written(tmp_path, file | {"checksum": checksum(file)}), certified)[0] == 0


@pytest.mark.parametrize("date", ["20261123", "2026-W47-1", "9999-12-31", "2026-11-31", "2026-11-23 ", ""])
def test_a_date_that_no_page_writes_is_refused(tmp_path, capsys, date):
    """Each is in a certificate whose code and checksum are right."""
    file, _code = exported()
    (record,) = file["records"]["certificate"].values()
    record["date"] = date
    code = code_of(record["name"], date, record["answers"])
    del file["checksum"]
    status, out, err = verify(capsys, written(tmp_path, file | {"checksum": checksum(file)}), code)
    assert (status, out) == (1, "")
    assert err.startswith(f"error: the certificate's date, {date if date == '9999-12-31' else repr(date)},")


def test_a_reader_who_is_a_day_ahead_has_a_good_certificate(tmp_path, capsys):
    file, code = changed("exported", "2026-11-22T23:30:00.000Z", sealed=True)
    assert verify(capsys, written(tmp_path, file), code)[0] == 0


def test_one_answer_is_told_as_one():
    right = ExerciseGrade(FAR_GAP, Verdict.RIGHT, 1.0, 1.0)
    wrong = ExerciseGrade(FAR_GAP, Verdict.WRONG, 0.0, 1.0)
    assert said_of_answers([right]) == "The judge ran the one answer again, on new inputs: it is right."
    assert "1 of 2 is not right" in said_of_answers([right, wrong])


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "[" * 100_000, '{"a": NaN}', "\ufeff{}", "\x00"])
def test_what_is_no_export_is_refused_in_words(tmp_path, capsys, content):
    status, out, err = verify(capsys, written(tmp_path, content), "0" * 20)
    assert (status, out) == (1, "")
    assert "does not contain JSON" in err or "is not a progress file" in err
    assert "fault of posenc" not in err


def test_files_that_cannot_be_read_are_told(tmp_path, capsys):
    assert "there is no file" in verify(capsys, tmp_path / "none.json", "0" * 20)[2]
    assert "is a folder" in verify(capsys, tmp_path, "0" * 20)[2]
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert "does not contain JSON" in verify(capsys, tmp_path / "bytes.json", "0" * 20)[2]


def test_a_certificate_that_no_page_makes_is_refused(tmp_path, capsys):
    for name, answers, said in (
        ("", ANSWERS, "has no name"),
        ("Ada", {}, "lists no exercise"),
        ("Ada", {"02-the-formula.nothing": "x"}, "lists exercises that no page has"),
    ):
        file, code = exported(name, answers)
        status, _, err = verify(capsys, written(tmp_path, file), code)
        assert status == 1
        assert said in err


def test_what_the_command_line_does_not_say_is_asked_for(tmp_path, capsys, monkeypatch):
    file, code = exported()
    path = written(tmp_path, file)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{path}\n{code}\n"))
    assert verify(capsys)[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    status, _, err = verify(capsys, path)
    assert status == 1
    assert "posenc verify FILE CODE" in err


@pytest.mark.parametrize("typed", ["-", "x", "\x1b[2J", "0" * 20])
def test_a_wrong_code_is_told_so(tmp_path, capsys, typed, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    status, out, err = verify(capsys, written(tmp_path, exported()[0]), typed)
    assert (status, out) == (1, "")
    assert "\x1b" not in err


# --- the answers


@pytest.mark.slow
def test_the_answers_are_judged_again_behind_walls(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    file, code = exported()
    status, out, err = verify(capsys, written(tmp_path, file), code, "--answers")
    assert (status, err) == (0, "")
    assert "ran all 2 answers again" in out
    assert "all are right" in out

    table = "def frequencies(dim):\n    return [1.0]"
    file, code = exported(answers={**ANSWERS, FREQUENCIES: table})
    path = written(tmp_path, file)
    assert verify(capsys, path, code)[0] == 0  # the code alone does not show it
    status, out, _ = verify(capsys, path, code, "--answers")
    assert status == 1
    assert f"{FREQUENCIES}: wrong" in out
    assert FAR_GAP not in out


def test_where_there_is_no_course_the_answers_cannot_be_judged(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file, code = exported()
    status, _, err = verify(capsys, written(tmp_path, file), code, "--answers")
    assert status == 1
    assert "Run the command in the course's folder" in err
