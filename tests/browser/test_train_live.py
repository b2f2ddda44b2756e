"""Models that are trained in the page: their numbers are PyTorch's, and no more is said than they show."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from posenc_course.experiments import train_live
from tests.browser.test_site import Visit
from tests.present import present

pytestmark = pytest.mark.slow

PAGE = "book/train-live.html"
WORKER = """([address, orders, last]) => new Promise((resolve, reject) => {
  const worker = new Worker(address, { type: "module" });
  const said = [];
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.onmessage = ({ data }) => {
    if (data.kind === "error") reject(new Error(data.message));
    said.push(data);
    if (data.kind !== last) return;
    worker.terminate();
    resolve(said);
  };
  for (const order of orders) worker.postMessage(order);
})"""
SAID = """(given) => new Promise((resolve, reject) => {
  const worker = new Worker(given.address, { type: "module" });
  const array = (Kind, numbers) => Kind.from(numbers);
  const weights = Object.entries(given.weights).map(([name, each]) => [name, array(Float32Array, each)]);
  const { rows, length, ...texts } = given.texts;
  const bytes = Object.entries(texts).map(([name, each]) => [name, array(Uint8Array, each)]);
  worker.onerror = ({ message }) => reject(new Error(message));
  worker.onmessage = ({ data: { loss, scores, gradients, message } }) => {
    worker.terminate();
    if (message) return reject(new Error(message));
    const plain = Object.entries(gradients).map(([name, each]) => [name, [...each]]);
    resolve({ loss, scores: [...scores], gradients: Object.fromEntries(plain) });
  };
  worker.postMessage({
    act: "gradients", encoding: given.encoding, weights: Object.fromEntries(weights),
    texts: { rows, length, ...Object.fromEntries(bytes) },
  });
})"""


# What stands in each place of the page from now on, one after the other.
LISTEN = """() => {
  window.heard = {};
  for (const name of ["posenc-verdict", "posenc-left", "posenc-trainees"]) {
    const place = document.querySelector(`.posenc-train-live .${name}`);
    const all = (heard[name] = []);
    new MutationObserver(() => all.push(place.textContent)).observe(place, { childList: true });
  }
}"""


def worker_of(address):
    return f"{address}/_static/posenc/train-worker.js"


def in_page(name):
    """What the page calls a parameter of the model; None for one that has no say."""
    if "encoding" not in name:
        return name
    layer, _, last = name.partition(".encoding.")
    if last == "table":
        return f"{layer}.table"
    raise AssertionError(f"the page has no {name}")


def named(model, encoding):
    """Parameters by their name in the page. A learned encoding is added once, by the first layer's."""
    found = {}
    for name, parameter in model.named_parameters():
        if encoding == "learned" and "encoding" in name:
            if name.startswith("layers.0"):
                found["added"] = parameter
        else:
            found[in_page(name)] = parameter
    return found


def training(tab):
    return tab.locator(".posenc-train-live")


def choose(tab, *encodings, steps):
    box = training(tab)
    for place, name in zip(
        ("First", "Second", "Third"), [*encodings, "none other", "none other"], strict=False
    ):
        box.get_by_label(f"{place} encoding").select_option(name)
    box.get_by_label("Training steps").select_option(str(steps))


def press(tab, name):
    training(tab).get_by_role("button", name=name, exact=True).click()


def told(tab):
    """The line of the first model."""
    return training(tab).locator(".posenc-trainees li").first


def reading(tab):
    return training(tab).locator(".posenc-reading li").first


def step(line):
    return int(present(re.search(r"step (\d+) of", line.inner_text()))[1])


def share(line):
    return float(present(re.search(r"([\d.]+)%", line.inner_text()))[1]) / 100


@pytest.fixture(scope="module")
def trained(browser, address):
    """T5 after 200 steps: the quickest to learn."""
    visit = Visit(browser, address, PAGE)
    choose(visit.tab, "T5", steps=200)
    press(visit.tab, "Train")
    expect(training(visit.tab).locator(".posenc-verdict")).to_contain_text("Trained and tested")
    yield visit
    visit.tab.close()


@pytest.fixture(scope="module")
def desk(browser, address):
    visit = Visit(browser, address, PAGE)
    yield visit
    visit.tab.close()


@pytest.mark.parametrize("encoding", train_live.ENCODINGS)
@pytest.mark.parametrize("length", [32, 96])
def test_scores_loss_and_gradients_are_those_of_pytorch(desk, address, encoding, length):
    torch.manual_seed(length)
    model = train_live.Model(encoding)
    with torch.no_grad():
        model.head.mul_(40)  # as large as a trained one's, so that it matters what comes in
        for name, each in named(model, encoding).items():
            if name.endswith("table"):
                each.normal_()
    letters, known = train_live.repeated(torch.Generator().manual_seed(0), 4, length)
    loss = model.loss(letters, known)
    loss.backward()
    texts = {"read": letters[:, :-1], "said": letters[:, 1:], "known": known[:, 1:].int()}
    texts = {name: each.flatten().tolist() for name, each in texts.items()}
    weights = {name: each.detach().flatten().tolist() for name, each in named(model, encoding).items()}
    given = {"address": worker_of(address), "encoding": encoding, "weights": weights}
    found = desk.tab.evaluate(SAID, given | {"texts": texts | {"rows": 4, "length": length}})
    assert abs(found["loss"] - loss.item()) < 1e-4
    scores = model(letters[:, :-1]).detach().flatten()
    assert scores.abs().max() > 1
    np.testing.assert_allclose(found["scores"], scores, rtol=0, atol=1e-4)
    assert set(found["gradients"]) == set(weights)
    for name, each in named(model, encoding).items():
        wanted = each.grad.flatten().numpy()
        largest = np.abs(wanted).max()
        # softmax takes away what a key's shift adds to all scores of a row, unless they are turned
        assert largest > 1e-4 or (name.endswith("key_shift") and encoding != "rope"), name
        np.testing.assert_allclose(
            found["gradients"][name], wanted, rtol=0, atol=min(1e-4, 1e-3 * largest + 1e-7), err_msg=name
        )


def test_the_same_seed_gives_the_same_curve(desk, address):
    def losses(seed):
        order = {"act": "train", "encoding": "rope", "seed": seed, "steps": 10}
        said = desk.tab.evaluate(WORKER, [worker_of(address), [order], "tested"])
        return [loss for each in said if each["kind"] == "step" for loss in each["losses"]]

    first = losses(3)
    assert len(first) == 10
    assert first[0] == pytest.approx(np.log(64), abs=0.1)
    assert first == losses(3)
    assert first != losses(4)


def test_a_model_that_has_learned_is_tested_on_longer_texts(trained):
    tab = trained.tab
    assert share(told(tab)) >= 0.99
    expect(reading(tab)).to_contain_text("on 64 fresh texts of 32 letters")
    control = training(tab).get_by_role("slider")
    control.focus()
    tab.keyboard.press("End")
    expect(reading(tab)).to_contain_text("of 256 letters")
    assert 1 / 32 < share(reading(tab)) <= share(told(tab))
    assert re.search(r"± [\d.]+%", reading(tab).inner_text())
    tab.keyboard.press("Home")
    expect(reading(tab)).to_contain_text("of 16 letters")
    assert trained.complaints == []


def test_a_text_is_shown_with_what_was_told_and_where_the_last_letter_looks(trained):
    tab = trained.tab
    tab.locator(".posenc-train-live input[type=range]").focus()
    text = training(tab).locator(".posenc-text")
    tab.keyboard.press("Home")
    expect(text.locator("span")).to_have_count(16)
    tab.keyboard.press("ArrowRight")
    expect(text.locator("span")).to_have_count(32)
    signs = text.inner_text().replace("\n", "")
    pale = text.locator(".posenc-pale").count()
    period = pale - 1  # the letter after the first row comes as a surprise, too
    assert 4 <= period <= 8
    assert signs == (signs[:period] * 9)[:32]
    caption = text.get_attribute("aria-label")
    right, known = map(int, present(re.search(r"gets (\d+) of (\d+)", caption)).groups())
    assert known - right == text.locator(".posenc-wrong").count()
    assert known == 32 - pale
    weights = text.locator("span").evaluate_all(
        "all => all.map((s) => Number(s.style.getPropertyValue('--weight')))"
    )
    assert 0.5 < sum(weights) <= 1.01


def test_a_mouse_drags_the_test_length(trained):
    tab = trained.tab
    control = training(tab).get_by_role("slider")
    control.scroll_into_view_if_needed()
    at = control.bounding_box()
    tab.mouse.move(at["x"] + 5, at["y"] + at["height"] / 2)
    tab.mouse.down()
    tab.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2, steps=5)
    tab.mouse.up()
    length = int(training(tab).locator("output").inner_text())
    assert 112 <= length <= 160
    expect(reading(tab)).to_contain_text(f"of {length} letters")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_what_appears_with_the_results_is_accessible_and_fits(trained, theme, width):
    trained.look(theme=theme, width=width)
    assert trained.serious_faults() == []
    assert trained.tab.evaluate("document.documentElement.scrollWidth") <= width


def test_below_the_gate_there_is_no_verdict_and_a_pause_is_one(newcomer, address):
    tab = newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    tab.goto(f"{address}/{PAGE}")
    choose(tab, "No encoding", steps=100)
    box = training(tab)
    box.get_by_role("button", name="Train", exact=True).tap()
    expect(told(tab)).to_contain_text("step")
    box.get_by_role("button", name="Pause").tap()
    expect(box.locator(".posenc-verdict")).to_have_text("The training is paused.")
    expect(box.get_by_role("button", name="Go on")).to_be_enabled()
    standing = step(told(tab))
    tab.wait_for_timeout(3000)
    assert step(told(tab)) <= standing + 10  # those that were under way: they are told by fives
    box.get_by_role("button", name="Go on").tap()
    expect(box.locator(".posenc-verdict")).to_contain_text("Trained and tested")
    assert share(told(tab)) < 0.99
    expect(told(tab)).to_contain_text("there is no verdict on longer texts")
    control = box.get_by_role("slider")
    control.scroll_into_view_if_needed()
    at = control.bounding_box()
    assert at["height"] >= 24
    tab.touchscreen.tap(at["x"] + 0.9 * at["width"], at["y"] + at["height"] / 2)
    expect(box.locator("output")).to_have_text(re.compile(r"^2\d\d$"))
    expect(reading(tab)).to_have_text(re.compile("no verdict"))
    expect(box.locator(".posenc-text")).to_have_count(0)


def test_the_time_is_measured_and_then_told_and_nothing_stale_stands(newcomer, address):
    tab = newcomer().new_page()
    tab.goto(f"{address}/{PAGE}")
    assert not re.search(r"minute|\d+ seconds", training(tab).inner_text())
    choose(tab, "T5", steps=200)
    tab.evaluate(LISTEN)  # some of it stands for less than a second
    press(tab, "Train")
    said, left = training(tab).locator(".posenc-verdict"), training(tab).locator(".posenc-left")
    expect(said).to_contain_text("Trained and tested")
    expect(left).to_have_text("")
    heard = tab.evaluate("heard")
    begun, takes, tests, done = dict.fromkeys(heard["posenc-verdict"])
    assert begun == "The first steps show how fast this machine is."
    will_take = re.fullmatch(r"On this machine, training and tests will take about (\d+) seconds\.", takes)
    estimate = int(present(will_take)[1])
    assert tests == "The training is over. The tests on longer texts are under way."
    took = int(present(re.search(r"after (\d+) seconds", done))[1])
    assert any(re.fullmatch(r"About \d+ seconds are left\.", each) for each in heard["posenc-left"])
    assert any("test lengths are measured" in each for each in heard["posenc-trainees"])
    assert took / 3 - 5 <= estimate <= 3 * took + 5, (estimate, took)  # of a machine that others use, too


def test_stop_forgets_and_another_seed_is_another_training(newcomer, address):
    tab = newcomer().new_page()
    tab.goto(f"{address}/{PAGE}")
    expect(training(tab).get_by_role("button", name="Stop")).to_be_disabled()
    press(tab, "Train")
    expect(training(tab).locator(".posenc-trainees").first.locator("li")).to_have_count(3)
    press(tab, "Stop")
    expect(training(tab).locator(".posenc-verdict")).to_contain_text("Stopped")
    expect(training(tab).locator(".posenc-trainees li")).to_have_count(0)
    seed = training(tab).get_by_label("Seed")
    seed.click()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("41")
    press(tab, "Again with another seed")
    expect(seed).to_have_value("42")
    expect(told(tab)).to_contain_text("Sinusoidal")
    press(tab, "Stop")


@pytest.mark.parametrize("typed", ["1.5", "-3", "", "123456"])
def test_a_seed_that_is_none_is_told(desk, typed):
    seed = training(desk.tab).get_by_label("Seed")
    seed.click()
    desk.tab.keyboard.press("Control+a")
    desk.tab.keyboard.press("Delete")
    desk.tab.keyboard.type(typed)
    press(desk.tab, "Train")
    expect(training(desk.tab).locator(".posenc-verdict")).to_contain_text("from 0 to 9999")
    expect(training(desk.tab).get_by_role("button", name="Stop")).to_be_disabled()


def test_a_training_that_cannot_be_fetched_is_told(newcomer, address):
    tab = newcomer().new_page()
    tab.route("**/train-worker.js", lambda route: route.abort())
    tab.goto(f"{address}/{PAGE}")
    choose(tab, "RoPE", steps=100)
    press(tab, "Train")
    expect(told(tab)).to_contain_text("the training stopped")
    expect(training(tab).get_by_role("button", name="Stop")).to_be_disabled()


def test_without_scripts_there_are_words_and_a_picture(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/{PAGE}")
    expect(training(tab)).to_contain_text("needs JavaScript")
    assert tab.get_by_role("img", name=re.compile("Share of the letters right")).is_visible()
