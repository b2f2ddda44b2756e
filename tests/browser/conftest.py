"""A real Chromium, and the built site served to it."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import unchanged
from tests.browser.unchanged import Opened, noting_what_is_opened

SLOW = 180_000  # ms
"""A page that is right says so at once on a quiet machine; a busy one may take its time."""
expect.set_options(timeout=SLOW)
PATIENT = """document.addEventListener("readystatechange", () => {
  for (const place of document.querySelectorAll("[data-seconds]")) place.dataset.seconds = 600;
}, { once: true });"""
"""The page stops what a reader runs after some seconds. No test but the one of that shall hang on them."""
SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: %s } })"
PASSED = pytest.StashKey[bool]()
TO_RUN = pytest.StashKey[set[str]]()
"""Of the tests of this process, those that have not run yet."""


def pytest_itemcollected(item: pytest.Item) -> None:
    if "page" in getattr(item, "fixturenames", ()):
        item.add_marker("pages")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    if report.when == "call" or report.skipped:
        item.session.stash[TO_RUN].discard(item.nodeid)
    return report


@pytest.fixture(scope="session", autouse=True)
def _to_run(request):
    request.session.stash[TO_RUN] = {item.nodeid for item in request.session.items}


@pytest.fixture(scope="module", autouse=True)
def unless_all_is_as_it_was(request, _to_run):
    """Leaves a file of tests out, unless it is asked for, where it passed for all that it opened of the site.

    But not one that opens each page in turn: that is remembered page by page.
    """
    session, config = request.session, request.config
    tests = [item for item in session.items if item.path == request.path]
    uses = {name for item in tests for name in item.fixturenames}
    noted = request.path.name not in unchanged.SERVED_BY_ANOTHER_PROCESS
    if "unless_unchanged" in uses or "site" not in uses or not noted:
        yield
        return
    site, browser = map(request.getfixturevalue, ("site", "browser"))
    others = filter(None, getattr(request.module, "BROWSERS", ()))
    browsers = [browser.version, *(str(Path(each).stat().st_mtime_ns) for each in others)]
    opened = Opened(request.path, site, " ".join(browsers))
    if not config.asked_for and opened.has_passed():
        pytest.skip("passed for all that it opens, as that is")
    failed_before = session.testsfailed
    with noting_what_is_opened() as paths:
        yield
    in_part = config.asked_for or config.option.keyword or session.stash[TO_RUN] & {t.nodeid for t in tests}
    if session.testsfailed > failed_before:
        opened.forget()
    elif not in_part:
        opened.remember(paths)


class _Silent(SimpleHTTPRequestHandler):
    def __init__(self, *given: Any, without: tuple[str, ...], headers: dict[str, str], **named: Any):
        self.without, self.headers_too = without, headers
        super().__init__(*given, **named)

    def send_head(self):
        if any(part in self.path for part in self.without):
            return self.send_error(404)
        return super().send_head()

    def end_headers(self):
        if unchanged.counts_where_opened(f"site{self.path}"):
            self.send_header("Cache-Control", "no-cache")
        for header in self.headers_too.items():
            self.send_header(*header)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def served(
    folder: Path, without: tuple[str, ...] = (), headers: dict[str, str] | None = None
) -> Iterator[str]:
    """The address at which a folder is served, but for what has one of the parts in its path."""
    handler = functools.partial(_Silent, directory=str(folder), without=without, headers=headers or {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(scope="session")
def browser(browser):
    """Whatever is opened in it is patient."""
    for make in ("new_context", "new_page"):
        setattr(browser, make, _patient(getattr(browser, make)))
    return browser


def _patient(make):
    def made(**settings):
        opened = make(**settings)
        opened.add_init_script(PATIENT)
        opened.set_default_timeout(SLOW)
        return opened

    return made


@pytest.fixture(scope="session")
def address(site):
    """Where the site is served."""
    with served(site) as found:
        yield found


@pytest.fixture(scope="session")
def plain_address(site):
    """The site without Python, which is slow.

    A browser that intercepts requests in their place would keep nothing of what it has fetched.
    """
    with served(site, without=("/pyodide.mjs",)) as found:
        yield found


@pytest.fixture(scope="session")
def newcomer(browser, address, plain_address):
    """Gives a browser with these settings to somebody who was never here.

    It is the one that an earlier test had, emptied of all but the files of the site: to fetch and compile
    those anew is most of what opening a page costs. Two that are there at once have different settings.
    """
    contexts = {}

    def come(**settings):
        settings = {"viewport": {"width": 1200, "height": 900}} | settings
        key = json.dumps(settings, sort_keys=True)
        if key not in contexts:
            contexts[key] = browser.new_context(**settings)
        context = contexts[key]
        context.unroute_all()
        empty = context.new_page()
        for left in context.pages:
            if left is not empty:
                left.close()
        session = context.new_cdp_session(empty)
        for origin in (address, plain_address):
            session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        empty.close()
        return context

    come.contexts = contexts  # type: ignore[attr-defined]
    yield come
    for context in contexts.values():
        context.close()


@pytest.fixture(autouse=True)
def pages_end_with_their_test(request):
    """Else Python would go on loading in them, in the time of the tests that follow."""
    if "browser" not in request.fixturenames:
        yield
        return
    browser = request.getfixturevalue("browser")
    contexts = set(browser.contexts)
    pages = {page for context in contexts for page in context.pages}
    yield
    newcomers = (
        request.getfixturevalue("newcomer").contexts.values() if "newcomer" in request.fixturenames else ()
    )
    for context in browser.contexts:
        if context not in contexts and context not in newcomers:
            context.close()
    for context in newcomers:
        for page in context.pages:
            if page not in pages:
                page.close()


@pytest.fixture
def unless_unchanged(request, page, pages):
    """Leaves a test of a page out, unless it is asked for, where it has passed for what it would look at."""
    test, state = request.node.nodeid, pages.state(page, of_links="site" in request.fixturenames)
    if pages.has_passed(test, state) and not request.config.asked_for:
        pytest.skip("passed for this page as it is")
    yield
    pages.remember(test, state, request.node.stash.get(PASSED, False))


def wait_for_fonts(tab) -> None:
    """Until all that is seen is in its own face; what is above may change its height by then."""
    tab.evaluate("document.fonts.ready.then(() => true)")


def wait_for_frame(tab) -> None:
    """Until what a page does with the next frame is done."""
    tab.evaluate("new Promise((told) => requestAnimationFrame(() => requestAnimationFrame(told)))")


def uncover(tab) -> None:
    """Show what predict boxes cover, as where no script runs."""
    tab.evaluate("document.documentElement.classList.remove('posenc-covers')")


def unfold(exercise) -> None:
    """Open an exercise, or the one that it is a step of, as a reader does: by clicks on its rows."""
    open_side_trips(exercise)
    _open(exercise.locator("xpath=(ancestor::details | ./details)[contains(@class, 'posenc-fold')]"))


def open_side_trips(inside) -> None:
    """Open the side trips that an element is in, by clicks on their rows."""
    inside.wait_for(state="attached")  # a script may still have to make it
    _open(inside.locator("xpath=ancestor::details[contains(@class, 'posenc-side-trip')]"))


def _open(rows) -> None:
    for row in rows.all():  # the outer one first
        if row.get_attribute("open") is None:
            row.locator("> summary").click()


MAKE_EDITORS = """async ([without, most]) => {
  const end = performance.now() + most;
  for (const row of document.querySelectorAll(".posenc-side-trip, .posenc-fold")) row.open = true;
  for (let place; (place = document.querySelector(without)) && performance.now() < end; ) {
    place.scrollIntoView({ block: "center", behavior: "instant" });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}"""


def make_editors(tab) -> None:
    """Open every exercise and pass by: its editor is made then, and is there when this returns."""
    without = ".posenc-exercise[data-live=yes]:not(:has(.cm-content))"
    tab.evaluate(MAKE_EDITORS, [without, SLOW])
    assert tab.locator(without).count() == 0
