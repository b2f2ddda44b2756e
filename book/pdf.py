"""Make the book one PDF, `_build/book.pdf`: the chapters, and what a reader looks up.

    python book/pdf.py [--out FILE] [--language zh_CN]

Chromium prints it (see README). What needs a browser to be of use stays out: the exercises' notebooks are
in the chapters already, and what is there to play with does nothing on paper.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from book.catalogues import CatalogueError, languages  # noqa: E402
from book.chromium import FLAGS, find  # noqa: E402
from book.editions import contents_in, release, write_sources  # noqa: E402
from posenc_course.translation import ENGLISH  # noqa: E402

PARTS = ("Chapters", "Look it up")
ONLY_ON_SCREEN = ("book/reading-paths", "book/self-check")
FOOTER = '<div style="width: 100%; text-align: center; font-size: 8px"><span class="pageNumber"></span></div>'
SLOW = 120_000  # ms


def make(root: Path, to: Path, language: str = ENGLISH) -> None:
    """Build the book of this root as one page, and print it.

    Args:
        root: where _config.yml is.
        to: the PDF.
        language: English, or one that there are catalogues of.

    Raises:
        CatalogueError: a catalogue cannot be used.
        CalledProcessError: a cell failed.
        RuntimeError: there is no Chromium.
    """
    chromium = find()
    if chromium is None:
        raise RuntimeError(
            "no Chromium was found; install it (on Debian: apt install chromium), or name it in CHROMIUM"
        )
    work = root / "_build" / ("pdf" if language == ENGLISH else f"pdf-{language}")
    work.mkdir(parents=True, exist_ok=True)
    toc = work / "_toc.yml"
    contents = for_paper(yaml.safe_load((root / "_toc.yml").read_text()))
    source = root
    if language != ENGLISH:
        source, contents = write_sources(root, language), contents_in(language, contents, root)
        release(root, source, language, dict(os.environ))
    toc.write_text(yaml.safe_dump(contents, sort_keys=False))
    executed = root / "_build" / ".jupyter_cache"
    if executed.exists():
        shutil.copytree(executed, work / "_build" / ".jupyter_cache", dirs_exist_ok=True)
    (root / "_build" / "web").mkdir(exist_ok=True)  # _config.yml names it
    jupyter_book = Path(sys.executable).with_name("jupyter-book")
    subprocess.run(
        [jupyter_book, "build", ".", "--builder", "singlehtml", "--toc", toc, "--path-output", work, "-qq"],
        cwd=source,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)},  # cells read benchmarks/
        check=True,
    )
    pages = work / "_build" / "singlehtml"
    # The page names its files as if it lay at the root of the site.
    page = shutil.copy(pages / "book" / "index.html", pages / "print.html")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        tab = browser.new_page(color_scheme="light")
        tab.goto(Path(page).as_uri(), timeout=SLOW)
        tab.add_style_tag(path=root / "book" / "print.css")
        tab.evaluate("document.fonts.ready.then(() => true)")
        # For paper before it prints: a Chromium that still has to lay out so long a page then may hang.
        tab.emulate_media(media="print")
        tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        tab.pdf(
            path=to,
            format="A4",
            margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            outline=True,
            tagged=True,
        )
        browser.close()


def for_paper(toc: dict[str, Any]) -> dict[str, Any]:
    """The table of contents without what is for the screen."""
    parts = [part for part in toc["parts"] if part["caption"] in PARTS]
    for part in parts:
        part["chapters"] = [{"file": c["file"]} for c in part["chapters"] if c["file"] not in ONLY_ON_SCREEN]
    return toc | {"parts": parts}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--out", type=Path, help="the file; by default _build/book.pdf, or book-zh_CN.pdf there"
    )
    parser.add_argument("--language", default=ENGLISH, choices=[ENGLISH, *languages()])
    options = parser.parse_args()
    name = "book.pdf" if options.language == ENGLISH else f"book-{options.language}.pdf"
    to = options.out or ROOT / "_build" / name
    try:
        make(ROOT, to, options.language)
    except (RuntimeError, CatalogueError) as error:
        sys.exit(f"error: {error}")
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: the book did not build (exit code {error.returncode}); the cause is above")
    print(f"the book as one PDF: {to}")


if __name__ == "__main__":
    main()
