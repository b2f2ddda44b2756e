"""Short asides and sources stand beside the text where there is room; elsewhere a page is as without them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import axe
from tests.browser.conftest import SAVES_DATA, open_side_trips, uncover, wait_for_fonts
from tests.browser.test_site import SERIOUS_FAULTS
from tools.claims import chapters

pytestmark = pytest.mark.slow

CHAPTERS = [f"book/{path.stem}.html" for path in chapters()]
LEAST = {"width": 1600, "height": 900}
"""From this width on there is room."""
WIDE, DESK = {"width": 1920, "height": 1080}, {"width": 1366, "height": 900}
NOTES = ":is(.posenc-source, .posenc-aside)"
MEET = """
  const meet = (one, other) =>
    Math.max(one.left, other.left) < Math.min(one.right, other.right) - 1 &&
    Math.max(one.top, other.top) < Math.min(one.bottom, other.bottom) - 1;
"""
"""Whether two boxes do."""
# Of the notes that are seen: how many there are, where their column is, and what is wrong with each.
LOOK = (
    "() => {"
    + MEET
    + """
  const boxes = new Map();
  const box = (part) => boxes.get(part) ?? boxes.set(part, part.getBoundingClientRect()).get(part);
  const all = [...document.querySelectorAll(".bd-main *, .bd-sidebar-primary")];
  const parts = all.filter((part) => part.checkVisibility({ visibilityProperty: true }));
  const notes = parts.filter((part) => part.matches(".posenc-source, .posenc-aside"));
  const text = box(document.querySelector(".bd-article > section"));
  const contents = box(document.querySelector(".bd-sidebar-secondary"));
  const faults = notes.flatMap((note, place) => {
    const own = box(note);
    const height = Math.max(own.height, place && box(notes[place - 1]).height); // either may push it down
    const beside = box(note.matches(".posenc-aside") ? note.previousElementSibling : note.closest("p"));
    const met = parts.filter((part) => meet(own, box(part)) && !part.contains(note) && !note.contains(part));
    const wrong = met.map((part) => `meets ${part.outerHTML.slice(0, 80)}`);
    if (own.top < beside.top - 1 || own.top > beside.bottom + height) wrong.push("is far from its place");
    if (own.left < text.right || own.right > contents.left) wrong.push("is not between text and contents");
    if (note.scrollWidth > note.clientWidth + 1) wrong.push("is too narrow for what it says");
    return wrong.map((each) => `${note.textContent.trim().slice(0, 40)} ${each}`);
  });
  const columns = new Set(notes.map((note) => `${box(note).left} ${box(note).right}`)).size;
  const sideways = document.documentElement.scrollWidth - innerWidth;
  return { notes: notes.length, columns, faults, sideways };
}"""
)
# Of the picture that stands beside text: what is wrong with its place.
BESIDE = (
    "() => {"
    + MEET
    + """
  const box = (part) => part.getBoundingClientRect();
  const cell = document.querySelector(".tag_beside");
  const [own, picture] = [box(cell), cell.querySelector("svg")];
  const kinds = "p, li, pre, .admonition, .cell, .posenc-source";
  const parts = [...document.querySelectorAll(`.bd-article :is(${kinds})`)].filter(
    (part) => part.checkVisibility() && !cell.contains(part) && meet(own, box(part)),
  );
  const wrong = parts.map((part) => `meets ${part.outerHTML.slice(0, 80)}`);
  if (own.right > box(document.querySelector(".bd-sidebar-secondary")).left) wrong.push("meets the contents");
  if (Math.abs(own.top - box(cell.previousElementSibling).bottom) > 48) wrong.push("is far from its place");
  if (box(cell.nextElementSibling).top > own.top + 48) wrong.push("has nothing beside it");
  if (box(document.querySelector(".note")).width < 37 * 16 - 1) wrong.push("leaves a box too little room");
  if (box(picture).width < parseFloat(picture.style.minWidth)) wrong.push("cannot be read");
  return wrong;
}"""
)
OPEN_ALL = """() => {
  for (const each of document.querySelectorAll(".posenc-side-trip, .posenc-fold")) each.open = true;
}"""
PLACES = """() => {
  const parts = [...document.querySelectorAll("body *:not(.posenc-source, .posenc-source *)")];
  return parts.map((part) => {
    const { x, y, width, height } = part.getBoundingClientRect();
    return [part.localName, x, y, width, height].join(" ");
  });
}"""
# Where all is with the notes and without, in one breath: a page grows by itself while its editors come.
WITH_AND_WITHOUT = f"""() => {{
  const places = {PLACES};
  const before = places();
  for (const each of document.querySelectorAll(".posenc-source")) each.remove();
  for (const name of ["posenc-aside", "posenc-has-margin"])
    for (const each of document.querySelectorAll(`.${{name}}`)) each.classList.remove(name);
  return [before, places()];
}}"""
FROM_TOP = """(note, around) =>
  note.getBoundingClientRect().y - note.closest(around).getBoundingClientRect().y"""
"""How far a note begins below what it is in, at one moment."""


@pytest.fixture
def tab(newcomer, plain_address):
    """Opens pages in a window that has room."""
    opened = newcomer(viewport=LEAST).new_page()
    opened.add_init_script(SAVES_DATA % "true")
    opened.read = lambda page: opened.goto(f"{plain_address}/{page}", wait_until="load")
    return opened


def look(tab) -> int:
    """See that nothing is wrong with the notes, and say how many there are."""
    found = tab.evaluate(LOOK)
    assert found["faults"] == []
    assert found["sideways"] <= 0
    assert found["columns"] <= 1
    return found["notes"]


@pytest.mark.parametrize("page", [*CHAPTERS, *(f"zh/{CHAPTERS[place]}" for place in (0, 1, 7))])
def test_notes_have_a_column_of_their_own_beside_what_they_belong_to(tab, page):
    tab.read(page)
    wait_for_fonts(tab)
    closed = look(tab)
    uncover(tab)
    tab.evaluate(OPEN_ALL)
    for size in (LEAST, WIDE):
        tab.set_viewport_size(size)
        assert look(tab) == tab.locator(NOTES).count() >= max(5, closed)


@pytest.mark.parametrize("page", [*CHAPTERS[1:], f"zh/{CHAPTERS[4]}"])
def test_the_picture_of_the_door_stands_beside_what_the_chapter_is_for(tab, page):
    tab.read(page)
    wait_for_fonts(tab)
    for size in (LEAST, WIDE):
        tab.set_viewport_size(size)
        assert tab.evaluate(BESIDE) == []
    picture = tab.locator(".tag_beside")
    for size in (DESK, {**DESK, "width": LEAST["width"] - 1}):
        tab.set_viewport_size(size)
        assert picture.evaluate("cell => getComputedStyle(cell).float") == "none"


def test_what_is_closed_or_covered_has_no_note(tab):
    for page in CHAPTERS:
        tab.read(page)
        tab.evaluate("document.documentElement.classList.add('posenc-covers')")
        for around in (".posenc-side-trip:not([open])", ".posenc-outcome:not(.posenc-told)"):
            for note in tab.locator(f"{around} {NOTES}").all():
                expect(note).to_be_hidden()
    assert tab.locator(f".posenc-side-trip {NOTES}").count() > 3


@pytest.mark.parametrize("page", CHAPTERS)
def test_without_room_a_page_is_as_if_there_were_none(tab, page):
    tab.set_viewport_size(DESK)
    tab.emulate_media(reduced_motion="reduce")  # the picture that opens a chapter rests
    tab.read(page)
    wait_for_fonts(tab)
    tab.evaluate(OPEN_ALL)
    for media, width in (("screen", 1366), ("screen", 1599), ("print", 1920)):
        tab.emulate_media(media=media)
        tab.set_viewport_size({**DESK, "width": width})
        assert not any(note.is_visible() for note in tab.locator(".posenc-source").all())
    tab.emulate_media(media="screen")
    tab.set_viewport_size(DESK)
    before, after = tab.evaluate(WITH_AND_WITHOUT)
    assert after == before


def test_other_pages_have_no_room_for_them(tab):
    tab.set_viewport_size(WIDE)
    for page in ("index", "lab", "glossary", "02-the-formula"):
        tab.read(f"book/{page}.html")
        inner = tab.locator(".bd-container__inner").bounding_box()
        assert (inner["width"] > 88 * 16) is (page == "02-the-formula"), page


def test_an_aside_is_read_in_the_margin_and_opens_where_there_is_none(tab):
    tab.read(CHAPTERS[0])
    aside = tab.locator(".posenc-aside", has_text="how to catch yourself")
    title, inside = aside.locator("p").all()
    opens = title.locator("button")
    expect(opens).to_be_attached()
    expect(inside).to_be_visible()
    expect(opens).to_be_hidden()
    for state in (False, True):
        tab.set_viewport_size(DESK)
        expect(opens).to_be_visible()
        expect(inside).to_be_visible(visible=state)
        title.click()
        tab.set_viewport_size(LEAST)
        expect(inside).to_be_visible()
        title.click(force=True)  # which here does nothing


def test_a_source_is_named_once_beside_the_paragraph_that_names_it(tab):
    tab.read(CHAPTERS[1])
    note = tab.get_by_role("note").filter(has_text="Attention Is All You Need")
    expect(note).to_have_text("Vaswani et al. 2017. Attention Is All You Need")
    assert note.get_by_role("link").get_attribute("href") == "https://arxiv.org/abs/1706.03762"
    text = note.locator("xpath=..")
    expect(text).to_contain_text("positional encoding of the original Transformer")
    assert abs(note.evaluate(FROM_TOP, "p")) < 20
    tab.set_viewport_size(DESK)
    expect(note).to_be_hidden()


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_page_is_described_without_what_is_beside_its_text(site, page):
    text = (site / page).read_text()
    [said] = re.findall(r'<meta name="description" content="([^"]*)"', text)
    notes = re.findall(r'class="posenc-source" role="note">([^<]+)<', text)
    assert notes
    assert [note for note in notes if note in said] == []


def test_a_source_in_a_list_stands_beside_its_entry(tab):
    tab.read(CHAPTERS[1])
    note = tab.locator("li .posenc-source", has_text="Position Information in Transformers")
    open_side_trips(note)
    expect(note).to_be_visible()
    assert abs(note.evaluate(FROM_TOP, "li")) < 20


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_notes(tab, theme):
    tab.emulate_media(color_scheme=theme)
    tab.read(CHAPTERS[7])
    tab.wait_for_function("theme => document.documentElement.dataset.theme === theme", arg=theme)
    tab.evaluate(OPEN_ALL)
    tab.add_script_tag(path=axe())
    assert tab.evaluate(SERIOUS_FAULTS, "") == []


def test_nothing_moves_as_a_page_with_notes_loads(tab):
    tab.add_init_script(
        """window.shifted = 0;
        new PerformanceObserver((list) => {
          for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
        }).observe({ type: "layout-shift", buffered: true });"""
    )
    for page in (CHAPTERS[0], CHAPTERS[7]):
        tab.read(page)
        tab.locator(".posenc-badge").first.wait_for(state="attached")  # the scripts are there
        assert tab.evaluate("shifted") < 0.05
