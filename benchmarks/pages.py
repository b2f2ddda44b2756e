"""How fast a page of the site is, in Chromium: what is read, typed and judged, and what it weighs.

    python -m benchmarks.pages SITE [--rounds 5]
    python -m benchmarks.pages SITE --first-views      only what pages weigh before the reader does anything

SITE is a built site that has its own Pyodide (`make site`); it is served as `make serve` does it. Every
round begins with an empty profile, as for a first visit.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from book.chromium import FLAGS, find

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "pages" / "cpu.json"
FIRST_VIEWS = RESULT.with_name("first_views.json")
BUDGETS = {
    "book/index.html": 300_000,
    "book/progress.html": 300_000,
    "book/02-the-formula.html": 450_000,  # of it 100_000 are faces
    "book/lab.html": 300_000,
    "book/train-live.html": 300_000,
}
"""page -> bytes of a first view, gzipped; tests/browser/test_landing.py fails where one weighs more."""
PAGE, PLACE = "book/02-the-formula.html", "#exercise-frequencies"
ANSWER = "def frequencies(dim):\n    return 10000.0 ** (-2 * np.arange(dim // 2) / dim)\n"
SLOW = 120_000  # ms
PAINTED = """new Promise((resolve) => new PerformanceObserver((list) => {
  const [first] = list.getEntriesByName("first-contentful-paint");
  if (first) resolve(first.startTime / 1000);
}).observe({ type: "paint", buffered: true }))"""
# Both ends are taken in the page, so that the time of the driver is not counted.
VERDICT = """(box) => new Promise((resolve) => {
  const result = box.querySelector(".posenc-result");
  const begun = performance.now();
  new MutationObserver((_, observer) => {
    if (!result.textContent.includes("Passed")) return;
    observer.disconnect();
    resolve((performance.now() - begun) / 1000);
  }).observe(result, { childList: true, subtree: true });
  box.querySelector(".posenc-check").click();
})"""
# figure -> at most; seconds and megabytes
GOALS = {
    "text visible, s": 1.0,
    "editor takes a letter, s": None,
    "first verdict after Check, s": 6.0,
    "second verdict, s": 0.2,
    "weight before Python, gzipped, MB": 1.5,
    "weight before Python, MB": None,
    "weight with Python, gzipped, MB": None,
    "weight with Python, MB": None,
}


class Weight:
    """Of the files that a visit asked for."""

    def __init__(self, context: BrowserContext, site: Path, address: str):
        self._files: set[str] = set()
        self._site = site
        context.on("requestfinished", lambda request: self._files.add(request.url.removeprefix(address)))

    def bytes(self, *, compressed: bool) -> int:
        """As they lie on the disk, or as a server such as that of GitHub Pages sends them, with gzip."""
        found = [self._site / name.partition("?")[0].lstrip("/") for name in self._files]
        bodies = [file.read_bytes() for file in set(found) if file.is_file()]
        return sum(min(len(b), len(gzip.compress(b, 6))) if compressed else len(b) for b in bodies)

    def megabytes(self, *, compressed: bool) -> float:
        return self.bytes(compressed=compressed) / 1e6

    def names(self) -> set[str]:
        """The files' names, without their folders."""
        return {name.partition("?")[0].rpartition("/")[2] for name in self._files}

    def has_python(self) -> bool:
        return any("/pyodide/" in name for name in self._files)


def weights(weight: Weight, when: str) -> dict[str, float]:
    return {
        f"weight {when} Python, gzipped, MB": weight.megabytes(compressed=True),
        f"weight {when} Python, MB": weight.megabytes(compressed=False),
    }


def first_view(browser: Browser, site: Path, address: str, page: str) -> Weight:
    """What a page brings along for somebody who was never here, and has done nothing yet."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    weight = Weight(context, site, address)
    context.new_page().goto(f"{address}/{page}", wait_until="networkidle", timeout=SLOW)
    context.close()
    return weight


def first_views(browser: Browser, site: Path, address: str) -> dict[str, dict[str, int]]:
    """Each page of BUDGETS: its bytes, and how many they may be."""
    weights = {page: first_view(browser, site, address, page).bytes(compressed=True) for page in BUDGETS}
    return {page: {"bytes": weight, "budget": BUDGETS[page]} for page, weight in weights.items()}


def measure(browser: Browser, site: Path, address: str) -> dict[str, float]:
    """One visit of somebody who was never here: the figures that GOALS names.

    Raises:
        RuntimeError: Python was loaded before an exercise came near.
    """
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    weight = Weight(context, site, address)
    tab = context.new_page()
    tab.goto(f"{address}/{PAGE}", wait_until="networkidle", timeout=SLOW)
    tab.evaluate("document.fonts.ready.then(() => true)")
    tab.wait_for_load_state("networkidle")
    found = {"text visible, s": tab.evaluate(PAINTED)} | weights(weight, "before")
    if weight.has_python():
        raise RuntimeError(f"{PAGE} loads Python although no exercise is near")
    context.close()
    return found | _exercise(browser, site, address)


def _exercise(browser: Browser, site: Path, address: str) -> dict[str, float]:
    """Another first visit, by a link to the exercise itself: nothing was loaded while somebody read."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    weight = Weight(context, site, address)
    tab = context.new_page()
    begun = time.perf_counter()
    tab.goto(f"{address}/{PAGE}{PLACE}", wait_until="commit", timeout=SLOW)
    box = tab.locator(PLACE)
    editor = box.locator(".cm-content")
    editor.click(timeout=SLOW)
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text(ANSWER)
    expect(editor).to_contain_text("return 10000.0")
    typed = time.perf_counter() - begun
    first = box.evaluate(VERDICT)
    second = statistics.median(box.evaluate(VERDICT) for _ in range(5))
    found = {
        "editor takes a letter, s": typed,
        "first verdict after Check, s": first,
        "second verdict, s": second,
    } | weights(weight, "with")
    context.close()
    return found


@contextlib.contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site, on this machine: served in a process of its own, as for a reader."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = f"import sys, pathlib, book.server; book.server.serve(pathlib.Path(sys.argv[1]), {port})"
    command = [sys.executable, "-c", code, str(site.resolve())]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        if not process.stdout.readline():  # it says when it listens
            raise RuntimeError("the site's server did not start; the cause is above")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def measure_all(site: Path, rounds: int) -> dict[str, Any]:
    """The medians of the rounds, each with an empty profile, and all that was measured."""
    load, made = os.getloadavg()[0], []
    with served(site) as address, sync_playwright() as playwright:
        for _ in range(rounds):  # a browser each: nothing of it is warm
            browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
            made.append(measure(browser, site, address))
            version = browser.version
            browser.close()
    return {
        "page": PAGE,
        "date": date.today().isoformat(),
        "browser": f"Chromium {version}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_before": round(load, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "goals": GOALS,
        "median": {name: round(statistics.median(each[name] for each in made), 3) for name in GOALS},
        "rounds": [{name: round(each[name], 3) for name in GOALS} for each in made],
    }


def keep_first_views(site: Path) -> None:
    """Weigh the pages, keep what came out, and end with 1 where one is over its budget."""
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        pages = first_views(browser, site, address)
        browser.close()
    FIRST_VIEWS.write_text(json.dumps({"date": date.today().isoformat(), "pages": pages}, indent=2) + "\n")
    for page, found in pages.items():
        print(f"{page:<24}{found['bytes']:>9} bytes gzipped, at most {found['budget']}")
    sys.exit(any(found["bytes"] > found["budget"] for found in pages.values()))


def table(result: dict[str, Any]) -> str:
    """The medians beside the goals."""
    lines = [f"{'':<36}{'median':>8}{'at most':>9}"]
    for name, value in result["median"].items():
        goal = GOALS[name]
        missed = "  missed" if goal is not None and value > goal else ""
        lines.append(f"{name:<36}{value:>8.2f}{'' if goal is None else goal:>9}{missed}")
    lines.append(f"load of the machine: {result['load_before']} before, {result['load_after']} after")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path, help="folder of a built site with its own Pyodide")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--first-views", action="store_true", help="only weigh the first views of pages")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args()
    if options.first_views:
        keep_first_views(options.site)
    if not list((options.site / "_static" / "pyodide").glob("*/pyodide.mjs")):
        sys.exit(f"error: {options.site} is no site with its own Pyodide; make one: make site")
    result = measure_all(options.site, options.rounds)
    print(table(result))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
