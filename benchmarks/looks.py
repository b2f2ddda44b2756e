"""How pages look, before and after: what is first seen of each, on a desk and a phone, in light and dark.

    python -m benchmarks.looks SITE_BEFORE SITE_AFTER

Both are built sites. `benchmarks/looks/` gets a sheet for each view, and a README.md that shows them all.
"""

from __future__ import annotations

import argparse
import io
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.pages import served
from book.chromium import FLAGS, find

LOOKS = Path(__file__).resolve().parent / "looks"
SIZES = {"desk": (1366, 900), "phone": (390, 844)}
THEMES = ("light", "dark")
ABOVE = 120  # pixels that are seen above a place in a page
MARGIN, LABEL = 20, 30  # pixels around pictures, and for the words above them
QUALITY = 44
MOST = 2_500_000  # bytes of all sheets together
AT_PLACE = """(element, above) => scrollTo({
  top: element.getBoundingClientRect().top + scrollY - above, behavior: "instant" })"""


@dataclass(frozen=True)
class View:
    """A page, seen from its top or from the first element that `place` selects."""

    name: str
    page: str
    what: str
    place: str = ""


VIEWS = (
    View("index", "index", "The first page"),
    View("chapter-1", "01-why-order-matters", "Chapter 1"),
    View("chapter-2", "02-the-formula", "Chapter 2"),
    View("chapter-4", "04-extrapolation", "Chapter 4"),
    View("chapter-6", "06-rotary", "Chapter 6"),
    View("chapter-8", "08-long-context", "Chapter 8"),
    View("lab", "lab", "The lab"),
    View("train-live", "train-live", "The page that trains"),
    View("playground", "playground", "The playground"),
    View("progress", "progress", "Progress"),
    View("exercise", "02-the-formula", "An exercise of chapter 2", "#exercise-frequencies"),
    View("prediction", "06-rotary", "A prediction of chapter 6", "#predict-both-move-on"),
)


def shot(browser: Browser, address: str, view: View, size: str, theme: str) -> Image.Image:
    """What somebody sees who was never here, once nothing loads or moves."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        has_touch=size == "phone",
        locale="en",
    )
    tab = context.new_page()
    tab.goto(f"{address}/book/{view.page}.html")
    _go_to(tab, view.place)
    tab.wait_for_load_state("networkidle")
    tab.evaluate("document.fonts.ready.then(() => true)")
    _go_to(tab, view.place)  # what has come meanwhile may have moved it
    taken = tab.screenshot(animations="disabled")
    context.close()
    return Image.open(io.BytesIO(taken)).convert("RGB")


def _go_to(tab: Page, place: str) -> None:
    if place:
        tab.locator(place).first.evaluate(AT_PLACE, ABOVE)


def shots(browser: Browser, address: str, view: View) -> dict[tuple[str, str], Image.Image]:
    return {(size, theme): shot(browser, address, view, size, theme) for size in SIZES for theme in THEMES}


def half(title: str, taken: dict[tuple[str, str], Image.Image]) -> Image.Image:
    """One side of a sheet: two phones, and as wide as both, the desk above them in light and dark."""
    phones = [taken["phone", theme] for theme in THEMES]
    width = sum(phone.width for phone in phones) + MARGIN
    desks = [taken["desk", theme] for theme in THEMES]
    desks = [
        desk.resize((width, round(desk.height * width / desk.width)), Image.Resampling.LANCZOS)
        for desk in desks
    ]
    height = LABEL + sum(desk.height + MARGIN for desk in desks) + phones[0].height
    side = Image.new("RGB", (width, height), "grey")
    ImageDraw.Draw(side).text((0, 0), title, "white", font=_font())
    top = LABEL
    for desk in desks:
        side.paste(desk, (0, top))
        top += desk.height + MARGIN
    for number, phone in enumerate(phones):
        side.paste(phone, (number * (phone.width + MARGIN), top))
    return side


def side_by_side(before: Image.Image, after: Image.Image) -> Image.Image:
    width = before.width + after.width + 3 * MARGIN
    whole = Image.new("RGB", (width, before.height + 2 * MARGIN), "grey")
    whole.paste(before, (MARGIN, MARGIN))
    whole.paste(after, (before.width + 2 * MARGIN, MARGIN))
    return whole


def _font() -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), 18)


def commit_of(site: Path) -> str:
    """The commit of the repository that the site is in: its first letters, its date."""
    command = ["git", "-C", str(site), "log", "-1", "--format=%h, %cs"]
    found = subprocess.run(command, capture_output=True, text=True)
    return found.stdout.strip() or "a site outside any repository"


def readme(views: Iterable[View], commits: tuple[str, str]) -> str:
    """The page that shows the sheets that lie beside it."""
    lines = [
        "# Looks",
        "",
        f"What is first seen of a page: before ({commits[0]}) on the left, after ({commits[1]}) right;",
        "on a desk in light, one in dark (1366 by 900, made smaller), and on a phone in both (390 by 844).",
        "",
        f"Made by `python -m benchmarks.looks` on {date.today().isoformat()}.",
    ]
    for view in views:
        lines += ["", f"## {view.what}", "", f"![{view.what}, before and after]({view.name}.webp)"]
    return "\n".join(lines) + "\n"


def require_light(sheets: Iterable[Path]) -> None:
    """Raises:
    ValueError: the sheets together are larger than a repository should carry.
    """
    weight = sum(sheet.stat().st_size for sheet in sheets)
    if weight > MOST:
        raise ValueError(f"the sheets have {weight} bytes together, and may have {MOST}")


def compare(before: Path, after: Path, out: Path = LOOKS, views: Iterable[View] = VIEWS) -> None:
    """Take all views of both sites, and put them side by side."""
    sheets = {out / f"{view.name}.webp": view for view in views}
    commits = commit_of(before), commit_of(after)
    out.mkdir(parents=True, exist_ok=True)
    with served(before) as old, served(after) as new, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=list(FLAGS))
        for file, view in sheets.items():
            left = half(f"before: {commits[0]}", shots(browser, old, view))
            right = half(f"after: {commits[1]}", shots(browser, new, view))
            side_by_side(left, right).save(file, quality=QUALITY, method=6)
        browser.close()
    require_light(sheets)
    (out / "README.md").write_text(readme(sheets.values(), commits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("before", type=Path, help="folder of a built site")
    parser.add_argument("after", type=Path, help="folder of a built site")
    options = parser.parse_args()
    compare(options.before, options.after)


if __name__ == "__main__":
    main()
