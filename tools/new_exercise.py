"""A new exercise: three files that say what they lack, and its place in the order of its chapter.

    make exercise NAME=05-pitfalls.my_function

From then on `pytest tests/exercises -k my_function` says what is missing. What goes where is said in
CONTRIBUTING, "Add an exercise".
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

DEFINITION = '''"""What is asked, in a few words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from posenc_course.exercises.exercise import Case, Exercise


def _cases(rng: np.random.Generator) -> Iterator[Case]:
    """The simplest first; some are drawn, so that no table of answers passes."""
    yield from ()


def _FUNCTION() -> float:
    raise NotImplementedError


CONSTANT = Exercise(
    id="CHAPTER.FUNCTION",
    title="",
    signature="",
    points=2,
    minutes=8,
    difficulty=2,
    reference=_FUNCTION,
    make_cases=_cases,
    mistakes=(),
    alternatives=(),
    hints=(),
)
'''

TEXT = '''
### TITLE

<!-- card: FUNCTION -->

```{code-cell} ipython3
def FUNCTION():
    """What it returns, with its shape."""
    ### BEGIN SOLUTION
    raise NotImplementedError
    ### END SOLUTION
```

```{code-cell} ipython3
check("CHAPTER.FUNCTION", FUNCTION)
```
'''

TEST = '''"""`CHAPTER.FUNCTION`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import pytest


def test_the_reference_of_FUNCTION_agrees_with_something_independent():
    pytest.fail("Compare it with a table, another library, an identity: not with our own output.")


NOT_KNOWN = ()
'''


def write(root: Path, exercise_id: str) -> list[Path]:
    """Write what a new exercise consists of, and return the files that were written or changed.

    Raises:
        ValueError: it is no name of an exercise, there is one of that name, or its chapter does not exist.
    """
    chapter, _, function = exercise_id.partition(".")
    folders = {each.name[2:].replace("_", "-"): each for each in exercises(root).glob("ch*") if each.is_dir()}
    if chapter not in folders:
        raise ValueError(f"there is no chapter {chapter!r}; there are {', '.join(sorted(folders))}")
    if not re.fullmatch("[a-z][a-z0-9_]*", function) or keyword.iskeyword(function):
        raise ValueError(
            f"{function!r} cannot be a function's name; give <chapter>.<function>, as {chapter}.my_function"
        )
    if hasattr(builtins, function):
        raise ValueError(f"{function!r} is a function of Python's own; give the exercise another name")
    folder = folders[chapter]
    order, definition = folder / "__init__.py", folder / f"{function}.py"
    text = root / "solutions" / f"{chapter}.md"
    test = root / "tests" / "exercises" / folder.name / f"test_{function}.py"
    for there in (definition, test):
        if there.exists():
            raise ValueError(f"there is an exercise {exercise_id} already: {there.relative_to(root)}")

    def filled(skeleton: str) -> str:
        names = {"CHAPTER": chapter, "FUNCTION": function, "CONSTANT": function.upper()}
        names["TITLE"] = function.replace("_", " ").capitalize()
        return re.sub("|".join(names), lambda found: names[found[0]], skeleton)

    definition.write_text(filled(DEFINITION), encoding="utf-8")
    text.write_text(text.read_text(encoding="utf-8") + filled(TEXT), encoding="utf-8")
    test.write_text(filled(TEST), encoding="utf-8")
    listed = order.read_text(encoding="utf-8").removesuffix(")\n")
    order.write_text(f'{listed}    "{function}",\n)\n', encoding="utf-8")
    return [definition, text, test, order]


def exercises(root: Path) -> Path:
    return root / "posenc_course" / "exercises"


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not arguments[0]:
        sys.exit("error: give one name, <chapter>.<function>: make exercise NAME=05-pitfalls.my_function")
    try:
        files = write(ROOT, arguments[0])
    except ValueError as error:
        sys.exit(f"error: {error}")
    for file in files:
        print(file.relative_to(ROOT))
    print(f"what is missing: .venv/bin/pytest tests/exercises -k {arguments[0].partition('.')[2]}")


if __name__ == "__main__":
    main(sys.argv[1:])
