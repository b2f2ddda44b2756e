"""What a test takes to be there."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """The value itself, for a test that has nothing to look at without it: no None."""
    assert value is not None
    return value
