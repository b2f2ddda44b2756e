"""The text: the same for everyone who has this Python, and no file on both sides."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from posenc_course.experiments import source_text
from posenc_course.experiments.source_text import joined, require, source, split, windows


def test_no_file_is_in_two_parts_and_none_is_a_test():
    parts = [{file.path for file in part} for part in split()]
    assert sum(map(len, parts)) == len(set.union(*parts)) > 250
    for path in set.union(*parts):
        assert not {"test", "tests", "site-packages"} & set(path.split("/"))
        assert not path.rpartition("/")[2].startswith("_sysconfig")
    assert {"ast.py", "asyncio/base_events.py"} <= set.union(*parts)


def test_there_is_enough_and_most_of_it_is_to_learn_from():
    sizes = source()["bytes"]
    assert sizes["learn"] > 6_000_000
    assert 400_000 < sizes["held_out"] < 0.25 * sizes["learn"]
    assert sizes["choose"] > 100_000


def test_the_content_is_that_of_the_files():
    root = Path(sysconfig.get_path("stdlib"))
    file = split().held_out[0]
    assert file.content == (root / file.path).read_bytes().replace(b"\r\n", b"\n")


@pytest.fixture
def folder(tmp_path):
    for number in range(60):
        place = tmp_path / ("package" if number % 2 else ".") / f"m{number}.py"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"x = %d\n" % number)
    return tmp_path


def test_where_a_file_belongs_depends_on_its_path_alone(folder):
    """Not on the system's newlines, on what else lies there, or on what a build left behind."""
    before = split(folder)
    for left in ("test/t.py", "site-packages/p.py", "_sysconfigdata__linux.py", "config-3/c.py", "m0.pyc"):
        (folder / left).parent.mkdir(exist_ok=True)
        (folder / left).write_bytes(b"pass\n")
    (folder / "m0.py").write_bytes(b"x = 0\r\n")
    split.cache_clear()
    assert split(folder) == before
    (folder / "added.py").write_bytes(b"pass\n")
    split.cache_clear()
    for part, old in zip(split(folder), before, strict=True):
        assert [file for file in part if file.path != "added.py"] == list(old)


def test_a_run_is_refused_on_another_text(monkeypatch):
    mine = source()
    assert require(mine) == split()
    assert mine["python"] == ".".join(map(str, sys.version_info[:3]))
    with pytest.raises(ValueError, match=r"the run is about the source of Python 3\.9\.0 \(abc"):
        require(mine | {"python": "3.9.0", "sha256": "abcdef0123456789"})


def test_windows_lie_within_one_file_and_do_not_overlap():
    files = split().held_out
    sizes = {file.path: len(file.content) for file in files}
    for length, most in ((257, 16), (4353, 1), (100, 3)):
        last: dict[str, int] = {}
        for path, first in windows(files, length, most):
            assert first >= last.get(path, 0)
            last[path] = first + length
            assert last[path] <= sizes[path]
        assert set(last) == {path for path, size in sizes.items() if size >= length}


def test_more_than_there_is_cannot_be_learnt():
    files = split().learn[:2]
    whole = joined(files)
    assert joined(files, 10) == whole[:10] == files[0].content[:10]
    with pytest.raises(ValueError, match=r"bytes to learn from"):
        joined(files, len(whole) + 1)
    assert source()["licence"] == source_text.LICENCE
