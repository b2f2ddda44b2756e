"""The pages in the engines of Firefox and of Safari: what a reader does there most, once in each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from posenc_course.exercises import all_exercises, wholes
from tests.present import present
from tools.system import firefox, webkit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.pages,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the drivers of these engines are others"),
]

BROWSERS = (firefox(), webkit())
"""Where one changes, what passed has to pass again."""

PATIENCE = 180  # s
ENTER, RIGHT, CONTROL, RELEASE = "\ue007", "\ue014", "\ue009", "\ue000"
"""Keys, as WebDriver and Marionette number them alike."""

PATIENT = "for (const place of document.querySelectorAll('[data-seconds]')) place.dataset.seconds = 600;"
TEXT = "document.querySelector('article').innerText"


class Reader:
    """Somebody at a browser, who presses what can be seen and waits for what the page says."""

    def __init__(self, driver: Any, go: Callable[[str], Any], address: str):
        self.driver, self.go, self.address = driver, go, address

    def open(self, page: str) -> None:
        """Until all of it has its place: what is above may still change its height before. It is patient."""
        self.go(f"{self.address}/{page}")
        self.wait_for("document.readyState === 'complete' && document.fonts.status === 'loaded'")
        self.driver.execute_script(PATIENT)

    def see(self, script: str) -> Any:
        """What an expression of the page is worth now."""
        return self.driver.execute_script(f"return {script}")

    def wait_for(self, script: str) -> Any:
        """Until the expression is worth something."""
        end = time.monotonic() + PATIENCE
        while not (found := self.see(script)):
            assert time.monotonic() < end, f"{script} never came; the page says: {self.see(TEXT)[:2000]}"
            time.sleep(0.2)
        return found

    def find(self, element: str) -> Any:
        """An element, once it can be seen, in the middle of the window."""
        self.wait_for(f"({element})?.checkVisibility()")
        self.driver.execute_script(f"({element}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        return self.see(element)

    def press(self, element: str) -> None:
        """Twice, if the page drew it anew, or elsewhere, between the look and the click."""
        try:
            self.find(element).click()
        except Exception:  # each driver has its own
            self.find(element).click()

    def type(self, element: str, *keys: str) -> None:
        for each in keys:
            self.find(element).send_keys(each)


def first(selector: str) -> str:
    """An expression for the first such element of a page."""
    return f"document.querySelector({selector!r})"


def button(name: str, inside: str = "article") -> str:
    """An expression for the button of this name."""
    buttons = f"[...document.querySelectorAll('{inside} button')]"
    return f"{buttons}.find((each) => each.checkVisibility() && each.innerText.trim() === {name!r})"


@contextmanager
def in_firefox(address: str) -> Iterator[Reader]:
    from marionette_driver.marionette import Marionette

    driver = Marionette(bin=firefox(), port=0, headless=True, startup_timeout=PATIENCE, gecko_log="-")
    try:
        driver.start_session()
        driver.timeout.script = PATIENCE
        yield Reader(driver, driver.navigate, address)
    finally:
        driver.cleanup()


@contextmanager
def in_webkit(address: str) -> Iterator[Reader]:
    from selenium import webdriver
    from selenium.webdriver.webkitgtk.options import Options
    from selenium.webdriver.webkitgtk.service import Service

    options = Options()
    options.binary_location = present(webkit())
    options.add_argument("--automation")
    with screen() as display:
        service = Service(
            shutil.which("WebKitWebDriver"), env=os.environ | {"DISPLAY": display, "GDK_BACKEND": "x11"}
        )
        driver = webdriver.WebKitGTK(options=options, service=service)
        try:
            driver.set_script_timeout(PATIENCE)
            yield Reader(driver, driver.get, address)
        finally:
            driver.quit()


@contextmanager
def screen() -> Iterator[str]:
    """A screen that nobody sees: the name of the display."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1300x900x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL) as server:
        os.close(write)
        with os.fdopen(read) as told:
            number = told.readline().strip()
        assert number, "Xvfb did not start"
        try:
            yield f":{number}"
        finally:
            server.terminate()


@pytest.fixture(scope="module", params=[in_firefox, in_webkit], ids=["Firefox", "WebKit"])
def reader(request, address) -> Iterator[Reader]:
    with request.param(address) as opened:
        yield opened


def test_an_exercise_is_typed_checked_and_kept(reader: Reader) -> None:
    exercise = "#exercise-frequencies"
    editor, lines = first(f"{exercise} .cm-content"), f"[...document.querySelectorAll('{exercise} .cm-line')]"

    def check(last_line: str) -> None:
        reader.press(editor)
        reader.type(editor, CONTROL + "a" + RELEASE, "def frequencies(dim):", ENTER)
        reader.type(editor, "i = np.arange(dim // 2)", ENTER, last_line)
        typed = ["def frequencies(dim):", "    i = np.arange(dim // 2)", f"    {last_line}"]
        written = f"{lines}.map((each) => each.textContent).join()"
        reader.wait_for(f"{written} === {','.join(typed)!r}")
        reader.press(button("Check", exercise))

    reader.open("book/02-the-formula.html")
    reader.press(first(f"{exercise} summary"))
    check("return 10000.0 ** (-i / dim)")
    reader.wait_for(f"{first(exercise)}.innerText.includes('Not yet')")
    check("return 10000.0 ** (-2 * i / dim)")
    reader.wait_for(f"{first(exercise)}.innerText.includes('Passed')")
    reader.open("book/progress.html")
    reader.wait_for(f"{TEXT}.includes('1 of {len(wholes(all_exercises()))} exercises passed')")


def test_a_prediction_uncovers_the_answer_and_a_cell_runs(reader: Reader) -> None:
    reader.open("book/03-relative-position.html")
    covered = f"{TEXT}.match(/Covered until/g)?.length ?? 0"
    before = reader.wait_for(f"{first('.posenc-option')} && ({covered})")
    reader.press(button("The wedges turn, and the numbers stay the same."))
    reader.wait_for(f"({covered}) === {before - 1}")
    reader.press(button("Try it"))
    reader.type(first(".posenc-trial .cm-content"), CONTROL + "a" + RELEASE, "print(6 * 7)")
    reader.press(button("Run"))
    reader.wait_for(f"{first('.posenc-trial')}.innerText.includes('42')")


def test_the_trained_models_of_the_lab_read_a_text(reader: Reader) -> None:
    reader.open("book/lab.html")
    reader.press(button("Load the models"))
    reader.wait_for(f"{TEXT}.match(/[0-9] nats per byte/g)?.length >= 2")


def test_a_hand_is_moved_by_keys(reader: Reader) -> None:
    reader.open("book/playground.html")
    reader.find(first("[data-figure=clocks]"))
    grip = first("[data-figure=clocks] .posenc-grip")
    position = f"{grip}?.getAttribute('aria-valuenow')"
    before = reader.wait_for(position)
    reader.type(grip, RIGHT)
    reader.wait_for(f"{position} === '{int(before) + 1}'")


@pytest.mark.parametrize(
    "page", ["book/index.html", "book/lab.html", "book/measured.html", "zh/book/index.html"]
)
def test_a_page_fits(reader: Reader, page: str) -> None:
    reader.open(page)
    assert reader.see("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


@pytest.mark.parametrize("page", ["book/02-the-formula.html", "zh/book/06-rotary.html"])
def test_formulas_are_drawn(reader: Reader, page: str) -> None:
    reader.open(page)
    seen = "[...document.querySelectorAll('math')].filter((each) => each.checkVisibility())"
    heights = reader.see(f"{seen}.map((each) => each.getBoundingClientRect().height)")
    assert len(heights) > 20
    assert min(heights) > 5, "px"
