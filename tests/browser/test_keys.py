"""Readers who have keys alone: what is pressed keeps the focus, or hands it to what comes next."""

from __future__ import annotations

from io import BytesIO
from typing import cast

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import unfold
from tests.browser.test_challenges import BREAK, BUG, begin, box, said
from tests.browser.test_challenges import PAGE as CHALLENGES
from tests.browser.test_phone import EDITOR
from tests.browser.test_progress import open_page
from tests.browser.test_trained_checkpoint import TRAINED
from tests.present import present

pytestmark = pytest.mark.slow

FORMULA = "book/02-the-formula.html"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def press(control, key: str = "Enter") -> None:
    control.focus()
    control.page.keyboard.press(key)


def seen(element) -> list[tuple[int, tuple[int, int, int]]]:
    """Of each colour as it is on the screen, how many pixels; those computed are the page's own."""
    found = Image.open(BytesIO(element.screenshot())).convert("RGB").getcolors(2**24)
    return cast("list[tuple[int, tuple[int, int, int]]]", present(found))


def test_the_switch_of_colours_is_pressed_again_and_again(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, FORMULA)
    switch = tab.get_by_role("button", name="Color mode")
    switch.focus()
    modes = []
    for _ in range(3):
        tab.keyboard.press("Enter")
        modes.append(tab.evaluate("document.documentElement.dataset.mode"))
        expect(switch).to_be_focused()
    assert len(set(modes)) == 3
    menu = tab.locator(".primary-toggle:visible")
    press(menu)
    expect(menu).to_be_focused()


@pytest.mark.parametrize("control", [".primary-toggle", ".secondary-toggle", ".search-button"])
def test_what_a_button_of_a_phones_head_opened_gives_the_focus_back(newcomer, plain_address, control):
    tab = open_page(newcomer(**PHONE), plain_address, FORMULA)
    opener = tab.locator(f"{control}:visible")
    press(opener)
    expect(tab.locator("dialog[open]")).to_have_count(1)
    tab.keyboard.press("Escape")
    expect(tab.locator("dialog[open]")).to_have_count(0)
    expect(opener).to_be_focused()


def test_who_copies_code_goes_on_from_there(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, FORMULA)
    copy = tab.locator(".copybtn:visible").first
    press(copy)
    expect(copy).to_have_class("copybtn o-tooltip--left success")
    expect(copy).to_be_focused()


def test_words_are_put_back_as_they_were_typed(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "book/01-why-order-matters.html")
    turn = tab.get_by_role("button", name="Turn the sentence round")
    press(turn)
    press(tab.get_by_role("button", name="As I typed it"))
    expect(turn).to_be_focused()


def test_the_models_of_the_lab_come_and_the_first_control_has_the_focus(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, "book/lab.html")
    load = tab.get_by_role("button", name="Load the models")
    press(load)
    expect(load.or_(tab.get_by_label("A text to read")).first).to_be_focused()
    expect(tab.locator(".posenc-lab")).to_have_attribute("data-open", "")
    expect(tab.get_by_label("A text to read")).to_be_focused()


def test_who_begins_a_challenge_is_led_into_it(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, CHALLENGES)
    place = box(tab, BUG)
    press(place.get_by_role("button", name="Begin"))
    expect(place.get_by_role("heading", name="One line of this solution is wrong")).to_be_focused()
    tab.keyboard.press("Tab")
    expect(place.get_by_label("with a clock")).to_be_focused()


def test_what_is_asked_and_what_was_wrong_keep_the_focus_in_the_game(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, CHALLENGES)
    place = begin(tab, TRAINED, 5)
    for title in ("Score by distance, first layer", "Score by distance, last layer"):
        ask = place.get_by_role("button", name=title)
        press(ask)
        expect(place.locator(".posenc-measured h4", has_text=title)).to_be_visible()
        expect(ask).to_be_disabled()
        expect(ask).to_be_focused()
    for group in place.locator("fieldset").all():  # with seed 5 the last of each is wrong
        press(group.get_by_role("radio").last, "Space")
    tab.keyboard.press("Enter")
    expect(place.locator(".posenc-names :disabled").first).to_be_attached()
    assert tab.evaluate("document.activeElement.matches('.posenc-names input:enabled')")


def test_the_address_of_a_challenge_and_the_way_back_leave_games_as_they_are(newcomer, plain_address):
    tab = open_page(newcomer(), plain_address, CHALLENGES)
    bug = begin(tab, BUG, 7)
    press(bug.get_by_role("radio").first, "Space")
    trained = begin(tab, TRAINED, 5)
    press(bug.get_by_role("link", name="Address of this challenge"))
    expect(tab).to_have_url(f"{plain_address}/{CHALLENGES}#bug-7")
    tab.go_back()
    expect(tab).to_have_url(f"{plain_address}/{CHALLENGES}#trained-5")
    expect(bug.get_by_role("radio").first).to_be_checked()
    expect(trained.locator(".posenc-questions")).to_be_visible()


def test_a_fix_that_waits_for_python_is_told_so(newcomer, address):
    tab = open_page(newcomer(), address, CHALLENGES)
    held: list = []
    tab.route("**/pyodide.mjs", lambda route: held.append(route))
    place = begin(tab, BUG, 7)
    press(place.get_by_role("radio").first, "Space")
    tab.keyboard.press("Enter")
    expect(said(place)).to_contain_text("Line 1 is right")
    press(place.get_by_role("button", name="Fix it instead"))
    expect(place.locator(".cm-content")).to_be_focused()
    tab.keyboard.type("# mine")
    press(place.get_by_role("button", name="Check my fix"))
    expect(said(place)).to_contain_text("Python is being loaded")


def test_who_tries_again_for_python_is_led_back_to_the_beginning(newcomer, address):
    context = newcomer()
    context.route("**/pyodide.asm.wasm", lambda route: None)  # it never answers
    place = box(open_page(context, address, CHALLENGES), BREAK)
    press(place.get_by_role("button", name="Begin"))
    again = place.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    press(again)
    expect(place.get_by_role("button", name="Begin")).to_be_focused()


def test_who_is_at_the_code_before_its_editor_is_there_goes_on_in_it(newcomer, plain_address):
    tab = newcomer().new_page()
    waiting: list = []
    tab.route(EDITOR, lambda route: waiting.append(route))
    tab.goto(f"{plain_address}/{FORMULA}", wait_until="domcontentloaded")
    exercise = tab.locator("#exercise-frequencies")
    unfold(exercise)
    copy = exercise.locator(".posenc-editor .copybtn")
    copy.scroll_into_view_if_needed()
    copy.focus()
    tab.wait_for_timeout(500)
    for route in waiting:
        route.continue_()
    expect(exercise.locator(".cm-content")).to_be_focused()


def test_a_question_about_the_solution_goes_when_the_answer_passes(newcomer, address):
    tab = open_page(newcomer(), address, FORMULA)
    exercise = tab.locator("#exercise-frequencies")
    unfold(exercise)
    press(exercise.get_by_role("button", name="Show solution"))
    expect(exercise.get_by_role("button", name="Not yet")).to_be_focused()
    exercise.locator(".cm-content").focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("def frequencies(dim, base=10000.0):\nreturn base ** (-np.arange(0, dim, 2) / dim)")
    tab.keyboard.press("Control+Enter")
    expect(exercise.get_by_role("status")).to_contain_text("Passed")
    expect(exercise.get_by_role("button", name="Not yet")).to_have_count(0)


def test_the_door_that_is_chosen_is_seen_in_a_readers_own_colours(newcomer, plain_address):
    tab = open_page(
        newcomer(forced_colors="active", reduced_motion="reduce"), plain_address, "book/index.html"
    )
    doors = tab.locator(".posenc-doors")
    seen = []
    for name in ("none", "added", "rotated"):
        press(doors.get_by_label(name, exact=True), "Space")
        tab.get_by_label("Your sentence").focus()
        seen.append(doors.screenshot())
    assert len(set(seen)) == 3


def test_in_a_readers_own_colours_the_lab_still_shows_what_surprised_the_model(newcomer, plain_address):
    tab = open_page(newcomer(forced_colors="active"), plain_address, "book/lab.html")
    press(tab.get_by_role("button", name="Load the models"))
    expect(tab.locator(".posenc-lab")).to_have_attribute("data-open", "")
    presets = [
        tab.locator(f'.posenc-lab-presets [aria-pressed="{is_on}"]').first for is_on in ("true", "false")
    ]
    pressed, other = (max(seen(preset))[1] for preset in presets)
    assert pressed != other
    read = """() => new Set([...document.querySelectorAll(".posenc-lab-text span")].map(
        (each) => each.style.getPropertyValue("--loss"))).size > 10"""
    tab.wait_for_function(read)  # the models read when they have come
    tab.add_style_tag(content=".posenc-lab-text span { color: transparent !important }")  # shades alone
    reds = [
        (red, green)
        for count, (red, green, blue) in seen(tab.locator(".posenc-lab-text").first)
        if count > 20 and red > max(green, blue) + 20
    ]
    assert len(reds) > 10


def test_that_another_tab_has_other_code_is_heard(newcomer, address):
    context = newcomer()
    here, there = (open_page(context, address, FORMULA) for _ in range(2))
    for tab in (here, there):
        unfold(tab.locator("#exercise-frequencies"))
        tab.locator("#exercise-frequencies .cm-content").focus()
    for tab, line in ((there, "# there"), (here, "# here")):
        tab.keyboard.press("Control+End")
        tab.keyboard.type(f"\n{line}")
        kept = "line => store.load('exercise', '02-the-formula.frequencies')?.code.includes(line)"
        tab.wait_for_function(kept, arg=line)
    expect(here.locator("#exercise-frequencies").get_by_role("status")).to_contain_text("in another tab")
