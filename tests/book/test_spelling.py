"""What learners and instructors read is spelled as in Britain. `book/spelling.txt` holds our own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path

import hunspell
import pytest

from posenc_course.exercises import all_exercises
from posenc_course.exercises.exercise import Exercise
from tools.claims import ROOT
from tools.prose import prose

OWN_WORDS = ROOT / "book" / "spelling.txt"
PAGES = [
    *(path for path in sorted((ROOT / "book").rglob("*.md")) if "node_modules" not in path.parts),
    *sorted((ROOT / "solutions").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]
# American for some meanings alone.
IN_BRITAIN_TOO = {
    *(
        "biased",
        "biasing",
        "check",
        "checks",
        "dialog",
        "disk",
        "disks",
        "draft",
        "focused",
        "focusing",
        "license",
    ),
    *("licensed", "meter", "meters", "practice", "program", "programs", "story", "tire", "tires"),
}
# Not a part of a path, an address, a name with digits, a call.
WORD = re.compile(r"(?<![\w./@_\\=-])[A-Za-zÀ-ÿ]+(?:['’][A-Za-zÀ-ÿ]+)*(?![\w@_\\=(]|[./]\w)")


class Speller:
    """American Hunspell, taught by codespell's list how Britain differs, and our own words."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        both = (
            (resources.files("codespell_lib") / "data" / "dictionary_en-GB_to_en-US.txt").read_text().split()
        )
        pairs = [line.split("->") for line in both]
        self.british = {british for british, _ in pairs}
        self.american = {american for _, american in pairs} - self.british - IN_BRITAIN_TOO
        self.own = set(own)
        self.hunspell = hunspell.Hunspell("en_US")

    def knows(self, word: str) -> bool:
        word = re.sub("['’]s$", "", word)
        if {word, word.lower()} & (self.own | self.british) or word.isupper():
            return True
        return word.lower() not in self.american and bool(self.hunspell.spell(word))

    def misspelled(self, pieces: Iterable[tuple[int, str]]) -> list[str]:
        words = ((line, word) for line, piece in pieces for word in WORD.findall(piece))
        return [f"{line}: {word}" for line, word in words if not self.knows(word)]


@cache
def speller(*, with_own_words: bool = True) -> Speller:
    return Speller(OWN_WORDS.read_text().split() if with_own_words else ())


def plain() -> Speller:
    return speller(with_own_words=False)


def complaint(found: list[str]) -> str:
    return "\n".join(["misspelled, American, or a word of ours that book/spelling.txt lacks:", *found])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_spelled_right(page: Path):
    found = speller().misspelled(prose(page.read_text()))
    assert not found, complaint(found)


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda exercise: exercise.id)
def test_what_an_exercise_says_is_spelled_right(exercise: Exercise):
    messages = [each.message for each in exercise.mistakes] + [each.message for each in exercise.properties]
    texts = [exercise.title, exercise.step_of, exercise.adds, *exercise.parts, *exercise.hints, *messages]
    texts += [exercise.draws.look, *exercise.draws.axes] if exercise.draws else []
    found = [each for text in texts for each in speller().misspelled(prose(text))]
    assert not found, complaint(found)


def test_our_own_words_are_sorted_and_no_more_than_needed():
    words = OWN_WORDS.read_text().split()
    assert words == sorted(set(words), key=lambda word: (word.lower(), word))
    assert [word for word in words if plain().knows(word)] == []


@pytest.mark.parametrize(
    "word", ["colour", "behaviour", "labelled", "initialise", "judgement", "neighbour's", "NTK", "the", "The"]
)
def test_a_british_word_is_known(word):
    assert plain().knows(word)


@pytest.mark.parametrize(
    "word",
    ["color", "behavior", "labeled", "initialize", "neighbor's", "teh", "attentoin", "Postion"],
)
def test_a_misspelled_or_american_word_is_not(word):
    assert not plain().knows(word)


@pytest.mark.parametrize(
    "text",
    [
        "# A headign",
        "A headign, and more.",
        "- A list\n\n  A **headign**",
        "| a | b |\n|---|---|\n| c | headign |",
        "![A headign](picture.png)",
        "[A headign](page.md)",
        "```{admonition} A headign\nText.\n```",
        "```{admonition} A title\n:class: dropdown\nA headign.\n```",
        "```{glossary}\nword\n  A headign.\n```",
        "% a comment\n\nA `code` headign",
    ],
)
def test_a_misspelled_word_is_found_wherever_it_stands(text):
    [found] = plain().misspelled(prose(text))
    assert found.endswith("headign")


@pytest.mark.parametrize(
    "text",
    [
        "`headign`",
        "$headign$",
        "```python\nheadign\n```",
        "```{code-cell} ipython3\nheadign\n```",
        "[a page](headign.md) and headign.md, book/headign, headign@example.org",
        "{cite}`headign2020`",
        "<!-- headign -->",
        "% headign",
        "float32, GPT-2 and x86",
    ],
)
def test_what_is_no_prose_is_not_spelled(text):
    assert plain().misspelled(prose(text)) == []


def test_a_quiz_is_spelled_with_its_line():
    questions = [
        f"- id: {name}\n  question: What is it?\n  options:\n"
        f"    - {{answer: A {name}., feedback: Yes., right: true}}\n    - {{answer: None., feedback: No.}}\n"
        for name in ("word", "text", "headign")
    ]
    found = plain().misspelled(prose("Text.\n\n```{quiz}\n" + "".join(questions) + "```\n"))
    assert found == ["17: headign"]


ONE_PER = re.compile(
    r"\b(?:(?:one|two|an?) (?!of )\w+|one|nats|rad|radians?|bytes|(?<!many )numbers?)\s+an?\s+"
    r"(?:head|pair|position|token|row|column|seed|panel|key|query|door|byte|base|class|distance|axis|encoding)\b"
)
READ_IN_CODE = [
    path
    for path in sorted((ROOT / "posenc_lib").rglob("*.py"))
    if not {"grading", "experiments"}
    & set(path.parts)  # what readers see of the library: docstrings, messages
]


@pytest.mark.parametrize("path", [*PAGES, *READ_IN_CODE], ids=lambda path: str(path.relative_to(ROOT)))
def test_so_many_of_a_thing_are_per_thing(path):
    """One slope per head: "a slope a head" has to be read twice."""
    assert ONE_PER.findall(path.read_text()) == []
