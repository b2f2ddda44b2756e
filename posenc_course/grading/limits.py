"""What one submission may use: here, and nowhere else, stands what is usual."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    wall_seconds: float = 120.0
    """By the clock, for all of it: long, so that a busy machine costs no learner a point."""
    cpu_seconds: int = 30
    """Of the processor, for the cells and the answers that run in one process."""
    memory_bytes: int = 2 * 2**30
    processes: int = 64
    """Processes and threads together."""
    file_bytes: int = 16 * 2**20
    """The largest file that it may write."""
    output_bytes: int = 2**20
    """All that its cells may print and show."""

    @classmethod
    def of_time(cls, seconds: float) -> Limits:
        """The usual limits, with so many seconds of the processor and four times as many by the clock."""
        return cls(wall_seconds=4 * seconds, cpu_seconds=max(1, round(seconds)))
