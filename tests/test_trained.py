"""Trained models that come with the library: from the package, or from the site of the page."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from posenc_course import trained
from posenc_course.trained import COURSE, FOLDER, trained_model

MOST = 1_500_000
"""Bytes of a file that a page may ask for."""


@pytest.mark.parametrize("encoding", COURSE)
def test_what_comes_with_the_library(encoding):
    assert (FOLDER / f"{encoding}.safetensors").stat().st_size <= MOST
    model = trained_model(encoding)
    arrays = [model[name] for name in ("embedding", "norm", "head")]
    arrays += [array for layer in model["layers"] for array in layer.values()]
    assert sum(array.size for array in arrays) == 853_376
    assert {array.dtype for array in arrays} == {np.dtype(np.float32)}
    assert all(np.isfinite(array).all() for array in arrays)
    assert (model["encoding"], model["heads"], len(model["layers"])) == (encoding, 4, 4)


def test_another_name_is_refused():
    with pytest.raises(ValueError, match=r"encoding='bert': give one of 'rope', 'alibi'"):
        trained_model("bert")


def test_without_its_file_it_says_how_to_make_it(monkeypatch, tmp_path):
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"rope.safetensors is not there; make it: .* exported"):
        trained_model("rope")


class Request:
    """A browser's XMLHttpRequest, of a site that has these files."""

    files: dict[str, bytes]

    def open(self, method, address, later):
        assert (method, later) == ("GET", False)
        self.address = address

    def send(self):
        if not self.files:
            raise OSError("no network")
        self.status = 200 if self.address in self.files else 404
        content = self.files.get(self.address, b"")
        self.response = SimpleNamespace(to_py=lambda: memoryview(content))


SITE = "https://example.org/course/_static/"
WORKERS = ("posenc/worker.js", "lite/extensions/@jupyterlite/pyodide-kernel-extension/static/42.js")


@pytest.fixture
def browser(monkeypatch, tmp_path):
    """Makes this Python one of a browser, run by a script at that address."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    files = {
        f"{SITE}models/{name}.safetensors": (FOLDER / f"{name}.safetensors").read_bytes() for name in COURSE
    }
    monkeypatch.setattr(trained, "FOLDER", tmp_path)

    def runs(address, files=files):
        location = SimpleNamespace(href=address)
        request = type("OfThisSite", (Request,), {"files": files})
        js = SimpleNamespace(
            self=SimpleNamespace(location=location), XMLHttpRequest=SimpleNamespace(new=request)
        )
        monkeypatch.setitem(sys.modules, "js", js)

    return runs


@pytest.mark.parametrize("worker", WORKERS)
def test_a_browser_takes_it_from_the_site(browser, worker):
    browser(SITE + worker)
    assert trained_model("alibi")["encoding"] == "alibi"


@pytest.mark.parametrize(
    ("address", "files"),
    [
        (SITE + WORKERS[0], {"another": b""}),
        (SITE + WORKERS[0], {}),
        ("blob:https://example.org/1", {"another": b""}),
    ],
)
def test_a_browser_that_does_not_get_it_says_so(browser, address, files):
    browser(address, files)
    with pytest.raises(
        ValueError, match=r"could not be loaded from .*models/rope.safetensors; are you online"
    ):
        trained_model("rope")
