"""exercises/ is made from solutions/, holds no answer, and is the same every time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from posenc_course.exercises import all_exercises, exercise
from posenc_course.grading.own_work import KEPT
from posenc_course.grading.release import ReleaseError, cost, hints, release, source_notebook

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted({each.chapter for each in all_exercises()})


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("course")
    (root / "solutions").mkdir()
    (root / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    for text in (ROOT / "solutions").glob("*.md"):
        (root / "solutions" / text.name).write_text(text.read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        release(root)
        yield root


@pytest.mark.slow
def test_exercises_are_current(course):
    made = sorted(path.relative_to(course) for path in (course / "exercises").rglob("*.ipynb"))
    here = (path.relative_to(ROOT) for path in (ROOT / "exercises").rglob("*.*"))
    kept = sorted(
        path for path in here if not {".ipynb_checkpoints", KEPT} & set(path.parts)
    )  # by `make lab`
    assert made == kept, "exercises/ holds other files than solutions/ asks for: run `make exercises`"
    for path in made:
        assert (course / path).read_bytes() == (ROOT / path).read_bytes(), (
            f"{path} is stale: run `make exercises`"
        )


@pytest.mark.slow
def test_a_second_release_gives_the_same_bytes(course):
    before = {path: path.read_bytes() for path in (course / "exercises").rglob("*.ipynb")}
    release(course)
    assert {path: path.read_bytes() for path in (course / "exercises").rglob("*.ipynb")} == before


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_learners_get_holds_no_answer_and_all_points(chapter):
    notebook = nbformat.read(ROOT / "exercises" / chapter / f"{chapter}.ipynb", as_version=4)
    nbformat.validate(notebook)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "SOLUTION" not in text
    graded = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata
    }
    for each in (e for e in all_exercises() if e.chapter == chapter):
        assert graded[f"check-{each.function}"]["points"] == each.points
        assert graded[f"check-{each.function}"]["locked"]
        assert graded[each.function]["solution"]
        assert cost(each) in text
        assert hints(each) in text
    answers = [c.source for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution")]
    assert all("replace this line" in source for source in answers)


@pytest.mark.parametrize("text", sorted((ROOT / "solutions").glob("*.md")), ids=lambda path: path.stem)
def test_a_notebook_says_when_the_library_may_be_called_and_imports_it_only_there(text):
    """An answer that calls it elsewhere passes its check, and earns nothing where it is graded."""
    written = text.read_text()
    some_lend = any(each.lends for each in all_exercises() if each.chapter == text.stem)
    rule = (
        "Call `posenc_lib` only where an exercise tells you to"
        if some_lend
        else "an answer that calls `posenc_lib` earns nothing"
    )
    assert rule.lower() in written.lower()
    assert ("\nimport posenc_lib\n" in written) == some_lend


@pytest.mark.parametrize("text", sorted((ROOT / "solutions").glob("*.md")), ids=lambda path: path.stem)
def test_no_formula_begins_with_what_mathjax_takes_for_an_option(text):
    """Jupyter's MathJax swallows what stands in [ ] behind \\begin{aligned}; the site's Temml shows it."""
    assert re.findall(r"\\begin\{\w*\}\s*\[.*", text.read_text()) == []


def test_the_cost_is_stated_and_hints_are_folded_and_escaped():
    asked = exercise("02-the-formula.frequencies")
    assert f"about {asked.minutes} minutes" in cost(asked)
    assert f"({asked.difficulty} of 5)" in cost(asked)
    assert hints(asked).count("<summary>") == len(asked.hints)
    assert "&lt;b&gt;" in hints(replace(asked, hints=("is 1 <b> 2?",)))
    assert "Is <code>1 &lt; x</code> so?" in hints(replace(asked, hints=("Is `1 < x` so?",)))


ANSWER = """```{code-cell} ipython3
def frequencies(dim):
    ### BEGIN SOLUTION
    return 1
    ### END SOLUTION
```
"""
HEAD = "---\nkernelspec:\n  name: python3\n  display_name: Python 3\n  language: python\n---\n\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (ANSWER, "has no check after it"),
        (
            '```{code-cell} ipython3\ncheck("02-the-formula.frequencies", f)\n```\n',
            "has no answer cell before it",
        ),
        (
            ANSWER + '\n```{code-cell} ipython3\ncheck("02-the-formula.nothing", f)\n```\n',
            "there is no exercise",
        ),
        ("<!-- card: nothing -->\n", "there is no exercise"),
        ("### BEGIN SOLUTION\na text\n### END SOLUTION\n", "lacks <!-- by hand: name, points -->"),
    ],
)
def test_a_malformed_text_notebook_says_what_is_missing(tmp_path, body, words):
    text = tmp_path / "02-the-formula.md"
    text.write_text(HEAD + body)
    with pytest.raises(ReleaseError, match=words):
        source_notebook(text)


def test_a_text_that_a_person_grades_is_released_as_a_form_with_its_points():
    notebook = nbformat.read(ROOT / "exercises" / "capstone" / "capstone.ipynb", as_version=4)
    nbformat.validate(notebook)
    forms = {
        cell.metadata.nbgrader.grade_id: cell
        for cell in notebook.cells
        if cell.cell_type == "markdown" and "nbgrader" in cell.metadata
    }
    assert {name: form.metadata.nbgrader.points for name, form in forms.items()} == {"plan": 5, "report": 10}
    for form in forms.values():
        settings = form.metadata.nbgrader
        assert settings.grade
        assert settings.solution
        assert not settings.locked
        assert f"*{settings.points} points, given by a person*" in form.source
        assert form.source.count("YOUR ANSWER HERE") == form.source.count("**") / 2 >= 4
        assert "SOLUTION" not in form.source
