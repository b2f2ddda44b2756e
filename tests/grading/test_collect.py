"""What `set-up.md` and `collect.md` say, with nbgrader itself: a class list, and good and hostile zips."""

from __future__ import annotations

import re
import subprocess
import zipfile

import pytest

from tests.grading.class_fixtures import LIGHT, ROOT, new_class

pytestmark = pytest.mark.slow

SET_UP, PAGE = ((ROOT / "book" / "instructors" / f"{name}.md").read_text() for name in ("set-up", "collect"))


def test_a_list_that_a_spreadsheet_saved_is_read_without_its_mark(released_light, tmp_path):
    work = new_class(released_light, tmp_path, LIGHT)
    students = re.search(r"^```text\n(id,.*?)```", SET_UP, re.MULTILINE | re.DOTALL)
    remove = re.search(r"^sed -i .* students\.csv$", SET_UP, re.MULTILINE)
    told = re.search(r"nbgrader answers `(.*?)`", SET_UP)
    assert students
    assert remove
    assert told
    (work.root / "students.csv").write_text(
        students[1].replace("\n", "\r\n"), encoding="utf-8-sig", newline=""
    )
    assert told[1] in work.nbgrader("db", "student", "import", "students.csv", status=1)
    subprocess.run(remove[0], shell=True, cwd=work.root, check=True)
    work.nbgrader("db", "student", "import", "students.csv")
    listed = work.nbgrader("db", "student", "list")
    for line in students[1].splitlines()[1:]:
        name, last, first, *_ = line.split(",")
        assert f"{name} ({last}, {first})" in listed


def test_the_learner_is_taken_from_the_platforms_name_and_never_from_inside_a_zip(released_light, tmp_path):
    work = new_class(released_light, tmp_path, LIGHT)
    archive = work.root / "downloaded" / LIGHT / "archive"
    archive.mkdir(parents=True)
    (archive / f"ada_{LIGHT}.ipynb").write_text('"ada"')
    inside = {
        "ben_work.zip": (f"{LIGHT}.ipynb", '"ben"'),
        "cem_work.zip": (f"folder/cem_{LIGHT}.ipynb", '"cem"'),
        "kim_work.zip": (f"sub/ada_{LIGHT}.ipynb", '"kim"'),
        "lea_work.zip": (f"extracted/ada_{LIGHT}.ipynb", '"lea"'),
        "nobody.zip": (f"extracted/ada_{LIGHT}.ipynb", '"nobody"'),
    }
    for name, (member, text) in inside.items():
        with zipfile.ZipFile(archive / name, "w") as file:
            file.writestr(member, text)
            file.writestr(f"__MACOSX/._{LIGHT}.ipynb", "what a Mac adds")
            file.writestr(f".ipynb_checkpoints/{LIGHT}-checkpoint.ipynb", "what Jupyter adds")
    pattern = re.search(r"^NAMES='(.*)'$", PAGE, re.MULTILINE)
    assert pattern is not None
    work.nbgrader("zip_collect", LIGHT, f"--FileNameCollectorPlugin.named_regexp={pattern[1]}")
    collected = {
        path.parent.parent.name: path.read_text()
        for path in (work.root / "course" / "submitted").glob(f"*/{LIGHT}/{LIGHT}.ipynb")
    }
    assert collected == {name: f'"{name}"' for name in ("ada", "ben", "cem", "kim", "lea")}
