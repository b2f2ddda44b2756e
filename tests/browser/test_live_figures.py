"""The figures that a reader moves, in Chromium: numbers, sliders, and the page without a script."""

from __future__ import annotations

import re

import matplotlib
import numpy as np
import pytest

from posenc_lib import (
    LinearScaling,
    NTKScaling,
    YaRNScaling,
    alibi_slopes,
    apply_rotary,
    frequencies,
    similarity,
    sinusoidal,
)
from posenc_lib.figures.interactive import FIGURES, KEY, QUERY, first_rise
from tests.browser.conftest import uncover

pytestmark = pytest.mark.slow

PAGE = "book/playground.html"
WIDTHS = FIGURES["dot-product"].sliders[0].values
BASES = FIGURES["heatmap"].sliders[1].values
LIVE = "window.posencFigures && document.querySelectorAll('.posenc-stage').length === 6"


def open_page(newcomer, address, **options):
    tab = newcomer(**options).new_page()
    tab.goto(f"{address}/{PAGE}", wait_until="load", timeout=60_000)
    tab.wait_for_function(LIVE, timeout=60_000)
    return tab


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
    return live(tab, name).get_by_role("slider").nth(names.index(setting))


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
    for dim in WIDTHS:
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
    for heads in FIGURES["alibi"].sliders[0].values:
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
        rule = YaRNScaling(factor, original_length=length)
        expected = (LinearScaling(factor), NTKScaling(factor), rule)
        for rates, scaling in zip((linear, ntk, yarn), expected, strict=True):
            # Relative: the slow pairs' frequencies are far below 1e-6 themselves.
            np.testing.assert_allclose(rates, frequencies(dim, base=base, scaling=scaling), rtol=1e-6)
        close(attention, [rule.attention_scaling])


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
    controls = live(tab, name).get_by_role("slider")
    assert controls.count() == len(FIGURES[name].sliders)
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
    for control in live(tab, name).get_by_role("slider").all():
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
    assert 160 < int(live(tab, "clocks").locator("output").first.inner_text()) < 200


@pytest.mark.parametrize(("dim", "rise"), [(64, 5), (512, 43)])
def test_the_first_rise_is_marked_and_told(tab, dim, rise):
    move(tab, "dot-product", "dim", dim)
    assert f"for the first time after offset {rise}." in reading(tab, "dot-product")
    assert f"first rise: after offset {rise}" in drawn(tab, "dot-product")


def test_moving_both_turns_the_arrows_and_leaves_the_score(tab):
    score = re.compile(r"The difference is 8, and the score is (\S+)\.$")
    before, arrows = score.search(reading(tab, "rotary"))[1], drawn(tab, "rotary")
    move(tab, "rotary", "shift", 37)
    said = reading(tab, "rotary")
    assert "position 41 and is turned by 4.1 rad" in said
    assert score.search(said)[1] == before
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


# The page around them


def test_without_a_script_the_still_pictures_stand(newcomer, address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{address}/{PAGE}", timeout=60_000)
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
    tab.goto(f"{address}/{PAGE}", wait_until="load", timeout=60_000)
    tab.wait_for_function("document.querySelectorAll('.posenc-stage').length === 5", timeout=60_000)
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
    tab.goto(f"{plain_address}/book/02-the-formula.html", timeout=60_000)
    tab.wait_for_function("document.querySelectorAll('.posenc-stage').length === 2", timeout=60_000)
    uncover(tab)
    for name in ("clocks", "heatmap"):
        assert live(tab, name).get_by_role("slider").count() == len(FIGURES[name].sliders)
    assert "Position 40, width 8: 4 clocks" in reading(tab, "clocks")


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
