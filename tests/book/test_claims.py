"""No chapter states a number that nothing backs. The checker sees a false page, and exempts what it says."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal

import pytest

from tools.claims import ROOT, asserted_numbers, pages, unbacked


@pytest.mark.parametrize("page", pages(), ids=lambda path: path.stem)
def test_every_number_that_a_page_states_is_backed(page):
    found = [f"{page.relative_to(ROOT)}:{finding}" for finding in unbacked(page)]
    assert not found, "\n".join(["numbers without a cell; CONTRIBUTING.md says how to back them:", *found])


# The checker itself.

CELL = "```{{code-cell}} ipython3\n{}\n```\n"


@pytest.fixture
def problems(tmp_path):
    """The findings of a page with the given body, as text."""

    def check(*blocks: str) -> list[str]:
        page = tmp_path / "01-page.md"
        page.write_text("---\nkernelspec:\n  name: python3\n---\n\n# A page\n\n" + "\n\n".join(blocks) + "\n")
        return [str(finding) for finding in unbacked(page)]

    return check


def cell(code: str) -> str:
    return CELL.format(code)


def test_a_false_page_is_caught_with_its_line(problems):
    found = problems(
        "## A section", "Attention is old.\nIt takes 512 steps, and never 63.", cell("assert x == 63")
    )
    assert found == ["11: nothing backs 512: It takes 512 steps, and never 63."]


def test_the_line_is_right_inside_a_box_too(problems):
    [finding] = problems(
        "```{admonition} A title\n:class: note\n\nNo number.\n\n- There are 345 of them.\n```"
    )
    assert finding.startswith("13: nothing backs 345")


@pytest.mark.parametrize(
    "block",
    [
        "There are 345 of them.",
        "A sentence. There are 345 of them.",
        "- a list\n\n  - There are 345 of them.",
        "> There are 345 of them.",
        "word\n: There are 345 of them.",
        "There are **345** of them.",
        "There are $f(x) = 345$ of them.",
        "There are $f(x) \\approx 34{,}500$ of them.",
        "There are $345$ of them.",
        "The share is $x \\cdot 0.345$.",
        "It is $\\omega_3 = 0.345$ here.",
        "The error is $e < 10^{-5}$ here.",
        "The error is 10⁻⁵ here.",
        "The error is 1e-5 here.",
        "$$\nf(x) = 345\n$$",
        "```{math}\nf(x) = 345\n```",
        "| a | b |\n|---|---|\n| c | 345 |",
        "```{admonition} A title\n:class: note\nThere are 345 of them.\n```",
        "```{admonition} A title\n:class: dropdown\n- There are 345 of them.\n```",
        "````{note}\n```{tip}\nThere are 345 of them.\n```\n````",
        ":::{note}\nThere are 345 of them.\n:::",
        "```{live-figure} clocks\n:position: 40\n\nThere are 345 of them.\n```",
        "```{admonition} Spot the error\nThere are 345 of them.\n```",
        'He said "there are 345 of them".',
        "There are 345 of them, as [the file](https.md) says.",
        "There are 345 of them. Another sentence has a source {cite}`someone2020`.",
        "There were 2017 of them.",
        "It takes 345 minutes.",
        "There are 2.5 of them.",
        "Position 345 is the last.",
        "At step 345 it stops.",
        "It is 345-bit.",
        "It grew by 345%.",
        "Some ask: is it so? and find 345 of them.",
        "A {term}`word` has 345 of them.",
        "\\begin{align}\nf(x) &= 345\n\\end{align}",
        "```{figure} a.png\n:alt: A picture.\n\nThere are 345 of them.\n```",
        '```{admonition} A title\n"There are 345 of them."\n```',
    ],
)
def test_a_number_is_seen_wherever_it_stands(problems, block):
    [finding] = problems("## A section", block)
    assert "nothing backs" in finding
    assert problems("## A section", "No number.") == []


@pytest.mark.parametrize(
    "block",
    [
        "There are 0, 1 or 2 of them.",
        "Are there 345 of them?",
        "There are `345` of them.",
        "```\nThere are 345 of them.\n```",
        "```python\n345\n```",
        "```{predict} how-many\nThere are 345 of them.\n\n- [ ] Or 346.\n- [x] Or 347.\n```",
        'Nothing.\n\n```{admonition} Spot the error 7\n"There are 345 of them."\n```',
        "### 345 of them",
        "| a | 345 |\n|---|---|\n| 345 | c |",
        "BERT, GPT-2, T5, float32, Llama 3 and Python 3.11 are names.",
        "It is so in transformers 5.23.0.",
        "See section 3.4, chapters 4 and 5, and step 6 of figure 7.",
        "It was known in 2019.",
        "Here {term}`345` is a term.",
        "Let $d = 512$ and $d_{model} = 64$.",
        "Take $345^{2i/d}$ and $i = 0, 1, \\ldots, 345 - i$.",
        "There are 345 of them {cite}`someone2020`.",
        "{cite:t}`someone2020` count 345 of them, e.g. in the first one.",
        "There are 345 of them, says [the thread](https://example.org/345).",
        "% given: 345\n\nThere are 345 of them.",
        "% given: 345\n\n| a | b |\n|---|---|\n| c | 345 |",
        "- a list\n\n  % given: 345\n\n  There are 345 of them.",
        "% given: 345\n\n```{admonition} A title\nThere are 345 of them.\n```",
    ],
)
def test_what_states_nothing_or_is_backed_otherwise_passes(problems, block):
    assert problems("## A section", block) == []


def test_a_citation_backs_its_own_sentence_alone(problems):
    [finding] = problems("There are 345 {cite}`someone2020`. There are 678.")
    assert "678" in finding
    assert "345" not in finding


def test_given_numbers_hold_for_the_next_block_alone_and_must_stand_in_it(problems):
    [finding] = problems("% given: 345", "There are 345 of them.", "There are 345 of them.")
    assert finding.startswith("12: nothing backs 345")
    [finding] = problems("% given: 345 678", "There are 345 of them.")
    assert finding == "8: the block below does not state 678: % given"
    [finding] = problems("% given: 345")
    assert "nothing follows" in finding
    [finding] = problems("% a comment: 345", "There are 345 of them.")
    assert "nothing backs 345" in finding


def test_a_cell_backs_its_own_section_alone(problems):
    here, there = "## Here", "## There"
    backed = cell("assert x == 345")
    text = "There are 345 of them."
    assert problems(here, text, "### Below", backed) == []
    assert len(problems(here, text, there, backed)) == 1
    assert len(problems(here, backed, there, text)) == 1


QUIZ = """\
```{{quiz}}
- id: one
  question: "There are 991 of them, right?"
  options:
    - answer: "{right}"
      right: true
      feedback: "{feedback}"
    - answer: There are 992 of them.
      feedback: No.
- id: two
  question: "Are there 993 of them? Choose."
  options: [{{answer: a, right: true, feedback: Yes.}}, {{answer: b, feedback: No.}}]
- id: three
  question: Is that all?
  options: [{{answer: a, right: true, feedback: Yes.}}, {{answer: b, feedback: No.}}]
```
"""


def test_right_answers_and_feedback_of_a_quiz_state_and_questions_and_wrong_answers_do_not(problems):
    assert problems(QUIZ.format(right="All.", feedback="Yes.")) == []
    [finding] = problems(QUIZ.format(right="There are 345.", feedback="Yes."))
    assert finding == "12: nothing backs 345: There are 345."
    [finding] = problems(QUIZ.format(right="All.", feedback="It is $f(3) = 345$."))
    assert finding.startswith("12: nothing backs 345")


def test_what_announces_repeats_or_asks_is_backed_by_the_whole_page(problems):
    backed = ["## A section", cell("assert x == 345")]
    text = "There are 345 of them."
    assert problems(text, *backed) == []
    assert problems(*backed, "## Take-away", text) == []
    assert problems(*backed, "## Check yourself", QUIZ.format(right=text, feedback=text)) == []
    assert len(problems(*backed, "## Check yourself", text)) == 1
    assert len(problems(*backed, "## Exercises", text)) == 1


def test_minutes_are_exempt_where_they_are_compared_with_the_exercises(problems):
    text = "**Time:** about 25 minutes to read, and about 75 for the exercises."
    assert problems(text, "## Exercises", "They take about 75 minutes.") == []
    assert len(problems("## A section", text)) == 1


def test_another_chapter_backs_a_sentence_that_links_to_it(problems, tmp_path):
    (tmp_path / "02-other.md").write_text("# Other\n\n" + cell("assert x == 345"))
    assert problems("There are 345 of them, as [](02-other.md#a-place) shows.") == []
    assert len(problems("There are 346 of them, as [](02-other.md) shows.")) == 1
    assert len(problems("There are 345 of them, as [](03-nowhere.md) shows.")) == 1
    assert len(problems("See [](02-other.md). There are 345 of them.")) == 1


def test_an_unknown_directive_is_not_passed_over(problems):
    [finding] = problems("```{sonnet}\nThere are 345 of them.\n```")
    assert "tell it: {sonnet}" in finding


@pytest.mark.parametrize(
    "code",
    [
        "assert x == 60_611",
        "assert x == -60611.0",
        "np.testing.assert_allclose(x, [60_611, 3])",
        "for n, wanted in ((1, 60_611),):\n    if n:\n        assert f(n) == wanted",
        "wanted = [60_611, 5]\nassert f(3) == wanted",
        "assert x == 60_000 + 611",
        'assert f"{x:.0f}" == "60611"',
        "%matplotlib inline\nassert x == 60_611",
        "with open(x):\n    assert x == 60_611",
    ],
)
def test_the_literals_of_assertions_back(code, problems):
    assert Decimal(60_611) in asserted_numbers(code)
    assert problems("There are 60,611 of them.", cell(code)) == []


@pytest.mark.parametrize(
    "code",
    [
        "x = 60_611",
        "print(60_611)",
        "# assert x == 60_611",
        'print("assert x == 60_611")',
        "wanted = f(60_611)\nassert x == wanted",
        "other = 60_611\nassert x == wanted",
        "for n in (60_611,):\n    print(n)\nassert x",
        "assert x == 60_611.5",
        'assert x == "of 60611"',
        "assert x, 60_611",
    ],
)
def test_other_literals_do_not(code, problems):
    assert Decimal(60_611) not in asserted_numbers(code)
    assert len(problems("There are 60,611 of them.", cell(code))) == 1


@pytest.mark.parametrize("written", ["50%", "50 %", "0.5", "0.50", "$f(x) = 50\\%$", "$f(x) = 0.5$"])
def test_a_number_may_be_written_otherwise(written, problems):
    assert problems(f"It is {written} here.", cell("assert x == 0.5")) == []
    assert len(problems(f"It is {written} here.", cell("assert x == 0.05"))) == 1


def test_the_command_lists_what_is_left_and_says_so_by_its_status(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A page\n\nThere are 345 of them.\n")
    command = [sys.executable, "-m", "tools.claims", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"{page}:3: nothing backs 345: There are 345 of them.\n")
    page.write_text("# A page\n\nThere are some of them.\n")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
