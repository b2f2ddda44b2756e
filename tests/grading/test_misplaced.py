"""Work in the wrong place is found, and told where it belongs; what is in its place is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from posenc_course.grading.handed_in.misplaced import misplaced, others_beside

CHAPTER = "02-the-formula"
RIGHT = f"ada/{CHAPTER}/{CHAPTER}.ipynb"


def lay(root: Path, *paths: str) -> None:
    for each in paths:
        path = root / each
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if each.endswith("/") else path.write_text("{}")


def told(root: Path, *students: str) -> list[str]:
    return [each.sentence for each in misplaced(root, CHAPTER, students)]


@pytest.mark.parametrize(
    ("there", "student"),
    [
        (f"ada/{CHAPTER}.ipynb", "ada"),  # a folder too high
        ("ada/homework.ipynb", "ada"),
        (f"ada/{CHAPTER}/mine/{CHAPTER}.ipynb", "ada"),  # too deep
        (f"ada/{CHAPTER}/{CHAPTER}/{CHAPTER}.ipynb", "ada"),
        (f"download/ada/{CHAPTER}/{CHAPTER}.ipynb", "ada"),
        (f"ada/02-the-formulas/{CHAPTER}.ipynb", "ada"),  # misspelt
        (f"ada/02_The_Formula/{CHAPTER}.ipynb", "ada"),
        (f"ada/02-teh-formula/{CHAPTER}.ipynb", "ada"),
        (f"ada/2-the-formula/{CHAPTER}.ipynb", "ada"),
        ("ada/the formula/work.ipynb", "ada"),
        (f"ada/{CHAPTER} (1)/{CHAPTER}.ipynb", "ada"),
        (f"ada/homework/{CHAPTER}.ipynb", "ada"),
        ("ada/02-the-fromula/", "ada"),  # and nothing in it
        (f"{CHAPTER}/ada/{CHAPTER}.ipynb", "ada"),  # the wrong way round
        (f"{CHAPTER}/ada.ipynb", "ada"),
        (f"{CHAPTER}.ipynb", "<student>"),
    ],
)
def test_what_lies_elsewhere_is_told_with_its_place(tmp_path, there, student):
    lay(tmp_path, f"bob/{CHAPTER}/{CHAPTER}.ipynb", there)
    [sentence] = told(tmp_path)
    assert sentence.startswith(f"{there.rstrip('/')} is in the wrong place")
    assert sentence.endswith(f"move it to {student}/{CHAPTER}/{CHAPTER}.ipynb")


def test_what_is_in_its_place_or_of_another_assignment_is_not_told(tmp_path):
    lay(
        tmp_path,
        RIGHT,
        f"ada/{CHAPTER}/notes.txt",
        "ada/03-relative-position/03-relative-position.ipynb",
        "bob/01-why-order-matters/01-why-order-matters.ipynb",
        f"bob/01-why-order-matters/copy/{CHAPTER}.ipynb",
        "cem/my-photos/cat.ipynb",
        f"dora/{CHAPTER}/homework.ipynb",  # its grade says that it must be renamed
        f"emil/.ipynb_checkpoints/{CHAPTER}.ipynb",
        "grades.csv",
    )
    (tmp_path / "link").symlink_to(tmp_path / "ada")
    assert told(tmp_path) == []


def test_only_the_students_who_are_asked_for(tmp_path):
    lay(tmp_path, f"ada/{CHAPTER}.ipynb", f"bob/{CHAPTER}.ipynb", f"{CHAPTER}/cem/{CHAPTER}.ipynb")
    assert [each.partition(" ")[0] for each in told(tmp_path, "bob", "cem")] == [
        f"{CHAPTER}/cem/{CHAPTER}.ipynb",
        f"bob/{CHAPTER}.ipynb",
    ]


def test_hostile_folders_take_no_time_and_print_nothing_odd(tmp_path):
    deep = tmp_path / "eve" / "/".join(["d"] * 200)
    deep.mkdir(parents=True)
    lay(tmp_path, "mal/\x1b[2J" + CHAPTER + ".ipynb", *(f"flood/{n}/x.ipynb" for n in range(500)))
    assert all(each.isprintable() for each in told(tmp_path))


def test_a_second_notebook_beside_the_first_is_named(tmp_path):
    lay(tmp_path, RIGHT, f"ada/{CHAPTER}/{CHAPTER}-Copy1.ipynb", f"ada/{CHAPTER}/notes.txt")
    assert others_beside(tmp_path / "ada" / CHAPTER, CHAPTER) == [f"{CHAPTER}-Copy1.ipynb"]
