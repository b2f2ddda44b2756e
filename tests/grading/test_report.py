"""The report of a small class, graded once by the real command: marks, tables, picture, and refusals."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from traitlets import import_item
from traitlets.config import Config

from posenc_course.exercises import exercise
from posenc_course.grading import cli
from posenc_course.grading.cli import main
from posenc_course.grading.report import marks
from posenc_course.grading.report.formats import FORMATS, Format
from posenc_course.grading.report.marks import Moodle  # type: ignore[attr-defined]  # made of FORMATS
from posenc_course.grading.report.pictures import SHOWN, mistakes_made
from tests.grading.class_fixtures import CHAPTER, NO_DIVISION, POINTS, TOTAL, Class, new_class
from tests.present import present

I_FROM_1 = """
def frequencies(dim):
    return 10000.0 ** (-2.0 * np.arange(1, dim // 2 + 1) / dim)
"""
CALLS_THE_LIBRARY = """
def frequencies(dim):
    import posenc_lib
    return posenc_lib.frequencies(dim)
"""
UNKNOWN = """
def frequencies(dim):
    return np.full(dim // 2, 0.25)
"""
pytestmark = pytest.mark.slow

FORMULA = "=HYPERLINK(1)"
WITHOUT_FREQUENCIES = TOTAL - POINTS["frequencies"]


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> Class:
    work = new_class(released, tmp_path_factory.mktemp("class"))
    work.hand_in("ada")
    work.hand_in("bob", work.solved(frequencies=NO_DIVISION))
    work.hand_in("阿达", work.solved(frequencies=NO_DIVISION))
    work.hand_in(FORMULA, work.solved(frequencies=I_FROM_1))
    work.hand_in("cem", work.solved(frequencies=UNKNOWN))
    work.hand_in("blank", work.blank())
    work.hand_in("garbage", "no notebook")
    eve = work.solved(frequencies=CALLS_THE_LIBRARY)
    eve.cells.append(nbformat.v4.new_code_cell("# carried along\n" + "unused = 'x' * 10\n" * 900))
    work.hand_in("eve", eve)
    work.posenc("grade", CHAPTER, "--time-limit", "300")
    with work.gradebook() as gradebook:
        gradebook.add_student("idle", last_name="Lovelace", first_name="Ida", email="ida@example.org")
        gradebook.update_or_create_student("ada", last_name="Byron", first_name="Ada", lms_user_id="4711")
        gradebook.find_grade("check-frequencies", CHAPTER, CHAPTER, "bob").manual_score = 1.5
        gradebook.find_submission_notebook(CHAPTER, CHAPTER, "bob").late_submission_penalty = 4.0
        gradebook.db.commit()
    return work


@pytest.fixture
def report(graded, monkeypatch, capsys) -> Callable[..., str]:
    """Runs `posenc report` in the class's folder, and gives what it printed, errors too."""

    def run(*options: str, status: int = 0, root: Path = graded.root, assignment: str = CHAPTER) -> str:
        monkeypatch.chdir(root)
        assert main(["report", assignment, *options]) == status
        printed = capsys.readouterr()
        return printed.out + printed.err

    return run


def rows(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def test_marks_are_those_of_the_gradebook(graded, report, tmp_path):
    printed = report("--marks", str(tmp_path / "marks.csv"))
    header, *lines = rows(tmp_path / "marks.csv")
    marks = {line[0]: dict(zip(header, line, strict=True)) for line in lines}
    assert header[-len(POINTS) :] == list(POINTS)
    assert sorted(marks) == sorted(
        ["'" + FORMULA, "ada", "blank", "bob", "cem", "eve", "garbage", "idle", "阿达"]
    )
    assert {name: (marks[name]["verdict"], marks[name]["points"]) for name in marks} == {
        "ada": ("right", f"{TOTAL:g}"),
        "bob": ("partly", f"{WITHOUT_FREQUENCIES + 1.5 - 4.0:g}"),  # by hand, and late
        "阿达": ("partly", f"{WITHOUT_FREQUENCIES:g}"),
        "'" + FORMULA: ("partly", f"{WITHOUT_FREQUENCIES:g}"),
        "cem": ("partly", f"{WITHOUT_FREQUENCIES:g}"),
        "blank": ("unwritten", "0"),
        "eve": ("partly", f"{WITHOUT_FREQUENCIES:g}"),
        "garbage": ("malformed", "0"),
        "idle": ("no submission", ""),
    }
    assert (marks["bob"]["frequencies"], marks["bob"]["late_penalty"]) == ("1.5", "4")
    assert {name: marks[name]["tampered"] for name in marks if marks[name]["tampered"]} == {
        "eve": "frequencies"
    }
    assert marks["ada"]["max_points"] == f"{TOTAL:g}"
    assert (marks["idle"]["last_name"], marks["idle"]["email"]) == ("Lovelace", "ida@example.org")
    assert stat.S_IMODE((tmp_path / "marks.csv").stat().st_mode) == 0o600  # nobody else's business
    assert "apostrophe was put before them: =HYPERLINK(1)" in printed


def test_the_same_marks_as_nbgraders_own_export(graded, report, tmp_path):
    report("--marks", str(tmp_path / "marks.csv"))
    graded.nbgrader("export", "--to", str(tmp_path / "theirs.csv"))
    assert (tmp_path / "theirs.csv").stat().st_mode & 0o777 == 0o600  # names and marks: for one pair of eyes
    assert rows(tmp_path / "theirs.csv")[1][0] == CHAPTER
    assert "'" + FORMULA in [row[3] for row in rows(tmp_path / "theirs.csv")]
    with (tmp_path / "theirs.csv").open(encoding="utf-8") as file:
        theirs = {row["student_id"].lstrip("'"): float(row["score"]) for row in csv.DictReader(file)}
    with (tmp_path / "marks.csv").open(encoding="utf-8", newline="") as file:
        ours = {row["student"].lstrip("'"): float(row["points"] or 0) for row in csv.DictReader(file)}
    assert ours == theirs


def test_canvas_gets_its_columns_and_nobody_without_a_mark(graded, report, tmp_path):
    path = tmp_path / "canvas.csv"
    printed = report("--marks", str(path), "--format", "canvas", "--column", "The formula (12)")
    header, possible, *lines = rows(path)
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "The formula (12)"]
    assert possible == ["Points Possible", "", "", "", "", f"{TOTAL:g}"]
    assert ["Byron, Ada", "4711", "", "ada", "", f"{TOTAL:g}"] in lines
    assert ["阿达", "", "", "阿达", "", f"{WITHOUT_FREQUENCIES:g}"] in lines
    assert len(lines) == 8
    assert "because they have no mark: idle" in printed
    theirs = tmp_path / "theirs.csv"
    exporter = ["--exporter=posenc_course.grading.report.marks.Canvas", "--Canvas.column=The formula (12)"]
    graded.nbgrader("export", *exporter, "--to", str(theirs))
    assert theirs.read_bytes() == path.read_bytes()


def test_moodle_gets_its_columns_and_nobody_without_a_mark(report, tmp_path):
    report("--marks", str(tmp_path / "moodle.csv"), "--format", "moodle")
    header, *lines = rows(tmp_path / "moodle.csv")
    assert header == ["First name", "Last name", "ID number", "Email address", CHAPTER]
    assert ["Ada", "Byron", "ada", "", f"{TOTAL:g}"] in lines
    assert len(lines) == 8


def test_the_report_shows_how_marks_are_spread_and_what_to_look_at(report):
    printed = report()
    assert "\n      0  ██ 2\n      5  0\n" in printed  # blank and garbage
    assert "\n     35  █ 1\n" in printed
    assert (
        "Tampered: the answer calls the library where it may not, or tried to deceive the judge:" in printed
    )
    assert "  eve: frequencies\n" in printed
    assert "  eve: the other cells together (" in printed
    assert "These are reasons to look, not proof." in printed


def test_the_tables_count_verdicts_and_name_mistakes(report):
    printed = report()
    assert f"{CHAPTER}: 8 graded, 1 no submission" in printed
    table = {line.split()[0]: " ".join(line.split()) for line in printed.splitlines() if line.strip()}
    assert table["frequencies"].startswith(
        "frequencies 8 1 12% 0 4 wrong, 1 unwritten, 1 malformed, 1 tampered 1 0.25 2"
    )
    assert table["add_positions"].startswith("add_positions 8 6 75% 0 1 unwritten, 1 malformed")
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    first = lines.index("2 25% frequencies: no-division-by-dim")
    assert lines.index("1 12% frequencies: i-from-1") > first
    told = next(
        m.message for m in exercise(f"{CHAPTER}.frequencies").mistakes if m.name == "no-division-by-dim"
    )
    assert told in " ".join(lines)


def test_the_picture_is_a_file_of_its_own(report, tmp_path):
    report("--picture", str(tmp_path / "mistakes.svg"))
    svg = ElementTree.fromstring((tmp_path / "mistakes.svg").read_text(encoding="utf-8"))
    assert "frequencies, no-division-by-dim: 2" in present(svg.get("aria-label"))
    text = "".join(svg.itertext())
    assert "2 (25%)" in text
    assert "prefers-color-scheme" in text


def test_the_page_has_the_tables_and_no_names(report, tmp_path):
    report("--picture", str(tmp_path / "class.html"))
    page = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert "Divide the exponent by dim." in page
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org/", "")  # nothing is fetched from elsewhere
    assert "Bar chart of how many of 8 submissions have how many of" in page
    for student in ("阿达", "cem", "eve:", "garbage", "Byron", "HYPERLINK"):
        assert student not in page


def test_no_file_is_written_over_unless_told(report, tmp_path):
    marks, picture = tmp_path / "marks.csv", tmp_path / "class.html"
    marks.write_text("mine")
    assert "marks.csv already exists" in report("--marks", str(marks), "--picture", str(picture), status=1)
    assert marks.read_text() == "mine"
    assert not picture.exists()
    report("--marks", str(marks), "--force")
    assert "ada" in marks.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--format", "canvas"], "say where to write them, --marks FILE"),
        (["--marks", "m.csv", "--column", "x"], "add --format canvas or --format moodle"),
        (["--picture", "p.png"], "give a name that ends in .svg or .html"),
        (["--marks", "p.svg", "--picture", "p.svg"], "cannot both be written to p.svg"),
        (["--marks", "/proc/m.csv"], "could not be written"),
        (["--marks", "nowhere/m.csv"], "nowhere/m.csv cannot be written: there is no folder nowhere."),
        (["--picture", "nowhere/p.svg"], "there is no folder nowhere"),
    ],
)
def test_a_wrong_call_says_what_to_do(report, options, told):
    assert told in report(*options, status=1)


@pytest.mark.parametrize(
    ("option", "first", "second"), [("--picture", "a.svg", "b.html"), ("--marks", "a.csv", "b.csv")]
)
def test_a_file_is_named_once(capsys, option, first, second):
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["report", CHAPTER, option, first, option, second])
    assert f"{option} was given twice, as {first} and as {second}; give it once" in capsys.readouterr().err


def test_a_format_is_one_entry_of_the_registry():
    """The command line, the help and nbgrader's exporters all take theirs from it."""
    assert {name: each.__name__ for name, each in marks.EXPORTERS.items()} == {
        name: each.system for name, each in FORMATS.items()
    }
    for each in FORMATS.values():
        path = f"posenc_course.grading.report.marks.{each.system}"
        assert import_item(path)(config=Config()).format is each
    added = FORMATS | {"blackboard": Format("Blackboard", lambda marks, column: iter([(column,)]))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "FORMATS", added)
        assert "{csv,canvas,moodle,blackboard}" in " ".join(report_help().split())
        assert "Canvas or Moodle or Blackboard" in " ".join(report_help().split())


def report_help() -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit):
        cli.parser().parse_args(["report", "--help"])
    return out.getvalue()


def test_a_name_that_is_no_assignment_is_told_so(report):
    for name in ("nope", "../.."):
        printed = report(assignment=name, status=1)
        assert f"there are no exercises in the assignment '{name}'; the assignments are 01-why" in printed


def test_nothing_graded_is_told_and_makes_no_journal(report, released):
    assert f"run this first: posenc grade {CHAPTER}" in report(root=released, status=1)
    assert not (released / "course" / "grading").exists()


@pytest.fixture
def copy(graded, tmp_path) -> Path:
    """The class's folder, to be spoiled."""
    root = tmp_path / "copy"
    shutil.copytree(graded.root / "course", root / "course")
    shutil.copy(graded.root / "nbgrader_config.py", root)
    return root


def test_marks_that_never_reached_the_gradebook_are_not_exported(report, copy, tmp_path):
    with contextlib.closing(sqlite3.connect(copy / "course" / "gradebook.db")) as db, db:
        changed = db.execute("UPDATE grade SET auto_score = NULL WHERE auto_score > 0").rowcount
    assert changed
    printed = report("--marks", str(tmp_path / "marks.csv"), root=copy, status=1)
    assert "the gradebook does not have the latest grade of" in printed
    assert not (tmp_path / "marks.csv").exists()


def test_what_was_not_graded_yet_is_listed(report, copy, tmp_path):
    for name in ("late", os.fsdecode(b"\xff")):
        (copy / "course" / "submitted" / name / CHAPTER).mkdir(parents=True)
    printed = report("--marks", str(tmp_path / "marks.csv"), root=copy)
    assert "8 graded, 1 no submission, 2 not graded" in printed
    assert r"\xff, late: handed in, but not graded" in printed
    verdicts = {row[0]: row[5] for row in rows(tmp_path / "marks.csv")}
    assert verdicts["late"] == verdicts[r"\xff"] == "not graded"


def test_a_class_without_named_mistakes_has_no_picture(report, copy, tmp_path):
    with contextlib.closing(sqlite3.connect(copy / "course" / "grading" / "journal.db")) as db, db:
        db.execute("DELETE FROM entries WHERE student != 'ada'")
    printed = report("--picture", str(tmp_path / "p.svg"), root=copy, status=1)
    assert "there is nothing to draw" in printed
    report("--picture", str(tmp_path / "p.html"), root=copy)
    assert "No submission makes a mistake that has a name." in (tmp_path / "p.html").read_text()
    report("--marks", str(tmp_path / "m.csv"), root=copy)
    assert {row[0]: row[5] for row in rows(tmp_path / "m.csv")}["cem"] == "graded elsewhere"


def test_a_picture_of_many_mistakes_shows_the_most_frequent():
    many = [(f"exercise_{n}", f"mistake-{n}", n + 1) for n in range(SHOWN + 5)]
    picture = mistakes_made(many, submissions=100)
    assert f"The {SHOWN} most frequent of {SHOWN + 5} named mistakes" in picture.svg
    assert f"exercise_{SHOWN + 4}: mistake-{SHOWN + 4}" in picture.svg
    assert "exercise_4:" not in picture.svg
    with pytest.raises(ValueError, match="nothing to draw"):
        mistakes_made([], submissions=3)


def test_an_exporter_takes_one_assignment_that_there_is(graded):
    with graded.gradebook() as gradebook:
        with pytest.raises(SystemExit, match="has no assignment 'nothing'"):
            Moodle(assignment=["nothing"]).export(gradebook)
        with pytest.raises(SystemExit, match=f"add --assignment and one of {CHAPTER}"):
            Moodle(assignment=[CHAPTER, "another"]).export(gradebook)


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("distributed", ["grade", CHAPTER, "--again", "--scheduler", "tcp://127.0.0.1:1"]),
        ("matplotlib", ["report", CHAPTER, "--picture", "page.html"]),
    ],
)
def test_what_a_single_option_needs_is_named(graded, package, arguments):
    without = f"import sys; sys.modules[{package!r}] = None; from posenc_course.grading.cli import main; "
    command = [sys.executable, "-c", f"{without} sys.exit(main({arguments}))"]
    ended = subprocess.run(command, cwd=graded.root, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].endswith("pip install 'posenc_course[grading]'")
    assert "Traceback" not in ended.stderr
