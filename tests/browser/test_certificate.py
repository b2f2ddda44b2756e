"""A certificate from a typed name to `posenc verify`: the page's file and code, judged by the command."""

from __future__ import annotations

import json
from datetime import date

import pytest
from playwright.sync_api import expect
from pypdfium2 import PdfDocument

from posenc_course.certificate import code_of, fingerprint
from posenc_course.exercises import all_exercises, wholes
from posenc_course.grading.cli import main
from tests.browser.test_progress import open_page
from tests.browser.test_site import Visit

pytestmark = pytest.mark.slow

PAGE = "book/progress.html"
FREQUENCIES, FAR_GAP = "02-the-formula.frequencies", "04-extrapolation.far_gap"
PAIR, HEAD = "06-rotary.turn_pair", "06-rotary.apply_rotary"
CODE = {
    FREQUENCIES: "def frequencies(dim):\n    return 10000.0 ** (-np.arange(0, dim, 2) / dim)",
    FAR_GAP: "def far_gap(losses, trained):\n    return np.nanmean(losses[:, trained:]) - 0  # 😀",
}


def passed(tab, exercise: str, **changes) -> None:
    record = {"code": CODE.get(exercise, "x = 1"), "starter": "", "passed": True, "attempts": 1} | changes
    tab.evaluate("([id, record]) => store.save('exercise', id, record)", [exercise, record])


def made(tab, name: str) -> str:
    """Type the name key by key, press Enter, and read the code."""
    tab.get_by_role("textbox", name="Your name").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.type(name)
    tab.keyboard.press("Enter")
    expect(tab.locator(".posenc-name-on-it")).to_have_text(" ".join(name.split()))
    return tab.locator(".posenc-code code").inner_text()


def saved(tab, to) -> None:
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Save the progress file").click()
    download.value.save_as(to)


@pytest.fixture
def tab(newcomer, plain_address):
    return open_page(newcomer(), plain_address, PAGE)


@pytest.mark.parametrize("name", ["Ada  Lovelace ", "محمد بن موسى", "👩‍🚀 Zoë <b>&amp;</b>", "李小龍"])
def test_the_command_finds_what_the_page_made(tab, tmp_path, capsys, name):
    for each in CODE:
        passed(tab, each)
    code = made(tab, name)
    marks = {each: fingerprint(CODE[each]) for each in CODE}
    today = tab.evaluate("new Date().toLocaleDateString('sv')")
    assert code == code_of(" ".join(name.split()), today, marks)
    file = tmp_path / "progress.json"
    saved(tab, file)
    assert main(["verify", str(file), code]) == 0
    told = capsys.readouterr().out
    assert f"2 of {len(wholes(e for e in all_exercises() if e.in_page))} passed" in told
    assert today in told
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"attempts": 1', '"attempts": 2', 1), encoding="utf-8")
    assert main(["verify", str(file), code]) == 1
    assert "was changed" in capsys.readouterr().err
    assert tab.complaints == []


def test_an_answer_that_passed_is_certified_whatever_was_written_since(tab, tmp_path, capsys):
    for each in CODE:
        passed(tab, each, code="something else", answer=CODE[each])
    code = made(tab, "Ada")
    marks = {each: fingerprint(CODE[each]) for each in CODE}
    assert code == code_of("Ada", tab.evaluate("new Date().toLocaleDateString('sv')"), marks)
    file = tmp_path / "progress.json"
    saved(tab, file)
    assert main(["verify", str(file), code]) == 0
    capsys.readouterr()


def test_an_export_of_the_progress_page_will_do_and_brings_the_certificate_along(
    tab, tmp_path, capsys, newcomer
):
    passed(tab, FREQUENCIES)
    code = made(tab, "Ada")
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export my work").click()
    file = tmp_path / "progress.json"
    download.value.save_as(file)
    assert main(["verify", str(file), code]) == 0
    elsewhere = newcomer(viewport={"width": 1000, "height": 800}).new_page()
    elsewhere.goto(tab.url)
    elsewhere.set_input_files("input[type=file]", file)
    expect(elsewhere.locator(".posenc-work .posenc-said")).to_contain_text(
        "2 entries of the file were imported."
    )
    with elsewhere.expect_download() as download:
        elsewhere.get_by_role("button", name="Export my work").click()
    download.value.save_as(file)
    assert main(["verify", str(file), code]) == 0
    capsys.readouterr()


def test_only_what_a_page_has_checked_is_certified(tab):
    expect(tab.locator(".posenc-count")).to_contain_text("You have passed 0 of")
    tab.get_by_role("textbox", name="Your name").click()
    tab.keyboard.type("Ada")
    tab.get_by_role("button", name="Make the certificate").click()
    expect(tab.locator(".posenc-certificate-maker .posenc-said")).to_contain_text(
        "There is nothing to certify yet"
    )
    other = open_page(tab.context, tab.url.removesuffix(f"/{PAGE}"), "book/glossary.html")
    passed(other, FREQUENCIES, code=None)  # ticked by hand, as for one of the notebook
    passed(other, FAR_GAP, passed=False)
    passed(other, PAIR)  # the first of two steps
    expect(tab.locator(".posenc-count")).to_contain_text("You have passed 0 of")
    passed(other, HEAD)
    expect(tab.locator(".posenc-count")).to_contain_text("You have passed 1 of")
    made(tab, "Ada")
    assert tab.locator(".posenc-listed ul li").all_inner_texts() == ["RoPE, from one pair to a whole head"]
    assert tab.locator(".posenc-certificate").inner_text().count("has passed one exercise of the course") == 1


def test_without_a_name_there_is_none(tab):
    passed(tab, FREQUENCIES)
    name = tab.get_by_role("textbox", name="Your name")
    name.click()
    tab.keyboard.type("   ")
    tab.keyboard.press("Enter")
    expect(tab.locator(".posenc-certificate-maker .posenc-said")).to_have_text("Type your name first.")
    expect(name).to_be_focused()
    assert tab.locator(".posenc-certificate").count() == 0
    assert tab.evaluate("store.all('certificate')") == {}


def test_the_paper_holds_the_certificate_and_nothing_else(tab):
    every = [each for each in all_exercises() if each.in_page]
    for each in every:
        passed(tab, each.id)
    code = made(tab, "Ada " + 11 * "Lovelace-")
    pages = PdfDocument(tab.pdf(format="A4", print_background=True))
    text = " ".join("".join(page.get_textpage().get_text_bounded() for page in pages).split())
    assert code in text
    assert "This proves practice, not identity" in text
    assert f"has passed {len(wholes(every))} exercises" in text
    for other in ("What it proves", "Make the certificate", "Reference", "Skip to main content"):
        assert other not in text
    assert len(pages) <= 3
    assert tab.locator(".posenc-certificate").evaluate("each => each.scrollWidth <= each.clientWidth")


@pytest.mark.parametrize("size", ["A4", "Letter"])
def test_a_short_one_takes_one_sheet_and_no_mark_of_the_focus(tab, size):
    passed(tab, FREQUENCIES)
    made(tab, "Ada")
    expect(tab.locator(".posenc-certificate h3")).to_be_focused()
    assert len(PdfDocument(tab.pdf(format=size))) == 1
    tab.emulate_media(media="print")
    assert tab.locator(".posenc-certificate h3").evaluate("it => getComputedStyle(it).outlineStyle") == "none"


def test_it_is_legible_and_named_in_light_and_dark_and_fits_a_phone(browser, plain_address):
    visit = Visit(browser, plain_address)
    visit.open(PAGE)
    record = {"code": "x", "starter": "", "passed": True, "updated": f"{date.today()}T00:00:00Z"}
    keep = "([id, record]) => localStorage.setItem(`posenc:1:exercise:${id}`, record)"
    visit.tab.evaluate(keep, [FREQUENCIES, json.dumps(record)])
    made(visit.tab, "Ada")
    for theme in ("light", "dark"):
        visit.look(theme=theme)
        assert visit.serious_faults() == [], theme
    visit.tab.set_viewport_size({"width": 390, "height": 844})
    assert visit.tab.evaluate("document.documentElement.scrollWidth") <= 390
    visit.tab.close()
