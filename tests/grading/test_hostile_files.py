"""Hostile notebooks, folders and files, graded in one class beside honest work: each costs nobody else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from posenc_course.grading.handed_in.other_files import (
    MAX_DEPTH,
    MAX_OTHER_FILES,
    copy_other_files,
    handed_in_at,
)
from posenc_course.grading.processes.aside import OverLimit, aside
from posenc_course.grading.untrusted import visible
from tests.grading.class_fixtures import CHAPTER, NO_DIVISION, POINTS, TOTAL, Class, new_class

BIG = 1_000_000
LANGUAGE = "\x1b[31m*x*" * BIG
CLEARS = "\x1b[2J\n<b>.ipynb"
FLOODS_COLOURS = 'print("\\x1b[31mx\\x1b[1;42m" * 60_000)'
FLOODS_OUTPUTS = """
from IPython.display import display
for number in range(1_500):
    display({"text/plain": "x"}, raw=True)
"""

MARKDOWN = {
    "nested tags": "<div>" * 200_000,
    "nested harmless tags": "<details>" * 100_000,
    "mathematics": "$x$ " * (BIG // 4),
    "unclosed mathematics": "$$" + "\\begin{a}" * (BIG // 9),
    "spaces": "a" + " " * (2 * BIG) + "b",
    "empty lines": "\n" * BIG,
    "brackets": "[" * BIG,
    "short brackets": "![" * 9_000,
    "stars": "*a_ " * 4_900,
    "quotes": "> " * 9_900 + "x",
    "lists": "".join("  " * level + "- x\n" for level in range(140)),
    "ticks": "".join("`" * length + " " for length in range(190)),
    "table": "|" * 9_000 + "\n" + "|-" * 4_500 + "|\nx",
    "entities": "&#60;" * 3_900,
    "references": "".join(f"[{number}]: http://x.invalid\n" for number in range(500)),
    "control characters": "\0\x1b]0;title\x07\x9b31m\u202e\ud800 text",
}


def with_cells(work: Class, *cells: Any, **answers: str) -> str:
    notebook = work.solved(**answers)
    notebook.cells += cells
    return json.dumps(notebook)


def with_facts(work: Class, change: Callable[[dict[str, Any]], Any]) -> str:
    """A right notebook as plain data, changed."""
    notebook = json.loads(json.dumps(work.solved()))
    change(notebook)
    return json.dumps(notebook)


def attached(attachments: Any) -> dict[str, Any]:
    text = "![x](attachment:x.png) ![y](attachment:none.png)"
    return {"cell_type": "markdown", "metadata": {}, "source": text, "attachments": attachments}


def odd_types(notebook: dict[str, Any]) -> None:
    notebook["nbformat_minor"] = 10**400
    notebook["metadata"] = [1]
    for number, cell in enumerate(notebook["cells"]):
        if "nbgrader" not in cell["metadata"]:
            cell["metadata"] = ["x", 5, None, "text"][number % 4]
        cell["id"] = {"a": [number]}
        cell["execution_count"] = float("nan")
        cell["outputs"] = "no list"
    notebook["cells"].append(
        {"cell_type": ["x"], "source": ["a", "b"], "metadata": {"nbgrader": {"grade_id": 7}}}
    )


NO_ATTACHMENTS: tuple[Any, ...] = (
    *(None, 5, "text", [1]),
    *({"x.png": 5}, {"x.png": {"image/png": 7}}, {"x.png": []}),
    *({"x.png": {"image/png": "no base64!"}}, {"x.png": {"\ud800": "\0"}, "\ud800": {}}),
)
READ: dict[str, Callable[[Class], str]] = {
    **{
        f"texts from {first}": lambda work, first=first: with_cells(
            work, *(new_markdown_cell(text) for text in list(MARKDOWN.values())[first : first + 4])
        )
        for first in range(0, len(MARKDOWN), 4)
    },
    "megabyte of code": lambda work: with_cells(work, new_code_cell(f"text = '{'if 1, ' * (BIG // 6)}'")),
    "colours": lambda work: with_cells(work, new_code_cell(FLOODS_COLOURS)),
    "outputs": lambda work: with_cells(work, new_code_cell(FLOODS_OUTPUTS)),
    "raw": lambda work: with_cells(work, new_raw_cell("# no *heading* " + "<div>" * 1000)),
    "cells": lambda work: with_cells(work, *[new_markdown_cell("x")] * 4_000),
    "attachments": lambda work: with_facts(
        work,
        lambda notebook: notebook["cells"].extend(
            attached(each)
            for each in NO_ATTACHMENTS
        ),
    ),
    "types": lambda work: with_facts(work, odd_types),
}  # fmt: skip

REFUSED: dict[str, tuple[Callable[[Class, str], Any], str]] = {
    "language": (
        lambda work, who: write(
            work, who, with_facts(work, lambda n: n["metadata"].update(language_info={"name": LANGUAGE}))
        ),
        "another language (\\x1b[31m*x*",
    ),
    "deep json": (lambda work, who: write(work, who, '{"cells":' + "[" * 10**6), "JSON"),
    "huge number": (
        lambda work, who: write(work, who, '{"cells": [], "nbformat": ' + "9" * BIG + "}"),
        "not a notebook",
    ),
    "folder is a file": (lambda work, who: instead(work, who, Path.touch), "not followed"),
    "folder is a pipe": (lambda work, who: instead(work, who, os.mkfifo), "not followed"),
    "notebook is a folder": (lambda work, who: work.submitted(who).mkdir(parents=True), "it is not a file"),
    "name": (
        lambda work, who: write(work, who, "{}").rename(work.submitted(who).with_name(CLEARS)),
        "called \\x1b[2J\\n<b>.ipynb",
    ),
}  # fmt: skip

TIMESTAMPS: dict[str, tuple[bytes | None, str]] = {
    "a folder": (None, "not a plain file"),
    "digits": (b"99999999999999999999", "does not contain a date and time"),
    "few digits": (b"20260101", "does not contain a date and time"),
    "a zone too long": (b"2026-01-02 03:04:05 " + b"Z" * 900, "does not contain a date and time"),
    "a file too long": (b"2026-01-02 03:04:05 UTC" + b" " * 5000, "not a plain file, or it is too long"),
    "a zone that is a path": (b"2026-01-02 03:04:05 /etc/localtime", "unknown time zone"),
    "a zone that leads away": (b"2026-01-02 03:04:05 ../../../etc/localtime", "unknown time zone"),
    "a zone that nobody knows": (b"2026-01-02 03:04:05 Mars/Crater", "unknown time zone"),
    "the year 1": (b"0001-01-01 00:00:00 +2359", "does not contain a date and time"),
    "no day": (b"2026-13-45 03:04:05 UTC", "does not contain a date and time"),
    "long ago": (b"2001-01-02 03:04:05 UTC", "Was it changed?"),
    "to come": (b"2999-01-02 03:04:05 UTC", "in the future"),
    "nothing": (b" \n", "is empty"),
    "bytes": (bytes(range(256)), "does not contain a date and time"),
}


FROM_THE_EXCHANGE = {"timestamp.txt": "2026-01-02 03:04:05.000000 UTC", "submission_secret.txt": "5ec2e7"}
"""Beside a notebook that came through it, and beside a page that it is to give back."""
GRADED_TIMES = ("a folder", "digits", "a zone that is a path")


def write(work: Class, student: str, text: str) -> Path:
    return work.hand_in(student, text)


def instead(work: Class, student: str, make: Callable[[Path], Any]) -> None:
    """Something else in the place of the assignment's folder."""
    folder = work.submitted(student).parent
    folder.parent.mkdir(parents=True)
    make(folder)


@pytest.fixture(scope="module")
def work(released, tmp_path_factory) -> Class:
    one = new_class(released, tmp_path_factory.mktemp("class"))
    one.hand_in("ada")
    one.hand_in("zoe", one.solved(frequencies=NO_DIVISION))
    for name, make in READ.items():
        write(one, name, make(one))
    for name, (put, _told) in REFUSED.items():
        put(one, name)
    for name, data in FROM_THE_EXCHANGE.items():
        one.submitted("deep json").with_name(name).write_text(data)
    for name in GRADED_TIMES:
        content, _told = TIMESTAMPS[name]
        path = one.hand_in(f"time: {name}").with_name("timestamp.txt")
        path.mkdir() if content is None else path.write_bytes(content)
    beside = one.hand_in("files").parent
    (beside / "/".join(["deep"] * 200)).mkdir(parents=True)
    for number in range(3_000):
        (beside / f"{number:05}.csv").touch()
    os.mkfifo(beside / "0.csv")
    beside = one.hand_in("changed").parent
    (beside / "was-file.csv").mkdir()
    (beside / "was-file.csv" / "x.csv").touch()
    (beside / "was-folder.csv").touch()
    before = one.root / "course" / "autograded" / "changed" / CHAPTER
    (before / "was-folder.csv").mkdir(parents=True)
    (before / "was-folder.csv" / "old").touch()
    (before / "was-file.csv").touch()
    one.printed = one.posenc("grade", CHAPTER)
    return one


@pytest.mark.slow
def test_every_mark_is_right(work):
    expected = dict.fromkeys([*READ, "ada", "files", "changed"], TOTAL)
    expected |= dict.fromkeys([f"time: {name}" for name in GRADED_TIMES], TOTAL)
    expected |= dict.fromkeys(REFUSED, 0.0) | {"zoe": TOTAL - POINTS["frequencies"]}
    assert work.marks() == expected
    assert "Could not be graded" not in work.printed


@pytest.mark.slow
def test_everyone_has_a_page(work):
    for student in work.marks():
        page = work.feedback(student)
        assert len(page) < 8_000_000, student
        assert f"{work.marks()[student]:g}" in page
        work.autograded(student)
    assert "Divide the exponent by dim" in work.feedback("zoe")
    for student, (_make, told) in REFUSED.items():
        page = work.feedback(student).replace("\u2060", "").replace("&lt;", "<").replace("&gt;", ">")
        assert told in page, student


@pytest.mark.slow
def test_the_exchange_gives_back_the_page_of_what_could_not_be_read(work):
    folder = work.root / "course" / "feedback" / "deep json" / CHAPTER
    assert {name: (folder / name).read_text() for name in FROM_THE_EXCHANGE} == FROM_THE_EXCHANGE


@pytest.mark.slow
def test_nothing_that_a_terminal_obeys_is_printed(work):
    assert not [each for each in work.printed if ord(each) < 32 and each not in "\n\r\x1b"]
    assert "\x1b[31m" not in work.printed
    assert "\x1b[2J" not in work.printed


@pytest.mark.slow
def test_files_are_copied_up_to_a_limit(work):
    folder = work.root / "course" / "autograded" / "files" / CHAPTER
    assert MAX_OTHER_FILES - 1 <= len(list(folder.glob("*.csv"))) <= MAX_OTHER_FILES  # the pipe may be one
    assert all(each.is_file() for each in folder.iterdir())
    changed = work.root / "course" / "autograded" / "changed" / CHAPTER
    assert (changed / "was-folder.csv").is_file()
    assert (changed / "was-file.csv" / "x.csv").is_file()


def test_what_lies_too_deep_is_told(tmp_path):
    folder = tmp_path / "in" / CHAPTER
    deep = folder.joinpath(*["a"] * (MAX_DEPTH + 1))
    deep.mkdir(parents=True)
    (deep / "far.csv").touch()
    (deep.parent / "near.csv").touch()
    remarks = copy_other_files(folder, tmp_path / "out")
    assert [each.name for each in (tmp_path / "out").rglob("*.csv")] == ["near.csv"]
    assert remarks == ("a was not copied: its folder is nested too deeply.",)


@pytest.mark.parametrize(("content", "told"), TIMESTAMPS.values(), ids=TIMESTAMPS)
def test_an_odd_timestamp_is_told(tmp_path, content, told):
    path = tmp_path / "timestamp.txt"
    path.mkdir() if content is None else path.write_bytes(content)
    _when, problem = handed_in_at(tmp_path)
    assert told in str(problem)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1"])
@pytest.mark.parametrize(
    ("zone", "hours"),
    [("", 0), (" UTC", 0), (" +0200", 2), (" -05:30", -5.5), (" Asia/Tokyo", 9), ("Z", 0), (" EST", -5)],
)
def test_a_time_as_nbgrader_writes_it_is_read(tmp_path, encoding, zone, hours):
    now = datetime.now(UTC).replace(tzinfo=None)
    local = now + timedelta(hours=hours)
    (tmp_path / "timestamp.txt").write_bytes(f"{local:%Y-%m-%d %H:%M:%S.%f}{zone}\n".encode(encoding))
    assert handed_in_at(tmp_path) == (now, None)


def test_a_file_of_an_impossible_age_is_read(tmp_path, monkeypatch):
    path = tmp_path / "timestamp.txt"
    path.write_text("2026-01-02 03:04:05 UTC")
    facts = os.stat_result((*path.lstat()[:7], 0, 2**40, 0))  # as tmpfs, btrfs and ZFS keep it
    monkeypatch.setattr(Path, "lstat", lambda self: facts)
    when, problem = handed_in_at(tmp_path)
    assert when == datetime(2026, 1, 2, 3, 4, 5)
    assert "9999-12-31" in str(problem)


def test_a_folder_in_the_notebooks_place_is_not_copied_over_it(tmp_path):
    folder = tmp_path / "in" / f"{CHAPTER}.ipynb"
    folder.mkdir(parents=True)
    (folder / "a.csv").touch()
    copy_other_files(tmp_path / "in", tmp_path / CHAPTER)
    assert not (tmp_path / CHAPTER / f"{CHAPTER}.ipynb").exists()


def never_ends() -> None:
    while True:
        pass


def eats_memory() -> int:
    return len(bytearray(8 * 2**30))


@pytest.mark.slow
@pytest.mark.parametrize("function", [never_ends, eats_memory])
def test_what_costs_too_much_is_ended(function, monkeypatch):
    monkeypatch.setattr("posenc_course.grading.processes.aside.WALL_SECONDS", 2.0)
    with pytest.raises(OverLimit):
        aside(function)
    monkeypatch.undo()
    assert aside(len, "abc") == 3  # the next call finds a new process


def test_what_a_terminal_obeys_is_made_visible():
    assert visible("a\x1b[31m\u202eb\r\nc\x9b\u2028\ud800") == (
        "a\\x1b[31m\\u202eb\\r\\nc\\x9b\\u2028\\ud800"
    )
    assert visible("阿达 O'Neil <b> می\u200cخواهم") == "阿达 O'Neil <b> می\u200cخواهم"
    assert len(visible("x" * 10**6)) < 3_000


def test_a_long_name_in_another_alphabet_is_copied(tmp_path):
    """83 signs, and 253 bytes: file systems count bytes."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / ("实" * 83 + ".pdf")).touch()
    copy_other_files(tmp_path / "in", tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 1
