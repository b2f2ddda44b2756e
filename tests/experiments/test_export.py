"""Models as files: NumPy reads from them what PyTorch has, and the rounding is as small as it says."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy
import torch

from posenc_course.experiments import (
    byte_model,
    byte_models,
    byte_models_beyond_counting,
    export,
    lab,
    results,
    source_text,
)
from posenc_course.experiments.byte_model_in_numpy import logits, read
from posenc_course.experiments.export import ENCODINGS, loaded, parameters_of, written
from tests.present import present


def run_of(encoding, size=byte_models.FAST):
    return size | {"encoding": encoding, "seed": 0, "text": source_text.source()}


def model_of(run):
    """A model that says something, with gains that are not 1."""
    torch.manual_seed(0)
    model = byte_model.build(run)
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(torch.randn_like(each) * 0.3 + (each.ndim == 1))
    return model.eval()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_numpy_computes_what_pytorch_does(encoding):
    """From the same file, also past the length of the training."""
    run = run_of(encoding)
    content = written(model_of(run), run)
    tokens = torch.randint(256, (50,), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = loaded(content, run)(tokens[None])[0].numpy()
    found = logits(read(content), tokens.tolist())
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.ptp(expected) > 1


def test_a_matrix_is_rounded_row_by_row_and_all_else_is_as_it_was():
    run = run_of("learned")
    model = model_of(run)
    with torch.no_grad():
        model.head.weight[3] *= 1000  # costs no other row its digits
        model.head.weight[4] = 0
    weights = read(written(model, run)).weights
    for name, parameter in parameters_of(model).items():
        exact = parameter.detach().numpy()
        if exact.ndim < 2 or exact.size < export.LARGE:
            np.testing.assert_array_equal(weights[name], exact)
        else:
            step = np.abs(exact).max(axis=1, keepdims=True) / 127
            assert (np.abs(weights[name] - exact) <= 0.5001 * step).all()
    assert len(weights) == len(parameters_of(model))


def test_every_number_that_a_model_has_learned_is_in_its_file():
    for encoding in ENCODINGS:
        model = model_of(run_of(encoding))
        assert {id(each) for each in model.parameters()} == {id(e) for e in parameters_of(model).values()}


def test_another_program_reads_the_same(tmp_path):
    run = run_of("t5")
    content = written(model_of(run), run)
    theirs = safetensors.numpy.load(content)
    for name, array in read(content).weights.items():
        scale = theirs.get(f"{name}.scale", np.ones(1, dtype=np.float32))
        np.testing.assert_allclose(theirs[name] * scale.reshape(-1, *[1] * (array.ndim - 1)), array)
    settings = read(content).settings
    assert (settings["encoding"], settings["heads"], settings["max_distance"]) == ("t5", "2", "17")
    (tmp_path / "t5.safetensors").write_bytes(content)
    assert read(tmp_path / "t5.safetensors").settings == settings


def test_it_fits_into_a_page():
    for encoding in ENCODINGS:
        run = run_of(encoding, byte_models.FULL)
        assert len(written(byte_model.build(run), run)) < export.MOST_BYTES


@pytest.mark.parametrize(
    "content", [b"", b"GIF89a and more", (5).to_bytes(8, "little") + b"[1,2]" + b"0" * 9]
)
def test_another_file_is_refused(content):
    with pytest.raises(ValueError, match=r"this is not a file of a byte model .* exported"):
        read(content)


def test_reading_needs_no_torch():
    code = "import sys; sys.modules['torch'] = None; import posenc_course.experiments.byte_model_in_numpy"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_best_of_each_encoding_whose_weights_were_kept_is_exported(monkeypatch):
    def stored(encoding, seed, loss, verdict="admitted"):
        run = {"encoding": encoding, "seed": seed}
        return {"run": run, "result": {"trained": {"loss": loss}}, "verdict": verdict, "reason": "it lacks"}

    beyond = "byte-models-beyond-counting"
    runs = {
        beyond: [
            stored("rope", 0, 0.9),  # of this seed, the weights are those of the training on another device
            stored("rope", 1, 1.1),
            stored("rope", 2, 1.0, "not admitted"),
        ],
        f"{beyond}-again": [stored("rope", 0, 1.2)],
        f"{beyond}-others": [stored("t5", 0, 1.4), stored("t5", 1, 1.3)],
    }
    monkeypatch.setattr(results, "stored", lambda name, full=False: {"runs": runs[name]})
    monkeypatch.setattr(export, "ENCODINGS", ("rope", "t5"))
    assert export.runs() == [{"encoding": "rope", "seed": 1}, {"encoding": "t5", "seed": 0}]
    runs[f"{beyond}-others"][0]["verdict"] = "not admitted"
    with pytest.raises(ValueError, match=r"passes the gate .*it lacks"):
        export.runs()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_exported_is_the_model_that_the_book_quotes(encoding):
    (exported,) = results.runs("exported", encoding=encoding)
    quoted = [
        each["result"]["trained"]["loss"]
        for each in byte_models_beyond_counting.kept(encoding)
        if each["run"]["seed"] == exported["run"]["seed"]
    ]
    assert quoted == [pytest.approx(exported["result"]["loss"], abs=1e-4)]


def test_a_model_that_loses_too_much_is_not_published():
    fine = {"bytes": 900_000, "cost": 0.001}
    assert export.shortfall({}, fine) is None
    assert "0.0060 nats" in present(export.shortfall({}, fine | {"cost": 0.006}))
    assert "1,600,000 bytes" in present(export.shortfall({}, fine | {"bytes": 1_600_000}))


def test_the_command_puts_the_file_beside_the_result(tmp_path, capsys):
    lab.main(["exported", "--fast", "--jobs", "1", "--device", "cpu", "--work", str(tmp_path)])
    path = tmp_path / "exported" / "rope.safetensors"
    stored = json.loads((tmp_path / "exported.json").read_text())["runs"][0]
    assert stored["verdict"] == "admitted"
    assert stored["result"]["rounded"] == pytest.approx(stored["result"]["loss"], abs=0.005)
    assert stored["result"]["bytes"] == path.stat().st_size
    assert logits(read(path), list(b"import ")).argmax(-1).shape == (7,)
