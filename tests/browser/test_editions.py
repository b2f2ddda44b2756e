"""The Chinese edition as its readers meet it, beside the English one."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from book import catalogues, editions
from posenc_course.exercises import exercise
from posenc_course.translation import speak
from tests.browser.test_live_exercises import SMALL, WRONG, Exercise
from tests.browser.test_site import CHAPTERS, MADE_BY_SPHINX, PAGES
from tests.present import present

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHINESE = "zh_CN"
HAN = re.compile("[\u4e00-\u9fff]")
CHAPTER = "book/02-the-formula.html"


def parsed(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(), "html.parser")


@pytest.fixture(scope="module", params=CHAPTERS)
def both(request, site) -> tuple[BeautifulSoup, BeautifulSoup]:
    """A chapter in English and in Chinese."""
    return parsed(site / request.param), parsed(site / "zh" / request.param)


# --- Two editions, one book


def test_every_page_is_there_in_chinese_and_says_so(site):
    for page in [*PAGES, *MADE_BY_SPHINX]:
        chinese = (site / "zh" / page).read_text()
        assert '<html lang="zh-CN"' in chinese, page


def test_a_search_engine_is_told_whole_addresses_or_none(tmp_path, site):
    address = "https://book.example/posenc"
    (tmp_path / "book").symlink_to(ROOT / "book")
    (tmp_path / "_config.yml").write_text(
        f"{(ROOT / '_config.yml').read_text()}\nhtml: {{baseurl: {address}}}\n"
    )
    assert editions._config(tmp_path, CHINESE)["html"]["baseurl"] == f"{address}/zh/"

    sys.path.append(str(ROOT / "book" / "_ext"))
    import edition

    for language, here, there in (("en", "", "zh/"), (CHINESE, "zh/", "")):
        app: Any = SimpleNamespace(config=SimpleNamespace(language=language))
        context: dict[str, Any] = {"pathto": lambda path, resource: f"../{path}"}
        context["pageurl"] = f"{address}/{here}{CHAPTER}"
        edition._offer(app, CHAPTER.removesuffix(".html"), "page.html", context, None)
        assert [each["whole"] for each in context["posenc_editions"]] == [f"{address}/{there}{CHAPTER}"]
    assert "hreflang" not in str(parsed(site / CHAPTER).head)  # nobody knows yet where it will be


def test_both_have_the_same_code_outputs_formulas_boxes_and_addresses(both):
    english, chinese = both

    def kept(page: BeautifulSoup) -> dict[str, object]:
        return {
            "code": [each.get_text() for each in page.select(".cell_input pre")],
            "printed": [
                each.get_text() for each in page.select(".output.stream pre, .output.text_plain pre")
            ],
            "pictures": len(page.select("figure svg")),
            "formulas": Counter(str(each) for each in page.select(".math > math:not(:has(mtext))")),
            "exercises": [each["data-exercise"] for each in page.select("[data-exercise]")],
            "predictions": [(each["id"], each["data-text"]) for each in page.select(".posenc-predict")],
            "questions": [
                (each["data-question"], each["data-text"]) for each in page.select("[data-question]")
            ],
            "addresses": [each["id"] for each in page.select("article section[id]")],
        }

    english_ones, chinese_ones = kept(english), kept(chinese)
    for what, wanted in english_ones.items():
        assert chinese_ones[what] == wanted, what


def test_what_a_reader_reads_is_chinese(both):
    """Paragraphs, headings, items, and what is said of pictures to those who do not see them."""
    _english, chinese = both
    article = copy(present(chinese.select_one("article")))
    for each in article.select("code, pre, .math, [aria-hidden]"):
        each.decompose()
    said = [each.get_text(" ", strip=True) for each in article.select("h1, h2, h3, p, li, figcaption")]
    said += [str(each["aria-label"]) for each in article.select("figure svg[aria-label]")]
    left = [each for each in said if len(re.findall(r"[A-Za-z]{4,}", each)) > 8 and not HAN.search(each)]
    assert len(HAN.findall(article.get_text())) > 5_000
    assert [each for each in left if not re.search(r"\b(19|20)\d\d\b", each)] == [], (
        "but for titles of papers"
    )


def test_the_words_of_pictures_are_in_the_catalogue(site):
    """`make messages` would change nothing; the site holds all words that there are."""
    kept = json.loads((site.parent / "edition.json").read_text())["picture_words"]
    words = {each for page in kept.values() for each in page}
    known = catalogues.read(catalogues.PICTURES.path(ROOT, CHINESE))
    assert {each.id for each in known if each.id} == words, "run `make messages`"


def test_scripts_and_python_are_there_once(site):
    theirs = {each.name for each in (site / "zh" / "_static").rglob("*") if each.is_file()}
    assert not {"main.js", "posenc.css", "pyodide.asm.wasm"} & theirs
    for page in (site / "zh").rglob("*.html"):
        if "lite" in page.parts:
            continue
        for named in re.findall(r'(?:href|src)="([^"#?:]*_static/[^"#?]*)', page.read_text()):
            assert (page.parent / named).exists(), f"{page}: {named}"


# --- The way from one to the other


@pytest.fixture
def tab(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    return tab


def test_the_switch_leads_to_the_same_place_and_back(tab):
    heading = tab.locator("section#the-formula > h1").first
    tab.locator("section#frequencies-and-wavelengths").scroll_into_view_if_needed()
    tab.mouse.wheel(0, 300)
    tab.get_by_role("link", name="中文").click()
    tab.wait_for_url(re.compile(rf"/zh/{CHAPTER}#[\w-]+$"))
    place = tab.url.partition("#")[2]
    assert tab.evaluate("document.documentElement.lang") == "zh-CN"
    tab.wait_for_function(  # it is where the reader was, also once what comes above it is there
        """id => {
          const { top, bottom } = document.getElementById(id).getBoundingClientRect();
          return top < 300 && bottom > 0;
        }""",
        arg=place,
    )
    tab.get_by_role("link", name="English").click()
    tab.wait_for_url(re.compile(rf"/{CHAPTER}#"))
    assert "/zh/" not in tab.url
    expect(heading).to_be_attached()


def test_a_browser_that_speaks_chinese_is_asked_once_in_chinese(newcomer, plain_address):
    context = newcomer(locale="zh-CN")
    tab = context.new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    offer = tab.locator(".posenc-offer")
    expect(offer).to_contain_text("本课程有简体中文版")
    assert offer.get_attribute("lang") == "zh-CN"
    offer.get_by_role("button", name="不用了").focus()
    tab.keyboard.press("Enter")
    expect(offer).to_have_count(0)
    expect(tab.locator('.posenc-language[hreflang="zh-CN"]:visible')).to_be_focused()
    tab.reload()
    expect(tab.get_by_role("link", name="中文")).to_be_visible()
    expect(offer).to_have_count(0)


def test_whoever_takes_the_offer_reads_chinese_and_is_not_asked_again(newcomer, plain_address):
    tab = newcomer(locale="zh-TW").new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    tab.locator(".posenc-offer").get_by_role("link", name="阅读中文版").click()
    tab.wait_for_url(re.compile(f"/zh/{CHAPTER}"))
    expect(tab.locator("article h1").first).to_contain_text("公式")
    tab.goto(f"{plain_address}/book/03-relative-position.html")
    expect(tab.get_by_role("link", name="中文")).to_be_visible()
    expect(tab.locator(".posenc-offer")).to_have_count(0)


def test_who_speaks_english_is_not_asked(tab):
    expect(tab.get_by_role("link", name="中文")).to_be_visible()
    expect(tab.locator(".posenc-offer")).to_have_count(0)


# --- Search


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("旋转位置编码", "06-rotary"),
        ("为什么除以平方根", "why-order-matters"),
        ("混叠", "glossary"),
        ("YaRN", "06-rotary"),
    ],
)
def test_chinese_words_are_found(newcomer, plain_address, query, found):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/zh/search.html")
    field = tab.locator("input[name=q]").last  # the first is that of the dialog
    field.click()
    tab.keyboard.insert_text(query)  # as a Chinese keyboard does, which composes
    tab.keyboard.press("Enter")
    expect(tab.locator(f"#search-results li a[href*='{found}']").first).to_be_visible()


def test_a_search_without_a_result_says_so_in_chinese(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/zh/search.html?q=xqzzyv")
    expect(tab.locator(".search-summary")).to_have_text(
        "没有哪一页有这些词。请检查拼写，或者少用几个词再试。"
    )


# --- Exercises


@pytest.mark.parametrize("name", ["i-over-dim", "no-two-pi"])
def test_the_judge_of_a_chinese_page_speaks_chinese_and_counts_in_english_too(browser, address, name):
    exercise_id, code = WRONG[name]
    [mistake] = [each for each in exercise(exercise_id).mistakes if each.name == name]
    catalogues.compiled(CHINESE)
    said = speak(CHINESE).gettext(mistake.message)
    speak("en")
    assert HAN.search(said)
    context = browser.new_context(viewport=SMALL)
    tab = context.new_page()
    tab.goto(f"{address}/zh/book/{exercise_id.partition('.')[0]}.html")
    asked = Exercise(tab, exercise_id)
    asked.editor.wait_for()
    asked.write(code)
    asked.button("检查").click()
    expect(asked.result).to_contain_text(said)
    assert asked.record["attempts"] == 1
    tab.goto(f"{address}/book/{exercise_id.partition('.')[0]}.html")
    there = Exercise(tab, exercise_id)
    there.editor.wait_for()
    assert there.code == code, "the work is the same in both languages"
    context.close()


def test_an_exercise_begun_in_english_is_the_same_in_chinese_though_its_comments_are_not(
    newcomer, site, plain_address
):
    """Whoever changes the language is not told that the exercise was changed meanwhile."""
    starters = [
        present(parsed(site / folder / CHAPTER).select_one("#exercise-frequencies .posenc-editor pre")).text
        for folder in ("", "zh")
    ]
    assert starters[0] != starters[1]
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    asked = Exercise(tab, "02-the-formula.frequencies")
    asked.editor.click()
    tab.keyboard.press("Control+End")
    tab.keyboard.type("# begun")
    begun_is_kept = "key => JSON.parse(localStorage.getItem(key))?.code.endsWith('# begun')"
    tab.wait_for_function(begun_is_kept, arg=f"posenc:1:exercise:{asked.id}")
    begun = asked.code
    assert begun.endswith("# begun")
    tab.goto(f"{plain_address}/zh/{CHAPTER}")
    there = Exercise(tab, asked.id)
    expect(there.editor).to_contain_text("# begun")
    assert there.code == begun
    expect(there.box.locator(".posenc-notices")).to_be_empty()


def test_what_was_predicted_in_one_language_counts_in_the_other(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/zh/{CHAPTER}")
    box = tab.locator("#predict-bits-that-flip")
    box.scroll_into_view_if_needed()
    box.locator("input").click()
    tab.keyboard.type("4")
    box.get_by_role("button", name="就猜这个").click()
    expect(box).to_contain_text("4")
    kept = tab.evaluate("localStorage.getItem('posenc:1:prediction:02-the-formula.bits-that-flip')")
    assert json.loads(kept)["right"]
    tab.goto(f"{plain_address}/{CHAPTER}")
    expect(tab.locator("#predict-bits-that-flip")).to_contain_text("You said 4")


def test_the_controls_of_a_page_have_chinese_names(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/zh/{CHAPTER}")
    for control in (".theme-switch-button", ".primary-toggle", "nav.bd-docs-nav", "#pst-search-dialog input"):
        expect(tab.locator(control).first).to_have_attribute("aria-label", HAN)
    expect(tab.locator(".headerlink").first).to_have_attribute("title", HAN)
