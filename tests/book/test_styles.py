"""The sheets that pages link become one, of what pages and scripts mention."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from book.build import bundle_styles

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "page.html": '<link rel="stylesheet" href="_static/sheets.css?v=0a" /><p class="written">One</p>',
    "_static/sheets.css": '@import "styles/theme.css"; @import "predict.css";',
    "_static/styles/theme.css": """
        @font-face { font-family: Face; src: url("../fonts/face.woff2") }
        .written { color: red; font-family: Face }
        .added { color: green }
        .forgotten { color: blue }
    """,
    "_static/predict.css": ".written { color: teal } :is(.posenc-made, .posenc-said):empty { color: navy }",
    "_static/fonts/face.woff2": "",
    "_static/script.js": 'p.classList.add("added")',
    "zh/_static/lite/other.html": '<p class="forgotten">',
}


@pytest.fixture
def site(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def linked(site: Path) -> str:
    [address] = re.findall('href="([^"]*)"', (site / "page.html").read_text())
    return address


def test_one_sheet_has_what_is_used_in_the_order_of_all_and_pages_link_it(site):
    bundle_styles(ROOT, site)
    made = (site / "_static" / "site.css").read_text()
    assert ".added" in made
    assert ":is(.posenc-made,.posenc-said):empty" in made, "ours, and ours stay whole"
    assert ".forgotten" not in made
    assert made.index("red") < made.index("teal")
    assert "url(./fonts/face.woff2)" in made.replace('"', "")
    assert re.fullmatch(r"_static/site\.css\?v=[0-9a-f]{12}", linked(site))


def test_another_sheet_has_another_address_and_the_same_one_keeps_its_own(site):
    bundle_styles(ROOT, site)
    first, written = linked(site), (site / "page.html").stat().st_mtime_ns
    bundle_styles(ROOT, site)
    assert (linked(site), (site / "page.html").stat().st_mtime_ns) == (first, written)
    (site / "_static" / "predict.css").write_text(".written { color: lime }")
    bundle_styles(ROOT, site)
    assert linked(site) != first
