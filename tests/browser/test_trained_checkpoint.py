"""The challenge with trained models: what it shows decides the answer, and is what NumPy finds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from playwright.sync_api import expect

from posenc_course.experiments import byte_model_in_numpy as numpy_model
from posenc_course.trained import FOLDER
from posenc_lib import alibi_slopes, apply_rotary, sinusoidal, t5_buckets
from tests.browser.test_challenges import PAGE, begin, kept, said
from tests.browser.test_progress import open_page
from tests.challenges.test_draws import in_javascript
from tests.present import present

pytestmark = pytest.mark.slow

TRAINED = 3  # of the challenges of the page
ASKS = 400
EVIDENT = 0.02  # of a line's spread: what is smaller is not seen in its picture


@cache
def cases():
    """Models with what may have been done to them."""
    return in_javascript("import { CASES } from 'SRC/lab/treated.js'; console.log(JSON.stringify(CASES))")


@pytest.fixture(scope="module")
def tab(newcomer, plain_address):
    """Without Python: this challenge needs none."""
    return open_page(newcomer(), plain_address, PAGE)


@pytest.fixture(scope="module")
def ask(tab):
    """The two lines of a measurement, from the worker that the page has."""
    tab.evaluate(
        """() => {
          const worker = new Worker('../_static/posenc/lab-worker.js', { type: 'module' });
          const { text } = JSON.parse(document.querySelector('[data-challenge=trained] script').textContent);
          const bytes = [...new TextEncoder().encode(text)];
          let last = 0;
          window.measured = (model, treatment, question) => new Promise((resolve, reject) => {
            const id = ++last;
            worker.addEventListener('message', ({ data }) => {
              if (data.id !== id || data.progress) return;
              data.problem ? reject(new Error(data.problem)) : resolve(data.done.lines);
            });
            worker.postMessage({ id, does: 'measure', model, treatment, question, bytes });
          });
        }"""
    )
    return cache(lambda *what: np.array(tab.evaluate("what => window.measured(...what)", list(what))))


def same(one, other):
    return bool(np.abs(one - other).max() < 2e-3)


def fitting(here, before, mirror):
    """What may have been done, by a line that hangs on positions, or on distances from a query at `ASKS`."""
    steps = len(here) - 1
    kept_by_bfloat16 = here[:257], before[:257]
    if steps < 256:  # distances: those to positions that four divides are kept
        kept_by_bfloat16 = here[::4], before[::4]
    lines = {
        "nothing": (here, before),
        "zero": (here, np.full_like(here, here[0])),
        "late": (here[:-1], before[1:]),
        "quarter": (here[::4], before[: steps // 4 + 1]),
        "against": (here, mirror),
        "rounded": kept_by_bfloat16,
    }
    found = {name for name, pair in lines.items() if same(*pair)}
    return found - {"rounded"} if "nothing" in found else found


def deduced(ask):
    """As a reader does it, from what is shown alone."""
    here, before = ask("added")
    if np.ptp(before):
        treatments = fitting(here, before, -before)
        return "learned" if not np.ptp(before[256:]) else "sinusoidal", treatments
    here, before = ask("first")
    level = 2 * before[0] - before  # a bias mirrored, from the score of the same word without one
    treatments = fitting(here, before, level + here[0] - before[0])
    if same(np.diff(before, 2), 0 * before[2:]):
        return "alibi", treatments
    if (np.abs(np.diff(before)) < 1e-5).sum() > 5:
        return "t5", treatments
    if not treatments and np.ptp(ask("shift")[0]) > 0.05 > 0.001 > np.ptp(ask("shift")[1]):
        treatments = {"against"}
    return "rope" if np.ptp(ask("last")[1]) > 0.1 else "rope-and-none", treatments


def test_every_model_can_be_drawn_with_and_without_something_done_to_it():
    models = {model for model, _ in cases()}
    assert models == {file.stem for file in FOLDER.glob("*.safetensors")}
    for model in models:
        assert {"nothing", "zero", "quarter", "against"} <= {
            done for other, done in cases() if other == model
        }


def test_the_evidence_shown_decides_the_model_and_what_was_done_to_it(ask):
    for model, treatment in cases():
        found = deduced(lambda question, case=(model, treatment): ask(*case, question))
        assert found == (model, {treatment}), (model, treatment)


def test_what_was_done_is_seen_in_the_picture(ask):
    for model, treatment in cases():
        if treatment != "nothing":
            question = "added" if model in ("learned", "sinusoidal") else "first"
            here, before = ask(model, treatment, question)
            assert np.abs(here - before).max() > EVIDENT * np.ptp(before), (model, treatment)


def bfloat16(positions):
    """By NumPy's own arithmetic: the upper half of a float32, rounded to even."""
    bits = np.asarray(positions, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32).astype(float)


def by_distance(name, asks, at, sign):
    """The score of one letter by itself, in head 1 of the first layer."""
    model = numpy_model.read(FOLDER / f"{name}.safetensors")
    layer = numpy_model.layer_of(model, 0)
    x = numpy_model.normed(model.weights["embedding"][[ord("e")]], layer["norm1"])
    q, k, _ = ((x @ part.T).reshape(4, -1)[1] for part in np.split(layer["qkv"], 3))
    q, k = numpy_model.normed(q, layer["norm_q"]), numpy_model.normed(k, layer["norm_k"])
    if name.startswith("rope"):
        base = float(model.settings["base"])
        q = apply_rotary(q[None], np.array([asks]), base=base)[0]
        k = apply_rotary(np.tile(k, (len(at), 1)), sign * at, base=base)
    scores = np.broadcast_to(k @ q / np.sqrt(q.size), len(at))
    back = asks - at
    if name == "alibi":
        return scores - sign * alibi_slopes(4)[1] * back
    if name == "t5":
        far = int(model.settings["max_distance"])
        buckets = t5_buckets(-np.floor(back).astype(int), max_distance=far, bidirectional=False)
        return scores + sign * model.weights["buckets"][buckets, 1]
    return scores


@pytest.mark.parametrize(
    ("name", "treatment", "asks", "moved", "sign"),
    [
        ("rope", "against", ASKS, lambda at: at, -1),
        ("rope", "rounded", ASKS, bfloat16, 1),
        ("rope-and-none", "quarter", ASKS / 4, lambda at: at / 4, 1),
        ("t5", "late", ASKS + 1, lambda at: at, 1),
        ("t5", "rounded", ASKS, bfloat16, 1),
        ("alibi", "against", ASKS, lambda at: at, -1),
    ],
)
def test_scores_are_those_of_numpy(ask, name, treatment, asks, moved, sign):
    keys = ASKS - np.arange(41.0)
    here, before = ask(name, treatment, "first")
    np.testing.assert_allclose(here, by_distance(name, asks, moved(keys), sign), atol=1e-3)
    np.testing.assert_allclose(before, by_distance(name, ASKS, keys, 1), atol=1e-3)


def test_what_is_added_is_that_of_numpy(ask):
    here, before = ask("sinusoidal", "quarter", "added")
    np.testing.assert_allclose(before, sinusoidal(320, 128)[:, 24], atol=1e-5)
    np.testing.assert_allclose(here, sinusoidal(np.arange(320) / 4, 128)[:, 24], atol=1e-5)
    table = numpy_model.read(FOLDER / "learned.safetensors").weights["positions"][:, 24]
    here, before = ask("learned", "late", "added")
    np.testing.assert_allclose(before, table[np.minimum(np.arange(320), 255)], atol=1e-5)
    np.testing.assert_allclose(here, table[np.minimum(np.arange(1, 321), 255)], atol=1e-5)


def test_a_trained_checkpoint_is_measured_and_named(tab):
    seed = 4
    [count] = in_javascript(
        "import { Draws } from 'SRC/draws.js';"
        f"console.log(JSON.stringify([new Draws('trained', {seed}).below({len(cases())})]))"
    )
    model, treatment = cases()[count]
    titles = _titles()
    other, undone = (
        titles["encodings"]["alibi" if model != "alibi" else "t5"],
        titles["treatments"][treatment],
    )
    place = begin(tab, TRAINED, seed)
    name_it = place.get_by_role("button", name="Name it")
    name_it.click()
    expect(said(place)).to_have_text("Choose an encoding first.")
    place.get_by_label(other).click()
    name_it.click()
    expect(said(place)).to_have_text("First choose what was done. It may be nothing.")
    place.get_by_label(undone).press("Space")
    name_it.click()
    expect(said(place)).to_contain_text("Measure first")
    place.get_by_role("button", name="What is added to the input").click()
    expect(said(place)).to_contain_text("as it was trained")
    expect(said(place)).not_to_contain_text("of 10 points")  # no name is taken after one measurement
    expect(place.locator(".posenc-measured")).to_be_in_viewport(ratio=0.9)
    place.get_by_role("button", name="Score by distance, first layer").click()
    expect(said(place)).to_contain_text("you get 8 of 10 points")
    expect(place.locator("svg[role=img]")).to_have_count(2)
    expect(place.locator(".posenc-measured").last).to_be_in_viewport(ratio=0.9)
    name_it.click()
    expect(said(place)).to_have_text("The encoding is wrong. What was done to it is right.")
    expect(place.get_by_label(other)).to_be_disabled()
    expect(place.get_by_label(undone)).to_be_checked()
    place.get_by_label(titles["encodings"][model], exact=True).click()
    name_it.click()
    expect(said(place)).to_contain_text("Right. That gives 5 of 10 points.")
    expect(place.locator(".posenc-after h3")).to_contain_text(undone)
    assert present(kept(tab, f"trained:{seed}"))["points"] == 5


def test_a_question_that_is_clicked_twice_is_measured_once(tab):
    """The worker answers in turn: what the second click asked for comes before the next question."""
    place = begin(tab, TRAINED, 5)
    measured = place.locator(".posenc-measured h4")
    twice, once = "Score by distance, first layer", "Score by distance, last layer"
    place.get_by_role("button", name=twice).dblclick()
    place.get_by_role("button", name=once).click()
    expect(said(place)).to_contain_text("you get 8 of 10 points")
    expect(measured).to_have_text([twice, once])


def _titles():
    """What the page calls them: words-challenges.js needs a page's language, so it is read as text here."""
    return in_javascript(
        "globalThis.window = {}; globalThis.document = { documentElement: { lang: 'en' } };"
        "import('SRC/words-challenges.js').then(({ words: { trained: { encodings, treatments } } }) =>"
        " console.log(JSON.stringify({ encodings, treatments })))"
    )
