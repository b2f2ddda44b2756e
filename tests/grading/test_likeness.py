"""Copies are found however they are dressed up; what people write by themselves is not; nothing hangs."""

from __future__ import annotations

import inspect
import textwrap
from functools import cache
from pathlib import Path

import jupytext
import pytest

from posenc_course.exercises import all_exercises
from posenc_course.grading.handed_in.submission import Cell
from posenc_course.grading.report.likeness import Alike, Answers, alike, answers, natural, outsized, tree_of
from tests.grading.samples import ANSWERS, samples

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = "02-the-formula"
EXERCISES = [each for each in all_exercises() if each.chapter == CHAPTER]

ORIGINAL = """
def sinusoidal(n, dim, layout="interleaved"):
    angles = [[p / 10000 ** (2 * (c // 2) / dim) for c in range(dim)] for p in range(n)]
    table = np.zeros((n, dim))
    for row in range(n):
        for column in range(dim):
            if column % 2 == 0:
                table[row, column] += math.sin(angles[row][column])
            else:
                table[row, column] += math.cos(angles[row][column])
    if layout == "split":
        table = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=1)
    return table
"""
DISGUISES = {
    "as it is": ORIGINAL,
    "renamed, with comments and hints": '''
def sinusoidal(count: int, width: int, layout: str = "interleaved") -> np.ndarray:
    """All my own work."""
    # first the angles
    phi: list = [[k / 1e4 ** (2 * (j // 2) / width) for j in range(width)] for k in range(count)]
    print("here we go")
    out = np.zeros((count, width))
    for i in range(count):   # rows
        pass
        for j in range(width):
            if (j % 2) == 0:
                out[i, j] = out[i, j] + math.sin(phi[i][j])
            else:
                out[i, j] = out[i, j] + math.cos(phi[i][j])
    if layout == 'split': out = np.concatenate([out[:, 0::2], out[:, 1::2]], axis=1)
    return out
''',
    "other imports": "import numpy as xp\nfrom math import sin, cos\n"
    + ORIGINAL.replace("np.", "xp.").replace("math.", ""),
    "a magic and a function of another name inside": "%matplotlib inline\n" + ORIGINAL,
}


@cache
def model() -> dict[str, str]:
    """The model answers, by name."""
    notebook = jupytext.read(ROOT / "solutions" / f"{CHAPTER}.md")
    sources = iter(cell.source for cell in notebook.cells if "### BEGIN SOLUTION" in cell.source)
    return dict(zip(ANSWERS, sources, strict=True))


def handed_in(student: str, **changed: str):
    """The answers of one learner: the model's but for those given here."""
    first = Cell(0, "import math\n\nimport numpy as np\n\nfrom posenc_course import check", None, "code")
    cells = [
        Cell(n, source, name, "code") for n, (name, source) in enumerate({**model(), **changed}.items(), 1)
    ]
    return answers(student, [first, *cells], EXERCISES)


@cache
def known() -> frozenset[str]:
    return frozenset(natural(EXERCISES)) | {
        tree.digest
        for source in model().values()
        if (tree := tree_of(source, {"np": "numpy", "math": "math"}))
    }


def found(everyone) -> list[Alike]:
    return alike(everyone, set(known()))


@cache
def honest() -> tuple[Answers, ...]:
    """Learners who write one or the other of the right and wrong answers that people write by themselves."""
    class_ = [handed_in(each.name, **each.answers()) for each in samples("honest")]
    for number in range(30):
        chosen = {}
        for each in EXERCISES:
            known = (each.reference, *each.alternatives, *(mistake.answer for mistake in each.mistakes))
            function = known[(number * 7 + len(each.function)) % len(known)]
            try:
                chosen[each.function] = textwrap.dedent(inspect.getsource(function))
            except (OSError, TypeError):
                continue
        class_.append(handed_in(f"honest-{number}", **chosen))
    return tuple(class_)


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_copy_is_found_however_it_is_dressed_up(disguise):
    everyone = [
        *honest(),
        handed_in("ada", sinusoidal=ORIGINAL),
        handed_in("bob", sinusoidal=DISGUISES[disguise]),
    ]
    assert found(everyone) == [Alike(("ada", "bob"), ("sinusoidal",))]


def test_a_ring_of_copies_is_one_line():
    ring = [handed_in(f"s{n}", sinusoidal=source) for n, source in enumerate(DISGUISES.values())]
    assert found([*honest(), *ring]) == [Alike(("s0", "s1", "s2", "s3"), ("sinusoidal",))]


def test_a_notebook_of_short_answers_that_was_copied_is_found():
    """None of them says enough by itself."""
    mine = {
        "frequencies": "def frequencies(dim):\n    out = []\n    for i in range(0, dim, 2):\n"
        "        out.append(1 / 10000 ** (i / dim))\n    return np.asarray(out)",
        "to_split": "def to_split(table):\n    a = [row[0::2] for row in table]\n"
        "    b = [row[1::2] for row in table]\n    return np.array([[*x, *y] for x, y in zip(a, b)])",
        "add_positions": "def add_positions(x):\n    n, d = x.shape[-2:]\n    pe = sinusoidal(n, d)\n"
        "    result = x.copy()\n    for k in range(n):\n        result[..., k, :] = x[..., k, :] + pe[k]\n"
        "    return result",
    }
    theirs = {name: source.replace("out", "res").replace("row", "r") for name, source in mine.items()}
    [group] = found([*honest(), handed_in("ada", **mine), handed_in("bob", **theirs)])
    assert group.students == ("ada", "bob")
    assert set(group.exercises) == set(mine)
    for name, source in mine.items():
        both = [handed_in("ada", **{name: source}), handed_in("bob", **{name: theirs[name]})]
        assert found([*honest(), *both]) == []


def test_what_people_write_by_themselves_is_not_listed():
    assert found(honest()) == []


def test_what_a_fifth_of_the_class_wrote_is_the_natural_way():
    everyone = [*honest(), *(handed_in(f"s{n}", sinusoidal=ORIGINAL) for n in range(30))]
    assert len(everyone) < 5 * 30
    assert found(everyone) == []


def test_nothing_is_alike_in_an_empty_class_or_of_unwritten_answers():
    blank = {name: f"def {name}(*args):\n    raise NotImplementedError" for name in ANSWERS}
    assert found([]) == found([handed_in("ada", **blank)]) == []
    assert found([handed_in("ada", **blank), handed_in("bob", **blank)]) == []


HOSTILE = {
    "nested": "(" * 4000 + ")" * 4000, "signs": "x = " + "-" * 9000 + "1", "calls": "a" + "()" * 4500,
    "sums": "x = 1" + "+1" * 4000, "brackets": "[" * 9000, "lambdas": "x = " + "lambda:" * 1200 + "1",
    "null": "x = \0", "halves": "x = '\ud800'", "megabyte": "x = 1\n" * 200_000,
    "digits": "x = " + "9" * 9000,
    "compares": "x = 1" + "<1" * 4000, "ifs": "if 1: pass\n" + "elif 1: pass\n" * 700, "no python": "¡hola!",
    "imports": "import " + "a" * 9000 + "\nfrom . import *\nfrom x import (\n", "magic": "%%bash\nrm -rf /",
    "warns": "x = '\\d'; 1 is 1",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("error")
def test_a_hostile_source_stops_nothing(name):
    one, two = (handed_in(student, sinusoidal=HOSTILE[name]) for student in ("eve", "mal"))
    assert len(found([one, two])) <= 1


def test_an_answer_of_improbable_size_is_told():
    model_sizes = {name: len(source) for name, source in model().items()}
    library = "def sinusoidal(n, dim):\n" + "    x = 'the whole library'\n" * 300
    eve = handed_in("eve", sinusoidal=library)
    long = handed_in("long-winded", sinusoidal=ORIGINAL * 3)
    [each] = outsized([*honest(), eve, long], model_sizes)
    assert (each.student, each.exercise, each.lines) == ("eve", "sinusoidal", 301)
    rest = Cell(99, "code = '''" + "x" * 9000 + "'''", None, "code")
    mal = answers("mal", [rest], EXERCISES)
    [each] = outsized([*honest(), mal], model_sizes)
    assert (each.student, each.exercise) == ("mal", "")


def test_a_number_of_any_length_stops_no_report():
    """Python writes no integer of more than 4,300 digits; it reads one of any length in hex."""
    assert tree_of("x = 0x" + "f" * 5000, {}) != tree_of("x = 0x" + "e" * 5000, {})
