"""What encloses a solution in a text notebook of `solutions/`, as nbgrader has it."""

from __future__ import annotations

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
