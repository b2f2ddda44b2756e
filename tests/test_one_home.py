"""One home for each fact: what a second copy would let drift apart stands in one file."""

from __future__ import annotations

import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

from posenc_course.colours import NAMED

ROOT = Path(__file__).resolve().parents[1]
COLOUR = re.compile(r"#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3})\b", re.IGNORECASE)
DRAWN = (".py", ".css", ".js", ".html", ".j2", ".yml")


def sources(*folders: str) -> list[Path]:
    """Files of ours as they are now; tests may say once more what is right."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_no_colour_stands_in_two_files():
    homes = defaultdict(set)
    for file in sources("posenc_lib", "posenc_course", "benchmarks", "book"):
        if file.suffix in DRAWN:
            for colour in COLOUR.findall(file.read_text()):
                homes[colour.lower()].add(str(file.relative_to(ROOT)))
    assert set(NAMED.values()) <= homes.keys()
    twice = {colour: files for colour, files in homes.items() if len(files) > 1}
    assert twice == {}, "take it from posenc_course/colours.py"


def test_the_version_of_pyodide_is_told_once_and_is_the_one_that_is_fetched():
    version = json.loads((ROOT / "book" / "_ext" / "pyodide.json").read_text())["version"]
    fetched = json.loads((ROOT / "book" / "pyodide" / "package.json").read_text())["dependencies"]["pyodide"]
    assert fetched == version
    of_npm = {"package.json", "package-lock.json"}  # it reads nothing else
    homes = [file for file in sources() if file.name not in of_npm and version.encode() in file.read_bytes()]
    assert [str(file.relative_to(ROOT)) for file in homes] == ["book/_ext/pyodide.json"]
