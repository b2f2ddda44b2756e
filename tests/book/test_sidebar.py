"""The list of pages: chapters are open, other parts fold, and pages that repeat exercises are not listed."""

from __future__ import annotations

import sys

import pytest
from bs4 import BeautifulSoup

from tools.claims import ROOT

sys.path.append(str(ROOT / "book" / "_ext"))

import sidebar

from tests.present import present

LISTED = """
<p class="caption" role="heading"><span class="caption-text">Chapters</span></p>
<ul class="nav bd-sidenav">
  <li class="toctree-l1 has-children{in_chapter}"><a href="01-why.html">1. Why</a>
    <details><summary><i></i></summary>
    <ul><li class="toctree-l2{repeated}"><a href="{to_repeated}">Exercises 1</a></li></ul></details></li>
  <li class="toctree-l1"><a href="02-what.html">2. What</a></li>
</ul>
<p class="caption" role="heading"><span class="caption-text">Play</span></p>
<ul class="nav bd-sidenav"><li class="toctree-l1"><a href="play.html">Play</a></li></ul>
<p class="caption" role="heading"><span class="caption-text">For instructors</span></p>
<ul class="nav bd-sidenav"><li class="toctree-l1{teaching}"><a href="teach.html">Teach</a></li></ul>
"""
ELSEWHERE = {
    "in_chapter": "",
    "repeated": "",
    "to_repeated": "../exercises/01-why/01-why.html",
    "teaching": "",
}


def read(**here: str) -> BeautifulSoup:
    return BeautifulSoup(sidebar.shortened(LISTED.format(**ELSEWHERE | here)), "html.parser")


def test_chapters_are_listed_and_other_parts_fold():
    listed = read()
    assert [link.get_text() for link in listed.select("a")] == ["1. Why", "2. What", "Play", "Teach"]
    assert [present(part.summary).get_text() for part in listed.select("details")] == [
        "Play",
        "For instructors",
    ]
    assert listed.select("details[open]") == []
    assert present(listed.select_one("p.caption")).get_text() == "Chapters"


def test_the_part_with_the_readers_page_is_open():
    [part] = read(teaching=" current active").select("details[open]")
    assert present(part.summary).get_text() == "For instructors"


@pytest.mark.parametrize("address", ["#", "01-why.html"])
def test_a_reader_of_exercises_sees_where_they_are(address: str):
    """The page that is open names itself `#`."""
    listed = read(in_chapter=" current active", repeated=" current active", to_repeated=address)
    assert "Exercises 1" in listed.get_text()
