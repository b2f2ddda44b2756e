"""Pictures of causes, of what mistakes cost, and of what an untrained model knows."""

from __future__ import annotations

import json

import numpy as np
import pytest

from posenc_course.experiments import causes, gates, mistakes, readings, results, untrained
from posenc_course.figures import causes as pictures
from tests.present import present


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Stored results of our own: (name, runs and their results)."""
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    results.stored.cache_clear()

    def write(name, outcomes, module):
        every = []
        for run, result in outcomes:
            lacks = present(gates.of(module)).shortfall(run, result)
            verdict = {"verdict": "not admitted", "reason": lacks} if lacks else {"verdict": "admitted"}
            every.append({"run": run, "result": result} | verdict)
        path = results.path_of(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"runs": every}), encoding="utf-8")

    yield write
    results.stored.cache_clear()


def by_file(loss):
    return {"bytes": [256] * 20, "loss": loss.tolist(), "ngram": (loss + 0.5).tolist()}


def gated(rng, loss=1.0):
    files = loss + rng.normal(scale=0.05, size=20)
    return {"loss": loss, "ngram": {"5": loss + 0.5}, "by_file": by_file(files)}


def test_causes_are_drawn_with_their_verdicts(store):
    rng = np.random.default_rng(0)
    outcomes = []
    for seed in range(3):
        run = {"encoding": "rope", "change": readings.READ, "seed": seed}
        short = 1 + rng.normal(scale=0.05, size=20)
        read = {
            name: (short[:, None] + rise + np.zeros((1, readings.STRETCHES))).tolist()
            for name, rise in (
                (readings.AS_IT_IS, 0.5),
                ("slow clocks stop", 0.2),
                ("fast clocks stop", 0.6),
                ("all clocks stop", -0.1),
                ("far keys hidden", 0.0),
                ("log n beyond", 0.5),
            )
        }
        outcomes.append((run, {"trained": gated(rng), "short": short.tolist(), "read": read}))
    store("causes", outcomes, causes)
    picture = pictures.rises(trained=False)
    assert "RoPE: slow clocks stop: +0.500 with it, +0.200 without it: a part of it." in picture.alt
    assert "RoPE: fast clocks stop: +0.500 with it, +0.600 without it: not the cause." in picture.alt
    assert "RoPE: all clocks stop: +0.500 with it, -0.100 without it: the cause." in picture.alt
    with pytest.raises(ValueError, match="no cause has stored runs yet"):
        pictures.rises(trained=True)


def test_what_rounding_costs_is_drawn_in_loss_and_in_scores(store):
    rng = np.random.default_rng(0)
    outcomes = []
    for seed in range(3):
        files = 1 + rng.random(20)
        cases = [
            {"mistake": name, "at": at, "wrong": (files + 0.1 * (at > 0)).tolist(), "mended": files.tolist()}
            for name in mistakes.PRECISION
            for at in mistakes.STARTS
        ]
        scores = {name: rng.random((4, 7)).tolist() for name in mistakes.PRECISION}
        result = {"trained": gated(rng), "cases": cases, "bytes": [256] * 20, "scores": scores}
        outcomes.append(({"encoding": "rope", "seed": seed}, result))
    store("mistakes", outcomes, mistakes)
    assert "positions in bfloat16: 0.000, 0.100, 0.100, 0.100 nats" in pictures.costs().alt


def test_what_an_untrained_model_knows_is_drawn_by_all_that_was_varied(store):
    outcomes = []
    for run in untrained.runs():
        places = [0, 1, 2, 4]
        r2 = 0.4 if run["causal"] and run["left"] != "nothing" else 0.0
        result = {"r2": [0.0, r2], "squares": [0.0, 1.5 * r2], "shuffled": [0.0], "places": places}
        outcomes.append((run, result | {"variance": [1 / (1 + place) for place in places]}))
    store("untrained", outcomes, untrained)
    alt = pictures.untrained().alt
    assert "scale, linear, 16 tokens: 0.40 at 0.25, 0.40 at 0.5, 0.40 at 1, 0.40 at 2, 0.40 at 4." in alt
    assert "vocabulary, with squares: 0.60 at 2, 0.60 at 16, 0.60 at 256, 0.60 at 4096." in alt
    assert "left variance, 256 tokens: 0.60." in alt
    assert "left nothing, 16 tokens: 0.00." in alt
