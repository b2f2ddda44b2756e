"""A quiz is written once, in its chapter; a slip in it stops the build and is told with file and line."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))

import quiz  # noqa: E402

QUIZ = re.compile(r"^(`{3,})\{quiz\}\n(?P<body>.*?)\n\1$", re.MULTILINE | re.DOTALL)
CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]-*.md"))


def question(name: str, options: str = "") -> str:
    options = options or "{answer: yes it is, feedback: Right., right: true}, {answer: a, feedback: b}"
    return f"- id: {name}\n  question: What is $x$?\n  options: [{options}]\n"


GOOD = question("one") + question("two") + question("three")


def test_a_quiz_is_read():
    asked = quiz.read_questions(
        question("one", "{answer: a, feedback: fa, right: true}, {answer: b, feedback: fb, right: true}, "
                        "{answer: c, feedback: fc}") + question("two") + question("three")
    )  # fmt: skip
    assert [(each.id, each.several, each.line) for each in asked] == [
        ("one", True, 0),
        ("two", False, 3),
        ("three", False, 6),
    ]
    assert [(o.answer, o.feedback, o.right) for o in asked[0].options] == [
        ("a", "fa", True),
        ("b", "fb", True),
        ("c", "fc", False),
    ]


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda each: each.stem)
def test_no_right_answer_is_known_by_its_length(chapter):
    body = present(QUIZ.search(chapter.read_text(encoding="utf-8")))["body"]
    for each in quiz.read_questions(body):
        if not each.several:
            [right] = [len(option.answer) for option in each.options if option.right]
            longest = max(len(option.answer) for option in each.options if not option.right)
            assert right <= 1.8 * longest, each.id


def test_a_question_that_changed_is_known_by_its_fingerprint():
    [before, *_] = quiz.read_questions(GOOD)
    [same, *_] = quiz.read_questions(GOOD.replace("feedback: b", "feedback: better"))
    [changed, *_] = quiz.read_questions(GOOD.replace("answer: a", "answer: another"))
    assert same.fingerprint == before.fingerprint
    assert changed.fingerprint != before.fingerprint


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("", 0, "a list of 3 to 5 questions, and here is a NoneType"),
        (question("one"), 0, "and here is 1 questions"),
        ("".join(map(question, "abcdef")), 0, "and here is 6 questions"),
        (GOOD + question("two"), 9, "two questions have the id 'two'"),
        (GOOD.replace("id: two", "id: Two!"), 3, "small letters, digits and hyphens"),
        (GOOD.replace("id: three", "id: 3"), 6, "id is 3, and must be text"),
        (GOOD.replace("  question: What is $x$?\n", "", 1), 0, "question is missing here"),
        (GOOD + "- id: four\n  question: a\n  options: []\n", 9, "a list of two or more options"),
        (GOOD.replace(", right: true", "", 1), 0, "has no right option"),
        (GOOD.replace("feedback: b}", "feedback: b, right: true}", 1), 0, "has no wrong option"),
        (GOOD.replace("right: true", "right: surely", 1), 2, "right is 'surely'; write true"),
        (GOOD.replace("answer: a", "answer: 1.0", 1), 2, "answer is 1.0, and must be text; put it in quotes"),
        (GOOD.replace(", feedback: b", "", 1), 2, "feedback is missing here"),
        (GOOD.replace("feedback: b}", "feedback: b, hint: c}", 1), 2, "'hint' is none of them"),
        (GOOD.replace("  question", "  id: twice\n  question", 1), 1, "'id' stands twice"),
        (GOOD.replace("What is $x$?", "Is it: this?", 1), 1, "goes in quotes"),
        ("- one\n- two\n- three\n", 0, "a question is a mapping with id, question, options"),
    ],
)
def test_a_slip_in_a_quiz_is_named_with_its_line(body, line, said):
    with pytest.raises(quiz.QuizError, match=re.escape(said)) as caught:
        quiz.read_questions(body)
    assert caught.value.line == line


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_ends_with_a_quiz(chapter):
    text = chapter.read_text()
    [found] = QUIZ.finditer(text)
    quiz.read_questions(found["body"])
    assert found.start() > text.index("{predict}")
    assert found.end() < text.index("## Take-away")


# The directives, in Sphinx.

CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "formulas", "quiz", "progress", "challenges"]
html_math_renderer = "mathml"
html_theme = "sphinx_book_theme"
html_static_path = [{str(ROOT / "book" / "_static")!r}]
nb_execution_mode = "off"
exclude_patterns = ["html", "jupyter_execute"]
myst_enable_extensions = ["dollarmath"]
"""
HEAD = (
    "---\njupytext:\n  text_representation:\n    extension: .md\n    format_name: myst\n"
    "kernelspec:\n  display_name: Python 3\n  language: python\n  name: python3\n---\n\n"
)


GATHERING = ("progress", "review")
LINKED = "instructors/index"
"""The page to which one of those leads."""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = _small_book(tmp_path_factory.mktemp("book"))
    done = _sphinx(root)
    assert done.returncode == 0, done.stderr
    return root


def _small_book(root: Path) -> Path:
    """Two chapters with a quiz each, and the project's own pages that gather."""
    (root / "book" / "instructors").mkdir(parents=True)
    (root / "conf.py").write_text(CONFIG)
    pages = ("01-why-order-matters", "02-the-formula", *GATHERING, LINKED)
    contents = "".join(f"book/{page}\n" for page in pages)
    (root / "index.md").write_text(f"# A book\n\n```{{toctree}}\n{contents}```\n")
    _write_chapter(root, "01-why-order-matters", "Why order matters", GOOD)
    _write_chapter(root, "02-the-formula", "The formula", GOOD)
    for page in GATHERING:
        shutil.copy(ROOT / "book" / f"{page}.md", root / "book")
    (root / "book" / f"{LINKED}.md").write_text("# For instructors\n")
    return root


def _write_chapter(root: Path, page: str, title: str, body: str) -> Path:
    text = f"{HEAD}# {title}\n\n```{{code-cell}}\n1 + 1\n```\n\n## Check yourself\n\n```{{quiz}}\n{body}```\n"
    (root / "book" / f"{page}.md").write_text(text)
    return root / "book" / f"{page}.md"


def _sphinx(root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", str(root), str(root / "html")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _html(root: Path, page: str) -> str:
    return (root / "html" / "book" / f"{page}.html").read_text()


@pytest.mark.slow
def test_a_question_is_a_form_that_reads_without_scripts(built):
    html = _html(built, "02-the-formula")
    assert html.count("<fieldset") == 3
    assert html.count('type="radio" name="02-the-formula.two"') == 2
    assert "Question 2 of 3" in html
    assert 'What is <span class="math notranslate nohighlight"><math><mi>x</mi></math></span>?' in html
    assert html.count("This is right.") == 3
    assert html.count("This is wrong.") == 3


@pytest.mark.slow
def test_the_review_page_gathers_the_questions_of_all_chapters(built):
    html = _html(built, "review")
    for chapter, title in (("01-why-order-matters", "Why order matters"), ("02-the-formula", "The formula")):
        assert f'data-question="{chapter}.three"' in html
        assert f'href="{chapter}.html#quiz-one"' in html
        assert f"From the chapter “{title}”" in html
    assert html.count("<fieldset") == 6
    assert "mathjax.js" not in html.lower()
    assert html.count("<math>") >= 2


@pytest.mark.slow
def test_the_progress_page_lists_every_exercise_with_its_place(built):
    from posenc_course.exercises import all_exercises

    html = _html(built, "progress")
    chapters = ("01-why-order-matters", "02-the-formula")
    for each in (each for each in all_exercises() if each.chapter in chapters):
        place = f"{each.chapter}.html#exercise-{each.function.replace('_', '-')}"
        assert re.search(
            rf'data-exercise="{re.escape(each.id)}"[^>]*><a [^>]*href="{re.escape(place)}"', html
        )
    assert 'href="02-the-formula.html#quiz-one"' in html
    assert 'data-review="review.html"' in html


@pytest.mark.slow
def test_every_page_leads_to_the_progress_page(built):
    assert 'class="posenc-progress-bar" href="book/progress.html"' in (built / "html/index.html").read_text()
    assert 'class="posenc-progress-bar" href="progress.html"' in _html(built, "02-the-formula")


@pytest.mark.slow
def test_a_changed_question_reaches_the_pages_that_gather(built, tmp_path):
    root = Path(shutil.copytree(built, tmp_path / "book"))
    _write_chapter(root, "02-the-formula", "The formulas", GOOD.replace("yes it is", "I **think** so"))
    done = _sphinx(root)
    assert done.returncode == 0, done.stderr
    assert _html(root, "review").count("I <strong>think</strong> so") == 3
    assert "The formulas" in _html(root, "progress")


@pytest.mark.slow
def test_pages_that_gather_are_not_written_again_for_nothing(built, tmp_path):
    root = Path(shutil.copytree(built, tmp_path / "book"))
    _sphinx(root)  # a book in another place is made anew
    pages = [root / "html" / "book" / f"{name}.html" for name in ("review", "progress")]
    before = [page.stat().st_mtime_ns for page in pages]
    chapter = root / "book" / "02-the-formula.md"
    chapter.write_text(
        chapter.read_text().replace("## Check yourself", "Some more words.\n\n## Check yourself")
    )
    done = _sphinx(root)
    assert done.returncode == 0, done.stderr
    assert "Some more words." in _html(root, "02-the-formula")
    assert [page.stat().st_mtime_ns for page in pages] == before


@pytest.mark.slow
def test_what_a_failed_build_left_unwritten_comes_with_the_next(built, tmp_path):
    root = Path(shutil.copytree(built, tmp_path / "book"))
    _write_chapter(root, "02-the-formula", "The formula", GOOD.replace("yes it is", "I **think** so"))
    (root / "book" / "01-why-order-matters.md").write_text("# Why order matters\n\n{nothing}`x`\n")
    assert _sphinx(root).returncode != 0
    _write_chapter(root, "01-why-order-matters", "Why order matters", GOOD)
    done = _sphinx(root)
    assert done.returncode == 0, done.stderr
    assert _html(root, "review").count("I <strong>think</strong> so") == 3


@pytest.mark.slow
def test_a_faulty_quiz_stops_the_build_and_says_where(tmp_path):
    root = _small_book(tmp_path)
    hint = GOOD.replace("feedback: b}", "feedback: b, hint: c}", 1)
    two_paragraphs = GOOD.replace("answer: yes it is", r'answer: "yes\n\nit is"')
    first = _write_chapter(root, "01-why-order-matters", "Why order matters", hint)
    second = _write_chapter(root, "02-the-formula", "The formula", two_paragraphs)
    done = _sphinx(root)
    assert done.returncode != 0
    assert f"{first}:{_line_of(first, 'hint: c')}: ERROR: quiz: an option has" in done.stderr
    assert f"{second}:{_line_of(second, 'it is')}: ERROR: quiz: an answer is one paragraph" in done.stderr


def _line_of(page: Path, part: str) -> int:
    return next(i for i, line in enumerate(page.read_text().splitlines(), start=1) if part in line)
