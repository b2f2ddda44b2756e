"""A table for a page: rows of words under a head, with a caption that says what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Table:
    """Rows under a head, each as long as it. A page shows it as a table, a terminal as columns.

    Raises:
        ValueError: a row is shorter or longer than the head.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.head):
                raise ValueError(f"the row {list(row)} has {len(row)} cells; the head has {len(self.head)}")

    def __str__(self) -> str:
        every = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*every, strict=True)]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in every
        )
        return "\n".join([self.caption, *lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = _cells(self.head, 'th scope="col"')
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>{_cells(others, "td")}</tr>'
            for first, *others in self.rows
        )
        return (
            '<figure class="posenc-figure" style="overflow-x:auto"><table class="table">'
            f"<caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></figure>"
        )


def _cells(words: Iterable[str], tag: str) -> str:
    closing = tag.split()[0]
    return "".join(f"<{tag}>{escape(word)}</{closing}>" for word in words)
