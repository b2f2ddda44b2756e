"""What is told of a name that an answer uses and nobody gave."""

from __future__ import annotations

import pytest

from posenc_course.checking import report_on
from posenc_course.checking.names import told

FREQUENCIES = "02-the-formula.frequencies"


def answer(code: str):
    """As a learner's page or notebook defines it."""
    names: dict[str, object] = {"__name__": "__main__", "_": "what IPython keeps", "In": []}
    exec(f"import numpy as np\n\n\n{code}", names)
    return names["frequencies"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("math.pi", "Nothing here is called math. It is a module of Python: write `import math` first."),
        ("frequencis(dim)", "Nothing here is called frequencis. Did you mean frequencies?"),
        ("half + halv", "Nothing here is called halv. Did you mean half?"),
        ("lenn(dim)", "Did you mean len?"),
        ("pint(dim)", "Did you mean print?"),
        ("floot(dim)", "Did you mean float?"),
        ("zzzzzz", "Nothing here is called zzzzzz. Your code can use dim, half, np, frequencies."),
    ],
)
def test_a_missing_name_tells_which_there_are_and_the_nearest(line, words):
    report = report_on(FREQUENCIES, answer(f"def frequencies(dim):\n    half = dim // 2\n    return {line}"))
    assert words in str(report)
    assert "Your code can use dim, half, np, frequencies." in str(report)


@pytest.mark.parametrize("name", ["attention", "softmax", "scale", "mean"])
def test_no_name_of_python_is_offered_for_what_is_only_somewhat_like_it(name):
    assert told(name, {"np": ...}) == f"Nothing here is called {name}. Your code can use np."


def test_the_nearest_name_is_offered_wherever_it_is_from():
    assert "Did you mean print?" in told("pirnt", {"pints": ..., "point": ...})
    assert "Did you mean prints?" in told("prnts", {"prints": ...})


def test_a_long_list_of_names_is_cut():
    assert told("x", {f"name{n}": n for n in range(20)}).endswith("name6, name7, and others.")


def test_other_errors_say_nothing_of_names():
    report = report_on(FREQUENCIES, answer("def frequencies(dim):\n    return dim / 0"))
    assert "Nothing here is called" not in str(report)


def test_a_name_that_gets_its_value_later_is_there():
    inner = "    def inner():\n        return later\n"
    code = f"def frequencies(dim):\n{inner}    found = inner()\n    later = dim\n    return found"
    report = str(report_on(FREQUENCIES, answer(code)))
    assert "later" in report
    assert "Nothing here is called" not in report


def test_of_a_decorated_answer_its_own_names_and_line_are_told():
    code = "@np.errstate(all='ignore')\ndef frequencies(dim):\n    return half"
    report = str(report_on(FREQUENCIES, answer(code)))
    assert "Nothing here is called half. Your code can use dim, np, frequencies." in report
    assert "(line 6)" in report


def test_what_says_that_it_wraps_itself_is_an_answer_like_others():
    found = answer("def frequencies(dim):\n    return half")
    found.__wrapped__ = found
    assert "Nothing here is called half." in str(report_on(FREQUENCIES, found))
