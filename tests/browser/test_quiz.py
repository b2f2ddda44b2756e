"""A quiz answers at once and remembers; the review brings its questions back when they are due."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.present import present

pytestmark = pytest.mark.slow

CHAPTER = "book/02-the-formula.html"
ONE, SEVERAL, CODE = (
    "02-the-formula.column-and-pair",
    "02-the-formula.bounds-and-norm",
    "02-the-formula.where-position-enters",
)
ALL = "Show all questions"
START = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def context(newcomer):
    """A browser that was never here before, at noon of a day in March."""
    opened = newcomer(timezone_id="UTC", locale="en-GB")
    opened.clock.set_fixed_time(START)
    return opened


@pytest.fixture
def tab(context, plain_address):
    opened = context.new_page()
    opened.goto(f"{plain_address}/{CHAPTER}", wait_until="domcontentloaded")
    opened.locator(".posenc-answerable").first.wait_for()
    return opened


def question(tab, name: str):
    """As a reader comes to it: those before it may not have been answered."""
    asked, everything = tab.locator(f"[data-question='{name}']"), tab.get_by_role("button", name=ALL)
    if asked.is_hidden() and everything.is_visible():
        everything.click()
    return asked


def option(tab, name: str, number: int):
    return question(tab, name).locator(".posenc-option").nth(number)


def choose(tab, name: str, *numbers: int) -> str:
    """Answer with the pointer; what the page says."""
    for number in numbers:
        option(tab, name, number).locator("label").click()
    check(tab, name)
    return verdict(tab, name)


def check(tab, name: str) -> None:
    question(tab, name).get_by_role("button", name="Check my answer").click()


def verdict(tab, name: str) -> str:
    return question(tab, name).get_by_role("status").inner_text()


def says(tab, name: str, wanted: str | re.Pattern[str]) -> None:
    """Wait until the page says this: what a thumb does comes a little after the tap."""
    expect(question(tab, name).get_by_role("status")).to_have_text(wanted)


def notes(tab, name: str) -> list[str]:
    """The feedback that can be read now."""
    return [
        note.inner_text() for note in question(tab, name).locator("details[open]").all() if note.is_visible()
    ]


def record(tab, name: str) -> dict | None:
    return json.loads(tab.evaluate("name => localStorage.getItem(`posenc:1:quiz:${name}`)", name) or "null")


def test_the_next_question_comes_when_the_one_before_has_been_answered(context, plain_address):
    tab = context.new_page()
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="domcontentloaded")
    tab.locator(".posenc-answerable").first.wait_for()
    questions = tab.locator(".posenc-quiz .posenc-question")
    shown = [each for each in questions.all() if each.is_visible()]
    assert len(shown) == 1 < questions.count()
    check(tab, ONE)  # nothing was chosen: that is no answer
    expect(questions.nth(1)).to_be_hidden()
    choose(tab, ONE, 0)  # a wrong one is
    expect(questions.nth(1)).to_be_visible()
    expect(questions.nth(2)).to_be_hidden()
    tab.reload(wait_until="domcontentloaded")
    expect(questions.nth(1)).to_be_visible()
    everything = tab.get_by_role("button", name=ALL)
    everything.press("Enter")
    expect(questions.last).to_be_visible()
    expect(everything).to_be_hidden()


def test_a_wrong_answer_is_explained_at_once_and_can_be_mended(tab):
    assert notes(tab, ONE) == []
    assert choose(tab, ONE, 0).startswith("That is not right.")
    [note] = notes(tab, ONE)
    assert "This is wrong." in note
    assert "This takes the column number as" in note
    assert choose(tab, ONE, 1) == "That is right."
    [note] = notes(tab, ONE)
    assert "This is right." in note
    # Now that it is solved, what is wrong with the others may be read too.
    expect(question(tab, ONE).locator("details:visible")).to_have_count(4)
    # To look around is no answer.
    option(tab, ONE, 2).locator("label").click(force=True)
    assert verdict(tab, ONE) == "That is right."
    assert present(record(tab, ONE))["tries"] == 2
    assert [each["right"] for each in present(record(tab, ONE))["history"]] == [False, True]
    assert present(record(tab, ONE))["history"][0]["at"].startswith("2026-03-02T12:0")


def test_where_several_are_right_all_of_them_are_wanted(tab):
    assert choose(tab, SEVERAL, 0, 3).startswith("That is not right yet: something that you chose is wrong.")
    option(tab, SEVERAL, 3).locator("label").click()
    assert notes(tab, SEVERAL) == []
    check(tab, SEVERAL)
    assert verdict(tab, SEVERAL).startswith("What you chose is right, but it is not all.")
    option(tab, SEVERAL, 1).locator("label").click()
    check(tab, SEVERAL)
    assert verdict(tab, SEVERAL) == "That is right."
    assert len(notes(tab, SEVERAL)) == 2
    assert present(record(tab, SEVERAL))["chosen"] == [0, 1]


def test_nothing_chosen_is_no_answer(tab):
    check(tab, ONE)
    assert verdict(tab, ONE) == "Choose an answer first."
    assert record(tab, ONE) is None


def test_what_was_chosen_before_the_script_came_is_still_chosen(context, plain_address):
    """On a slow phone, the page is there some seconds before its scripts."""
    tab, waiting = context.new_page(), []
    script = re.compile(r"/posenc/quiz-\w+\.js")
    tab.route(script, lambda route: waiting.append(route))
    with tab.expect_request(script):
        tab.goto(f"{plain_address}/{CHAPTER}", wait_until="commit")
    chosen = tab.locator(f"[data-question='{ONE}'] .posenc-option").nth(1)
    chosen.locator("label").click()
    expect(chosen.locator("input")).to_be_checked()
    assert waiting
    for route in waiting:
        route.continue_()
    tab.locator(".posenc-answerable").first.wait_for()
    expect(chosen.locator("input")).to_be_checked()
    check(tab, ONE)
    says(tab, ONE, "That is right.")


def by_pointer(tab, name: str, number: int) -> None:
    option(tab, name, number).locator("label").click()


def by_thumb(tab, name: str, number: int) -> None:
    option(tab, name, number).locator("label").tap()


def by_keyboard(tab, name: str, number: int) -> None:
    option(tab, name, number).locator("input").focus()
    tab.keyboard.press("Space")


def press(tab, name: str, how) -> None:
    button = question(tab, name).get_by_role("button", name="Check my answer")
    if how is by_keyboard:
        button.press("Enter")
    else:
        button.tap() if how is by_thumb else button.click()


@pytest.mark.parametrize("page", [CHAPTER, "book/review.html"])
def test_to_choose_is_no_answer_and_the_same_answer_counts_once(newcomer, plain_address, page):
    """With a pointer, a thumb and the keyboard; where one is right, and where several are."""
    tab = newcomer(has_touch=True).new_page()
    tab.set_default_timeout(90_000)
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="domcontentloaded")
    before = 0
    if page != CHAPTER:  # there, only what was answered before is asked
        earlier = {"chosen": [3], "right": False, "tries": 1, "box": 1, "due": "2026-01-01T00:00:00.000Z"}
        for name in (ONE, SEVERAL):
            keep = "([key, record]) => localStorage.setItem(key, JSON.stringify(record))"
            tab.evaluate(keep, [f"posenc:1:quiz:{name}", earlier])
        tab.goto(f"{plain_address}/{page}", wait_until="domcontentloaded")
        before = 1
    tab.locator(".posenc-answerable").first.wait_for()
    for name, wrong, right in ((ONE, (0, 2, 3), {1}), (SEVERAL, (3, 3, 3), {0, 1})):
        tries = before
        for how, number in zip((by_pointer, by_thumb, by_keyboard), wrong, strict=True):
            if name == SEVERAL and how is not by_pointer:
                by_pointer(tab, name, number)  # off again, so that `how` chooses it
                check(tab, name)
            how(tab, name, number)
            says(tab, name, "")
            assert notes(tab, name) == []
            press(tab, name, how)
            says(tab, name, re.compile("^That is not right"))
            if name == ONE or how is by_pointer:
                tries += 1
            for _ in range(2):
                press(tab, name, how)
            option(tab, name, number).locator("input").press("Enter")
            assert verdict(tab, name).startswith("That is not right")
            assert (record(tab, name) or {"tries": 0})["tries"] == tries
        if name == SEVERAL:
            by_pointer(tab, name, wrong[-1])
        for number in right:
            by_thumb(tab, name, number)
            expect(option(tab, name, number).locator("input")).to_be_checked()
            says(tab, name, "")
        option(tab, name, number).locator("input").press("Enter")
        assert verdict(tab, name) == "That is right."
        assert present(record(tab, name))["tries"] == tries + 1


def test_the_keyboard_alone_answers_and_arrows_only_pass_by(tab):
    option(tab, ONE, 0).locator("input").focus()
    tab.keyboard.press("Space")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("ArrowUp")
    assert record(tab, ONE) is None
    while tab.evaluate("document.activeElement.tagName") != "BUTTON":
        tab.keyboard.press("Tab")  # past the formulas, which can be focused too
    tab.keyboard.press("Enter")
    assert verdict(tab, ONE) == "That is right."
    assert present(record(tab, ONE))["tries"] == 1
    assert tab.evaluate("document.activeElement.textContent") == "Answer it again"
    tab.keyboard.press("Enter")
    assert verdict(tab, ONE) == ""
    assert tab.evaluate("document.activeElement.value") == "0"


def test_what_is_chosen_and_said_is_named_for_screen_readers(tab):
    tab.get_by_role("button", name=ALL).click()
    group = tab.get_by_role("group", name=re.compile("count columns from 0. What is in column 40"))
    expect(group.get_by_role("radio")).to_have_count(4)
    spoken = group.get_by_role("radio").nth(2)
    assert "The cosine of pair 20" in spoken.evaluate("input => input.labels[0].textContent")
    described = spoken.evaluate(
        "i => document.getElementById(i.getAttribute('aria-describedby')).textContent"
    )
    assert "The pair is right." in described
    expect(group.get_by_role("status")).to_have_count(1)
    assert (
        tab.get_by_role("group", name=re.compile("Which of these hold")).get_by_role("checkbox").count() == 4
    )


def test_an_answer_is_still_there_after_a_reload_and_counts_in_the_progress(tab, plain_address):
    choose(tab, ONE, 1)
    choose(tab, CODE, 0)
    tab.reload()
    tab.locator(".posenc-answerable").first.wait_for()
    assert option(tab, ONE, 1).locator("input").is_checked()
    assert verdict(tab, ONE) == "That is right."
    assert verdict(tab, CODE).startswith("That is not right.")
    assert "You have answered this once." in question(tab, ONE).inner_text()
    tab.goto(f"{plain_address}/book/progress.html")
    row = tab.locator(f"[data-questions*='{ONE}']")
    row.locator("xpath=ancestor::details/summary").click()
    row.locator(".posenc-state").wait_for()
    assert row.locator(".posenc-state").inner_text() == "◐ 1 of 5 right"


def test_an_answer_to_an_older_wording_is_not_shown_for_the_new_one(tab):
    choose(tab, ONE, 1)
    older = {**present(record(tab, ONE)), "text": "another"}
    tab.evaluate("args => localStorage.setItem(...args)", [f"posenc:1:quiz:{ONE}", json.dumps(older)])
    tab.reload()
    tab.locator(".posenc-answerable").first.wait_for()
    assert verdict(tab, ONE) == ""
    assert not option(tab, ONE, 1).locator("input").is_checked()


def test_formulas_and_code_of_questions_are_set(browser, address):
    tab = browser.new_page()
    tab.goto(f"{address}/{CHAPTER}", wait_until="load")
    expect(option(tab, ONE, 1).locator("label math")).to_have_count(1)
    expect(option(tab, ONE, 0).locator("details math")).to_have_count(2)
    assert "TransformerEncoderLayer" in question(tab, CODE).locator(".highlight pre").inner_text()
    tab.close()


def test_every_feedback_can_be_read_without_scripts(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/{CHAPTER}")
    assert notes(tab, ONE) == []
    for number, word in enumerate(["wrong", "right", "wrong", "wrong"]):
        option(tab, ONE, number).locator("summary").click()
        assert f"This is {word}." in notes(tab, ONE)[number]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_right_and_wrong_differ_by_more_than_colour(newcomer, plain_address, theme):
    tab = newcomer(color_scheme=theme).new_page()
    tab.goto(f"{plain_address}/{CHAPTER}", wait_until="load")
    tab.locator(".posenc-answerable").first.wait_for()
    choose(tab, ONE, 0)
    assert "✗ This is wrong." in notes(tab, ONE)[0]
    choose(tab, ONE, 1)
    assert "✓ This is right." in notes(tab, ONE)[0]


# Review.


def review(tab, address: str, day: float) -> str:
    """Open the review page so many days after the start; what it says."""
    tab.clock.set_fixed_time(START + timedelta(days=day))
    tab.goto(f"{address}/book/review.html", wait_until="domcontentloaded")
    said = tab.locator(".posenc-due")
    said.wait_for()
    return said.inner_text()


def due(tab) -> list[str]:
    return tab.eval_on_selector_all(
        ".posenc-card .posenc-question", "all => all.map(q => q.dataset.question)"
    )


def test_before_any_answer_the_review_says_where_questions_come_from(tab, plain_address):
    assert review(tab, plain_address, 0).startswith("You have not answered any question yet.")
    assert due(tab) == []


def test_questions_come_back_after_1_3_7_and_21_days_and_after_a_mistake_the_next_day(tab, plain_address):
    choose(tab, ONE, 1)
    assert (
        review(tab, plain_address, 0.4)
        == "Nothing more is due today. The next question comes back on 3 March 2026."
    )
    day = 0
    for pause in (1, 3, 7, 21, 21):
        assert review(tab, plain_address, day + pause - 1) != "One question is due today."
        assert due(tab) == []
        day += pause
        # Earlier in the day than last time, and due all the same.
        assert review(tab, plain_address, day - 0.3) == "One question is due today."
        assert due(tab) == [ONE]
        assert choose(tab, ONE, 1) == "That is right."
        assert tab.locator(".posenc-due").inner_text().startswith("Nothing more is due today.")
    assert review(tab, plain_address, day + 21) == "One question is due today."
    choose(tab, ONE, 0)
    choose(tab, ONE, 1)  # mended at once, but it was not known
    assert present(record(tab, ONE))["box"] == 1
    assert review(tab, plain_address, day + 22) == "One question is due today."


def test_only_what_is_due_is_asked_and_the_longest_waiting_comes_first(tab, plain_address):
    choose(tab, ONE, 1)
    tab.clock.set_fixed_time(START + timedelta(days=1))
    choose(tab, CODE, 0)
    assert review(tab, plain_address, 1) == "One question is due today."
    assert due(tab) == [ONE]
    assert review(tab, plain_address, 2) == "2 questions are due today."
    assert due(tab) == [ONE, CODE]
    assert verdict(tab, ONE) == ""
    assert not option(tab, ONE, 1).locator("input").is_checked()
    tab.get_by_role("link", name="From the chapter “2. The formula”").first.click()
    tab.wait_for_url("**/02-the-formula.html#quiz-column-and-pair")


def test_the_progress_page_says_what_is_due(tab, plain_address):
    choose(tab, ONE, 1)
    tab.clock.set_fixed_time(START + timedelta(days=1))
    tab.goto(f"{plain_address}/book/progress.html")
    tab.get_by_role("link", name="One question of your quizzes is due for review.").click()
    tab.wait_for_url("**/review.html")


def test_a_review_left_open_over_night_asks_what_is_due_in_the_morning(tab, plain_address):
    choose(tab, ONE, 1)
    review(tab, plain_address, 0.1)
    assert due(tab) == []
    tab.clock.set_fixed_time(START + timedelta(days=1))
    with tab.expect_navigation():
        tab.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    tab.locator(".posenc-due").wait_for()
    assert due(tab) == [ONE]


def test_without_scripts_the_review_page_holds_every_question(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/book/review.html")
    assert question(tab, ONE).is_visible()
    assert tab.locator("main noscript").inner_text().startswith("This page needs JavaScript")
