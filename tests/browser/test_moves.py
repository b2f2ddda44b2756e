"""Pictures that move once, when they are seen: what a reader sees of it, and who is spared it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import uncover, wait_for_fonts

pytestmark = pytest.mark.slow

PAGE = "book/01-why-order-matters.html"
LOW = {"width": 1200, "height": 300}
"""A window in which the picture is not seen at first."""
PICTURE, AGAIN = ".posenc-moving", ".posenc-again"
STATES = "picture => [...new Set(picture.getAnimations({ subtree: true }).map((move) => move.playState))]"
"""What its moves do; those that have ended are none."""
END = "picture => picture.getAnimations({ subtree: true }).forEach((move) => move.finish())"
RATE = """(picture, rate) =>
  picture.getAnimations({ subtree: true }).forEach((move) => (move.playbackRate = rate))"""
SLOWLY = 0.001
"""So it is still seen to move when a busy machine gets to look."""
CENTRE = "picture => picture.scrollIntoView({ block: 'center', behavior: 'instant' })"


@pytest.fixture
def tab(newcomer, plain_address):
    opened = newcomer(viewport=LOW).new_page()
    opened.goto(f"{plain_address}/{PAGE}")
    opened.locator(AGAIN).wait_for(state="attached")
    return opened


def states(tab) -> list[str]:
    return tab.locator(PICTURE).evaluate(STATES)


def wait_for(tab, *expected: str) -> None:
    tab.wait_for_function(
        f"(expected) => String(({STATES})(document.querySelector('{PICTURE}'))) === expected",
        arg=",".join(expected),
    )


def look(tab) -> bytes:
    """The picture, once two looks are the same: what comes above it may still push it by part of a pixel."""
    wait_for_fonts(tab)
    seen: list[bytes] = []
    while len(seen) < 2 or (seen[-1] != seen[-2] and len(seen) < 50):
        seen.append(tab.locator(PICTURE).screenshot())
    return seen[-1]


def test_it_moves_when_it_is_seen_and_not_before_and_rests_as_it_is_drawn(tab):
    picture = tab.locator(PICTURE)
    assert states(tab) == ["paused"]
    tab.wait_for_timeout(300)
    assert states(tab) == ["paused"]
    first = picture.evaluate("picture => picture.getAnimations({ subtree: true }).map((m) => m.currentTime)")
    assert set(first) == {0}

    picture.evaluate(RATE, SLOWLY)
    picture.evaluate(CENTRE)
    wait_for(tab, "running")
    picture.evaluate(RATE, 1)
    wait_for(tab)  # by itself
    rests = look(tab)
    uncover(tab)  # as without a script
    assert look(tab) == rests


def test_a_button_and_a_click_on_it_let_it_move_again(tab):
    picture, again = tab.locator(PICTURE), tab.get_by_role("button", name="Play again")
    picture.evaluate(RATE, SLOWLY)
    picture.evaluate(CENTRE)
    wait_for(tab, "running")
    for ask in (lambda: again.press("Enter"), lambda: again.press("Space"), picture.click):
        picture.evaluate(END)
        assert states(tab) == []
        ask()
        assert states(tab) == ["running"]


def test_its_button_takes_no_room(tab):
    """Both heights in one breath: the page grows by itself while its editors and figures come."""
    with_button, without = tab.locator(AGAIN).evaluate(
        """button => {
            const article = button.closest(".bd-article");
            const before = article.scrollHeight;
            button.remove();
            return [before, article.scrollHeight];
        }"""
    )
    assert without == with_button > 0


@pytest.mark.parametrize("settings", [{"reduced_motion": "reduce"}, {"java_script_enabled": False}])
def test_it_stays_still_for_who_asked_for_less_motion_and_without_scripts(newcomer, plain_address, settings):
    tab = newcomer(**settings).new_page()
    tab.goto(f"{plain_address}/{PAGE}")
    if settings.get("java_script_enabled", True):
        tab.locator(AGAIN).wait_for(state="attached")
        tab.locator(PICTURE).evaluate(CENTRE)
        tab.locator(f"{PICTURE}.posenc-begun").wait_for()
        assert states(tab) == []
    expect(tab.locator(AGAIN)).to_be_hidden()
    wait_for_fonts(tab)
    picture = tab.locator(PICTURE)
    for _ in range(20):
        place = picture.bounding_box()
        still = picture.screenshot()
        tab.wait_for_timeout(1000)
        now = picture.screenshot()
        if picture.bounding_box() == place:  # what comes above it did not push it meanwhile
            break
    assert now == still


def test_on_paper_it_is_as_it_is_drawn(tab):
    tab.emulate_media(media="print")
    assert states(tab) == []
    expect(tab.locator(AGAIN)).to_be_hidden()
