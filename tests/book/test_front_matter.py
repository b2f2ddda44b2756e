"""The pages before and after the chapters agree with what they tell of."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
from docutils import nodes

from posenc_course.exercises import all_exercises, wholes
from posenc_course.translation import speak
from tools import reading_time
from tools.claims import PARSER, ROOT, chapters

BOOK = ROOT / "book"
sys.path.append(str(BOOK / "_ext"))

import chapter_numbers  # noqa: E402

EACH_CHAPTER = pytest.mark.parametrize("chapter", chapters(), ids=lambda path: path.stem)
TIME = (
    r"\*\*Time:\*\* about (\d+) minutes to read, (\d+) more with the side trips?, and about (\d+) for the\s"
)


def stated_minutes(chapter: Path) -> tuple[int, int, int]:
    """Of reading, of the side trips and of the exercises, as the chapter's opening states them."""
    [(read, beside, practise)] = re.findall(TIME, chapter.read_text().partition("\n## ")[0])
    return int(read), int(beside), int(practise)


@EACH_CHAPTER
def test_a_chapter_states_the_minutes_of_its_exercises(chapter):
    exercises = [each for each in all_exercises() if each.chapter == chapter.stem]
    minutes = 5 * round(sum(each.minutes for each in exercises) / 5)
    assert stated_minutes(chapter)[2] == minutes
    [listed] = re.findall(r"\n## Exercises\n(.*?)(?=\n## |\Z)", chapter.read_text(), re.DOTALL)
    assert re.search(rf"\babout {minutes}\s+minutes\b", listed)
    assert listed.count(f"{chapter.stem}.ipynb#") == len(wholes(exercises))


@EACH_CHAPTER
def test_a_chapter_states_the_minutes_that_it_takes(chapter):
    text = chapter.read_text()
    read, beside, _ = stated_minutes(chapter)
    assert read == 5 * round(reading_time.minutes(text) / 5)
    trips = reading_time.minutes_beside(text)
    assert beside == sum(trip.stated for trip, _ in trips)
    assert {trip.title: trip.stated for trip, _ in trips} == {
        trip.title: max(1, round(taken)) for trip, taken in trips
    }


def test_a_side_trip_ends_where_the_next_section_begins():
    trip = "```{side-trip} 3\nWhat is in it.\n```\n"
    part = "word " * 600
    sections = (f"## One\n\n{trip}", "### Inside\n", "## Two\n", f"### Three\n\n{trip}")
    text = "".join(f"{section}\n{part}\n\n" for section in sections)
    assert [(each.title, round(taken)) for each, taken in reading_time.minutes_beside(text)] == [
        ("One", 6),
        ("Three", 3),
    ]
    assert round(reading_time.minutes(text)) == 3, "the main line: the second section"


def test_what_is_folded_takes_no_time():
    cell, word = "```{code-cell} ipython3\n:tags: [%s]\n1\n```\n", "word " * 100
    seen = (
        f"# A page\n\n{word}\n\n{cell % 'hide-input'}\n```{{admonition}} A box\n:class: note\n{word}\n```\n"
    )
    box = f"````{{admonition}} A box\n:class: dropdown\n{word}\n````\n"
    folded = f"{cell % 'hide-cell'}\n{cell % 'remove-cell'}\n{box}"
    asked = "```{{predict}} a-box\nWhich?\n\n- [ ] This.\n{}- [x] That.\n```\n"
    quiz_and_rest = f"\n## Check yourself\n\n{word}\n\n## Take-away\n\n{word}\n\n## Exercises\n\n{word}\n"
    assert round(reading_time.minutes(seen), 1) == 2  # 204 words and a cell
    assert reading_time.minutes(seen + folded) == reading_time.minutes(seen)
    reason = f"  > {word}\n  > {word}\n"
    assert reading_time.minutes(asked.format(reason)) == reading_time.minutes(asked.format(""))
    assert round(reading_time.minutes(seen + folded + quiz_and_rest), 1) == 2.5


@EACH_CHAPTER
def test_a_chapter_bears_its_number_wherever_it_is_named(chapter):
    """Its title is what the sidebar, the search, the progress and links without a text of their own say."""
    number = int(chapter.stem[:2])
    assert re.search(rf"^# {number}\. \S", chapter.read_text(), re.MULTILINE)
    exercises = f"Exercises {number}: "
    assert f"\n# {exercises}" in (ROOT / "solutions" / f"{chapter.stem}.md").read_text()
    named = f'{chapter.stem}/{chapter.stem}\n            title: "{exercises}'
    assert named in (ROOT / "_toc.yml").read_text()


@EACH_CHAPTER
def test_who_links_a_chapter_says_its_number(chapter):
    links = re.findall(r"\[([^\]]+)\]\((\d\d)-[a-z-]+\.md\)", chapter.read_text())
    wanted = (rf"chapter\s+{int(number)}\b|next chapter" for _, number in links)
    assert [
        text for (text, _), each in zip(links, wanted, strict=True) if not re.search(each, text, re.I)
    ] == []


@EACH_CHAPTER
def test_the_reading_paths_have_the_minutes_of_the_chapter(chapter):
    rows = re.findall(
        r"^\| \[\]\((\S+)\.md\) \|.*\| (\d+) \| (\d+) \|$",
        (BOOK / "reading-paths.md").read_text(),
        re.MULTILINE,
    )
    read, _, practise = stated_minutes(chapter)
    assert {name: (int(read), int(practise)) for name, read, practise in rows}[chapter.stem] == (
        read,
        practise,
    )


@EACH_CHAPTER
def test_the_plan_of_four_weeks_can_be_kept(chapter):
    plan = (BOOK / "reading-paths.md").read_text().partition("## Four weeks")[2].partition("\n## ")[0]
    [days] = re.findall(rf"^\| ([\d, ]+) \| \[\]\({chapter.stem}\.md\) \|", plan, re.MULTILINE)
    assert sum(stated_minutes(chapter)) / len(days.split(",")) <= 150, "two and a half hours a day at most"


@EACH_CHAPTER
def test_a_chapter_ends_as_the_others_and_labels_the_steps_of_its_worked_example(chapter):
    text = chapter.read_text()
    last = ["Check yourself", "Take-away", "Exercises", "Further reading"]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE)[-4:] == last
    assert len(re.findall(r"\*\*(?:Goal|Step\s+\d+):\s[^*]+\*\*", text)) >= 3


@EACH_CHAPTER
def test_the_teaching_notes_have_a_part_for_the_chapter(chapter):
    notes = (BOOK / "instructors" / "teaching.md").read_text()
    [part] = re.findall(rf"\n## Chapter {int(chapter.stem[:2])}: .*?(?=\n## |\Z)", notes, re.DOTALL)
    for label in ("**Time:**", "**Run live:**", "**Discuss:**", "**They will**"):
        assert label in part


def test_the_self_check_answers_each_of_its_questions_and_says_what_to_read():
    page = BOOK / "self-check.md"
    questions = re.findall(r"^### Question (\d+)$", page.read_text(), re.MULTILINE)
    assert list(map(int, questions)) == list(range(1, 11 + 1))
    assert re.findall(r"^`+\{admonition\} Answer (\d+)$", page.read_text(), re.MULTILINE) == questions
    assert page.read_text().count("*If this was hard:*") == len(questions)


def test_the_notation_names_functions_that_exist():
    """Sphinx does not warn of a `py:obj` that is none."""
    tokens = PARSER.parse((BOOK / "notation.md").read_text())
    roles = [child for token in tokens for child in token.children or [] if child.type == "myst_role"]
    names = [role.content.removeprefix("~") for role in roles if role.meta["name"] == "py:obj"]
    assert len(names) >= 7
    assert [name for name in names if resolve_name(name) is None] == []


@pytest.mark.parametrize(
    ("uri", "text", "said"),
    [
        ("01-why-order-matters.html#three-doors", "Three doors", "Three doors (chapter 1)"),
        ("../book/06-rotary.html#two-layouts", "two layouts", "two layouts (chapter 6)"),
        ("02-the-formula.html#the-formula", "here", "here"),  # within the page
        ("01-why-order-matters.html#three-doors", "chapter 1", "chapter 1"),
        ("01-why-order-matters.html#three-doors", "1. Why order matters", "1. Why order matters"),
        (
            "01-why-order-matters.html",
            "Why order matters",
            "Why order matters",
        ),  # who writes it says the number
        ("../exercises/06-rotary/06-rotary.html#turn-one-pair", "Turn one pair", "Turn one pair"),
        ("glossary.html#term-bias", "bias", "bias"),
    ],
)
def test_a_link_into_another_chapter_says_its_number(uri, text, said):
    page = nodes.document(None, None)
    page += nodes.paragraph("", "", nodes.reference("", text, refuri=uri, internal=True))
    chapter_numbers.say_numbers(page, "book/02-the-formula")
    assert page.astext() == said


@pytest.mark.parametrize(("text", "said"), [("第7章", "第7章"), ("竞赛", "竞赛 （第7章）")])
def test_a_chinese_link_says_it_once(text, said):
    page = nodes.document(None, None)
    uri = "07-alibi-and-biases.html#the-shoot-out"
    page += nodes.paragraph("", "", nodes.reference("", text, refuri=uri, internal=True))
    speak("zh_CN")
    try:
        chapter_numbers.say_numbers(page, "book/08-long-context")
    finally:
        speak()
    assert page.astext() == said
