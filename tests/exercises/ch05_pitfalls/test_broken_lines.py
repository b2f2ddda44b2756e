"""`05-pitfalls.broken_lines`: its reference, and answers that no list foresaw."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from posenc_course.checking import report_on
from posenc_course.exercises.ch05_pitfalls.broken_lines import BROKEN_LINES
from posenc_lib import attention, sinusoidal

ROOT = Path(__file__).resolve().parents[3]


def listings():
    """The four programs of the text, as lists of lines, without their numbers."""
    text = (ROOT / "solutions" / "05-pitfalls.md").read_text()
    programs = re.findall(r"<summary>Listing [A-D]</summary>\n\n```python\n(.*?)\n```", text, re.DOTALL)
    for program in programs:
        lines = [line for line in program.split("\n") if line]
        assert [int(line.rpartition("# ")[2]) for line in lines] == list(range(1, len(lines) + 1))
        yield [line.rpartition("# ")[0].rstrip() for line in lines]


MENDED = (
    ("len(self.keys)", "self.count"),
    ("mask[:, :-1]", "mask[:, 1:]"),
    (".astype(dtype)", ""),
    ("lengths[0]", "lengths"),
)


def programs():
    """For each listing: as it stands, and with its broken line mended."""
    for lines, number, (wrong, right) in zip(listings(), BROKEN_LINES.reference(), MENDED, strict=True):
        mended = [*lines]
        assert wrong in lines[number - 1]
        mended[number - 1] = lines[number - 1].replace(wrong, right)
        both = []
        for each in (lines, mended):
            names: dict[str, Any] = {}
            exec("\n".join(each), names)
            both.append(names)
        yield both


def test_listing_a_goes_wrong_where_its_users_say():
    (broken, mended), *_ = programs()
    rng = np.random.default_rng(0)
    x, weights, limit, n = rng.normal(size=(12, 8)), rng.normal(size=(3, 8, 4)), 5, 12
    q, k, v = ((x + sinusoidal(n, 8)) @ w for w in weights)
    near = np.tri(n, dtype=bool) & ~np.tri(n, k=-limit, dtype=bool)
    right = attention(q, k, v, mask=near)
    for names, good in ((broken, limit + 1), (mended, n)):
        layer = names["Layer"](*weights, limit)
        out = np.concatenate([layer.read(x[t : t + 1]) for t in range(n)])
        assert np.isclose(out, right).all(axis=1).tolist() == [True] * good + [False] * (n - good)


def test_listing_b_counts_one_place_too_many():
    _, (broken, mended), *_ = programs()
    sentences = [[1, 2, 3, 4, 5], [3, 2, 1]]
    table = np.random.default_rng(1).normal(size=(6, 6))
    asked: dict[str, list[float]] = {"mended": [], "broken": []}
    for sentence in sentences:
        logp = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
        asked["mended"] += [-logp[a, b] for a, b in itertools.pairwise(sentence)]
    logp = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
    asked["broken"] = [*asked["mended"], -logp[1, 0]]
    for name, names in (("mended", mended), ("broken", broken)):
        assert names["loss"](lambda known: table[known], sentences) == pytest.approx(np.mean(asked[name]))


def test_listing_c_is_right_in_short_texts_alone():
    _, _, (broken, mended), _ = programs()
    with np.errstate(all="ignore"):
        for start in (0, 1000, 3000, 66_000):
            x = np.zeros((20, 8), dtype=np.float16)
            exact = sinusoidal(np.arange(start, start + 20), 8)
            assert np.allclose(mended["add_positions"](x, start), exact, atol=1e-3)
            found = broken["add_positions"](x, start)
            assert np.allclose(found, exact, atol=1e-3) == (start <= 2000)
            assert np.isnan(found).any() == (start > 65_000)
    assert len(np.unique(broken["add_positions"](np.zeros((20, 8), dtype=np.float16), 3000), axis=0)) < 20


def test_listing_d_goes_wrong_where_its_users_say():
    *_, (broken, mended) = programs()
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(3, 8, 4))

    def as_alone(names, lengths):
        x, ends = rng.normal(size=(sum(lengths), 8)), np.cumsum(lengths)
        out = names["layer"](x, lengths, *weights)
        texts = zip(np.split(x, ends[:-1]), np.split(out, ends[:-1]), strict=True)
        return [
            np.allclose(rows, attention(*((x + sinusoidal(len(x), 8)) @ w for w in weights), causal=True))
            for x, rows in texts
        ]

    assert as_alone(mended, [3, 5, 4]) == [True, True, True]
    assert as_alone(broken, [3, 5, 4]) == [True, False, False]
    assert as_alone(broken, [3, 5, 3]) == [True, False, True]


def test_every_line_that_does_something_has_a_lead():
    for place, lines in enumerate(listings()):
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith(("import", "from", "def", "class", '"')):
                continue
            answer = [*BROKEN_LINES.reference()]
            answer[place] = number
            report = report_on(BROKEN_LINES.id, tuple(answer))
            assert report.passed or report.mistake or report.notes, (place, number)


NOT_KNOWN = (
    ("broken_lines", (14, 13, 8, 20), "listing D"),
    ("broken_lines", (19, 13, 9, 7), "In listing C, line 9"),
)


WRITTEN_IN_ANOTHER_WAY = (("broken_lines", [13, 12, 7, 6], "counted-from-zero"),)
