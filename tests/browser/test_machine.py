"""With `make serve`, this machine's Python runs the cells that a page's own cannot, and the page says so."""

from __future__ import annotations

import json
import re
import signal
import time

import pytest
from playwright.sync_api import expect

from tests.book.test_server import KERNELS, running
from tests.browser.conftest import SLOW, served, unfold
from tests.browser.test_cells import Cell, tell_all

pytestmark = pytest.mark.slow

RELATIVE, FORMULA = "book/03-relative-position.html", "exercises/02-the-formula/02-the-formula.html"
NEEDS_TORCH, PLAIN = "from torch import nn", "times i:"
ON_MACHINE = re.compile(r"Run by the Python 3\.\d+ on this machine\.")
READ = "domcontentloaded"


@pytest.fixture(scope="module")
def server(site):
    with running(site) as found:
        yield found


@pytest.fixture
def kernels(server):
    """Waits until so many kernels run; none does when a test begins."""

    def wait_for(count: int) -> None:
        end = time.monotonic() + SLOW / 1000
        while (found := len(json.loads(server.ask(KERNELS, **server.shown)[2]))) != count:
            assert time.monotonic() < end, f"{found} kernels run, and not {count}"
            time.sleep(0.1)

    wait_for(0)
    return wait_for


@pytest.fixture
def chapter(browser, server):
    context = browser.new_context(viewport={"width": 1000, "height": 800})
    tab = context.new_page()
    tab.goto(f"http://127.0.0.1:{server.port}/{RELATIVE}", wait_until=READ)
    show_all(tab)
    yield tab
    tab.goto("about:blank")  # a page that is left ends its kernel
    context.close()


def show_all(tab) -> None:
    """Also what a reader unfolds first."""
    tab.locator(".posenc-try").first.wait_for(state="attached")
    tab.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    tell_all(tab)


def open_cell(tab, text: str) -> Cell:
    return Cell(tab, text).open()


def test_a_cell_that_needs_pytorch_runs_on_this_machine_and_the_page_says_so(chapter, kernels):
    cell = open_cell(chapter, NEEDS_TORCH)
    assert chapter.locator(".posenc-not-here").count() == 0
    cell.run("import torch\nprint(torch.arange(3).sum())\ntorch.ones(2) * 3")
    expect(cell.printed).to_have_text("tensor(3)\n", use_inner_text=False)
    expect(cell.result.locator("pre")).to_have_text("tensor([3., 3.])")
    expect(cell.result.locator(".posenc-ran-by")).to_have_text(ON_MACHINE)
    cell.run("import torch\ntorch.ones(2) @ torch.ones(3)", "stopped with an error")
    expect(cell.result.locator(".posenc-error")).to_contain_text("(line 2)")
    expect(cell.result.locator(".posenc-ran-by")).to_have_text(ON_MACHINE)
    cell.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])")
    expect(cell.result.locator("img.posenc-plot")).to_have_count(1)
    kernels(1)


def test_a_cell_that_numpy_is_enough_for_stays_in_the_page(chapter, kernels):
    cell = open_cell(chapter, PLAIN)
    cell.run("1 + 1")
    expect(cell.result.locator(".posenc-ran-by")).to_have_text(
        re.compile(r"Run by the Python 3\.13 in this page\.")
    )
    kernels(0)


def test_a_loop_is_stopped_and_the_kernel_ends_with_the_page(chapter, kernels):
    cell = open_cell(chapter, NEEDS_TORCH)
    cell.write("print('round')\nwhile True:\n    pass")
    cell.tab.keyboard.press("Control+Enter")
    expect(cell.printed).to_contain_text("round")
    cell.button("Stop").click()
    expect(cell.status).to_contain_text("Stopped.")
    cell.run("print(2)")
    expect(cell.printed).to_have_text("2\n", use_inner_text=False)
    chapter.goto("about:blank")
    kernels(0)


def test_a_page_that_comes_back_from_the_browsers_memory_has_a_kernel_again(chapter, kernels):
    cell = open_cell(chapter, NEEDS_TORCH)
    cell.run("1 + 1")
    chapter.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    kernels(0)
    chapter.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    cell.run("2 + 2")
    expect(cell.result.locator("pre")).to_have_text("4")


def test_what_a_cell_shows_cannot_reach_the_page(chapter):
    cell = open_cell(chapter, NEEDS_TORCH)
    html = "<b>bold</b><img src=x onerror=window.reached=1><script>window.reached=2</script>"
    cell.run(f"type('Shown', (), {{'_repr_html_': lambda self: '{html}'}})()")
    expect(cell.result.locator("b")).to_have_text("bold")
    chapter.wait_for_timeout(300)
    assert chapter.evaluate("window.reached") is None


def test_a_page_of_another_origin_gets_nothing(browser, server, kernels, tmp_path):
    (tmp_path / "index.html").write_text("<p>another site</p>")
    base = f"http://127.0.0.1:{server.port}"
    with served(tmp_path) as other:
        tab = browser.new_page()
        tab.goto(other)
        read = "address => fetch(address).then((answer) => answer.text(), () => 'refused')"
        for path in ("/_static/local-python.json", "/", KERNELS):
            assert tab.evaluate(read, base + path) == "refused"
        send = "address => fetch(address, { method: 'POST', mode: 'no-cors' }).then((answer) => answer.type)"
        tab.evaluate(send, base + KERNELS)
        tab.evaluate("address => new Promise((done) => { const s = document.createElement('script');"
                     "s.onload = s.onerror = done; s.src = address; document.head.append(s); })",
                     f"{base}/_static/local-python.json")  # fmt: skip
        socket = (
            "address => new Promise((done) => { const s = new WebSocket(address); s.onopen = () => done(1);"
        )
        socket += "s.onerror = () => done(0); })"
        kernel = json.loads(server.ask(KERNELS, "POST", **server.shown)[2])["id"]
        there = f"ws://127.0.0.1:{server.port}{KERNELS}/{kernel}/channels?token={server.token}"
        assert tab.evaluate(socket, there) == 0
        server.ask(f"{KERNELS}/{kernel}", "DELETE", **server.shown)
    kernels(0)


@pytest.mark.parametrize("page", [FORMULA, "book/02-the-formula.html"], ids=["of exercises", "of a chapter"])
def test_the_notebook_of_a_page_opens_in_jupyterlab(browser, server, page):
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    tab = context.new_page()
    tab.goto(f"http://127.0.0.1:{server.port}/{page}", wait_until=READ)
    if page != FORMULA:  # a chapter's exercise is a row that opens
        unfold(tab.locator("#exercise-frequencies"))
    with context.expect_page() as opened:
        tab.get_by_role("link", name="Open it in JupyterLab on this machine").first.click()
    lab = opened.value
    expect(lab.locator(".jp-Notebook")).to_contain_text("Exercises 2: The formula")
    context.close()


def test_a_server_that_has_ended_is_told(browser, site):
    with running(site) as server:
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{server.port}/{RELATIVE}", wait_until=READ)
        show_all(tab)
        cell = open_cell(tab, NEEDS_TORCH)
        cell.run("1 + 1")
        server.process.send_signal(signal.SIGINT)
        server.process.wait(60)
        cell.button("Run").click()
        expect(cell.status).to_contain_text("Python on this machine is not answering")
        expect(cell.status.get_by_role("link")).to_have_attribute("href", re.compile(r"\.ipynb$"))
