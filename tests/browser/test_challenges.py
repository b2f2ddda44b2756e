"""The challenges as people play them, with keys, a mouse and a thumb; the best results stay."""

from __future__ import annotations

import re
from itertools import count

import pytest
from playwright.sync_api import expect

from posenc_course.challenges import breaking, bugs, mystery
from tests.browser.test_progress import open_page
from tests.browser.test_site import Visit
from tests.present import present
from tools.find_bugs import solution

pytestmark = pytest.mark.slow

PAGE = "book/challenges.html"
BREAK, BUG, MYSTERY = range(3)
FORGOTTEN_START = bugs.Bug("02-the-formula.add_positions", "np.arange(start, start + n)", "np.arange(n)")
SEED = next(seed for seed in count() if bugs.draw(seed) == FORGOTTEN_START)
"""Draws this bug, whichever others there are."""


def box(tab, kind: int):
    return tab.locator(".posenc-challenge").nth(kind)


def begin(tab, kind: int, seed: int):
    """Type the number, and press Enter."""
    place = box(tab, kind)
    number = place.get_by_role("spinbutton", name="Number of the challenge")
    number.click()
    tab.keyboard.press("Control+a")
    tab.keyboard.press("Delete")
    tab.keyboard.type(str(seed))
    tab.keyboard.press("Enter")
    return place


def said(place):
    return place.get_by_role("status").and_(place.locator(".posenc-status"))


def kept(tab, name: str) -> dict | None:
    return tab.evaluate("id => store.load('challenge', id)", name)


@pytest.fixture
def tab(newcomer, plain_address):
    """Without Python."""
    return open_page(newcomer(), plain_address, PAGE)


@pytest.fixture(scope="module")
def desk(browser, address):
    """One page in which Python is loaded once."""
    visit = Visit(browser, address)
    visit.open(PAGE)
    yield visit
    visit.tab.close()


# Without Python: what is drawn, where results are kept.


def test_a_number_and_an_address_name_the_same_challenge(tab, newcomer, plain_address):
    title = box(tab, BUG).locator("h3")
    for seed in (0, 41, 999_999):
        begin(tab, BUG, seed)
        expect(title).to_contain_text("One line of this solution is wrong")
        bug = bugs.draw(seed)
        lines = box(tab, BUG).locator(".posenc-line code").all_text_contents()
        assert "\n".join(lines).replace(" \n", "\n").strip() == bug.planted(solution(bug.exercise)[0]).strip()
        expect(tab).to_have_url(re.compile(f"#bug-{seed}$"))
    friend = open_page(newcomer(viewport={"width": 1100, "height": 900}), plain_address, f"{PAGE}#bug-999999")
    number = box(friend, BUG).get_by_role("spinbutton")
    expect(number).to_have_value("999999")
    expect(box(friend, BUG).get_by_role("button", name="Begin")).to_be_in_viewport()
    box(friend, BUG).get_by_role("button", name="Begin").click()
    expect(box(friend, BUG).locator(".posenc-line code")).to_have_count(len(lines))
    assert box(friend, BUG).locator(".posenc-line code").all_text_contents() == lines
    friend.evaluate("location.hash = '#mystery-12'")
    expect(box(friend, MYSTERY).get_by_role("spinbutton")).to_have_value("12")
    expect(box(friend, MYSTERY).get_by_role("button", name="Begin")).to_be_in_viewport()
    expect(number).to_have_value("999999")
    assert tab.complaints == friend.complaints == []


@pytest.mark.parametrize(("typed", "meant"), [("", 0), ("-5", 0), ("1.9", 1), ("1e9", 999_999)])
def test_any_number_that_is_typed_is_mended_to_one_that_there_is(tab, typed, meant):
    begin(tab, BUG, typed)
    expect(box(tab, BUG).get_by_role("spinbutton")).to_have_value(str(meant))
    expect(box(tab, BUG).locator(".posenc-line").first).to_be_visible()


def test_another_one_is_another_one(tab):
    place = box(tab, BUG)
    seen = set()
    for _ in range(4):
        place.get_by_role("button", name="Another one").click()
        expect(place.locator("h3")).to_be_visible()
        seen.add(place.get_by_role("spinbutton").input_value())
    assert len(seen) >= 3
    expect(tab).to_have_url(re.compile(f"#bug-{place.get_by_role('spinbutton').input_value()}$"))


def test_a_bug_is_found_with_the_keyboard_alone(tab):
    bug = bugs.draw(SEED)
    line = bug.line(solution(bug.exercise)[0])
    place = begin(tab, BUG, SEED)
    expect(place.get_by_role("timer")).to_have_text(re.compile(r"[23]:\d\d left"))
    first = place.get_by_role("radio").first
    first.focus()
    tab.keyboard.press("Space")
    tab.keyboard.press("Enter")  # line 1, which is right
    expect(said(place)).to_have_text("Line 1 is right. Keep looking.")
    while place.locator("[type=radio]:checked").input_value() != str(line):
        tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    expect(said(place)).to_contain_text(f"it is line {line}")
    expect(place.locator(".posenc-results")).to_contain_text("8 of 10 points")
    found = kept(tab, f"bug:{SEED}")
    assert (present(found)["points"], present(found)["tries"]) == (8, 2)
    assert 0 <= present(found)["seconds"] < 600
    assert place.locator(".posenc-after").inner_text().count(bug.right) == 1
    assert tab.complaints == []


def test_a_thumb_finds_a_bug_without_a_clock(newcomer, plain_address):
    tab = open_page(
        newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True), plain_address, PAGE
    )
    place = box(tab, BUG)
    place.get_by_role("spinbutton").tap()
    tab.keyboard.press("Control+a")
    tab.keyboard.type(str(SEED))
    place.get_by_role("button", name="Begin").tap()
    place.get_by_label("with a clock").tap()
    expect(place.get_by_role("timer")).to_be_hidden()
    bug = bugs.draw(SEED)
    line = place.locator(".posenc-line").nth(bug.line(solution(bug.exercise)[0]) - 1)
    assert line.bounding_box()["height"] >= 24
    line.tap()
    place.get_by_role("button", name="It is this line").tap()
    expect(said(place)).to_contain_text("10 of 10 points")
    assert "seconds" not in present(kept(tab, f"bug:{SEED}"))
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    place.get_by_role("button", name="Begin again").tap()
    expect(place.get_by_label("with a clock")).not_to_be_checked()  # as it was chosen


def test_when_the_time_is_up_nothing_is_lost(browser, plain_address):
    tab = browser.new_context().new_page()  # of its own: no other test has its clock
    tab.clock.install()
    tab.goto(f"{plain_address}/{PAGE}", wait_until="domcontentloaded")
    box(tab, BUG).get_by_role("spinbutton").wait_for()
    tab.clock.pause_at(tab.evaluate("Date.now() / 1000") + 600)  # from here on, only the test moves the clock
    place = begin(tab, BUG, SEED)
    expect(place.get_by_role("timer")).to_have_text("3:00 left")
    tab.clock.run_for(61_000)
    expect(place.get_by_role("timer")).to_have_text("1:59 left")
    tab.clock.run_for(130_000)
    expect(said(place)).to_contain_text("nothing is lost")
    bug = bugs.draw(SEED)
    place.locator(".posenc-line").nth(bug.line(solution(bug.exercise)[0]) - 1).click()
    place.get_by_role("button", name="It is this line").click()
    expect(said(place)).to_contain_text("10 of 10 points")


def test_the_clock_stands_still_when_the_game_is_over(browser, plain_address):
    tab = browser.new_context().new_page()
    tab.clock.install()
    tab.goto(f"{plain_address}/{PAGE}", wait_until="domcontentloaded")
    box(tab, BUG).get_by_role("spinbutton").wait_for()
    tab.clock.pause_at(tab.evaluate("Date.now() / 1000") + 600)
    place = begin(tab, BUG, SEED)
    place.get_by_role("button", name="Tell me").click()
    expect(said(place)).to_contain_text("It is line")
    tab.clock.run_for(200_000)
    for _ in range(2):
        place.get_by_label("with a clock").click()
    expect(place.get_by_role("timer")).to_have_text("3:00 left")
    expect(said(place)).to_contain_text("It is line")


def test_who_is_told_gets_no_points(tab):
    place = begin(tab, BUG, SEED)
    place.get_by_role("button", name="Tell me").click()
    line = bugs.draw(SEED).line(solution(bugs.draw(SEED).exercise)[0])
    expect(place.locator(".posenc-after")).to_contain_text("It should be:")
    place.locator(".posenc-line").nth(line - 1).click()
    place.get_by_role("button", name="It is this line").click()
    assert kept(tab, f"bug:{SEED}") is None


def test_the_best_result_stays_whichever_tab_or_file_it_comes_from(newcomer, plain_address):
    context = newcomer()
    here, there = (open_page(context, plain_address, PAGE) for _ in range(2))
    keep = "([id, record]) => store.save('challenge', id, record)"
    for tab, name, points in ((here, "bug:1", 8), (there, "bug:2", 4), (there, "break:1", 10)):
        tab.evaluate(keep, [name, {"points": points, "tries": 1}])
    expect(box(here, BUG).locator(".posenc-results")).to_contain_text(
        "You have solved 2. They gave you 12 points."
    )
    expect(box(here, BREAK).locator(".posenc-results")).to_contain_text("You have solved one.")
    file = here.evaluate("store.exportAll()")
    records = file["records"]["challenge"]
    stamp = {"updated": "2020-01-01T00:00:00.000Z"}
    records["bug:1"] = {"points": 10, "tries": 1, **stamp}  # older, and better
    records["bug:2"] = {"points": 1, "tries": 1, "updated": "2099-01-01T00:00:00.000Z"}  # newer, and worse
    records["bug:3"] = {"points": "many", **stamp}
    taken = here.evaluate("file => store.importAll(file)", file)
    assert taken["faulty"] == ["challenge bug:3"]
    assert [present(kept(here, f"bug:{seed}"))["points"] for seed in (1, 2)] == [10, 4]
    expect(box(there, BUG).locator(".posenc-results")).to_contain_text("They gave you 14 points.")
    better = "([a, b]) => store.isBetter(a, b)"
    for one, other, expected in (
        ({"points": 8, "seconds": 50}, {"points": 8, "seconds": 60}, True),
        ({"points": 8}, {"points": 8, "seconds": 60}, False),
        ({"points": 8, "seconds": 60}, {"points": 8}, True),
        ({"points": 7, "seconds": 1}, {"points": 8}, False),
    ):
        assert here.evaluate(better, [one, other]) is expected


def test_where_python_cannot_come_the_page_says_so(tab):
    place = begin(tab, BREAK, 8)
    expect(said(place)).to_contain_text("Python could not be loaded into this page")


# With Python.


def test_a_promise_is_broken_by_typing_an_example(desk):
    tab = desk.tab
    drawn = breaking.draw(8)
    place = begin(tab, BREAK, 8)
    expect(place.locator(".posenc-promise")).to_contain_text(drawn.promise)
    assert place.locator(".posenc-listing").inner_text().strip() == drawn.code.strip()
    expect(place.get_by_label("A distance")).to_be_focused()

    def attempt(text: str) -> None:
        place.get_by_label("A distance").click()
        tab.keyboard.press("Control+a")
        tab.keyboard.type(text)
        tab.keyboard.press("Enter")

    attempt("ten")
    expect(said(place)).to_contain_text("“A distance” was ten. Type a whole number")
    attempt("3")
    expect(said(place)).to_contain_text("The promise is kept here")
    attempt("1000")
    expect(said(place)).to_contain_text("an example less than half as large breaks it too. Find one.")
    expect(said(place)).not_to_contain_text("The promise is kept here")
    attempt("300")
    expect(said(place)).to_contain_text("7 of 10 points")  # only the 3 has cost one
    expect(said(place)).to_contain_text("There is a smaller example")
    attempt(str(drawn.best[0]))
    expect(said(place)).to_contain_text("9 of 10 points. There is no smaller example.")
    expect(place.locator(".posenc-tried li")).to_have_count(4)
    expect(place.locator(".posenc-results")).to_contain_text("9 of 10 points")

    place.locator("summary").click()
    editor = place.locator(".cm-content")
    editor.click()
    tab.keyboard.press("Control+End")
    tab.keyboard.type("print(weight(3), 7 / 2)\n")
    place.get_by_role("button", name="Run", exact=True).click()
    expect(place.locator(".posenc-output pre")).to_contain_text("3.5")
    editor.click()
    tab.keyboard.press("Control+End")
    tab.keyboard.type("1 / 0")
    place.get_by_role("button", name="Run", exact=True).click()
    expect(place.locator(".posenc-output .posenc-error")).to_contain_text("ZeroDivisionError")
    attempt("3.5")  # with the editor open, what is said stands far below
    expect(said(place)).to_be_in_viewport()
    assert desk.complaints == []


def test_a_bug_is_mended_by_typing_and_the_judge_has_the_last_word(desk):
    tab = desk.tab
    place = begin(tab, BUG, SEED)
    place.get_by_role("button", name="Fix it instead").click()
    editor = place.locator(".cm-content")
    expect(editor).to_be_focused()
    check = place.get_by_role("button", name="Check my fix")
    check.click()
    expect(said(place)).to_have_text("This is the code as it was. Change the line that is wrong.")
    assert "np.arange(n), dim)" in editor.inner_text()
    editor.click()
    tab.keyboard.press("Control+End")
    for _ in "), dim)":
        tab.keyboard.press("ArrowLeft")
    tab.keyboard.type(" + 1")
    check.click()
    expect(said(place)).to_contain_text("Not yet")
    for _ in "n + 1":
        editor.press("Backspace")
    tab.keyboard.type("start, start + n")
    tab.keyboard.press("Control+Enter")
    expect(said(place)).to_contain_text("Fixed: the judge finds no mistake. That gives 8 of 10 points.")
    expect(place.locator(".posenc-after .posenc-report")).to_contain_text("The positions begin at 0")
    assert desk.complaints == []


def test_a_wrong_line_shows_what_comes_of_the_mistake_and_then_which_way_to_look(desk):
    place = begin(desk.tab, BUG, SEED)
    line = bugs.draw(SEED).line(solution(bugs.draw(SEED).exercise)[0])
    lines = place.locator(".posenc-line:not(:has(:disabled))")
    symptom = place.locator(".posenc-symptom")

    def choose(row) -> None:
        row.click()
        place.get_by_role("button", name="It is this line").click()

    choose(lines.first)
    expect(said(place)).to_have_text("Line 1 is right. Keep looking.")
    expect(symptom).to_contain_text(re.compile("got .*, expected "))
    expect(symptom).not_to_contain_text("The positions begin at 0")  # that would name the mistake
    choose(lines.first)  # once more, which costs nothing
    expect(said(place)).to_have_text("Line 1 is right. Keep looking.")
    choose(lines.nth(1))
    expect(said(place)).to_contain_text("Keep looking further down.")
    expect(said(place)).to_be_in_viewport()  # above the symptom
    choose(place.locator(".posenc-line").nth(line - 1))
    expect(said(place)).to_contain_text("6 of 10 points")
    expect(symptom).to_have_count(0)
    expect(place.locator(".posenc-after .posenc-report")).to_contain_text("The positions begin at 0")


@pytest.mark.parametrize("again", ["Begin again", "Another one"])
def test_who_presses_once_more_while_python_loads_gets_the_game_that_was_asked_for_last(
    newcomer, address, again
):
    tab = open_page(newcomer(), address, PAGE)
    place = begin(tab, BREAK, 8)
    expect(said(place)).to_contain_text("Python")
    place.get_by_role("button", name=again).click()
    seed = int(place.get_by_role("spinbutton").input_value())
    expect(place.locator(".posenc-promise")).to_contain_text(breaking.draw(seed).promise)
    expect(said(place)).to_be_empty()
    assert tab.complaints == []


def test_the_right_line_gets_its_report_though_python_still_loads_for_a_wrong_one(newcomer, address):
    """Python does one thing at a time, and what comes of the mistake was asked for before."""
    tab = open_page(newcomer(), address, PAGE)
    place = begin(tab, BUG, SEED)
    line = bugs.draw(SEED).line(solution(bugs.draw(SEED).exercise)[0])
    for number in (1, line):
        place.locator(".posenc-line").nth(number - 1).click()
        place.get_by_role("button", name="It is this line").click()
    expect(place.locator(".posenc-after .posenc-report")).to_contain_text("The positions begin at 0")
    expect(said(place)).to_have_text(re.compile(f"it is line {line}.*8 of 10 points.$"))
    assert tab.complaints == []


def test_why_a_run_was_stopped_stays_told_while_python_comes_again(desk):
    tab = desk.tab
    place = begin(tab, BREAK, 8)
    place.locator("summary").click()
    place.locator(".cm-content").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("while True:\npass")
    place.evaluate("place => { place.dataset.seconds = 2 }")
    with tab.expect_event("worker"):  # the new Python
        place.get_by_role("button", name="Run", exact=True).click()
        expect(said(place)).to_contain_text("Stopped after 2 seconds")
    tab.wait_for_timeout(4000)  # the time after which one who waits is told that it starts
    expect(said(place)).to_contain_text("Stopped after 2 seconds")


def test_a_checkpoint_is_named_from_what_was_measured(desk):
    tab = desk.tab
    drawn = mystery.draw(6)
    place = begin(tab, MYSTERY, 6)
    far = place.get_by_role("button", name="Far beyond the trained length")
    far.wait_for()
    name_it = place.get_by_role("button", name="Name it")
    name_it.click()
    expect(said(place)).to_have_text("Choose an encoding first.")
    place.get_by_label(drawn.encoding.title).click()
    name_it.click()
    expect(said(place)).to_contain_text("Measure first")
    far.click()
    expect(said(place)).to_contain_text(drawn.ask("far").sentence)
    expect(said(place)).not_to_contain_text("of 10 points")  # no name is taken after one measurement
    name_it.click()
    expect(said(place)).to_contain_text("Measure first")
    expect(far).to_be_disabled()
    place.get_by_role("button", name="Shift the text").click()
    expect(said(place)).to_contain_text("you get 8 of 10 points")
    pictures = place.locator("svg[role=img]")
    expect(pictures).to_have_count(2)
    assert pictures.first.get_attribute("aria-label") == drawn.ask("far").sentence
    place.locator(".posenc-measured summary").first.click()
    cells = place.locator(".posenc-measured").first.locator("tbody tr").last.locator("td").all_inner_texts()
    expected = [line[-1] for line in drawn.ask("far").lines]
    assert [float(cell) for cell in cells[1:]] == pytest.approx(expected, rel=1e-3)
    place.get_by_label("No encoding").click()
    name_it.click()
    expect(said(place)).to_have_text("No, it is a different one.")
    expect(place.get_by_label("No encoding")).to_be_disabled()
    place.get_by_label(drawn.encoding.title).click()
    name_it.click()
    expect(said(place)).to_contain_text("Right. That gives 5 of 10 points.")
    expect(place.locator(".posenc-after")).to_contain_text(drawn.encoding.because)
    expect(place.locator(".posenc-results")).to_contain_text("5 of 10 points")
    assert desk.complaints == []


def test_what_was_played_is_legible_and_named_in_light_and_dark_and_fits_a_phone(desk):
    """After the tests above, or on the page as it comes."""
    for theme in ("light", "dark"):
        desk.look(theme=theme)
        assert desk.serious_faults() == [], theme
    desk.tab.set_viewport_size({"width": 390, "height": 844})
    assert desk.tab.evaluate("document.documentElement.scrollWidth") <= 390
    desk.tab.set_viewport_size({"width": 1200, "height": 900})
