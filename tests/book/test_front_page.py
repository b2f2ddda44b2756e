"""The first page promises what the course keeps: its cards, its numbers, its proofs."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises import all_exercises, exercise, wholes
from tests.book.test_front_matter import EACH_CHAPTER, stated_minutes
from tools.claims import ROOT, chapters

sys.path.append(str(ROOT / "book" / "_ext"))

import cards
import progress
import proofs
import thumbnails

PAGE = (ROOT / "book" / "index.md").read_text()
NAMES = [*(chapter.stem for chapter in chapters()), "capstone"]
LOOKS = {"accent", "dashed", "faint", "flat", "full", "heavy", "ink", "tint"}


def test_each_chapter_has_its_card_in_order():
    carded = re.findall(r"^```\{chapter-card\} (\S+)\n(.*)\n```$", PAGE, re.MULTILINE)
    assert [name for name, _ in carded] == NAMES
    assert max(len(said) for _, said in carded) <= 85, "one line"


@pytest.mark.parametrize("name", NAMES)
def test_each_chapter_has_a_drawing_in_the_looks_that_all_share(name):
    drawn = ElementTree.fromstring(thumbnails.thumbnail(name))
    assert drawn.attrib["viewBox"] == "0 0 120 72"
    looks = [set(part.attrib["class"].split()) for part in drawn]
    assert all(each <= LOOKS for each in looks)
    assert any("ink" in each for each in looks), "what is there"
    assert any("accent" in each for each in looks), "what it is about"
    assert not re.search(r"#[0-9a-f]{3}|rgb|<text", thumbnails.thumbnail(name))


def test_the_looks_are_those_of_the_style_sheet():
    styled = (ROOT / "book" / "_static" / "landing.css").read_text()
    assert {
        look for look in LOOKS if f".posenc-thumbnail .{look}" in styled or f".{look}." in styled
    } == LOOKS


def test_a_chapter_without_a_drawing_is_told():
    with pytest.raises(ValueError, match="'11-new' has no thumbnail; draw one here"):
        thumbnails.thumbnail("11-new")


@EACH_CHAPTER
def test_a_card_states_the_minutes_of_its_chapter(chapter):
    [minutes] = cards._minutes(chapter)
    read, _, practise = stated_minutes(chapter)
    assert minutes.astext() == f"{read} minutes to read, {practise} to practise"


def test_the_hours_of_the_course_are_those_of_its_chapters():
    read, beside, practise = np.sum([stated_minutes(chapter) for chapter in chapters()], axis=0) / 60
    assert "about five hours, and three and a half more with their side trips" in PAGE
    assert abs(read - 5) < 0.5
    assert abs(beside - 3.5) < 0.5
    assert "With every exercise, it is about forty." in PAGE
    assert abs(read + beside + practise - 40) < 3


def test_an_exercise_of_several_steps_counts_once():
    steps = progress.counted(all_exercises())
    assert len(steps) == len([each for each in wholes(all_exercises()) if any(step.in_page for step in each)])
    assert any("+" in each for each in steps)


def test_each_chapter_has_its_door():
    added, rotated, biased, every = progress.DOORS
    doors = [progress.door_of(name) for name in NAMES]
    assert doors == [added] * 5 + [rotated, biased] + [every] * 3 + [None]
    assert len({door.colour for door in progress.DOORS}) == 4


def test_the_mistake_on_the_page_has_a_name():
    [(asked, code)] = re.findall(r"^```\{named-mistake\} (\S+)\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    written: dict = {"np": np}
    exec(code, written)
    report = report_on(asked, written[exercise(asked).function])
    assert report.mistake is not None
    assert "2i // dim" in report.mistake.message


def test_the_bars_are_the_numbers_of_the_text():
    for read in ("as it is", "slow clocks stop", "fast clocks stop"):
        assert f"{proofs.rise(read):.3f}" in PAGE
