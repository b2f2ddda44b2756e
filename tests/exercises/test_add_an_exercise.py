"""Every exercise has all that one needs; for one that lacks something, one message lists what and where."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from posenc_course.exercises import Exercise, all_exercises, exercises_of, steps_of
from tests.conftest import copy_project

ROOT = Path(__file__).resolve().parents[2]
NEW = "05-pitfalls.first_of_all"


def lacking(asked: Exercise) -> Iterator[str]:
    """What this exercise still needs, and where it goes, in the order of CONTRIBUTING."""
    folder = f"ch{asked.chapter.replace('-', '_')}"
    definition = f"posenc_course/exercises/{folder}/{asked.function}.py"
    known = 2 if asked.kind == "value" else 4
    for there, what in (
        (asked.title, "its title: `title`"),
        (asked.signature, "what it takes and what it gives, with shapes: `signature`"),
        (not _unwritten(asked), "a right answer: `reference`"),
        (asked.cases(), "inputs, the nasty ones too: `make_cases`"),
        (len(asked.alternatives) >= 3, "other right ways to write it, at least three: `alternatives`"),
        (len(asked.mistakes) >= known, f"what people get wrong, at least {known} mistakes: `mistakes`"),
        (len(asked.hints) >= 2, "hints, at least two, each of which says a little more: `hints`"),
    ):
        if not there:
            yield f"{what} in {definition}"
    solutions = f"solutions/{asked.chapter}.md"
    told, cell = _section(asked, (ROOT / solutions).read_text())
    if not told:
        yield f"a text that says what is asked, below its card in {solutions}"
    if "raise NotImplementedError" in cell:
        yield f"a solution, between `### BEGIN SOLUTION` and `### END SOLUTION` in {solutions}"
    test = ROOT / "tests" / "exercises" / folder / f"test_{asked.function}.py"
    module = f"tests.exercises.{folder}.{test.stem}"
    if not test.exists() or not getattr(importlib.import_module(module), "NOT_KNOWN", ()):
        yield f"wrong answers that no list names: `NOT_KNOWN` in {test.relative_to(ROOT)}"
    first = steps_of(asked, exercises_of(asked.chapter))[0]
    if not any(f"```{{exercise}} {first.id}\n" in each.read_text() for each in (ROOT / "book").glob("*.md")):
        yield f"its place in the chapter: a block `{{exercise}} {first.id}` in book/{asked.chapter}.md"


def _unwritten(asked: Exercise) -> bool:
    code = getattr(asked.reference, "__code__", None)
    return code is not None and "NotImplementedError" in code.co_names


def _section(asked: Exercise, solutions: str) -> tuple[str, str]:
    """What is told below its card, and the cell with its solution."""
    _, _, below = solutions.partition(f"<!-- card: {asked.function} -->\n")
    told, _, rest = below.partition("```{code-cell}")
    return told.strip(), rest.partition("```")[0]


@pytest.mark.parametrize("asked", all_exercises(), ids=lambda asked: asked.id)
def test_every_exercise_is_complete(asked: Exercise) -> None:
    missing = list(lacking(asked))
    assert not missing, "\n".join([f"{asked.id} is not complete yet:", *missing])


# A new one, in a copy of the project.


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_project(tmp_path_factory.mktemp("copy"))


def make(copy: Path, name: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.new_exercise", name]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("05-pitfalls.serve", "there is an exercise 05-pitfalls.serve already: posenc_course/exercises/ch05"),
        ("05-pitfall.serve", "there is no chapter '05-pitfall'; there are 01-why-order-matters, 02-"),
        ("serve", "there is no chapter 'serve'"),
        ("", "give one name, <chapter>.<function>: make exercise NAME=05-pitfalls.my_function"),
        ("05-pitfalls", "'' cannot be a function's name; give <chapter>.<function>, as 05-pitfalls.my_"),
        ("05-pitfalls.Serve-it", "'Serve-it' cannot be a function's name"),
        ("05-pitfalls._shared", "'_shared' cannot be a function's name"),
        ("05-pitfalls.../x", "'../x' cannot be a function's name"),
        ("05-pitfalls.lambda", "'lambda' cannot be a function's name"),
        ("05-pitfalls.sum", "'sum' is a function of Python's own"),
    ],
)
def test_a_name_that_will_not_do_is_refused_in_one_sentence(copy: Path, name: str, says: str) -> None:
    before = {each: each.stat().st_mtime_ns for each in copy.rglob("*") if each.suffix in (".py", ".md")}
    told = make(copy, name)
    assert told.returncode == 1
    assert told.stderr.startswith(f"error: {says}")
    assert told.stderr.count("\n") == 1
    assert before == {each: each.stat().st_mtime_ns for each in before}


DEFINITION = "posenc_course/exercises/ch05_pitfalls/first_of_all.py"
SAYS = {
    f"its title: `title` in {DEFINITION}",
    f"what it takes and what it gives, with shapes: `signature` in {DEFINITION}",
    f"a right answer: `reference` in {DEFINITION}",
    f"inputs, the nasty ones too: `make_cases` in {DEFINITION}",
    f"other right ways to write it, at least three: `alternatives` in {DEFINITION}",
    f"what people get wrong, at least 4 mistakes: `mistakes` in {DEFINITION}",
    f"hints, at least two, each of which says a little more: `hints` in {DEFINITION}",
    "a text that says what is asked, below its card in solutions/05-pitfalls.md",
    "a solution, between `### BEGIN SOLUTION` and `### END SOLUTION` in solutions/05-pitfalls.md",
    "wrong answers that no list names: `NOT_KNOWN` in tests/exercises/ch05_pitfalls/test_first_of_all.py",
    f"its place in the chapter: a block `{{exercise}} {NEW}` in book/05-pitfalls.md",
    "Failed: Compare it with a table, another library, an identity: not with our own output.",
}
FILLED = {
    DEFINITION: {
        'title=""': 'title="The first of all"',
        'signature=""': 'signature="first_of_all(x: array of shape (n,)) -> a number"',
        "import Case, Exercise": "import Case, Exercise, Mistake",
        "FIRST_OF_ALL =": "LAST = Mistake('last', lambda x: x[-1], 'This is the last.')\n\nFIRST_OF_ALL =",
        "yield from ()": 'for n in (1, 2, 5, 9):\n        yield Case(f"n = {n}", (rng.normal(size=n),))',
        "_first_of_all() ->": "_first_of_all(x: np.ndarray) ->",
        "raise NotImplementedError": "return float(x[0])",
        "mistakes=()": "mistakes=(LAST,) * 4",
        "alternatives=()": "alternatives=(lambda x: x[0], lambda x: x.item(0), lambda x: x[:1].sum())",
        "hints=()": "hints=('Where does an array begin?',) * 2",
    },
    "solutions/05-pitfalls.md": {
        "<!-- card: first_of_all -->\n": "<!-- card: first_of_all -->\n\nWrite `first_of_all(x)`.\n",
        "def first_of_all():": "def first_of_all(x):",
        "    raise NotImplementedError": "    return x[0]",
    },
    "tests/exercises/ch05_pitfalls/test_first_of_all.py": {
        'pytest.fail("Compare': 'print("Compare',
        "NOT_KNOWN = ()": 'NOT_KNOWN = (("first_of_all", lambda x: x.max(), None),)',
    },
    "book/05-pitfalls.md": {"\n## Exercises": f"\n```{{exercise}} {NEW}\n```\n\n## Exercises"},
}


@pytest.mark.slow
def test_a_new_one_says_what_is_missing_until_nothing_is(copy: Path) -> None:
    made = make(copy, NEW)
    assert made.returncode == 0, made.stderr
    assert [line for line in made.stdout.splitlines() if (copy / line).is_file()] == [
        DEFINITION,
        "solutions/05-pitfalls.md",
        "tests/exercises/ch05_pitfalls/test_first_of_all.py",
        "posenc_course/exercises/ch05_pitfalls/__init__.py",
    ]
    python = [copy / line for line in made.stdout.split() if line.endswith(".py")]
    subprocess.run([sys.executable, "-m", "ruff", "check", "--quiet", *python], cwd=copy, check=True)

    def tests() -> subprocess.CompletedProcess[str]:
        chosen = ["test_add_an_exercise.py", "ch05_pitfalls/test_first_of_all.py"]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "first_of_all"]
        command += [f"tests/exercises/{each}" for each in chosen]
        return subprocess.run(command, cwd=copy, capture_output=True, text=True)

    told = tests().stdout
    assert {line.removeprefix("E").strip() for line in told.splitlines()} >= SAYS, told
    for name, changes in FILLED.items():
        text = (copy / name).read_text()
        for skeleton, filled in changes.items():
            assert skeleton in text, f"{skeleton} in {name}"
            head, _, tail = text.rpartition(skeleton)
            text = head + filled + tail
        (copy / name).write_text(text)
    then = tests()
    assert then.returncode == 0, then.stdout
