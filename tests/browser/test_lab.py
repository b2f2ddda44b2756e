"""The lab in Chromium: its numbers beside PyTorch's, and everything that a hand can do in it."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from posenc_course.experiments import export, rescaling
from posenc_course.experiments.byte_model import losses_of
from posenc_course.experiments.page_tables import FACTORS, ROTATES, RULES, k_of_yarn
from posenc_course.experiments.wrapped import with_encodings
from posenc_course.trained import FOLDER, read
from posenc_lib.nn import NoPE
from tests.browser.conftest import served
from tests.browser.test_progress import open_page
from tests.browser.test_site import Visit

pytestmark = pytest.mark.slow

PAGE = "book/lab.html"
MODELS = {file.stem: file.read_bytes() for file in sorted(FOLDER.glob("*.safetensors"))}
LENGTH = 320  # of the comparison: beyond the 256 of the training
PASSAGE = (b"def greet(name):\n    print('h\xc3\xa4llo', name)\n\n" * 16)[:LENGTH]
# What the page asks its worker, asked here: of each (model, rule, factor) the losses of a passage.
ASK = """async ([kinds, bytes, places]) => {
  const worker = new Worker(new URL("../_static/posenc/lab-worker.js", location.href), { type: "module" });
  const asked = new Map();
  worker.onmessage = ({ data: { id, piece, done, problem } }) => {
    if (piece) asked.get(id).pieces.push(piece);
    if (problem) asked.get(id).reject(new Error(problem));
    if (done !== undefined) asked.get(id).resolve({ done, pieces: asked.get(id).pieces });
  };
  let last = 0;
  const ask = (does, given) => new Promise((resolve, reject) => {
    asked.set(++last, { resolve, reject, pieces: [] });
    worker.postMessage({ id: last, does, ...given });
  });
  const found = [];
  for (const [model, rule, factor] of kinds) {
    const losses = [];
    const { pieces } = await ask("read", { side: "a", model, rule, factor, bytes });
    for (const piece of pieces) losses.splice(piece.from, piece.losses.length, ...piece.losses);
    const looks = [];
    for (const [layer, head, place] of places) {
      const { done } = await ask("look", { side: "a", layer, head, place });
      looks.push([...done.shares]);
    }
    found.push({ losses: losses.slice(1), looks });
  }
  worker.terminate();
  return found;
}"""


def settings_of(content):
    told = read(content).settings
    numbers = {name: int(told[name]) for name in ("dim", "heads", "layers", "length", "seed")}
    return {"encoding": told["encoding"], "base": float(told["base"]), **numbers}


def kinds():
    """Each model, and each way in which the lab reads it."""
    for name in MODELS:
        for rule in RULES if name in ROTATES else ("none",):
            for factor in (1,) if rule == "none" else FACTORS:
                yield name, rule, factor


def in_torch(name, rule, factor):
    """The model as `rescaling` reads it."""
    run = settings_of(MODELS[name])
    model = export.loaded(MODELS[name], run)
    if rule == "none":
        return model
    k = k_of_yarn(name, run["seed"])
    turned = rescaling.encoding_for(run | {"encoding": "rope", "rule": rule}, factor, LENGTH, k)
    return with_encodings(model, lambda old: old if isinstance(old, NoPE) else turned)


@pytest.fixture
def tab(newcomer, plain_address):
    return opened(newcomer(), plain_address)


def opened(context, address):
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.goto(f"{address}/{PAGE}", wait_until="load")
    return tab


def begun(tab):
    """The lab with its models, once they have read the text."""
    tab.get_by_role("button", name="Load the models").click()
    expect(tab.locator(".posenc-lab")).to_have_attribute("data-open", "")
    expect(means(tab)).to_have_text([re.compile("nats per byte")] * 2)
    expect(tab.locator(".posenc-lab-stale")).to_have_count(0)
    return tab


@pytest.fixture
def lab(tab):
    return begun(tab)


def panel(tab, side):
    return tab.get_by_role("region", name=f"Model {side}")


def means(tab):
    return tab.locator(".posenc-lab-mean")


def length(tab):
    return tab.get_by_role("slider", name="Length to read")


def middle(locator):
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def mean_of(name, text, first, end):
    """Nats a byte, from one byte on and before another, as NumPy or a reader would say it."""
    tokens = torch.tensor([list(text)])
    found = losses_of(export.loaded(MODELS[name], settings_of(MODELS[name])), tokens)[0]
    return f"{float(found[first - 1 : end - 1].mean()):.2f}"


def typed(tab, text):
    """Into the field of the text, key by key."""
    tab.get_by_role("textbox", name="The text").click()
    tab.keyboard.press("Control+a")
    tab.keyboard.type(text)


# --- its numbers


def test_losses_and_attention_are_those_of_pytorch(tab):
    places = [[0, 0, 5], [1, 3, 300], [3, 2, LENGTH - 1]]
    every = list(kinds())
    assert len(MODELS) >= 2
    found = tab.evaluate(ASK, [every, list(PASSAGE), places])
    tokens = torch.tensor([list(PASSAGE)])
    for kind, told in zip(every, found, strict=True):
        model = in_torch(*kind)
        exact = losses_of(model, tokens)[0].numpy()
        assert np.abs(np.asarray(told["losses"]) - exact).max() < 1e-4, kind
        for (layer, head, place), shares in zip(places, told["looks"], strict=True):
            weights = attention_in_torch(model, layer, tokens[:, :place])[head, -1].numpy()
            assert np.abs(np.asarray(shares) - weights).max() < 1e-4, (kind, layer, head, place)


@torch.no_grad()
def attention_in_torch(model, layer, tokens):
    """(heads, queries, keys) of one layer."""
    weights = []
    its = model.layers[layer].attention
    whole = its.forward

    def kept(x, positions, encoding, **given):
        heads = model.layers[layer].attention.heads
        q, k, _ = (
            torch.nn.functional.linear(x, its.in_proj_weight)[0]
            .unflatten(-1, (3, heads, -1))
            .permute(1, 2, 0, 3)
        )
        q, k = (each[None] for each in (q, k))
        q, k = encoding.rotate(q, k, positions, positions)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if (bias := encoding.bias(q, k, positions, positions)) is not None:
            scores = scores + bias
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        weights.append(scores.masked_fill(hidden, -torch.inf).softmax(-1)[0])
        return whole(x, positions, encoding, **given)

    its.forward = kept
    model(tokens)
    del its.forward
    return weights[0]


# --- what it loads


def test_nothing_of_a_model_is_loaded_before_it_is_asked_for(newcomer, plain_address):
    asked, heavy = [], re.compile(r"\.safetensors|\.wasm|lab-worker")
    context = newcomer(viewport={"width": 1000, "height": 900})
    context.on("request", lambda request: asked.append(request.url))
    tab = opened(context, plain_address)
    tab.wait_for_load_state("networkidle")
    assert not [url for url in asked if heavy.search(url)]
    begun(tab)
    names = {url.rpartition("/")[2] for url in asked if heavy.search(url)}
    assert names == {"rope.safetensors", "alibi.safetensors", "tfjs-backend-wasm-simd.wasm", "lab-worker.js"}
    assert all(url.startswith(plain_address) for url in asked)
    panel(tab, "A").get_by_label("Encoding").select_option("sinusoidal")
    expect(means(tab).first).to_have_text(re.compile("1.34 nats"))
    assert asked[-1].endswith("/sinusoidal.safetensors")
    assert tab.complaints == []


def test_a_model_that_does_not_come_is_told_in_words_and_asked_for_again(newcomer, site):
    with served(site, without=("/rope.safetensors",)) as address:
        context = newcomer(viewport={"width": 1001, "height": 900})
        tab = opened(context, address)
        tab.get_by_role("button", name="Load the models").click()
        said = tab.locator(".posenc-lab-start [role=status]")
        expect(said).to_have_text(
            re.compile("do not run: .*rope.safetensors: 404.*Press the button to try again")
        )
        expect(tab.get_by_role("button", name="Try again")).to_be_enabled()


def test_a_worker_that_did_not_come_is_asked_for_again(tab):
    tab.route("**/lab-worker.js", lambda route: route.abort(), times=1)
    tab.get_by_role("button", name="Load the models").click()
    again = tab.get_by_role("button", name="Try again")
    expect(tab.locator(".posenc-lab-start [role=status]")).to_contain_text("lab-worker.js")
    again.click()
    expect(means(tab)).to_have_text([re.compile("nats per byte")] * 2)
    expect(again).to_be_hidden()


def test_without_scripts_there_are_words_and_a_text(newcomer, plain_address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{plain_address}/{PAGE}")
    assert "switched off" in tab.locator(".posenc-lab noscript").inner_text()
    expect(tab.locator(".posenc-lab-still")).to_contain_text("A small library of books")


def test_what_comes_with_the_models_is_legible_and_named(browser, plain_address):
    desk = Visit(browser, plain_address)
    lab = begun(desk.open(PAGE).tab)
    lab.mouse.move(*middle(panel(lab, "A").locator("[data-at='200']")))
    expect(panel(lab, "A").get_by_role("status")).to_contain_text("at byte 200 cost")
    for theme in ("light", "dark"):
        desk.look(theme=theme)
        assert desk.serious_faults() == [], theme


@pytest.mark.parametrize("width", [768, 1024, 1280])
def test_what_a_setting_says_of_itself_is_shown_whole(newcomer, plain_address, width):
    tab = begun(open_page(newcomer(viewport={"width": width, "height": 900}), plain_address, PAGE))
    said = tab.locator(".posenc-lab-field output:visible")
    expect(said.first).to_contain_text("trained on 256")
    assert said.evaluate_all("all => all.filter((it) => it.scrollWidth > it.clientWidth)") == []


# --- hands


def test_the_length_is_dragged_past_the_training_and_one_model_breaks(lab):
    panel(lab, "A").get_by_label("Encoding").select_option("sinusoidal")
    slider = length(lab)
    expect(slider).to_have_attribute("aria-valuetext", "256 bytes, trained on 256")
    box = slider.bounding_box()
    lab.mouse.move(box["x"] + box["width"] * (256 - 16) / (2048 - 16), box["y"] + box["height"] / 2)
    lab.mouse.down()
    lab.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2, steps=6)
    lab.mouse.up()
    read_now = int(slider.input_value())
    assert 500 < read_now < 800
    slider.focus()
    for _ in range(abs(read_now - 512) // 16):
        lab.keyboard.press("ArrowLeft" if read_now > 512 else "ArrowRight")
    assert slider.input_value() == "512"
    text = lab.get_by_role("textbox", name="The text").input_value().encode()[:512]
    for row, name in enumerate(("sinusoidal", "alibi")):
        near, far = mean_of(name, text, 1, 256), mean_of(name, text, 256, 512)
        expect(means(lab).nth(row)).to_have_text(f"Up to byte 256: {near} nats per byte. Beyond: {far}.")
    expect(lab.get_by_role("img", name=re.compile(r"Loss along the text.*Beyond"))).to_be_visible()
    assert panel(lab, "A").locator("[data-end]").get_attribute("data-at") == "256"
    assert lab.complaints == []


def test_what_is_typed_is_read_and_a_short_text_again(lab):
    every = "".join(map(chr, range(32, 127)))
    typed(lab, every)
    assert lab.get_by_role("textbox", name="The text").input_value() == every
    expect(lab.locator(".posenc-lab-hint")).to_have_text("95 bytes, one position each.")
    text = (every + ("\n\n" + every) * 3).encode()[:256]
    for row, name in enumerate(("rope", "alibi")):
        mean = mean_of(name, text, 1, 256)
        expect(means(lab).nth(row)).to_have_text(f"{mean} nats per byte.")
    expect(lab.get_by_label("A text to read")).to_have_value("")
    parts = [mean_of(name, text, *part) for name in ("rope", "alibi") for part in ((1, 95), (95, 256))]
    said = lab.locator(".posenc-lab-again")
    expect(said).to_contain_text("ends at byte 95 and is read again and again, to fill 256")
    assert re.findall(r"\d\.\d\d", said.inner_text()) == parts
    typed(lab, "x")
    lab.keyboard.press("Backspace")
    expect(lab.locator(".posenc-lab-hint")).to_have_text("Write something for the models to read.")
    length(lab).focus()  # the last text stays, and whatever one can do with it
    lab.keyboard.press("ArrowRight")
    expect(length(lab)).to_have_attribute("aria-valuetext", "272 bytes, trained on 256")
    lab.get_by_label("Layer").select_option("1")
    length(lab).focus()
    lab.keyboard.press("ArrowLeft")
    typed(lab, "für 狗 ")
    shown = panel(lab, "B").locator("[data-at]")
    expect(shown.nth(4)).to_have_text("狗")
    assert lab.complaints == []


def test_a_character_is_shown_by_pointer_thumb_and_keys(newcomer, plain_address):
    lab = begun(opened(newcomer(has_touch=True, viewport={"width": 390, "height": 844}), plain_address))
    assert lab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    told = panel(lab, "B").get_by_role("status")
    lab.mouse.move(*middle(panel(lab, "B").locator("[data-at='9']")))
    expect(told).to_contain_text("at byte 9 cost")
    expect(told).to_contain_text("Layer 3, head 4 looked most at")
    panel(lab, "A").locator("[data-at='12']").tap()
    expect(told).to_contain_text("at byte 12 cost")
    box = panel(lab, "B").locator(".posenc-lab-text")
    box.focus()
    for key, byte in (("ArrowRight", 13), ("PageDown", 45), ("ArrowLeft", 44)):
        lab.keyboard.press(key)
        expect(told).to_contain_text(f"at byte {byte} cost")
    lit = box.locator("[style*='--share']")
    assert lit.count() > 0
    assert max(lit.evaluate_all("all => all.map((each) => Number(each.dataset.at))")) < 44
    assert box.locator(".posenc-lab-arcs path").count() > 0
    lab.get_by_label("Head", exact=True).select_option(label="1")
    expect(told).to_contain_text("Layer 3, head 1")
    place = lab.get_by_role("slider", name="A place in it")
    place.focus()
    lab.keyboard.press("Home")
    expect(told).to_have_text("The first byte comes without a guess.")
    assert lab.complaints == []


def difference(tab):
    """The sentence on the difference, once it is that of what is shown."""
    expect(tab.locator(".posenc-lab-stale")).to_have_count(0)
    return tab.locator(".posenc-lab-verdict")


def test_presets_are_pressed_and_the_difference_is_said_with_its_numbers(lab):
    expect(lab.get_by_role("button", name="At the trained length")).to_have_attribute("aria-pressed", "true")
    expect(difference(lab)).to_have_text(
        "On this text ALiBi does better than RoPE: 1.30 nats per byte against 1.46."
    )
    lab.get_by_role("button", name="Eight times longer").click()
    expect(difference(lab)).to_have_text(
        "On this text ALiBi does better than RoPE throughout: 1.30 nats per byte against 1.46 "
        "up to byte 256, and 0.56 against 1.23 beyond."
    )
    lab.get_by_role("button", name="Stretch with YaRN").press("Enter")
    expect(difference(lab)).to_have_text(
        "Up to byte 256, RoPE does better than RoPE stretched 4 times by YaRN, with 1.46 nats per byte "
        "against 1.53; beyond it, RoPE stretched 4 times by YaRN does, with 1.03 against 1.23."
    )
    assert panel(lab, "B").get_by_label("RoPE read by").input_value() == "yarn"
    lab.get_by_role("button", name="One line, again and again").click()
    expect(lab.locator(".posenc-lab-again")).to_contain_text("ends at byte 43")
    panel(lab, "B").get_by_label("Encoding").select_option("rope")
    expect(difference(lab)).to_contain_text("comparing RoPE with itself")
    expect(lab.locator(".posenc-lab-presets [aria-pressed=true]")).to_have_count(0)
    assert lab.complaints == []


def test_a_link_brings_what_was_shown_to_another_tab(lab, plain_address):
    lab.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=plain_address)
    typed(lab, "Hello & good-bye, #1 \u00e4")
    panel(lab, "B").get_by_label("Encoding").select_option("sinusoidal")
    expect(difference(lab)).to_contain_text("the sinusoidal encoding")
    lab.get_by_role("button", name="Copy link").click()
    expect(lab.locator(".posenc-lab-copied")).to_have_text("The link to what you see is copied.")
    link = lab.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{plain_address}/{PAGE}#lab?own=")
    other = lab.context.new_page()
    other.goto(link)
    expect(other.locator(".posenc-lab")).to_have_attribute("data-open", "")
    assert other.get_by_role("textbox", name="The text").input_value() == "Hello & good-bye, #1 \u00e4"
    assert panel(other, "B").get_by_label("Encoding").input_value() == "sinusoidal"
    expect(difference(other)).to_have_text(difference(lab).inner_text())


@pytest.mark.parametrize(
    ("told", "wrong", "allowed"),
    [
        ("a=banana", "a=banana", "rope"),
        ("b=rope.yarn.3", "b=3", "2, 4, 8"),
        ("length=9999", "length=9999", "a multiple of 16 from 16 to 2,048"),
        ("text=%E0%A4%A&a=rope", "text=", "python, prose, again"),
    ],
)
def test_a_link_that_cannot_be_is_told_and_the_lab_starts_as_ever(
    newcomer, plain_address, told, wrong, allowed
):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/{PAGE}#lab?{told}")
    said = tab.locator(".posenc-lab-start [role=status]")
    expect(said).to_contain_text(wrong)
    expect(said).to_contain_text(allowed)
    expect(said).to_contain_text("starts as it always does")
    tab.get_by_role("button", name="Load the models").click()
    expect(means(tab)).to_have_text([re.compile("1.46 nats"), re.compile("1.30 nats")])


def test_a_text_of_one_character_comes_back_by_its_link(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/{PAGE}#lab?own=%E4%BD%A0&length=256")
    expect(tab.locator(".posenc-lab")).to_have_attribute("data-open", "")
    expect(tab.get_by_role("textbox", name="The text")).to_have_value("你")


def test_rope_is_stretched_and_others_are_not(lab):
    a = panel(lab, "A")
    expect(panel(lab, "B").get_by_label("RoPE read by")).to_be_hidden()
    before = means(lab).first.inner_text()
    a.get_by_label("RoPE read by").select_option("pi")
    expect(a.get_by_label("Stretched")).to_have_value("4")
    expect(means(lab).first).to_have_text("3.53 nats per byte.")
    a.get_by_label("RoPE read by").select_option("none")
    expect(means(lab).first).to_have_text(before)
    expect(a.get_by_label("Stretched")).to_be_hidden()


def write_and_stop(lab, begin) -> str:
    """What model A had written when it was stopped. A hand that comes too late lets both write once more."""
    go, stop = lab.get_by_role("button", name="Let both keep writing"), lab.get_by_role("button", name="Stop")
    written = lab.locator(".posenc-lab-written").first
    said = lab.locator(".posenc-lab-write [role=status]")
    for _ in range(10):
        begin(go)
        lab.wait_for_function("written => written.textContent.length > 23", arg=written.element_handle())
        at = stop.bounding_box()
        lab.mouse.click(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
        expect(go).to_be_enabled()
        expect(said).to_contain_text("Model A has written")
        if said.inner_text().startswith("Stopped."):
            return written.inner_text()
    raise AssertionError("the models were at their end each time, before they could be stopped")


def test_both_write_on_stop_and_write_the_same_again(lab):
    expect(lab.get_by_role("button", name="Stop")).to_be_disabled()
    first = write_and_stop(lab, lambda go: go.click())
    assert len(first) < 256
    assert write_and_stop(lab, lambda go: go.click())[:24] == first[:24]
    lab.get_by_label("Seed").click()
    lab.keyboard.press("Control+a")
    lab.keyboard.type("7")
    assert write_and_stop(lab, lambda go: go.press("Enter"))[:24] != first[:24]
    assert lab.complaints == []
