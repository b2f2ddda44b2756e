"""Find the bug: right solutions with one mistake put in that people make and the judge names.

The solutions are in `solutions/`; `bugs.json` says which words of a line to take out, and which to put in.
`book/web/src/challenge-bug.js` draws from the same list in the same way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from posenc_course.challenges.draws import Draws


@dataclass(frozen=True)
class Bug:
    """One mistake in one line."""

    exercise: str
    right: str
    """Words that occur once in the solution."""
    wrong: str
    """What replaces them."""

    def planted(self, solution: str) -> str:
        """The solution with the mistake in it.

        Raises:
            ValueError: the solution has been rewritten, and the words are not there, or more than once.
        """
        if solution.count(self.right) != 1:
            raise ValueError(
                f"{self.exercise}: {self.right!r} occurs {solution.count(self.right)} times in the solution, "
                "and must occur once; correct or remove it in posenc_course/challenges/bugs.json"
            )
        return solution.replace(self.right, self.wrong)

    def line(self, solution: str) -> int:
        """Where it is, counted from 1."""
        return solution[: solution.index(self.right)].count("\n") + 1


@cache
def all_bugs() -> tuple[Bug, ...]:
    """In the order of the chapters."""
    text = Path(__file__).with_name("bugs.json").read_text(encoding="utf-8")
    return tuple(Bug(name, *pair) for name, pairs in json.loads(text).items() for pair in pairs)


def draw(seed: int) -> Bug:
    """The bug of a seed."""
    return Draws("bug", seed).choice(all_bugs())
