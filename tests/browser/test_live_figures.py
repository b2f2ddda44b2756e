"""The figures that a reader moves, in Chromium: numbers, sliders, and the page without a script."""

from __future__ import annotations

import json
import math
import re
import time
from typing import Any

import matplotlib
import numpy as np
import pytest
from playwright.sync_api import expect

from posenc_course.figures import extrapolation, interactive, long_context, relative
from posenc_course.figures.interactive import FIGURES, KEY, QUERY, first_rise
from posenc_lib import (
    LinearScaling,
    NTKScaling,
    YaRNScaling,
    alibi_bias,
    alibi_slopes,
    apply_rotary,
    frequencies,
    shift_matrix,
    similarity,
    sinusoidal,
)
from posenc_lib import attention as attend
from tests.browser.conftest import SLOW, uncover
from tests.present import present

pytestmark = pytest.mark.slow

PAGE = "book/playground.html"
WIDTHS = FIGURES["dot-product"].sliders[0].values
BASES = FIGURES["heatmap"].sliders[1].values
LIVE = f"document.querySelectorAll('.posenc-stage').length === {len(FIGURES)}"


def open_page(newcomer, address, **options):
    tab = newcomer(**options).new_page()
    tab.goto(f"{address}/{PAGE}", wait_until="load")
    come_near_all(tab)
    tab.wait_for_function(LIVE)
    tab.evaluate("scrollTo(0, 0)")
    return tab


def come_near_all(tab):
    """A figure starts when a reader comes near it."""
    for figure in tab.locator(".posenc-figure-live").all():
        figure.scroll_into_view_if_needed()


@pytest.fixture(scope="module")
def shared(newcomer, address):
    """A page for tests that move nothing."""
    return open_page(newcomer, address, viewport={"width": 1100, "height": 900})


@pytest.fixture
def tab(newcomer, address):
    return open_page(newcomer, address)


def live(tab, name):
    return tab.locator(f".posenc-figure-live[data-figure='{name}']")


def slider(tab, name, setting):
    """The control of a setting, which the page has in the same order."""
    names = [each.name for each in FIGURES[name].sliders]
    return sliders(live(tab, name)).nth(names.index(setting))


def sliders(figure):
    return figure.locator("input[type=range]")


def move(tab, name, setting, value):
    values = next(each.values for each in FIGURES[name].sliders if each.name == setting)
    slider(tab, name, setting).fill(str(values.index(value)))


def reading(tab, name):
    """The sentence below the sliders, once they have rested."""
    return live(tab, name).locator(".posenc-reading:not([aria-busy])").inner_text()


def drawn(tab, name):
    """All that can be seen of a figure: its SVG and the pixels of its canvases."""
    return live(tab, name).evaluate(
        """async figure => {
          await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
          const pixels = [...figure.querySelectorAll('canvas')].map(canvas => canvas.toDataURL());
          return figure.querySelector('svg').innerHTML + pixels.join();
        }"""
    )


def js(tab, expression, *given):
    """What the page's own function gives: `expression` of `numbers`, with the arguments as `given`."""
    return np.asarray(
        tab.evaluate(f"given => {{ const numbers = window.posencFigures; return {expression} }}", given),
        dtype=float,
    )


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)


# The numbers


@pytest.mark.parametrize("base", BASES)
def test_frequencies_and_the_dot_product_are_the_librarys(shared, base):
    for dim in map(int, WIDTHS):
        np.testing.assert_allclose(
            js(shared, "numbers.frequencies(...given)", dim, base), frequencies(dim, base=base), rtol=1e-12
        )
        expected = similarity(np.arange(301), dim, base=base)
        close(js(shared, "numbers.similarities(...given)", 300, dim, base), expected)
        assert js(shared, "numbers.firstRise(numbers.similarities(...given))", 300, dim, base) == first_rise(
            expected
        )


@pytest.mark.parametrize(("dim", "base"), [(4, 10_000), (64, 10), (128, 1_000_000)])
def test_the_table_is_the_librarys(shared, dim, base):
    got = js(shared, "[...numbers.sinusoidalTable(...given)]", 400, dim, base)
    close(got.reshape(400, dim), sinusoidal(400, dim, base=base))


def test_the_hands_of_the_clocks_are_the_rows_of_the_table(shared):
    for dim in (4, 8, 16):
        for position in (0, 1, 40, 200):
            got = js(
                shared,
                "numbers.figures.clocks.hands(...given).flatMap(({sine, cosine}) => [sine, cosine])",
                position,
                dim,
            )
            close(got, sinusoidal(np.asarray(position), dim))


def test_the_rotation_is_the_librarys(shared):
    rng = np.random.default_rng(0)
    for dim in (2, 8, 64):
        for position in (0, 1, 37, 5000):
            vector = rng.normal(size=dim)
            got = js(shared, "numbers.rotate(...given)", vector.tolist(), position, frequencies(dim).tolist())
            close(got, apply_rotary(vector[None], np.asarray([position]))[0])


def test_the_two_arrows_of_rope_start_and_turn_as_in_the_still_picture(shared):
    for query, key, shift, frequency in ((4, 12, 0, 0.1), (0, 40, 3, 1), (40, 0, 100, 0.05)):
        given = {"query": query, "key": key, "shift": shift, "frequency": frequency}
        got = shared.evaluate("given => window.posencFigures.figures.rotary.turned(given)", given)
        angles = frequency * (shift + np.asarray([query, key]))
        one, other = apply_rotary(np.asarray([QUERY, KEY]), angles)
        close(got["query"], one)
        close(got["key"], other)
        close(got["score"], one @ other)


def test_the_slopes_are_the_librarys(shared):
    for heads in map(int, FIGURES["alibi"].sliders[0].values):
        close(js(shared, "numbers.alibiSlopes(...given)", heads), alibi_slopes(heads))


@pytest.mark.parametrize("dim", FIGURES["wavelengths"].sliders[0].values)
def test_the_scaled_frequencies_are_the_librarys(shared, dim):
    _, bases, lengths, factors = (s.values for s in FIGURES["wavelengths"].sliders)
    cases = [(base, length, factor) for base in bases for length in lengths for factor in factors]
    got = shared.evaluate(
        """([dim, cases]) => cases.map(([base, length, factor]) => {
          const { linearScaling, ntkScaling, yarnScaling, yarnAttention } = window.posencFigures;
          return [linearScaling(dim, base, factor), ntkScaling(dim, base, factor),
                  yarnScaling(dim, base, factor, length), [yarnAttention(factor)]];
        })""",
        [dim, cases],
    )
    for (base, length, factor), (linear, ntk, yarn, attention) in zip(cases, got, strict=True):
        rule = YaRNScaling(factor, original_length=int(length))
        expected = (LinearScaling(factor), NTKScaling(factor), rule)
        for rates, scaling in zip((linear, ntk, yarn), expected, strict=True):
            # Relative: the slow pairs' frequencies are far below 1e-6 themselves.
            np.testing.assert_allclose(rates, frequencies(dim, base=base, scaling=scaling), rtol=1e-6)
        close(attention, [rule.attention_scaling])


def test_the_scores_on_the_ruler_are_those_of_the_librarys_attention(shared):
    """Through its own three hooks, one query and one key at a time."""
    drawn = [
        js(shared, "numbers.figures.ruler.drawn(...given)", seed, count)
        for seed, count in ((1, 64), (2, 64), (3, 8), (4, 8))
    ]
    w_q, w_k = (each.reshape(8, 8).T / np.sqrt(8) for each in drawn[:2])
    words = np.stack(drawn[2:])  # who asks, who is asked
    for query, key, shift in ((12, 9, 0), (0, 40, 100), (40, 0, 37), (5, 5, 5)):
        places = np.array([query, key]) + shift
        found = {}
        for door in ("added", "rotated", "biased"):
            x = words + sinusoidal(places, 8) if door == "added" else words
            rotate = (lambda rows, at=places: apply_rotary(rows, at)) if door == "rotated" else None
            bias = (
                alibi_bias(1, places, places, causal=False, slopes=[1 / 16])[0] if door == "biased" else None
            )
            q, k = x @ w_q, x @ w_k
            _, [weights, _] = attend(q, k, x, rotate=rotate, bias=bias, return_weights=True)
            # The softmax keeps the difference of two scores: here that to the score of the query's own word.
            found[door] = np.log(weights[1] / weights[0]) + q[0] @ k[0] / np.sqrt(8)
        got = shared.evaluate(
            "given => window.posencFigures.figures.ruler.scores(given)",
            {"query": query, "key": key, "shift": shift},
        )
        python = interactive.scores(*places[:, None])
        for door, expected in found.items():
            close([got[door]], [expected])
            close([got[door]], python[door])


def test_the_wedges_are_the_shift_matrix(shared):
    for position, offset, base in ((5, 3, 16), (100, -20, 10_000), (0, 0, 100)):
        got = shared.evaluate(
            "given => window.posencFigures.figures.shift.turns(given)",
            {"position": position, "offset": offset, "base": base},
        )
        blocks = shift_matrix(offset, 8, base=base)
        close([each["cos"] for each in got], np.diag(blocks)[::2])
        close([each["sin"] for each in got], np.diag(blocks, 1)[::2])
        later = sinusoidal(np.array([position + offset]), 8, base=base)[0]
        close([math.sin(each["to"]) for each in got], later[::2])


def test_what_was_seen_is_what_the_chapter_counts(shared):
    for trained, length, dim in ((24, 96, 32), (64, 8, 16), (8, 256, 8)):
        got = shared.evaluate(
            "given => window.posencFigures.figures.seen.arcs(given)",
            {"trained": trained, "length": length, "dim": dim},
        )
        seen, asked = (np.minimum(extrapolation.turned(dim, count), 1) for count in (trained, length))
        close([each["seen"] for each in got], seen)
        close([each["fresh"] for each in got], np.maximum(asked - seen, 0))


def test_what_a_rule_leaves_new_is_what_the_library_leaves(shared):
    for trained, factor in ((4096, 8), (1024, 1), (16_384, 32)):
        got = shared.evaluate(
            "given => window.posencFigures.figures.stretched.turns(given)",
            {"trained": trained, "factor": factor},
        )
        expected = long_context.turns(trained, factor)
        for pairs, sizes in zip(got.values(), expected.values(), strict=True):
            assert tuple(each["pair"] for each in pairs) == long_context.PAIRS
            close([[each[name] for each in pairs] for name in ("seen", "reached", "slowed")], sizes)


def test_what_gates_leave_is_foxs_bias(shared):
    for word, stop, query in ((0.9, 0.2, 20), (0.5, 0.05, 23), (1, 0.3, 6), (0.8, 0.8, 0)):
        given: dict[str, Any] = {"word": word, "stop": stop, "query": query}
        got = shared.evaluate("given => window.posencFigures.figures.gates.forgotten(given)", given)
        bias, weights = interactive.forgotten(**given)
        close(got["bias"], bias)
        close(got["weights"], weights)


def test_the_molecule_is_told_as_in_the_still_picture(shared):
    for turn, across, mirror in ((0, 0, 0), (70, -1.5, 0), (200, 2, 1), (350, 0.5, 2)):
        given = {"turn": turn, "across": across, "mirror": mirror}
        got = shared.evaluate("given => window.posencFigures.figures.molecule.told(given)", given)
        for name, expected in interactive.where_atoms_are(**given).items():
            close(got[name], expected)


def test_the_colours_of_the_heat_map_are_those_of_the_still_pictures(shared):
    values = np.linspace(-1, 1, 41)
    expected = 255 * matplotlib.colormaps["coolwarm"]((values + 1) / 2)[:, :3]
    got = js(shared, "given[0].map(numbers.figures.heatmap.colour)", values.tolist())
    assert np.abs(got - expected).max() < 8  # of 255: nobody sees it


# The sliders


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_starts_where_the_still_picture_stood(shared, name):
    outputs = live(shared, name).locator("output").all_inner_texts()
    assert [float(text.replace(",", "")) for text in outputs] == [s.start for s in FIGURES[name].sliders]


@pytest.mark.parametrize("name", FIGURES)
def test_every_slider_moves_by_the_arrow_keys_and_draws_anew(tab, name):
    controls = sliders(live(tab, name))
    expect(controls).to_have_count(len(FIGURES[name].sliders))
    for setting, control in zip(FIGURES[name].sliders, controls.all(), strict=True):
        before, told = drawn(tab, name), reading(tab, name)
        assert live(tab, name).locator(f"label[for='{control.get_attribute('id')}']").inner_text()
        control.focus()
        tab.keyboard.press("ArrowRight")
        following = setting.values[setting.values.index(setting.start) + 1]
        shown = live(tab, name).locator("output").nth(FIGURES[name].sliders.index(setting)).inner_text()
        assert float(shown.replace(",", "")) == following
        assert control.get_attribute("aria-valuetext") == shown
        said = reading(tab, name)
        # How many offsets are shown changes neither the largest product nor the first rise.
        assert said != told or (name, setting.name) == ("dot-product", "length")
        assert "{" not in said
        assert "NaN" not in said
        assert "undefined" not in said
        assert drawn(tab, name) != before
        assert said in live(tab, name).locator("svg[role=img]").get_attribute("aria-label")


@pytest.mark.parametrize("name", FIGURES)
def test_both_ends_of_every_slider_can_be_drawn(tab, name):
    complaints = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    for control in sliders(live(tab, name)).all():
        for key in ("Home", "End"):
            control.focus()
            tab.keyboard.press(key)
            drawn(tab, name)
            svg = live(tab, name).locator("svg").inner_html()
            assert not re.search("NaN|undefined|Infinity", svg)
    assert complaints == []
    assert not re.search("NaN|undefined|∞", reading(tab, name))


def test_a_finger_moves_a_slider(newcomer, address):
    tab = open_page(newcomer, address, viewport={"width": 360, "height": 780}, has_touch=True, is_mobile=True)
    control = slider(tab, "clocks", "position")
    control.scroll_into_view_if_needed()
    box = control.bounding_box()
    assert box["height"] >= 24
    tab.touchscreen.tap(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    output = live(tab, "clocks").locator("output").first
    expect(output).not_to_have_text("40")  # where it begins; a tap takes its time
    assert 160 < int(output.inner_text()) < 200


@pytest.mark.parametrize(("dim", "rise"), [(64, 5), (512, 43)])
def test_the_first_rise_is_marked_and_told(tab, dim, rise):
    move(tab, "dot-product", "dim", dim)
    assert f"for the first time after offset {rise}." in reading(tab, "dot-product")
    assert f"first rise: after offset {rise}" in drawn(tab, "dot-product")


def test_moving_both_turns_the_arrows_and_leaves_the_score(tab):
    score = re.compile(r"The difference is 8, and the score is (\S+)\.$")
    before, arrows = present(score.search(reading(tab, "rotary")))[1], drawn(tab, "rotary")
    move(tab, "rotary", "shift", 37)
    said = reading(tab, "rotary")
    assert "position 41 is turned by 4.1 rad" in said
    assert present(score.search(said))[1] == before
    assert drawn(tab, "rotary") != arrows
    move(tab, "rotary", "key", 13)
    assert "The difference is 9" in reading(tab, "rotary")
    assert f"score is {before}" not in reading(tab, "rotary")


def test_a_screen_reader_is_told_once_after_a_sweep(tab):
    region = live(tab, "clocks").locator(".posenc-reading")
    assert region.get_attribute("aria-live") == "polite"
    region.evaluate(
        "region => { window.told = 0;"
        " new MutationObserver(() => window.told++).observe(region, { childList: true }) }"
    )
    slider(tab, "clocks", "position").evaluate(
        """slider => {
          for (let step = 0; step < 20; step++) {
            slider.stepUp();
            slider.dispatchEvent(new Event('input', { bubbles: true }));
          }
        }"""
    )
    assert "Position 60," in reading(tab, "clocks")
    assert tab.evaluate("window.told") == 1


def test_the_heat_maps_pixels_are_the_table_and_lie_within_its_axes(tab):
    move(tab, "heatmap", "dim", 8)
    move(tab, "heatmap", "length", 10)
    drawn(tab, "heatmap")
    shape, pixels = live(tab, "heatmap").evaluate(
        """figure => {
          const canvas = [...figure.querySelectorAll('canvas')].find(c => c.width === 8);
          const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
          return [[canvas.height, canvas.width], [...data]];
        }"""
    )
    assert shape == [10, 8]
    *colours, opacity = np.reshape(pixels, (10, 8, 4)).transpose(2, 0, 1)
    expected = 255 * matplotlib.colormaps["coolwarm"]((sinusoidal(10, 8) + 1) / 2)[..., :3]
    assert (opacity == 255).all()
    assert np.abs(np.stack(colours, axis=-1) - expected).max() < 8

    edges = live(tab, "heatmap").evaluate(
        """figure => {
          const box = element => element.getBoundingClientRect();
          const table = box([...figure.querySelectorAll('canvas')].find(c => c.width === 8));
          const [bottom, left] = [...figure.querySelectorAll('svg line.ink')].map(box);
          return [table.left - left.left, table.bottom - bottom.top, table.right - bottom.right];
        }"""
    )
    assert np.abs(edges).max() < 2


# Hands: a mouse that drags, a thumb, and keys on what can be dragged


def grips(tab, name, label=""):
    return live(tab, name).locator(".posenc-grip" + (f"[aria-label*='{label}']" if label else ""))


def values(tab, name):
    """The settings as the outputs say them."""
    shown = live(tab, name).locator("output").all_inner_texts()
    names = [each.name for each in FIGURES[name].sliders]
    return {
        each: float(text.replace(",", "").replace("−", "-")) for each, text in zip(names, shown, strict=True)
    }


def middle(place):
    box = place.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def point(tab, spot, tip, said):
    """Go to spot() until the page says this: what comes above it may still push it down."""
    end = time.monotonic() + SLOW / 1000
    while True:
        tab.mouse.move(*spot(), steps=4)
        try:
            return expect(tip).to_have_text(said, timeout=2000)
        except AssertionError:
            if time.monotonic() > end:
                raise


def drag(tab, grip, *ways):
    """Take hold of it, go these ways (dx, dy) one after another, in small steps, and let go."""
    grip.scroll_into_view_if_needed()
    x, y = middle(grip)
    tab.mouse.move(x, y)
    tab.mouse.down()
    for dx, dy in ways:
        x, y = x + dx, y + dy
        tab.mouse.move(x, y, steps=12)
        tab.evaluate(
            "() => new Promise(requestAnimationFrame)"
        )  # a hand is not faster than a busy browser draws
    tab.mouse.up()
    drawn(tab, grip.locator("xpath=ancestor::*[@data-figure]").get_attribute("data-figure"))
    return x, y


def turn(tab, grip, radius, start, end):
    """Drag a hand of a clock from one angle (clockwise from twelve) to another, along its circle."""
    angles = np.linspace(start, end, 25)
    points = radius * np.stack([np.sin(angles), -np.cos(angles)], axis=-1)
    return drag(tab, grip, *np.diff(points, axis=0).tolist())


def test_dragging_one_hand_takes_the_position_and_all_hands_along(tab):
    hand = grips(tab, "clocks", "pair 1")
    turn(tab, hand, 56, 4.0, 4.0 + 1.5)  # 0.1 rad per position: fifteen on
    assert values(tab, "clocks")["position"] == 55
    row = ", ".join(f"{each:.2f}".replace("-", "−") for each in sinusoidal(np.array([55]), 8)[0])
    assert "Position 55, width 8: 4 clocks. " in reading(tab, "clocks")
    assert row in reading(tab, "clocks")
    for pair, (sine, cosine) in enumerate(sinusoidal(np.array([55]), 8)[0].reshape(-1, 2)):
        assert f"({sine:.2f}, {cosine:.2f})".replace("-", "−") in drawn(tab, "clocks")
        assert grips(tab, "clocks", f"pair {pair}").get_attribute("aria-valuenow") == "55"
    turn(tab, hand, 56, 5.5, 5.5 - 2 * math.pi)  # once round, back: 63 positions, and there are 55 only
    assert values(tab, "clocks")["position"] == 0


def test_whole_turns_add_up(tab):
    slider(tab, "clocks", "position").focus()
    tab.keyboard.press("Home")
    drawn(tab, "clocks")
    turn(tab, grips(tab, "clocks", "pair 0"), 56, 0, 4 * math.pi)
    assert values(tab, "clocks")["position"] == 13  # 4π is 12.57: a whole position nearest to it


def test_a_hand_that_is_pulled_twice_between_two_drawings_goes_where_the_pointer_is(tab):
    slider(tab, "clocks", "position").focus()
    tab.keyboard.press("Home")
    drawn(tab, "clocks")
    hand = grips(tab, "clocks", "pair 0")
    x, y = middle(hand)
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 1, y)
    moves = [[x + 56 * math.sin(angle), y + 56 - 56 * math.cos(angle)] for angle in (1.1, 2.0, 2.9)]
    hand.evaluate(
        """(hand, moves) => {
          for (const [clientX, clientY] of moves) {
            const where = { clientX, clientY, pointerId: 1, isPrimary: true };
            hand.dispatchEvent(new PointerEvent("pointermove", where));
          }
        }""",
        moves,
    )
    assert values(tab, "clocks")["position"] == 3
    tab.mouse.up()


def test_the_arrows_of_rope_and_its_mark_can_be_dragged(tab):
    score = re.compile(r"The difference is (\S+), and the score is (\S+)\.$")
    for label, position in (("query", 4), ("key", 12)):
        arrow = grips(tab, "rotary", f"Arrow of the {label}")
        box = live(tab, "rotary").locator("circle").first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        tip_x, tip_y = middle(arrow)
        around, ahead = math.atan2(y - tip_y, tip_x - x), math.hypot(tip_x - x, tip_y - y)
        points = [
            (ahead * math.cos(around + a), -ahead * math.sin(around + a)) for a in np.linspace(0, 0.7, 9)
        ]
        drag(tab, arrow, *np.diff(points, axis=0).tolist())  # 0.7 rad to the left, at 0.1 rad per position
        assert values(tab, "rotary")[label] == position + 7
    assert present(score.search(reading(tab, "rotary"))).groups() == ("8", "0.092")
    drag(tab, grips(tab, "rotary", "Mark"), (-60, 0))
    offset = int(values(tab, "rotary")["key"] - values(tab, "rotary")["query"])
    assert offset < 0
    turned = apply_rotary(np.array([QUERY, KEY]), 0.1 * np.array([0, offset]))
    told = present(score.search(reading(tab, "rotary").replace("−", "-"))).groups()
    assert told == (str(offset), f"{turned[0] @ turned[1]:.3f}")


def told_scores(tab):
    said = re.search(
        r"is (\S+) with the added .*, (\S+) with the rotated one, and (\S+) with", reading(tab, "ruler")
    )
    return np.array([float(each.replace("−", "-")) for each in present(said).groups()])


def test_two_tokens_slide_together_and_apart(tab):
    start = told_scores(tab)
    drag(tab, grips(tab, "ruler", "phrase"), (150, 40))  # a hand does not keep to the line
    at = values(tab, "ruler")
    assert at["shift"] > 20
    assert (at["query"], at["key"]) == (12, 9)
    together = told_scores(tab)
    assert abs(together[0] - start[0]) > 0.01
    assert together[1:].tolist() == start[1:].tolist()
    drag(tab, grips(tab, "ruler", "The key"), (60, 0))
    at = values(tab, "ruler")
    assert at["key"] > 12
    assert (np.abs(told_scores(tab) - together) > 0.01).all()
    places = [np.array([at[each] + at["shift"]]) for each in ("query", "key")]
    np.testing.assert_allclose(
        told_scores(tab), np.concatenate(list(interactive.scores(*places).values())), atol=6e-4
    )
    drag(tab, grips(tab, "ruler", "The query"), (900, 0))  # as far as the phrase goes
    assert values(tab, "ruler")["query"] == 40


def test_a_long_hand_moves_the_position_and_a_short_one_the_offset(tab):
    told = drawn(tab, "shift")
    turn(tab, grips(tab, "shift", "Long hand of pair 1"), 58, 2.5, 4.5)  # half a radian per position
    assert values(tab, "shift") == {"position": 9, "offset": 3, "base": 16}
    assert re.findall(r"(?:cos|sin) [−\d.]+", drawn(tab, "shift")) == re.findall(r"(?:cos|sin) [−\d.]+", told)
    turn(tab, grips(tab, "shift", "Short hand of pair 1"), 0.72 * 58, 6.0, 4.5 - 1.0)
    assert values(tab, "shift") == {"position": 9, "offset": -2, "base": 16}


def test_the_ends_of_training_and_text_and_the_level_lines_can_be_dragged(tab):
    drag(tab, grips(tab, "seen", "Length"), (120, 0))
    drag(tab, grips(tab, "seen", "training"), (60, 0))
    at = {name: int(value) for name, value in values(tab, "seen").items()}
    assert at["length"] > 96
    assert 24 < at["trained"] <= 64
    seen, asked = (np.minimum(extrapolation.turned(32, at[each]), 1) for each in ("trained", "length"))
    assert f"in training: {(seen < 1).sum()} of 16" in reading(tab, "seen")
    assert f"never pointed: {(asked > seen).sum()}. " in reading(tab, "seen")
    assert f"no row: {at['length'] - at['trained']}." in reading(tab, "seen")

    drag(tab, grips(tab, "alibi"), (-60, 0))
    assert values(tab, "alibi")["distance"] < 20
    drag(tab, grips(tab, "gates"), (-300, 0))
    assert values(tab, "gates")["query"] == 0
    assert "100% of its attention to its own sentence" in reading(tab, "gates")
    drag(tab, grips(tab, "wavelengths", "trained"), (0, -30))
    assert values(tab, "wavelengths")["original_length"] > 4096
    drag(tab, grips(tab, "wavelengths", "stretched"), (0, 200))
    assert values(tab, "wavelengths")["factor"] == 1


def test_the_lengths_can_be_dragged_on_the_strip_and_round_the_slowest_pairs_circle(tab):
    slowest = frequencies(128)[-1]
    end = (8 * 4096 - 1) * slowest
    turn(tab, grips(tab, "stretched", "End of the text, on"), 0.62 * 38, end, end + 3 * 4096 * slowest)
    assert values(tab, "stretched") == {"trained": 4096, "factor": 11}
    known = 4095 * slowest
    turn(tab, grips(tab, "stretched", "End of the training, on"), 38, known, known + 4096 * slowest)
    assert values(tab, "stretched") == {"trained": 8192, "factor": 11}
    drag(tab, grips(tab, "stretched", "End of the text").first, (-40, 0))
    at = values(tab, "stretched")
    assert at["trained"] == 8192
    assert 1 < at["factor"] < 11
    most = {rule: round(max(new)) for rule, new in _new_per_cent(int(at["factor"]), 8192).items()}
    told = re.search(
        r"(\d+)% with plain RoPE, (\d+)% with PI, (\d+)% with NTK, (\d+)% with YaRN",
        reading(tab, "stretched"),
    )
    assert [int(each) for each in present(told).groups()] == list(most.values())
    assert most["NTK"] > 0 == most["PI"]


def _new_per_cent(factor, trained):
    return {
        rule: 100 * np.maximum(np.diff(np.minimum(sizes[:2] / (2 * np.pi), 1), axis=0)[0], 0)
        for rule, sizes in long_context.turns(trained, factor).items()
    }


def test_a_molecule_is_turned_and_moved_by_its_atoms(tab):
    assert "Changed: nothing" in reading(tab, "molecule")
    drag(tab, grips(tab, "molecule", "moves the molecule"), (60, 0))
    assert values(tab, "molecule")["across"] > 0
    assert "As before: difference A to D, distance A to D, area" in reading(tab, "molecule")
    drag(tab, grips(tab, "molecule", "turns the molecule"), (0, -60))
    assert 0 < values(tab, "molecule")["turn"] < 90
    assert "Changed: coordinates of D, difference A to D." in reading(tab, "molecule")


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in ("heatmap", "dot-product")])
def test_every_grip_says_what_it_is_and_goes_by_the_arrow_keys(tab, name):
    settings = {each.name: each.values for each in FIGURES[name].sliders}
    assert grips(tab, name).count()
    for grip in grips(tab, name).all():
        box = grip.bounding_box()
        assert min(box["width"], box["height"]) >= 24
        assert grip.get_attribute("aria-label")
        grip.focus()
        before, told = values(tab, name), grip.get_attribute("aria-valuetext")
        tab.keyboard.press("ArrowRight")
        drawn(tab, name)
        [setting] = [each for each, value in values(tab, name).items() if value != before[each]]
        list_ = settings[setting]
        place = list_.index(before[setting])
        assert values(tab, name)[setting] == list_[place + 1]
        assert float(grip.get_attribute("aria-valuenow")) == list_[place + 1]
        assert grip.get_attribute("aria-valuetext") not in (told, "")
        assert not re.search(r"NaN|undefined|[{}]", grip.get_attribute("aria-valuetext"))
        expect(grip).to_be_focused()
        for key, expected in (
            ("ArrowDown", list_[place]),
            ("PageUp", list_[min(place + 10, len(list_) - 1)]),
            ("Home", list_[0]),
            ("End", list_[-1]),
            ("ArrowUp", list_[-1]),
        ):
            tab.keyboard.press(key)
            assert values(tab, name)[setting] == expected
        tab.keyboard.press("Home")
        for _ in range(place):
            tab.keyboard.press("ArrowRight")
        drawn(tab, name)


def test_a_thumb_drags_a_hand_and_beside_it_scrolls_the_page(newcomer, address):
    tab = open_page(newcomer, address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    thumb = tab.context.new_cdp_session(tab)

    def swipe(start, *points):
        for kind, at in (("touchStart", start), *(("touchMove", point) for point in points)):
            thumb.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}]})
        thumb.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    for grip in tab.locator(".posenc-grip").all():
        box = grip.bounding_box()
        assert min(box["width"], box["height"]) >= 44

    live(tab, "clocks").scroll_into_view_if_needed()
    hand = grips(tab, "clocks", "pair 1")
    hand.scroll_into_view_if_needed()
    x, y = middle(hand)
    scrolled = tab.evaluate("scrollY")
    angles = 4 + np.linspace(0, 1.5, 15)[1:]
    from_x, from_y = x - 56 * math.sin(4), y + 56 * math.cos(4)
    swipe((x, y), *[(from_x + 56 * math.sin(a), from_y - 56 * math.cos(a)) for a in angles])
    drawn(tab, "clocks")
    assert values(tab, "clocks")["position"] == 55
    assert tab.evaluate("scrollY") == scrolled

    token = grips(tab, "ruler", "The key")
    token.scroll_into_view_if_needed()
    scrolled = tab.evaluate("scrollY")
    x, y = middle(token)
    swipe((x, y), *[(x + 4 * step, y) for step in range(1, 11)])
    drawn(tab, "ruler")
    assert values(tab, "ruler")["key"] > 20
    assert tab.evaluate("scrollY") == scrolled

    # Up over a clock's face, beside its hand, and up over a token that goes across: the page goes along.
    for start in (middle(live(tab, "clocks").locator("svg")), None):
        if start is None:
            token.scroll_into_view_if_needed()
            start = middle(token)
            key = values(tab, "ruler")["key"]
        else:
            live(tab, "clocks").locator("svg").scroll_into_view_if_needed()
            start = middle(live(tab, "clocks").locator("svg"))
        scrolled = tab.evaluate("scrollY")
        swipe(start, *[(start[0], start[1] - 12 * step) for step in range(1, 13)])
        tab.wait_for_function("before => scrollY > before + 40", arg=scrolled)
    assert abs(values(tab, "ruler")["key"] - key) <= 2


def test_play_advances_until_it_is_paused_taken_hold_of_or_out_of_sight(tab):
    position = slider(tab, "clocks", "position")
    figure = live(tab, "clocks")
    figure.scroll_into_view_if_needed()
    play = figure.get_by_role("button")
    expect(play).to_have_text("Play")

    def moves_on():
        at = position.input_value()
        tab.wait_for_function("([input, at]) => input.value !== at", arg=[position.element_handle(), at])

    def stands():
        expect(play).to_have_text("Play")
        at = position.input_value()
        tab.wait_for_timeout(700)
        assert position.input_value() == at

    play.click()
    expect(play).to_have_text("Pause")
    moves_on()
    moves_on()
    play.click()
    stands()
    assert f"Position {position.input_value()}," in reading(tab, "clocks")
    play.click()
    moves_on()
    drag(tab, grips(tab, "clocks", "pair 1"), (0, 10))
    stands()
    play.click()
    moves_on()
    live(tab, "wavelengths").scroll_into_view_if_needed()
    stands()
    position.focus()
    tab.keyboard.press("End")
    play.click()  # from the end it begins anew
    tab.wait_for_function("input => Number(input.value) < 100", arg=position.element_handle())


def test_who_asks_for_less_motion_goes_step_by_step(newcomer, address):
    tab = open_page(newcomer, address, reduced_motion="reduce")
    figure = live(tab, "clocks")
    before = values(tab, "clocks")["position"]
    figure.get_by_role("button", name="One step on").click()
    tab.wait_for_timeout(600)
    assert values(tab, "clocks")["position"] == before + 1


def test_a_cell_of_the_heat_map_says_what_it_is(tab, newcomer, address):
    move(tab, "heatmap", "length", 10)
    move(tab, "heatmap", "dim", 8)
    drawn(tab, "heatmap")
    field = live(tab, "heatmap").locator(".posenc-field")
    tip = live(tab, "heatmap").locator(".posenc-tip")

    def told(position, column):
        value = sinusoidal(10, 8)[position, column]
        wave = "cosine" if column % 2 else "sine"
        rate = f"{frequencies(8)[column // 2]:g}"
        return (
            f"Position {position}, column {column}: the {wave} of pair {column // 2}, which turns {rate} rad "
            f"per position. Value: {value:.3f}."
        ).replace(" -", " −")

    field.scroll_into_view_if_needed()
    expect(tip).to_be_hidden()
    box = field.bounding_box()
    for position, column in ((0, 0), (3, 5), (9, 7)):
        tab.mouse.move(
            box["x"] + box["width"] * (column + 0.5) / 8,
            box["y"] + box["height"] * (position + 0.5) / 10,
            steps=4,
        )
        expect(tip).to_have_text(told(position, column))
        inside = tip.bounding_box()
        stage = live(tab, "heatmap").bounding_box()
        assert stage["x"] <= inside["x"]
        assert inside["x"] + inside["width"] <= stage["x"] + stage["width"]
    tab.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    slider(tab, "heatmap", "dim").focus()
    tab.keyboard.press("Shift+Tab")
    expect(field).to_be_focused()
    for key, cell in (
        ("ArrowUp", (8, 7)),
        ("ArrowLeft", (8, 6)),
        ("Home", (8, 0)),
        ("PageUp", (0, 0)),
        ("ArrowRight", (0, 1)),
    ):
        tab.keyboard.press(key)
        expect(tip).to_have_text(told(*cell))
        assert field.get_attribute("aria-valuetext") == told(*cell)

    phone = open_page(
        newcomer, address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    field = live(phone, "heatmap").locator(".posenc-field")
    field.scroll_into_view_if_needed()
    box = field.bounding_box()
    phone.touchscreen.tap(box["x"] + box["width"] * 20.5 / 64, box["y"] + box["height"] * 30.5 / 100)
    expect(live(phone, "heatmap").locator(".posenc-tip")).to_contain_text(
        "Position 30, column 20: the sine of pair 10"
    )


# The page around them


def test_without_a_script_the_still_pictures_stand(newcomer, address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{address}/{PAGE}")
    assert tab.locator("input[type=range]").count() == 0
    for name in FIGURES:
        still = live(tab, name).locator("svg[role=img]")
        assert still.is_visible()
        assert still.get_attribute("aria-label") == FIGURES[name].picture().alt


def test_a_figure_that_cannot_be_built_stays_a_still_picture_and_the_others_move(browser, address):
    tab = browser.new_page()

    def spoil(route):
        body = route.fetch().text().replace('data-figure="clocks"', 'data-figure="sundial"')
        route.fulfill(body=body, content_type="text/html")

    tab.route(f"**/{PAGE}", spoil)
    tab.goto(f"{address}/{PAGE}", wait_until="load")
    come_near_all(tab)
    tab.wait_for_function(LIVE.replace(str(len(FIGURES)), str(len(FIGURES) - 1)))
    assert live(tab, "sundial").locator("svg[role=img]").is_visible()
    assert live(tab, "sundial").get_by_role("slider").count() == 0
    tab.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_take_the_colour_of_the_page(newcomer, address, theme):
    tab = open_page(newcomer, address, color_scheme=theme)
    text = tab.evaluate("getComputedStyle(document.querySelector('main p')).color")
    inks = tab.eval_on_selector_all(
        ".posenc-stage svg text", "all => [...new Set(all.map(t => getComputedStyle(t).fill))]"
    )
    assert inks == [text]


def test_a_phone_shows_every_figure_at_a_readable_size(newcomer, address):
    tab = open_page(newcomer, address, viewport={"width": 360, "height": 780})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
    sizes = tab.eval_on_selector_all(
        ".posenc-stage svg text",
        """all => all.map(text => {
          const { a, b } = text.getScreenCTM();
          return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
        })""",
    )
    assert min(sizes) > 11
    outside = tab.eval_on_selector_all(
        ".posenc-stage svg",
        """all => all.flatMap(svg => {
          const box = svg.getBoundingClientRect();
          return [...svg.querySelectorAll('text')].filter(t => {
            const b = t.getBoundingClientRect();
            return b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1;
          }).map(t => t.textContent);
        })""",
    )
    assert outside == []


def test_the_chapter_has_the_figures_that_its_text_speaks_of(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/02-the-formula.html")
    assert not tab.locator(".posenc-stage").count()  # they are far below
    uncover(tab)
    come_near_all(tab)
    tab.wait_for_function("document.querySelectorAll('.posenc-stage').length === 2")
    for name in ("clocks", "heatmap"):
        expect(sliders(live(tab, name))).to_have_count(len(FIGURES[name].sliders))
    assert "Position 40, width 8: 4 clocks" in reading(tab, "clocks")


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("02-the-formula", {"clocks", "heatmap"}),
        ("03-relative-position", {"shift", "ruler"}),
        ("04-extrapolation", {"seen"}),
        ("08-long-context", {"stretched"}),
        ("09-beyond-text", {"molecule"}),
        ("10-position-from-content", {"gates"}),
    ],
)
def test_a_chapter_loads_the_figures_that_it_has_and_no_others(newcomer, plain_address, page, names):
    tab = newcomer().new_page()
    fetched = []
    tab.on("request", lambda request: fetched.append(request.url.rsplit("/", 1)[-1]))
    tab.goto(f"{plain_address}/book/{page}.html")
    uncover(tab)
    come_near_all(tab)
    tab.wait_for_function(f"document.querySelectorAll('.posenc-stage').length === {len(names)}")
    loaded = {name for name in FIGURES if any(re.match(rf"{name}-\w+\.js$", each) for each in fetched)}
    assert loaded == names
    for name in names:
        expect(sliders(live(tab, name))).to_have_count(len(FIGURES[name].sliders))
        if name != "heatmap":
            expect(grips(tab, name).first).to_be_attached()


def test_a_still_heat_map_says_what_its_cells_are(newcomer, plain_address):
    tab = newcomer().new_page()
    tab.goto(f"{plain_address}/book/03-relative-position.html")
    uncover(tab)
    tab.locator("svg[data-cells*='50 times as loud']").scroll_into_view_if_needed()
    maps = tab.locator(".posenc-mapped:has([aria-label='Cells of the heat map 50 times as loud'])")
    field = maps.locator(".posenc-field").nth(1)
    tip = maps.locator(".posenc-tip").nth(1)
    field.scroll_into_view_if_needed()
    loud = relative.one_back(12, loudness=50)

    def spot():
        box = field.bounding_box()
        return box["x"] + box["width"] * 4.5 / 12, box["y"] + box["height"] * 5.5 / 12

    said = f"place of the query 5, place of the key 4: attention weight {float(f'{loud[5, 4]:.3g}')}"
    point(tab, spot, tip, said)
    field.click(position={"x": 5, "y": 5})
    tab.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("place of the query 1, place of the key 0: ")
    picture, box = maps.locator("svg").bounding_box(), field.bounding_box()
    assert picture["x"] < box["x"]
    assert box["x"] + box["width"] < picture["x"] + picture["width"]


def test_a_still_chart_says_the_points_of_its_curves(newcomer, plain_address):
    """At the pointer, by the arrow keys and at a touch: the kernel of one width, in its own numbers."""
    page = f"{plain_address}/book/03-relative-position.html"
    tab = newcomer().new_page()
    tab.goto(page)
    uncover(tab)
    chart = tab.locator(".posenc-mapped:has(svg[data-curves*='straight line'])")
    tab.locator("svg[data-curves*='straight line']").scroll_into_view_if_needed()
    field, tip = chart.locator(".posenc-field"), chart.locator(".posenc-tip")
    given = json.loads(present(chart.locator("svg").get_attribute("data-curves")))[0]
    curve = next(each for each in given["curves"] if each["name"] == "dim 512")
    (low, high), (bottom, top) = given["across"]["ends"], given["down"]["ends"]

    drawn = np.logspace(-1, 5, 1500).round(3)

    def kernel(offset, dim):
        exact = drawn[np.abs(drawn - offset).argmin()]  # an offset is told in six digits
        return float(np.cos(exact * frequencies(dim)).mean())

    def told(dim, offset):
        value = f"{kernel(offset, dim):.4g}".replace("-", "−")
        told_offset = f"{float(f'{offset:.4g}'):,g}"
        return f"dim {dim}: offset (positions, logarithmic) {told_offset}; dot product / its peak {value}"

    def shares(offset):
        across = math.log(offset / low) / math.log(high / low)
        return across, (top - kernel(offset, 512)) / (top - bottom)

    def spot(offset):
        box, (x, y) = field.bounding_box(), shares(offset)
        return box["x"] + box["width"] * x, box["y"] + box["height"] * y

    expect(tip).to_be_hidden()
    far = [x for x in curve["x"] if 1000 < x < 3000]
    for offset in (*far[:2], curve["x"][20]):
        point(tab, lambda offset=offset: spot(offset), tip, told(512, offset))
        dot = chart.locator(".posenc-dot").evaluate(
            """dot => {
              const [own, box] = [dot, dot.closest(".posenc-mapped").querySelector(".posenc-field")]
                .map((each) => each.getBoundingClientRect());
              return [own.x - box.x, own.y - box.y, box.width, box.height];
            }"""
        )
        assert dot[:2] == pytest.approx(np.multiply(shares(offset), dot[2:]), abs=1)
    tab.mouse.move(5, 5)
    expect(tip).to_be_hidden()

    tab.mouse.click(*spot(far[0]))
    tab.keyboard.press("ArrowRight")
    expect(tip).to_have_text(told(512, far[1]))
    tab.keyboard.press("ArrowUp")
    expect(tip).to_contain_text("dim 64: offset (positions, logarithmic) ")
    tab.keyboard.press("Home")
    expect(tip).to_have_text(told(64, 0.1))
    assert field.get_attribute("aria-valuetext") == told(64, 0.1)

    tab = newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    tab.goto(page)
    uncover(tab)
    chart = tab.locator(".posenc-mapped:has(svg[data-curves*='straight line'])")
    tab.locator("svg[data-curves*='straight line']").scroll_into_view_if_needed()
    field, tip = chart.locator(".posenc-field"), chart.locator(".posenc-tip")
    tab.touchscreen.tap(*spot(curve["x"][20]))
    expect(tip).to_have_text(told(512, curve["x"][20]))


def test_a_thumb_that_scrolls_over_a_picture_leaves_no_words_on_it(newcomer, plain_address):
    tab = newcomer(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True).new_page()
    tab.goto(f"{plain_address}/book/03-relative-position.html")
    uncover(tab)
    tab.locator("svg[data-curves*='straight line']").scroll_into_view_if_needed()
    chart = tab.locator(".posenc-mapped:has(svg[data-curves*='straight line'])")
    field, tip = chart.locator(".posenc-field"), chart.locator(".posenc-tip")
    box = field.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    field.evaluate("field => field.addEventListener('pointercancel', () => { window.scrolls = true })")
    thumb = tab.context.new_cdp_session(tab)
    touches = [
        ("touchStart", [y]),
        *(("touchMove", [y - 12 * step]) for step in range(1, 11)),
        ("touchEnd", []),
    ]
    for what, heights in touches:
        points = [{"x": x, "y": height} for height in heights]
        thumb.send("Input.dispatchTouchEvent", {"type": what, "touchPoints": points})
    tab.wait_for_function("window.scrolls")
    expect(tip).to_be_hidden()


def test_on_paper_the_picture_stays_and_the_sliders_go(tab):
    tab.emulate_media(media="print")
    for name in FIGURES:
        assert live(tab, name).locator("svg[role=img]").is_visible()
        assert live(tab, name).locator("output").first.is_visible()
    assert not [control for control in tab.get_by_role("slider").all() if control.is_visible()]


def test_no_slider_stands_alone_below_a_row_of_three(tab):
    rows = """all => all.map((sliders) => {
      const tops = [...sliders.children].map((slider) => slider.getBoundingClientRect().top);
      return [...new Set(tops)].map((top) => tops.filter((each) => each === top).length);
    })"""
    for width in (1200, 1500, 1900):
        tab.set_viewport_size({"width": width, "height": 900})
        laid_out = tab.locator(".posenc-sliders").evaluate_all(rows)
        assert [2, 2] in laid_out
        assert [3, 1] not in laid_out
