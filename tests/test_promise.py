"""What the last release had is there still, and is called as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import posenc_lib
from posenc_lib._stability import EXPERIMENTAL, deprecated
from tools import promise

ROOT = Path(__file__).resolve().parents[1]
RELEASED = json.loads(promise.RECORD.read_text())
BROKEN = {"posenc_lib.check": "the library knows nothing of a course: it is posenc_course.check"}
"""What the next release breaks with no warning before it, and why; each name stands in the changelog, too."""


def test_what_was_released_is_there_and_is_called_as_it_was() -> None:
    now = promise.record()["names"]
    gone = dict.fromkeys(RELEASED["names"].keys() - now.keys(), "it is gone")
    changed = {
        name: how
        for name in RELEASED["names"].keys() & now.keys()
        if (how := promise.broken(RELEASED["names"][name], now[name]))
    }
    found = {name: how for name, how in (gone | changed).items() if name not in RELEASED["deprecated"]}
    assert found.keys() == BROKEN.keys(), (
        f"since {RELEASED['version']}: {found}. Keep it, with a warning, as CONTRIBUTING says under "
        "'Release a version'; or name it in BROKEN and in the changelog"
    )


def test_what_breaks_stands_in_the_changelog() -> None:
    coming = (ROOT / "CHANGELOG.md").read_text().partition("## [Unreleased]")[2].partition("\n## [")[0]
    for name in BROKEN:
        assert f"`{name.rpartition('.')[2]}`" in coming


def test_the_record_is_of_the_last_release() -> None:
    _, _, released = (ROOT / "CHANGELOG.md").read_text().partition("## [Unreleased]")[2].partition("\n## [")
    assert released.partition("]")[0] == RELEASED["version"] == posenc_lib.__version__
    assert len(RELEASED["names"]) > 300


def test_what_is_experimental_is_public_and_said_to_be() -> None:
    page = (ROOT / "book" / "reference" / "biased.md").read_text()
    experimental = page.partition("## For FlexAttention")[2].partition("\n## ")[0]
    assert "experimental" in experimental
    for name in EXPERIMENTAL:
        assert name in dir(posenc_lib)
        assert f"posenc_lib.biased.{name}\n" in experimental


def before(a: int, b: int = 1, *, c: float = 2.0) -> None: ...


def more(a: int, b: int = 1, d: int = 0, *, e: int = 3, c: float = 2.0, **rest: int) -> None: ...
def easier(a: int = 0, b: int = 1, *, c: float = 2.0) -> None: ...


def without(a: int, *, c: float = 2.0) -> None: ...
def renamed(x: int, b: int = 1, *, c: float = 2.0) -> None: ...
def other_default(a: int, b: int = 2, *, c: float = 2.0) -> None: ...
def must(a: int, b: int = 1, *, c: float = 2.0, d: int) -> None: ...
def other_order(b: int = 1, a: int = 0, *, c: float = 2.0) -> None: ...
def in_between(a: int, d: int = 0, b: int = 1, *, c: float = 2.0) -> None: ...
def by_name(a: int, *, b: int = 1, c: float = 2.0) -> None: ...


@pytest.mark.parametrize("now", [before, more, easier])
def test_what_may_change(now: Any) -> None:
    assert promise.broken(promise.parameters(before), promise.parameters(now)) is None


@pytest.mark.parametrize("now", [without, renamed, other_default, must, other_order, in_between, by_name, 3])
def test_what_may_not(now: Any) -> None:
    assert promise.broken(promise.parameters(before), promise.parameters(now))


def test_what_is_given_up_warns_and_works() -> None:
    old = deprecated("since 0.3.0; call abs")(abs)
    with pytest.warns(DeprecationWarning, match="abs: since 0.3.0; call abs") as warned:
        assert old(-3) == 3
    assert warned[0].filename == __file__
    assert hasattr(old, "__deprecated__")
