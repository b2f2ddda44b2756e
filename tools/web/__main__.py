"""Check the scripts of the pages, or format them.

python -m tools.web lint|types|format
"""

from __future__ import annotations

import argparse
import sys

from book.browser_python import PythonError, UnreachableError
from book.build import fetch_packages
from tools.web import BOOK, COMMANDS, run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.web")
    parser.add_argument("command", choices=COMMANDS)
    command = parser.parse_args().command
    try:
        if command == "types":
            fetch_packages(BOOK.parent)  # what the scripts import has types of its own
        sys.exit(run(command))
    except (PythonError, UnreachableError) as error:
        sys.exit(f"error: what checks the scripts could not be fetched ({error}); go online and try again")
