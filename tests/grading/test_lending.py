"""The process that answers what an exercise lends: it starts, answers, and goes quietly."""

from __future__ import annotations

import subprocess
import sys


def test_it_ends_without_a_word_where_whoever_asks_has_ended():
    """As where there is no bubblewrap, or after Ctrl-C in the first second: it is not ready yet."""
    process = subprocess.Popen(
        [sys.executable, "-m", "posenc_course.grading.sandbox.lending"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=200)
    assert (process.returncode, errors) == (0, b"")
