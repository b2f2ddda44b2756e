"""The catalogues of other languages: complete, current, and saying what the English says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

from book import catalogues
from book.catalogues import CatalogueError, Part, coverage, languages, read, renewed, translated, write
from posenc_course import translation
from posenc_course.checking import report_on
from posenc_course.exercises import all_exercises
from posenc_course.translation import _, speak_in, with_numbers, without_numbers

ROOT = Path(__file__).resolve().parents[2]
CHINESE = "zh_CN"
EVERY_EDITION = "POSENC_EVERY_EDITION"  # as in tests/browser/test_site.py, which says what it is
PART = Part("book", "page", plain=False)


@pytest.fixture
def spoken(monkeypatch):
    """Lets a test speak another language; afterwards it is English again."""
    monkeypatch.setenv("LANGUAGE", "")
    catalogues.compiled(CHINESE)
    yield speak_in
    translation.speak("en")


@pytest.fixture
def page(tmp_path) -> Path:
    """The catalogue of a page with two passages."""
    made = Catalog(locale=CHINESE, fuzzy=False)
    made.add("It has `one` row.", "它有`one`行。")
    made.add("It has 12 of them, which is a dozen and no more.", "一共12个。")
    path = PART.path(tmp_path, CHINESE)
    write(made, path)
    return path


def english(*passages: str) -> Catalog:
    made = Catalog(fuzzy=False)
    for each in passages:
        made.add(each)
    return made


def test_chapters_exercises_and_messages_are_translated_whole():
    assert CHINESE in languages()
    waiting = {each.name: each.entries - each.translated for each in coverage(CHINESE)}
    assert {name: count for name, count in waiting.items() if count} == {}
    assert sum(each.entries for each in coverage(CHINESE)) > 12_000


def test_every_translation_says_what_its_source_says():
    """The same code, formulas, links, roles, placeholders and numbers, or a build would end here."""
    count = 0
    for path in sorted(ROOT.glob("*/locale/*/**/*.po")):
        plain = "posenc_course" in path.parts or path.stem in ("pictures", "site")
        count += len(translated(path, plain=plain))
    assert count > 12_000


def test_the_catalogues_are_those_of_the_sources():
    """`make messages` would change nothing. (Of pictures, see the tests of the site.)"""
    for part, source in catalogues.english(pictures=False):
        path = part.path(ROOT, CHINESE)
        before = path.read_bytes()
        assert catalogues.written(renewed(path, source, CHINESE)) == before, f"{path}: run `make messages`"


def test_what_has_changed_in_english_is_kept_and_not_shown(page):
    more = "It has 13 of them, which is a dozen and no more."
    now = renewed(page, english("It has `one` row.", more), CHINESE)
    write(now, page)
    assert translated(page) == {"It has `one` row.": "它有`one`行。"}
    changed = now[more]
    assert changed.fuzzy
    assert changed.string == "一共12个。"
    assert list(changed.previous_id) == ["It has 12 of them, which is a dozen and no more."]
    assert "It has 12 of them" in page.read_text(), "what it was made of stands beside it"
    again = renewed(page, english("It has `one` row.", more), CHINESE)
    assert again[more].fuzzy, "nobody has looked at it"
    before = page.read_bytes()
    write(again, page)
    assert page.read_bytes() == before, "and what it was made of still does"


def test_what_is_new_waits_and_what_is_gone_goes(page):
    now = renewed(page, english("It has `one` row.", "Nothing like it."), CHINESE)
    assert not now["Nothing like it."].string
    assert now.get("It has 12 of them, which is a dozen and no more.") is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("它有一行。", "code is missing: 'one'"),
        ("它有`one`行，见[这里](x.md)。", "link is not in the source: 'x.md'"),
    ],
)
def test_a_broken_entry_is_named(page, words, told):
    text = page.read_text().replace("它有`one`行。", words)
    page.write_text(text)
    with pytest.raises(CatalogueError) as error:
        translated(page)
    assert str(page) in str(error.value)
    assert "It has `one` row." in str(error.value)
    assert told in str(error.value)


def test_a_catalogue_that_cannot_be_read_is_named(page):
    page.write_text(page.read_text() + "whatever this is\n")
    with pytest.raises(CatalogueError, match=re.escape(str(page))):
        read(page)


def test_a_number_that_the_language_writes_otherwise_is_allowed_where_it_is_flagged(page):
    text = page.read_text().replace("一共12个。", "一打。")
    page.write_text(text)
    with pytest.raises(CatalogueError, match="number is missing: 12"):
        translated(page)
    page.write_text(text.replace('msgid "It has 12', f'#, {catalogues.OTHER_NUMBERS}\nmsgid "It has 12'))
    assert "一打。" in translated(page).values()


def test_a_language_that_is_not_known_is_told_and_english_spoken(spoken, capsys):
    spoken("tlh")
    assert capsys.readouterr().err == (
        "posenc: the language 'tlh' is not known; known are en, zh_CN. Using English\n"
    )
    assert _("Case by case") == "Case by case"


def test_beginning_what_is_no_language_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "book.catalogues", "--add", "klingon"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "'klingon' is no language that is known; give one such as de or pt_BR" in done.stderr


@pytest.mark.parametrize(
    ("text", "pattern", "numbers"),
    [
        ("dim 48", "dim {0}", ["48"]),
        ("positions −3, 1,000 and .5", "positions {0}, {1} and {2}", ["−3", "1,000", ".5"]),
        ("off by 1e-12", "off by {0}", ["1e-12"]),
        ("float64 and x2", "float64 and x2", []),
    ],
)
def test_a_label_is_known_whatever_its_numbers(text, pattern, numbers):
    assert without_numbers(text) == (pattern, numbers)
    assert with_numbers(pattern, numbers) == text


def test_the_judge_names_the_same_mistakes_in_both_languages(spoken):
    """Of every exercise the first and the last known mistake, in the weekly run all of them; and None."""

    def verdicts() -> dict[tuple[str, int], tuple[str | None, list[bool], str]]:
        found = {}
        for asked in all_exercises():
            few = dict.fromkeys((asked.mistakes[0], asked.mistakes[-1]))
            answers = [each.answer for each in (asked.mistakes if EVERY_EDITION in os.environ else few)]
            for number, answer in enumerate((*answers, lambda *_args, **_more: None)):
                report = report_on(asked.id, answer)
                named = report.mistake.message if report.mistake else None
                passed = [each.passed for each in report.results]
                found[asked.id, number] = named, passed, str(report)
        return found

    english_ones = verdicts()
    spoken(CHINESE)
    chinese_ones = verdicts()
    assert len(english_ones) > 400
    for key, (mistake, passed, text) in english_ones.items():
        *facts, said = chinese_ones[key]
        assert facts == [mistake, passed], key
        assert said != text, key
        assert re.search("[\u4e00-\u9fff]", said), key
        assert not re.search("[。！？；：，、] ", said), f"a space between sentences: {said}"


def test_no_two_mistakes_of_an_exercise_read_alike(spoken):
    spoken(CHINESE)
    for asked in all_exercises():
        english_ones = {each.message for each in asked.mistakes}
        assert len({_(each) for each in english_ones}) == len(english_ones), asked.id


def test_a_language_is_not_half_begun(tmp_path, monkeypatch):
    def cut_off(root):
        yield catalogues.SITE, Catalog()
        raise CatalogueError("not built yet")

    monkeypatch.setattr(catalogues, "english", cut_off)
    with pytest.raises(CatalogueError, match="not built yet"):
        catalogues.renew("de", tmp_path)
    assert not list(tmp_path.rglob("*.po"))
