"""How long the pages take that run models, in Chromium: the lab, and the one that trains.

    python -m benchmarks.live_pages SITE [--rounds 3]

SITE is a built site; it is served on this machine. Every round begins with an empty profile.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import time
from datetime import date
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.pages import RESULT, SLOW, served
from book.chromium import FLAGS, find

LIVE = RESULT.with_name("live.json")
# figure -> at most, or at least where it is a rate
GOALS = {
    "lab: first losses after the models' arrival, s": 3.0,
    "lab: written by each of two models, bytes/s": 20.0,
    "train-live: three models trained and tested, s": 30.0,
}


def lab(browser: Browser, address: str) -> dict[str, float]:
    """From the arrival of the second model to the losses of the text in both; then how fast they write."""
    tab = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    arrived: list[float] = []
    tab.context.on(
        "requestfinished",
        lambda request: arrived.append(time.perf_counter()) if ".safetensors" in request.url else None,
    )
    tab.goto(f"{address}/book/lab.html", wait_until="networkidle", timeout=SLOW)
    tab.get_by_role("button", name="Load the models").click()
    for side in range(2):
        expect(tab.locator(".posenc-lab-mean").nth(side)).to_contain_text("nats", timeout=SLOW)
    waited = time.perf_counter() - arrived[-1]
    assert len(arrived) == 2
    tab.get_by_role("button", name="Let both keep writing").click()
    said = tab.locator(".posenc-lab-write [role=status]")
    expect(said).to_contain_text("has written", timeout=SLOW)
    rates = [float(each) for each in re.findall(r"\d+", said.inner_text())]
    tab.context.close()
    return dict(zip(GOALS, (waited, min(rates)), strict=False))


def training(browser: Browser, address: str) -> dict[str, float]:
    """As the page itself tells it: the three models that it offers, with the steps that it offers."""
    tab = browser.new_context(viewport={"width": 1200, "height": 900}).new_page()
    tab.goto(f"{address}/book/train-live.html", wait_until="networkidle", timeout=SLOW)
    box = tab.locator(".posenc-train-live")
    box.get_by_role("button", name="Train", exact=True).click()
    verdict = box.locator(".posenc-verdict")
    expect(verdict).to_contain_text("Trained and tested", timeout=SLOW)
    seconds = re.search(r"after (\d+) seconds", verdict.inner_text())
    assert seconds
    tab.context.close()
    return {list(GOALS)[2]: float(seconds[1])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path, help="folder of a built site")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=LIVE)
    options = parser.parse_args()
    load, made = os.getloadavg()[0], []
    with served(options.site) as address, sync_playwright() as playwright:
        for _ in range(options.rounds):
            browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
            made.append(lab(browser, address) | training(browser, address))
            version = browser.version
            browser.close()
    median = {name: round(statistics.median(each[name] for each in made), 2) for name in GOALS}
    result = {
        "date": date.today().isoformat(),
        "browser": f"Chromium {version}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load_before": round(load, 2),
        "goals": GOALS,
        "median": median,
        "rounds": made,
    }
    options.out.write_text(json.dumps(result, indent=2) + "\n")
    for name, value in median.items():
        print(f"{name:<52}{value:>8.2f}{GOALS[name]:>8}")


if __name__ == "__main__":
    main()
