"""Replies that are small and want to become huge: the judge's own process stays small."""

from __future__ import annotations

import json
import subprocess
import sys

JUDGE = """
import json, resource, sys
import numpy as np
from posenc_course.checking.judge import judge, right_outcomes
from posenc_course.exercises import all_exercises
from posenc_course.grading.untrusted import outcome_of
from posenc_course.grading.sandbox import lending

NAMES = "softmax attention verdict three_products four_terms serve symmetry_seen alibi_bias".split()
some = [each for each in all_exercises() if each.function in NAMES]
assert len(some) == len(NAMES)
for asked in some:
    right_outcomes(asked, 0)
kinds = []
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for reply in json.load(sys.stdin):
    outcome = outcome_of(["value", reply, "", "", None])
    kinds.append(outcome.kind)
    for asked in some if outcome.kind == "value" else ():
        report = judge(asked, [outcome] * len(right_outcomes(asked, 0)[0]))
        assert not report.passed
        assert len(str(report)) + len(report._repr_html_()) < 100_000
    answer = lending.answer({"name": "sinusoidal", "args": [reply, 8], "kwargs": {"base": reply}})
    assert answer[0] == "raised", answer
print(json.dumps([kinds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before]))
"""


def empty(*shape: int) -> dict[str, object]:
    return {"array": "", "dtype": "<f8", "shape": list(shape)}


REFUSED = {
    "columns": empty(0, 10**9),
    "rows": empty(10**9, 0),
    "in the middle": empty(2**15, 0, 2**15),
    "many axes": empty(*[1] * 30, 0),
    "many of them": [empty(0, 2**17)] * 9,
    "in a tuple": {"tuple": [empty(0, 10**8), empty(0, 10**8)]},
    "lists of nothing": [[]] * 20_000,
    "deep": json.loads("[" * 60 + "]" * 60),
    "a long key": {"dict": {"x" * 100_000: 1.0}},
    "a long text": "x" * 100_000,
    "a long number": 10**4000,
    "long parts": {"complex": [10**4000, 0]},
    "parts of text": {"complex": ["1", "2"]},
    "wide numbers": {"array": "", "dtype": "<f16", "shape": [0]},
    "a tuple of letters": {"tuple": "letters"},
    "two things at once": {"tuple": [], "dict": {}},
}
ALLOWED = {
    "as large as may be": empty(0, 2**19),
    "one long text among many": ["x" * 1000] + [""] * 15_000,
    "numbers and a long text": [1.0] * 15_000 + ["x" * 1000],
    "texts in rows": [["x" * 1000], *[["y"]] * 8_000],
    "a large number": [10**300] * 1000,
}


def test_the_judges_process_stays_small():
    replies = [*REFUSED.values(), *ALLOWED.values()]
    done = subprocess.run(
        [sys.executable, "-c", JUDGE], input=json.dumps(replies), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    kinds, kilobytes = json.loads(done.stdout)
    assert kinds == ["malformed"] * len(REFUSED) + ["value"] * len(ALLOWED)
    assert kilobytes < 150_000
