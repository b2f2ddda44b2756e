"""Nothing stands in two chapters: no question asks what another asks, and no sentence comes back."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from itertools import combinations
from pathlib import Path

from tools.claims import PARSER, chapters, quiz
from tools.prose import prose

ALIKE = 0.25
"""Words that two questions share, of all that they have. Two about different things share up to 0.18."""
IN_A_ROW = 10
"""Words: fewer may well be the same by chance, or because a thing is called so."""


@cache
def questions() -> dict[str, tuple[str, str]]:
    """Of each question the chapter, and all that it says before the answer."""
    found = {}
    for chapter in chapters():
        for token in PARSER.parse(chapter.read_text()):
            if token.type == "fence" and token.info.strip() == "{quiz}":
                for asked in quiz.read_questions(token.content):
                    said = " ".join([asked.question, *(option.answer for option in asked.options)])
                    found[asked.id] = (chapter.stem, said)
    return found


def likeness(one: str, other: str) -> float:
    """The share of the longer words that both have."""
    first, second = (set(re.findall(r"[a-z]{4,}", text.lower())) for text in (one, other))
    return len(first & second) / len(first | second)


def test_no_two_questions_ask_the_same():
    assert len(questions()) >= 30
    twice = [
        (one, other)
        for (one, (_, said)), (other, (_, again)) in combinations(questions().items(), 2)
        if likeness(said, again) > ALIKE
    ]
    assert twice == []


def test_a_question_in_other_words_is_seen():
    at_20 = "The cache holds 20 keys, for positions 0 to 19. At which must the next token be turned?"
    at_42 = "The cache holds the keys of positions 0 to 41. At which position does the next token stand? 42."
    assert likeness(at_20, at_42) > ALIKE
    assert likeness(at_20, "Which columns tell position 40 from position 41 best?") < ALIKE


def rows_of_words(chapter: Path) -> set[str]:
    """What stands in a row in a paragraph; openings, quizzes and what follows have forms of their own."""
    found = set()
    sections = chapter.read_text().partition("\n## Check yourself")[0].partition("\n## ")[2]
    for _, piece in prose(sections):
        words = re.findall(r"[a-z']+", piece.lower())
        found |= {" ".join(words[start : start + IN_A_ROW]) for start in range(len(words) - IN_A_ROW + 1)}
    return found


def test_no_sentence_stands_in_two_chapters():
    where = defaultdict(list)
    for chapter in chapters():
        for row in rows_of_words(chapter):
            where[row].append(chapter.stem)
    assert {row: stems for row, stems in where.items() if len(stems) > 1} == {}


def test_a_sentence_that_comes_back_is_seen(tmp_path):
    page = tmp_path / "01-page.md"
    sentence = "To multiply by an arrow of *length one* is to turn by its angle."
    page.write_text(f"# A page\n\n## A section\n\n{sentence}\n\n## Check yourself\n\nNo more.")
    assert rows_of_words(page) == {
        "to multiply by an arrow of length one is to",
        "multiply by an arrow of length one is to turn",
        "by an arrow of length one is to turn by",
        "an arrow of length one is to turn by its",
        "arrow of length one is to turn by its angle",
    }
