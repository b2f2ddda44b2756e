"""A side trip folds the whole section below its heading; one that is written otherwise is told."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = f"""
import sys
sys.path.insert(0, {str(ROOT / "book" / "_ext")!r})
extensions = ["myst_nb", "side_trip"]
html_theme = "sphinx_book_theme"
html_static_path = [{str(ROOT / "book" / "_static")!r}]
nb_execution_mode = "off"
exclude_patterns = ["html", "jupyter_execute"]
"""
TRIP = "```{side-trip} %s\n%s\n```\n"


def built(folder: Path, page: str, builder: str = "html") -> tuple[str, str]:
    """What Sphinx makes of a page, and what it says."""
    (folder / "conf.py").write_text(CONFIG)
    (folder / "index.md").write_text(page)
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-b", builder, str(folder), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    return (folder / "html" / "index.html").read_text(), done.stderr


PAGE = (
    "# A page\n\n## Here\n\nIn the main line.\n\n"
    f"## Beside\n\n{TRIP % (6, 'What is *in* it.')}\nFar away.\n\n### Inside\n\nFarther.\n\n"
    "## There\n\nIn the main line again.\n"
)


def test_all_of_the_section_is_in_the_row_and_nothing_else(tmp_path):
    html, said = built(tmp_path, PAGE)
    assert said == ""
    [row] = re.findall(r'<details class="posenc-side-trip">.*?</details>', html, re.DOTALL)
    assert re.search(
        r"<summary><strong>Side trip, 6 minutes</strong> What is <em>in</em> it\.</summary>", row
    )
    assert "Far away." in row
    assert "Inside" in row
    assert "Farther." in row
    assert "Beside" not in row, "the heading stays to be seen"
    assert "main line" not in row


def test_formats_without_rows_show_all_of_it(tmp_path):
    html, said = built(tmp_path, PAGE, "singlehtml")
    assert said == ""
    assert "<details" not in html.partition("<article")[2].partition("</article>")[0]
    assert "Far away." in html


def test_what_is_written_otherwise_is_told(tmp_path):
    page = (
        f"# A page\n\n## One\n\n{TRIP % ('six', 'What.')}\nText.\n\n"
        f"## Two\n\n{TRIP % (6, '')}\nText.\n\n## Three\n\nText.\n\n{TRIP % (6, 'What.')}\nText.\n"
    )
    said = built(tmp_path, page)[1]
    assert "a side trip takes its minutes, such as 6; given was 'six'" in said
    assert "a side trip has no text; say in a sentence what is in it" in said
    assert "it folds a whole section; put it right below the section's heading" in said
