"""What `collect.md` says: nbgrader's own `zip_collect` with the page's pattern, on good and hostile zips."""

from __future__ import annotations

import re
import zipfile

import pytest

from tests.grading.class_fixtures import LIGHT, ROOT, new_class

pytestmark = pytest.mark.slow

PAGE = (ROOT / "book" / "instructors" / "collect.md").read_text()


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
