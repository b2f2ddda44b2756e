"""The decoder that loads trained weights: the learner's way, PyTorch's and the library's come to the same."""

import re
from pathlib import Path

import jupytext
import numpy as np
import pytest
import torch

from posenc_course import exercises
from posenc_course.checking import check, report_on
from posenc_course.exercises.ch07_alibi_and_biases import write
from posenc_course.exercises.ch07_alibi_and_biases.write import WRITE
from posenc_course.experiments import byte_models, results, source_text
from posenc_course.experiments.byte_model_in_numpy import logits
from posenc_course.experiments.export import loaded, written
from posenc_course.trained import COURSE, FOLDER, as_plain_data, read, trained_model
from tests.experiments.test_export import model_of

SOLUTIONS = Path(__file__).resolve().parents[3] / "solutions" / "07-alibi-and-biases.md"
EVERY = exercises.exercises_of("07-alibi-and-biases")
STEPS = exercises.steps_of(WRITE, EVERY)


def test_the_text_says_how_much_the_weights_have_read():
    told = re.search(r"which have read ([\d.]+) MB", SOLUTIONS.read_text(encoding="utf-8"))
    assert told
    assert {run["run"]["learn"] for run in results.runs("exported")} == {float(told[1]) * 10**6}


@pytest.fixture
def learner():
    """The functions of the solutions, in a namespace of their own, as in a notebook."""
    names = {"np": np}
    for cell in jupytext.read(SOLUTIONS).cells:
        if cell.cell_type == "code" and any(f"def {step.function}(" in cell.source for step in STEPS):
            exec(cell.source, names)
    return names


def empty(model):
    width = model["embedding"].shape[1] // model["heads"]
    return np.zeros((len(model["layers"]), 2, model["heads"], 0, width))


@pytest.mark.parametrize("encoding", COURSE)
def test_the_learners_decoder_computes_what_pytorch_does(encoding, learner):
    """With gains that are not 1, past the length of the training, whole and piece by piece."""
    run = byte_models.FAST | {"encoding": encoding, "seed": 0, "text": source_text.source()}
    content = written(model_of(run), run)
    tokens = np.random.default_rng(1).integers(0, 256, size=50)
    with torch.no_grad():
        expected = loaded(content, run)(torch.from_numpy(tokens)[None])[0].numpy()
    model = as_plain_data(read(content))
    scores, kept = learner["decode"](tokens, model, empty(model))
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    np.testing.assert_allclose(scores, logits(read(content), tokens.tolist()), atol=1e-4)
    past, pieces = empty(model), []
    for piece in np.split(tokens, [20, 21, 48]):
        found, past = learner["decode"](piece, model, past)
        pieces.append(found)
    np.testing.assert_allclose(np.concatenate(pieces), expected, atol=1e-4)
    np.testing.assert_allclose(past, kept, atol=1e-4)
    assert np.ptp(expected) > 1


@pytest.mark.parametrize("encoding", COURSE)
def test_with_the_trained_weights_too(encoding, learner):
    model = trained_model(encoding)
    tokens = list(b"import sys\n\n\ndef main(arguments=None):\n    return ")
    scores, _ = learner["decode"](np.array(tokens), model, empty(model))
    np.testing.assert_allclose(scores, logits(read(FOLDER / f"{encoding}.safetensors"), tokens), atol=1e-4)
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    likely = raised / raised.sum(axis=-1, keepdims=True)
    assert -np.log(likely[np.arange(len(tokens) - 1), tokens[1:]]).mean() < 2  # it was trained: ln 256 is 5.5


def test_weights_of_one_encoding_are_noise_with_the_other(learner):
    """As the chapter says: nothing in the shapes tells."""
    tokens = np.array(list(b"def read(self, size=-1):\n        return self.raw.read(size)\n\n    def write("))
    losses = {}
    for its, other in (COURSE, COURSE[::-1]):
        model = trained_model(its)
        for encoding in (its, other):
            scores, _ = learner["decode"](tokens, model | {"encoding": encoding}, empty(model))
            shares = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
            losses[encoding == its] = -shares[np.arange(len(tokens) - 1), tokens[1:]].mean()
        assert losses[False] > losses[True] + 1


def test_what_has_passed_writes_with_the_trained_weights(learner, capsys, monkeypatch):
    monkeypatch.setattr(write, "WRITTEN", 12)
    assert check(WRITE.id, learner["write"]).passed
    told = capsys.readouterr().out
    assert told.count(write.PROMPT) == 2
    assert "with your RoPE" in told
    assert "with your ALiBi" in told


def test_who_has_not_all_steps_right_gets_no_text(learner, capsys):
    learner["normed"] = lambda x, gain: x
    report = check(WRITE.id, learner["write"])
    assert report.passed
    assert report.instead
    assert capsys.readouterr().out == ""


def test_a_right_answer_stays_right_where_the_weights_cannot_be_had(learner, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("posenc_course.trained.FOLDER", tmp_path)
    assert check(WRITE.id, learner["write"]).passed
    assert "rope.safetensors is not there" in capsys.readouterr().out


def test_one_wrong_step_costs_one_step(learner):
    learner["turned"] = lambda x, start, base: x
    failed = [step.function for step in STEPS if not report_on(step.id, learner[step.function]).passed]
    assert failed == ["turned"]


def test_the_steps_are_one_exercise_at_the_end_of_the_chapter():
    functions = [step.function for step in exercises.wholes(EVERY)[-1]]
    assert functions == ["normed", "think", "turned", "attend", "look", "decode", "write"]
