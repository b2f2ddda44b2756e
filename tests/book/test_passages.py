"""A page as passages: all that people read is in one, and nothing that they do not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.agreement import disagreements
from book.catalogues import pages
from book.passages import passages, replaced

ROOT = Path(__file__).resolve().parents[2]
PAGES = {str(path.relative_to(ROOT)): path.read_text() for path in pages(ROOT)}

PAGE = """\
---
jupytext: {}
---

# A title with `code`

A paragraph of
two lines, with $x$ and {term}`position`.

$$\\omega = 1$$

```{code-cell} ipython3
:tags: [remove-input]
print("not a passage")  # nor this
```

```{predict} a-box
How many *rows*?

- [ ] One.
  > Count again.
- [x] Two.
```

```{predict} a-number
How far?

= 23 ± 2
```

| head | `code` |
|---|---|
| a cell | 12 |

1. An item
   of two lines.

```{admonition} Its title
:class: note
Its text.
```

````{quiz}
- id: one
  question: "What is $\\\\sqrt{d}$?"
  options:
    - answer: >-
        A long
        answer.
      right: true
      feedback: Yes.
    - answer: Another.
      feedback: No.
````
"""


def test_each_thing_that_is_read_is_one_passage():
    assert [each.text for each in passages(PAGE)] == [
        "A title with `code`",
        "A paragraph of two lines, with $x$ and {term}`position`.",
        "How many *rows*?",
        "One.",
        "Count again.",
        "Two.",
        "How far?",
        "head",
        "a cell",
        "An item of two lines.",
        "Its title",
        "Its text.",
        "What is $\\sqrt{d}$?",
        "A long answer.",
        "Yes.",
        "Another.",
        "No.",
    ]


def test_what_is_put_in_their_place_stands_where_they_stood():
    shouted = replaced(PAGE, lambda text: text.upper() if "position" not in text else None)
    assert "# A TITLE WITH `CODE`\n<!-- anchor: a-title-with-code a-title-with-code -->\n" in shouted
    assert "A paragraph of\ntwo lines" in shouted, "what is not known stays as it was written"
    assert "- [ ] ONE.\n  > COUNT AGAIN.\n- [x] TWO." in shouted
    assert "= 23 ± 2" in shouted
    assert "| HEAD | `code` |" in shouted
    assert "| A CELL | 12 |" in shouted
    assert "1. AN ITEM OF TWO LINES.\n" in shouted
    assert '    - answer: "A LONG ANSWER."\n      right: true\n      feedback: "YES."' in shouted
    assert 'print("not a passage")  # nor this' in shouted


def test_an_answer_cell_is_translated_in_its_words_alone():
    cell = (
        "```{code-cell} ipython3\ndef f(x):\n"
        '    """What "it" does.\n\n    x: a number.\n    """\n'
        "    ### BEGIN SOLUTION\n    # how\n    return 1\n    ### END SOLUTION\n```\n"
    )
    [said] = [each.text for each in passages(cell)]
    assert said == 'What "it" does.\n\n    x: a number.\n    '
    translated = replaced(cell, {said: "它做什么。\n\n    x: 一个数。"}.get)
    assert '    """它做什么。\n\n    x: 一个数。\n    """\n    ### BEGIN' in translated, (
        "as it stood between its marks"
    )


def test_two_english_terms_that_are_one_word_are_one_term():
    glossary = "```{glossary}\nhead\nheads\n  A part.\n\nALiBi\n  A bias.\n```\n"
    known = {"head": "头", "heads": "头", "A part.": "一部分。", "ALiBi": "ALiBi"}.get
    assert replaced(glossary, known) == (
        "```{glossary}\n头\nhead\nheads\n  一部分。\n\nALiBi\n  A bias.\n```\n"
    )


@pytest.mark.parametrize("page", PAGES)
def test_nothing_changes_where_nothing_is_known(page):
    assert replaced(PAGES[page], lambda _: None) == PAGES[page]


OUTSIDE = re.compile(
    r"\A---\n.*?\n---\n"  # the page's settings
    r"|^ *(?P<fence>`{3,})\{(?:code-cell|eval-rst|literalinclude|named-mistake|exercise|challenge)\}"
    r".*?^ *(?P=fence)$"
    r"|^ *(`{3,})(?:\w+)?\n.*?^ *\2$"  # code
    r"|^ *[`:]{3,}(?:\{[\w-]+\}.*)?$"  # where a directive begins and ends
    r"|^ *:[\w-]+:.*$|^ *- id: .*$|^ *right: true$|^ *options:$"
    r"|^ *(?:- )?(?:question|answer|feedback):(?: [>|]-?)?"
    r"|^ *\$\$.*?\$\$|^ *\\begin\{.*?\\end\{\w+\}"
    r"|^%.*$|^ {4}.*$"  # a comment, and code that is indented
    r"|<!--.*?-->|^\(.*\)=$|</?\w+[^>]*>|^#+ (?:BEGIN|END) SOLUTION$",
    re.MULTILINE | re.DOTALL,
)
CODE = re.compile(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|https?://\S+")


@pytest.mark.parametrize("page", PAGES)
def test_no_word_of_a_page_is_outside_of_all_passages(page):
    text, left, at = PAGES[page], [], 0
    for each in passages(text):
        left.append(text[at : each.start])
        at = each.stop
    rest = OUTSIDE.sub("", "\n".join([*left, text[at:]]))
    words = re.findall(r"[A-Za-z]{3,}[^\n]*", CODE.sub("", rest))
    assert [each for each in words if not re.match(r"(Python|Prose|One line)?[\w, ]*: \w+\.txt$", each)] == []


@pytest.mark.parametrize(
    ("source", "translation", "told"),
    [
        ("Call `f(x)` now.", "现在调用。", "code is missing: 'f(x)'"),
        ("Call it.", "调用`f`。", "code is not in the source: 'f'"),
        ("Half of $d$ pairs.", "$D$的一半列对。", "formula is missing: 'd'"),
        ("See [it](a.md#b).", "见[这里](a.md)。", "link is missing: 'a.md#b'"),
        ("A {term}`head`.", "一个{term}`头`。", "role is missing: 'term head'"),
        ("A {term}`head`.", "一个头。", "role is missing: 'term head'"),
        ("It is 0.039 of 0.131.", "是0.131里的0.39。", "number is missing: 0.039"),
        ("About 95%.", "约0.95。", "number is missing: 95"),
        ("Call `f(x, y)`.", "调用`f(x，y)`。", "code is missing: 'f(x, y)'"),
    ],
)
def test_a_translation_that_says_something_else_is_told(source, translation, told):
    assert told in disagreements(source, translation)


def test_words_may_stand_in_any_order_and_numbers_be_digits():
    assert (
        disagreements(
            "Of three {term}`heads <head>`, 12 of `n` see $x$ in [one](a.md).",
            "[其中1个](a.md)：3个{term}`头 <head>`里，`n`中的12个看得到$x$。",
        )
        == []
    )


@pytest.mark.parametrize("lacking", ["没有{total}。", "{count}个中的{count}个。"])
def test_a_message_keeps_its_placeholders(lacking):
    assert disagreements("{count} of {total} are right.", lacking, plain=True)
    assert not disagreements("{count} of {total} are right.", "{total}个里对了{count}个。", plain=True)
