"""Run jupyter-book, and show how far it is: most of a build is spent on cells that run in silence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from threading import Thread

from tqdm import tqdm

from book.browser_python import look_for_full_disk

COLOUR = re.compile(r"\x1b\[[\d;]*m")
AT = re.compile(r"(?P<doing>reading sources|writing output)\.\.\. \[ *(?P<percent>\d+)%\] (?P<page>\S+)")
"""Said by Sphinx when a page begins. The cells of a page run while it is read."""
SAID = {"reading sources": "reading, and running cells", "writing output": "writing"}


def build_pages(tree: Path, environment: dict[str, str]) -> None:
    """Build the pages of the book in this folder; on a terminal, a bar says which page it is at.

    Raises:
        CalledProcessError: a page or a cell is faulty; what Sphinx complains of has been shown.
        OSError: the disk is full.
    """
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", ".", "-W", "--keep-going"]
    complaints: list[str] = []
    with (
        subprocess.Popen(
            command,
            cwd=tree,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as building,
        tqdm(total=100, bar_format="{desc} {percentage:3.0f}% |{bar:20}|", leave=False, disable=None) as bar,
    ):
        assert building.stdout is not None
        assert building.stderr is not None
        # A pipe that nobody reads fills, and then the build would wait.
        listening = Thread(target=complaints.extend, args=(building.stderr,), daemon=True)
        listening.start()
        try:
            for line in building.stdout:
                if found := AT.search(COLOUR.sub("", line)):
                    bar.n = int(found["percent"])
                    bar.set_description_str(f"{SAID[found['doing']]}: {found['page']}")
        except BaseException:
            building.kill()
            raise
        listening.join()
    told = "".join(complaints)
    if building.returncode:
        look_for_full_disk(told)
    sys.stderr.write(told)
    if building.returncode:
        raise subprocess.CalledProcessError(building.returncode, command)
