"""Printed output as it was printed.

A kernel sends what a cell prints in pieces that end anywhere, in the middle of a line too. MyST-NB ends the
line after each piece when it merges them, so that now and then a line was broken in two. Here they are put
together before.
"""

from __future__ import annotations

from myst_nb.core import render, utils
from nbformat import NotebookNode
from sphinx.application import Sphinx


def merge(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs, with all pieces of a stream in the place of its first."""
    merged: list[NotebookNode] = utils.coalesce_streams(join(outputs))
    return merged


def join(outputs: list[NotebookNode]) -> list[NotebookNode]:
    joined: list[NotebookNode] = []
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        if output["output_type"] != "stream":
            joined.append(output)
        elif output["name"] in streams:
            streams[output["name"]]["text"] += output["text"]
        else:
            streams[output["name"]] = NotebookNode(output)
            joined.append(streams[output["name"]])
    return joined


def setup(app: Sphinx) -> dict[str, bool]:
    render.coalesce_streams = merge
    return {"parallel_read_safe": True, "parallel_write_safe": True}
