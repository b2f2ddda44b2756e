"""A chapter under a thumb: a touch screen of 390 or 320 px, real taps, keys one by one."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import uncover, unfold, wait_for_fonts, wait_for_frame
from tools.claims import chapters

pytestmark = pytest.mark.slow

READ = "domcontentloaded"
CHAPTERS = [f"{edition}book/{path.stem}.html" for edition in ("", "zh/") for path in chapters()]
FORMULA, ROTARY = "02-the-formula", "06-rotary"
PAGES = (f"book/{FORMULA}.html", "book/index.html", "book/lab.html", "book/progress.html")
TAPPED = """() => {
  const kinds = "button, summary, input, select, textarea, label:has(input), .btn, .dropdown-item, " +
    ".posenc-start, .posenc-go-on, nav.bd-links a, .posenc-progress-bar";
  const small = [];
  for (const each of document.querySelectorAll(kinds)) {
    if (!each.checkVisibility({ visibilityProperty: true }) || each.matches("label input")) continue;
    const { width, height, right } = each.getBoundingClientRect();
    const name = `${each.tagName} ${each.className} “${each.textContent.trim().slice(0, 20)}”`;
    if (width && right > 0 && Math.min(width, height) < 43.5) small.push(`${name} ${width} x ${height}`);
  }
  return small;
}"""

SPACED = """
  * { letter-spacing: 0.12em !important; line-height: 1.5 !important; word-spacing: 0.16em !important; }
  p { margin-bottom: 2em !important; }
"""

OPENING = """() => {
  const figure = document.querySelector("figure:has(.posenc-moving)");
  const right = (each) => each.getBoundingClientRect().right;
  const words = [...figure.querySelectorAll("text")].filter((each) => right(each) > right(figure));
  return { scrolls: figure.scrollWidth - figure.clientWidth, cut: words.map((each) => each.textContent) };
}"""


@pytest.fixture(params=[390, 320])
def phone(newcomer, request):
    size = {"width": request.param, "height": 844}
    return newcomer(viewport=size, has_touch=True, is_mobile=True).new_page()


def opened(tab, address: str, asked: str):
    """The exercise of an id, open, once its editor is there."""
    chapter, _, function = asked.partition(".")
    tab.goto(f"{address}/book/{chapter}.html", wait_until=READ)
    box = tab.locator(f"#exercise-{function.replace('_', '-')}")
    unfold(box)
    box.scroll_into_view_if_needed()
    box.locator(".cm-content").wait_for()
    return box


@pytest.mark.parametrize("page", PAGES)
def test_what_one_taps_is_as_large_as_a_thumb(phone, plain_address, page):
    phone.goto(f"{plain_address}/{page}", wait_until="load")
    uncover(phone)
    phone.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    phone.wait_for_timeout(1000)
    assert phone.evaluate(TAPPED) == []
    phone.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    phone.locator(".primary-toggle").first.tap()
    phone.locator("nav.bd-links a").first.wait_for()
    assert phone.evaluate(TAPPED) == []
    assert phone.evaluate("document.documentElement.scrollWidth") <= phone.viewport_size["width"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_with_the_spacing_that_readers_may_ask_for(newcomer, plain_address, page):
    """That of WCAG 2.2, 1.4.12, which also asks for 320 px, 1.4.10."""
    tab = newcomer(viewport={"width": 320, "height": 844}).new_page()
    tab.goto(f"{plain_address}/{page}", wait_until=READ)
    wait_for_fonts(tab)
    tab.add_style_tag(content=SPACED)
    wait_for_frame(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") == 320


def test_the_picture_that_opens_a_chapter_is_seen_whole(newcomer, plain_address):
    size = {"width": 390, "height": 844}
    tab = newcomer(viewport=size, is_mobile=True, java_script_enabled=False).new_page()
    found = {}
    for page in CHAPTERS:
        tab.goto(f"{plain_address}/{page}", wait_until="load")
        wait_for_fonts(tab)
        found[page] = tab.evaluate(OPENING)
    assert found == {page: {"scrolls": 0, "cut": []} for page in CHAPTERS}


def test_boxes_keep_to_the_column_but_for_an_exercise_that_is_open(newcomer, plain_address):
    tab = newcomer(viewport={"width": 390, "height": 844}, is_mobile=True).new_page()
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    row = tab.locator("#exercise-frequencies")
    column = tab.locator(".bd-article > section").bounding_box()
    closed = row.bounding_box()
    assert (closed["x"], closed["width"]) == (column["x"], column["width"])
    unfold(row)
    assert row.bounding_box()["width"] > column["width"]


def test_names_of_code_stay_whole_in_tables(phone, plain_address):
    phone.goto(f"{plain_address}/book/notation.html", wait_until="load")
    names = phone.locator("td code")
    assert names.count() > 40
    broken = names.evaluate_all("""all => all
      .filter((each) => !/\\s/.test(each.textContent))
      .filter((each) => new Set([...each.getClientRects()].map(({ top }) => Math.round(top))).size > 1)
      .map((each) => each.textContent)""")
    assert broken == []


def test_words_in_a_row_of_choices_stand_in_the_middle_of_their_cells(phone, plain_address):
    phone.goto(f"{plain_address}/book/index.html", wait_until="load")
    cells = phone.locator(".posenc-open-door")
    cells.first.wait_for()
    off = cells.evaluate_all("""all => all.map((cell) => {
      const words = document.createRange(), box = cell.getBoundingClientRect();
      words.selectNodeContents(cell.querySelector("span") ?? cell);
      const { left, right } = words.getBoundingClientRect();
      return Math.abs(left + right - box.left - box.right) / 2;
    })""")
    assert len(off) == 4
    assert max(off) < 1


def test_nodes_of_a_chapter_with_ten_exercises_are_one_line(newcomer, plain_address):
    tab = newcomer(viewport={"width": 390, "height": 844}, is_mobile=True).new_page()
    tab.goto(f"{plain_address}/book/progress.html", wait_until="load")
    nodes = tab.locator("[data-chapter='03-relative-position'] .posenc-node")
    middles = nodes.evaluate_all(
        "all => all.map((node) => node.getBoundingClientRect()).map(({ top, bottom }) => top + bottom)"
    )
    assert len(middles) == 12
    assert max(middles) - min(middles) < 2


def test_an_exercise_has_the_room_of_the_phone_and_no_field_is_zoomed_into(phone, plain_address):
    box = opened(phone, plain_address, f"{ROTARY}.turn_pair")
    least = 320 / 390 * phone.viewport_size["width"]
    for part in (box.locator(".cm-editor"), box.locator(".posenc-setup"), box.locator("> p").last):
        assert part.bounding_box()["width"] >= least
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    assert box.locator(".cm-content").evaluate(size) >= 16
    expect(box.locator(".posenc-keys")).to_be_hidden()
    phone.evaluate("scrollBy(0, 2000)")
    phone.evaluate("scrollBy(0, -300)")  # the theme shows its button on the way up, with the next frame
    wait_for_frame(phone)
    expect(phone.locator("#pst-back-to-top")).to_be_hidden()


def test_a_row_of_keys_types_what_a_phones_keyboard_hides(phone, plain_address):
    box = opened(phone, plain_address, f"{FORMULA}.longest_wavelength")
    row = phone.get_by_role("toolbar", name="Keys for code")
    expect(row).to_have_count(0)
    editor = box.locator(".cm-content")
    editor.tap()
    phone.keyboard.press("Control+a")
    phone.keyboard.press("Backspace")

    def tap(*names: str) -> None:
        for name in names:
            row.get_by_role("button", name=name, exact=True).tap()
            expect(editor).to_be_focused()

    phone.keyboard.type("x")
    tap("Type =", "Type [")
    phone.keyboard.type("f")
    tap("Type (", "Type )", "Type ]")
    expect(editor).to_have_text("x=[f()]")
    tap("Tab: indent the line")
    expect(editor).to_have_text("    x=[f()]", use_inner_text=True)
    tap("Undo")
    expect(editor).to_have_text("x=[f()]", use_inner_text=True)
    phone.wait_for_function(  # it follows the part of the page that is seen
        "row => Math.abs(row.getBoundingClientRect().bottom - 844) <= 1", arg=row.element_handle()
    )
    assert all(each.bounding_box()["height"] >= 44 for each in row.get_by_role("button").all())
    box.get_by_role("button", name="Hint").tap()
    expect(row).to_be_hidden()
    editor.tap()
    expect(row).to_be_visible()
    phone.emulate_media(media="print")
    expect(row).to_be_hidden()


def test_on_a_desk_there_is_no_row_of_keys(newcomer, plain_address):
    tab = newcomer().new_page()
    box = opened(tab, plain_address, f"{FORMULA}.frequencies")
    box.locator(".cm-content").click()
    expect(tab.locator(".posenc-key-row")).to_be_hidden()
    expect(box.locator(".posenc-keys")).to_be_visible()


# The first touch.

EDITOR = re.compile(r"/posenc/editor-\w+\.js")


def kept(tab, asked: str, code: str) -> None:
    tab.wait_for_function(
        "([key, code]) => JSON.parse(localStorage.getItem(key))?.code === code",
        arg=[f"posenc:1:exercise:{asked}", code],
    )


@pytest.mark.parametrize("touch", [False, True], ids=["desk", "phone"])
def test_what_is_typed_before_the_editor_is_there_is_in_it(newcomer, plain_address, touch):
    """On a slow machine, whose network takes seconds for the editor."""
    small = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context = newcomer(**small if touch else {})
    tab = context.new_page()
    waiting = []
    tab.route(EDITOR, lambda route: waiting.append(route))
    tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    asked = f"{FORMULA}.frequencies"
    tab.goto(f"{plain_address}/book/{FORMULA}.html", wait_until=READ)
    box = tab.locator("#exercise-frequencies")
    unfold(box)
    code = box.locator(".posenc-editor pre")
    code.scroll_into_view_if_needed()
    code.tap() if touch else code.click()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("def frequencies(dim):\n    return 1 / 2")
    draft = box.locator(".posenc-draft")
    expect(draft).to_be_focused()
    tab.keyboard.press("Home")
    for _ in range(4):
        tab.keyboard.press("ArrowRight")
    assert waiting
    for route in waiting:
        route.continue_()
    editor = box.locator(".cm-content")
    expect(editor).to_be_focused()
    expect(draft).to_have_count(0)
    tab.keyboard.type("x = 2 # /\n")
    kept(tab, asked, "def frequencies(dim):\n    x = 2 # /\n    return 1 / 2")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("mine = 1")
    kept(tab, asked, "mine = 1")


def test_an_earlier_answer_is_there_before_the_editor_is(newcomer, plain_address):
    context = newcomer()
    tab = context.new_page()
    asked = f"{FORMULA}.frequencies"
    opened(tab, plain_address, asked)
    record = {"code": "mine = 1", "starter": "x", "updated": "2026-01-01T00:00:00.000Z"}
    tab.evaluate(
        "([key, text]) => localStorage.setItem(key, text)", [f"posenc:1:exercise:{asked}", json.dumps(record)]
    )
    tab.route(EDITOR, lambda route: None)
    tab.reload(wait_until=READ)
    box = tab.locator("#exercise-frequencies")  # which stays open
    code = box.locator(".posenc-editor pre")
    expect(code).to_have_text("mine = 1")
    code.click()
    tab.keyboard.press("End")
    tab.keyboard.type("2")
    kept(tab, asked, "mine = 12")
