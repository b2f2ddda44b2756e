"""What a reader did is still there tomorrow, in this browser and nowhere else, and can be carried away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from posenc_course.exercises import all_exercises, wholes
from tests.browser.conftest import served
from tests.present import present

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / "book" / "web" / "src" / "store.js"
PAGE = "book/progress.html"
ANSWER = {
    "code": "x = 1",
    "starter": "x = ...",
    "attempts": 2,
    "hints": 1,
    "passed": True,
    "solutionShown": False,
}
FREQUENCIES, ENCODE = "02-the-formula.frequencies", "02-the-formula.encode"
FAR_GAP = "04-extrapolation.far_gap"


@pytest.fixture
def context(newcomer):
    """A browser that was never here before."""
    return newcomer()


def open_page(context, address: str, page: str = PAGE):
    """A page of the site, with the store at hand as `store`."""
    tab = context.new_page()
    tab.complaints = []
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.goto(f"{address}/{page}", wait_until="domcontentloaded")
    load = "code => import(`data:text/javascript,${encodeURIComponent(code)}`)"
    tab.evaluate(f"{load}.then((module) => {{ window.store = module }})", STORE.read_text())
    return tab


def keep(tab, exercise: str, **changes) -> dict:
    return tab.evaluate(
        "([id, record]) => store.save('exercise', id, record)", [exercise, {**ANSWER, **changes}]
    )


def kept(tab, exercise: str) -> dict | None:
    return tab.evaluate("id => store.load('exercise', id)", exercise)


# The store.


def test_a_record_survives_a_reload_with_fields_that_the_page_does_not_know(context, address):
    tab = open_page(context, address)
    saved = keep(tab, FREQUENCIES, later="a field of a newer site")
    assert saved["updated"].endswith("Z")
    tab.close()
    again = open_page(context, address, "book/glossary.html")
    assert kept(again, FREQUENCIES) == saved == {**ANSWER, "later": "a field of a newer site", **saved}
    assert kept(again, ENCODE) is None
    assert again.evaluate("store.all('exercise')") == {FREQUENCIES: saved}


def test_two_tabs_keep_each_others_work_and_hear_of_it(context, address):
    one, other = open_page(context, address), open_page(context, address)
    other.evaluate("window.heard = []; void store.onChange(change => heard.push(change))")
    keep(one, FREQUENCIES)
    keep(other, ENCODE)
    for tab in (one, other):  # what a tab keeps reaches another one soon, but not at once
        tab.wait_for_function("Object.keys(store.all('exercise')).length === 2")
        assert set(tab.evaluate("store.all('exercise')")) == {FREQUENCIES, ENCODE}
    other.wait_for_function("heard.length >= 2")
    heard = other.evaluate("heard")
    assert {"kind": "exercise", "id": FREQUENCIES} in heard
    assert {"kind": "exercise", "id": ENCODE} in heard


def test_an_unknown_kind_is_refused(context, address):
    tab = open_page(context, address)
    said = tab.evaluate("(() => { try { store.load('note', 'x') } catch (e) { return e.message } })()")
    kinds = "exercise, quiz, prediction, cell, place, setting, challenge, certificate"
    assert said == f'kind is "note", and must be one of {kinds}'


def test_a_record_that_cannot_be_read_is_set_aside_and_not_lost(context, address):
    tab = open_page(context, address)
    key = f"posenc:1:exercise:{FREQUENCIES}"
    tab.evaluate("key => localStorage.setItem(key, '{broken')", key)
    assert kept(tab, FREQUENCIES) is None
    keep(tab, FREQUENCIES)
    assert tab.evaluate("key => localStorage.getItem('posenc:unreadable:' + key)", key) == "{broken"


def test_what_other_sites_keep_in_the_same_browser_is_left_alone(context, address):
    tab = open_page(context, address)
    tab.evaluate("localStorage.setItem('other', '1'); localStorage.setItem('posenc:2:exercise:a', '{}')")
    keep(tab, FREQUENCIES)
    tab.evaluate("store.clearAll()")
    assert kept(tab, FREQUENCIES) is None
    assert (
        tab.evaluate("localStorage.getItem('other') + localStorage.getItem('posenc:2:exercise:a')") == "1{}"
    )


def test_a_full_browser_keeps_on_working_and_says_that_it_forgets(context, address):
    tab = open_page(context, address)
    keep(tab, FREQUENCIES, code="old")
    tab.evaluate(
        """for (let text = "x".repeat(1 << 20), i = 0; text.length; i++) {
             try { localStorage.setItem("fill" + i, text) } catch { text = text.slice(text.length / 2 + 1) }
           }"""
    )
    assert tab.evaluate("store.available")
    keep(tab, FREQUENCIES, code="new " * 1000)
    assert present(kept(tab, FREQUENCIES))["code"] == "new " * 1000
    assert not tab.evaluate("store.available")
    assert '"old"' in tab.evaluate("id => localStorage.getItem(`posenc:1:exercise:${id}`)", FREQUENCIES)


FILL = """for (let text = "x".repeat(1 << 20), i = 0; text.length; i++) {
  try { localStorage.setItem("fill" + i, text) } catch { text = text.slice(text.length / 2 + 1) }
}
for (let i = 0; i < 20; i++) try { localStorage.setItem(i, "") } catch {}"""


def test_a_browser_that_is_full_to_the_last_letter_still_shows_what_it_holds(context, plain_address):
    """By whatever else is kept for this address, as of another page that the same machine served."""
    tab = open_page(context, plain_address)
    keep(tab, FREQUENCIES)
    tab.evaluate(FILL)
    tab = open_page(context, plain_address)
    assert not tab.evaluate("store.available")
    assert present(kept(tab, FREQUENCIES))["passed"]
    expect(tab.locator(".posenc-of-all")).to_contain_text("1 of ")
    expect(tab.locator(".posenc-overview .posenc-not-kept")).to_be_visible()
    keep(tab, ENCODE)
    expect(tab.locator(".posenc-of-all")).to_contain_text("1 of ")  # that page has a store of its own
    assert set(tab.evaluate("store.all('exercise')")) == {FREQUENCIES, ENCODE}
    tab.evaluate("localStorage.removeItem('fill0')")
    tab.get_by_role("button", name="Delete my work").click()
    tab.get_by_role("button", name="Delete everything").click()
    expect(tab.locator(".posenc-not-kept:visible")).to_have_count(0)  # there is room again


def test_a_page_that_comes_back_from_the_browsers_memory_shows_what_was_done_meanwhile(
    context, plain_address
):
    tab = open_page(context, plain_address, "book/glossary.html")
    bar = tab.locator(".posenc-progress-bar")
    expect(bar).to_contain_text("0 of ")
    keep(tab, FREQUENCIES)  # by another store, and no word of it comes to a page that rests
    for persisted, shown in (("false", "0 of "), ("true", "1 of ")):
        tab.evaluate(f"dispatchEvent(new PageTransitionEvent('pageshow', {{ persisted: {persisted} }}))")
        expect(bar).to_contain_text(shown)


BROKEN: dict[str, tuple[str, dict[str, object]]] = {
    "exercise": (FREQUENCIES, {"code": 5}),
    "quiz": ("02-the-formula.column-and-pair", {"chosen": 3, "tries": 1}),
    "prediction": ("02-the-formula.two-simple-ideas", {"said": ["1"]}),
}


def test_records_that_no_page_of_today_writes_stop_no_page_and_are_set_aside(context, plain_address):
    """Of an older site, or of a hand that has slipped."""
    tab = open_page(context, plain_address, "book/02-the-formula.html")
    texts = tab.evaluate("""Object.fromEntries([...document.querySelectorAll("[data-text]")].map(
        ({ dataset: { question, prediction, text } }) => [question ?? prediction, text]))""")
    cells = [
        ("cell", tab.locator(".posenc-tryable").first.get_attribute("id").removeprefix("cell-"), {"code": 7})
    ]
    records = [(kind, name, record) for kind, (name, record) in BROKEN.items()]
    predictions = tab.locator("[data-prediction]").evaluate_all(
        "all => all.map((it) => it.dataset.prediction)"
    )
    records += [
        ("prediction", name, {"right": True}) for name in predictions if name != BROKEN["prediction"][0]
    ]
    records += [(kind, f"02-the-formula.{name}", record) for kind, name, record in cells]
    keys = []
    for kind, name, record in records:
        keys.append(f"posenc:1:{kind}:{name}")
        whole = {**record, "text": texts.get(name), "updated": "2026-01-01T00:00:00.000Z"}
        tab.evaluate("([key, text]) => localStorage.setItem(key, text)", [keys[-1], json.dumps(whole)])
    tab = open_page(context, plain_address, "book/02-the-formula.html")
    for each, made in ((".posenc-question", ".posenc-verdict"), (".posenc-predict", ".posenc-guess")):
        expect(tab.locator(f"{each}:has({made})")).to_have_count(tab.locator(each).count())
    expect(tab.locator(".posenc-tryable:has(.posenc-try)")).to_have_count(
        tab.locator(".posenc-tryable").count()
    )
    for key in keys:
        tab.wait_for_function("key => localStorage.getItem(key) === null", arg=key)
        assert tab.evaluate("key => localStorage.getItem(`posenc:unreadable:${key}`)", key)
    assert tab.complaints == []


# A page without an origin, as in a frame that lets it run and no more: asking for localStorage throws, as
# where a reader has blocked all cookies.
WITHOUT_ORIGIN = {
    "Content-Security-Policy": "sandbox allow-scripts allow-forms",
    "Access-Control-Allow-Origin": "*",
}


@pytest.fixture
def address_without_origin(site):
    with served(site, headers=WITHOUT_ORIGIN) as found:
        yield found


def test_a_browser_that_stores_nothing_still_works_and_says_so(context, address_without_origin):
    address = address_without_origin
    tab = open_page(context, address)
    assert tab.evaluate("origin") == "null"
    assert not tab.evaluate("store.available")
    keep(tab, FREQUENCIES)
    assert present(kept(tab, FREQUENCIES))["code"] == "x = 1"
    said = tab.locator(".posenc-not-kept").inner_text()
    assert "does not let these pages keep your work" in said
    assert "an export does not hold it" in said  # each page has a memory of its own
    tab.goto(f"{address}/book/02-the-formula.html")
    tab.locator(".posenc-option label").first.click()
    tab.get_by_role("button", name="Check my answer").first.click()
    assert "does not let this page keep your answers" in tab.locator(".posenc-not-kept").first.inner_text()
    assert tab.locator(".posenc-verdict").first.inner_text()


# Two tabs, in both of which somebody types.


def open_answer(context, address: str):
    """A chapter in a tab, the editor of an exercise, and a way to type into it, key by key."""
    tab = open_page(context, address, "book/02-the-formula.html#exercise-frequencies")
    box = tab.locator("#exercise-frequencies")
    editor = box.locator(".cm-content")

    def write(text: str) -> None:
        tab.bring_to_front()
        editor.click()
        tab.keyboard.press("Control+End")
        tab.keyboard.type(text)
        tab.wait_for_function(
            "([id, text]) => store.load('exercise', id)?.code.endsWith(text)", arg=[FREQUENCIES, text]
        )

    return tab, box, editor, write


def test_what_another_tab_wrote_is_not_overwritten_in_silence(context, plain_address):
    here, box, editor, write = open_answer(context, plain_address)
    write("# here")
    _there, other_box, _other_editor, write_there = open_answer(context, plain_address)
    write_there(" and there")
    here.wait_for_function(  # what a tab keeps reaches another one soon, but not at once
        "id => store.load('exercise', id).code.endsWith(' and there')", arg=FREQUENCIES
    )
    write("!")  # its editor had the focus all the time, and knows nothing of the other
    assert present(kept(here, FREQUENCIES))["code"].endswith("# here!")
    assert present(kept(here, FREQUENCIES))["former"].endswith("# here and there")
    expect(box.locator(".posenc-notices")).to_contain_text(
        "You have different code for this exercise in another tab."
    )
    box.get_by_role("button", name="Take the other version").click()
    expect(editor).to_contain_text("# here and there")
    expect(box.locator(".posenc-notices")).to_be_empty()
    assert present(kept(here, FREQUENCIES))["former"].endswith("# here!")
    box.get_by_role("button", name="Bring back my earlier version").click()
    expect(editor).to_contain_text("# here!")
    assert other_box.locator(".posenc-notices p").count() == 0
    assert here.complaints == []


def test_what_another_tab_has_passed_counts_though_this_one_writes(context, plain_address):
    here, _box, _editor, write = open_answer(context, plain_address)
    write("# one")
    code = present(kept(here, FREQUENCIES))["code"]
    # As another tab would:
    keep(here, FREQUENCIES, code=code, attempts=5, hints=2, passed=True, answer="right")
    write(" two")
    found = kept(here, FREQUENCIES)
    assert (present(found)["passed"], present(found)["attempts"], present(found)["hints"]) == (True, 5, 2)
    assert present(found)["code"] == f"{code} two"
    assert present(found)["answer"] == "right"
    assert "former" not in present(found)


def test_a_tab_in_which_nobody_types_shows_what_another_wrote_and_says_so(context, plain_address):
    _here, box, editor, _write = open_answer(context, plain_address)
    editor.wait_for()
    _there, _box, _editor, write_there = open_answer(context, plain_address)
    write_there("# from there")
    expect(editor).to_contain_text("# from there")
    expect(box.locator(".posenc-status")).to_contain_text("another tab")


# The page and the bar.


def row(tab, exercise: str):
    return tab.locator(f"[data-exercise='{exercise}']")


def chapter_of(tab, exercise: str):
    """Its row on the map, closed or open."""
    return tab.locator(f"details.posenc-chapter[data-chapter='{exercise.partition('.')[0]}']")


def opened(tab, exercise: str):
    """The row of an exercise, in its chapter, which a reader opens by a click."""
    chapter = chapter_of(tab, exercise)
    if chapter.get_attribute("open") is None:
        chapter.locator("> summary").click()
    return row(tab, exercise)


def test_the_page_shows_what_is_passed_tried_and_open(context, address):
    tab = open_page(context, address)
    assert opened(tab, FREQUENCIES).locator(".posenc-state").inner_text() == "○ Open"
    keep(tab, FREQUENCIES)
    keep(tab, ENCODE, passed=False)
    tab.reload()
    tab.locator(".posenc-filled").wait_for()
    assert opened(tab, FREQUENCIES).locator(".posenc-state").inner_text() == "✓ Passed"
    assert opened(tab, ENCODE).locator(".posenc-state").inner_text() == "◐ Tried"
    every = [each for each in all_exercises() if each.in_page]
    [points] = [each.points for each in every if each.id == FREQUENCIES]
    overview = tab.locator(".posenc-overview").inner_text()
    assert f"1 of {len(wholes(every))} exercises passed" in overview
    assert f"You have {points} of {sum(each.points for each in every)} points." in overview
    expect(tab.locator("[data-exercise]")).to_have_count(len(all_exercises()))
    assert tab.complaints == []


def test_an_exercise_of_several_steps_counts_once_and_shows_its_steps(context, address):
    tab = open_page(context, address)
    pair, head = steps = "06-rotary.turn_pair", "06-rotary.apply_rotary"
    total = len(wholes(each for each in all_exercises() if each.in_page))
    points = {each.id: each.points for each in all_exercises()}
    for passed, said, state, count in (
        ((), "○ Open", "○ Open", 0),
        ((pair,), "◐ 1 of 2 steps passed", "✓ Passed", 0),
        (steps, "✓ 2 of 2 steps passed", "✓ Passed", 1),
    ):
        for each in passed:
            keep(tab, each)
        tab = open_page(context, address)
        tab.locator(".posenc-filled").wait_for()
        whole = tab.locator(f"[data-steps='{' '.join(steps)}']")
        assert opened(tab, pair).locator(".posenc-state").inner_text() == state
        assert whole.locator("> a").inner_text() == "RoPE, from one pair to a whole head"
        assert whole.locator("> .posenc-state").inner_text() == said
        overview = tab.locator(".posenc-overview").inner_text()
        assert f"{count} of {total} exercises passed" in overview
        assert f"You have {sum(points[each] for each in passed)} of" in overview
        more = ", plus one step" if passed == (pair,) else ""
        tab.wait_for_function(
            "text => document.querySelector('.posenc-progress-bar').textContent === text",
            arg=f"{count} of {total} exercises passed{more}",
        )
    opened(tab, head).locator("a").click()
    tab.wait_for_url("**/06-rotary.html#exercise-apply-rotary")


def test_what_a_page_cannot_check_is_listed_and_not_counted(context, address):
    """As if one exercise of the book needed PyTorch."""

    def elsewhere(route):
        response = route.fetch()
        place = f'data-exercise="{FAR_GAP}"'
        route.fulfill(response=response, body=response.text().replace(place, f"{place} data-elsewhere"))

    context.route("**/progress.html", elsewhere)
    tab = open_page(context, address)
    keep(tab, FAR_GAP)
    tab.reload()
    tab.locator(".posenc-filled").wait_for()
    assert opened(tab, FAR_GAP).locator(".posenc-state").inner_text() == "✓ Passed"
    total = len(wholes(each for each in all_exercises() if each.in_page)) - 1
    assert f"0 of {total} exercises passed" in tab.locator(".posenc-overview").inner_text()
    assert "You have 0 of" in tab.locator(".posenc-overview").inner_text()
    context.unroute("**/progress.html")


def test_the_page_keeps_the_record_of_predictions(context, address):
    tab = open_page(context, address)
    assert tab.locator(".posenc-overview .posenc-foretold").count() == 0
    ids = tab.locator("[data-predictions]").first.get_attribute("data-predictions").split()
    for name, said, right in ((ids[0], "1", True), (ids[1], "2", False), (ids[2], "", False)):
        record = {"said": said, "right": right, "shown": not said, "text": "x"}
        tab.evaluate("([id, record]) => store.save('prediction', id, record)", [name, record])
    tab.reload()
    every = tab.locator("[data-predictions]").evaluate_all(
        "all => all.flatMap((row) => row.dataset.predictions.split(' ')).length"
    )
    expect(tab.locator(".posenc-foretold")).to_have_text(
        f"You have predicted 2 of {every} results. You were right about 1 of them."
    )


DESK = {"width": 1366, "height": 900}


@pytest.mark.parametrize("share", [0, 0.5], ids=["newcomer", "half"])
def test_the_page_takes_less_than_three_screens_before_a_chapter_is_opened(newcomer, plain_address, share):
    tab = open_page(newcomer(viewport=DESK), plain_address)
    every = [each.id for each in all_exercises() if each.in_page]
    for each in every[: int(share * len(every))]:
        keep(tab, each)
    boxes = tab.locator("[data-predictions]").evaluate_all(
        "all => all.flatMap((row) => row.dataset.predictions.split(' '))"
    )
    for box in boxes[: int(share * len(boxes))]:
        tab.evaluate("id => store.save('prediction', id, { said: '1', right: true, shown: false })", box)
    tab.reload()
    tab.locator(".posenc-filled").wait_for()
    assert tab.evaluate("document.documentElement.scrollHeight") < 2700
    way_on = tab.locator(".posenc-overview .posenc-start").bounding_box()
    last = tab.locator(".posenc-chapter > summary").last.bounding_box()
    assert way_on["y"] < last["y"] + last["height"] < DESK["height"], (
        "all that matters is in the first screen"
    )


def test_a_chapter_is_a_row_of_nodes_that_opens_to_their_names(context, plain_address):
    tab = open_page(context, plain_address)
    chapter = chapter_of(tab, FREQUENCIES)
    wanted = wholes(each for each in all_exercises() if each.chapter == "02-the-formula")
    title, count = chapter.locator("summary h3"), chapter.locator(".posenc-tally")
    expect(title).to_have_text("2. The formula")
    expect(count).to_have_text(f"0 of {len(wanted)} passed")
    nodes = chapter.locator(".posenc-node")
    numbers = [str(number) for number in range(1, len(wanted) + 1)]
    assert nodes.all_inner_texts() == [*numbers, "", ""], "and the predictions and the quiz"
    keep(tab, FREQUENCIES)
    keep(tab, ENCODE, passed=False)
    tab.reload()
    expect(count).to_have_text(f"1 of {len(wanted)} passed")
    names = [each[0].function for each in wanted]
    for function, state in (("frequencies", "passed"), ("encode", "tried"), ("longest_wavelength", "open")):
        expect(nodes.nth(names.index(function))).to_have_attribute("data-state", state)
    name = row(tab, FREQUENCIES).get_by_role("link")
    expect(name).to_be_hidden()
    chapter.locator("summary").focus()
    tab.keyboard.press("Enter")
    expect(name).to_be_visible()
    chapter.get_by_role("link", name="To the chapter").click()
    tab.wait_for_url("**/02-the-formula.html")


def test_the_page_leads_back_to_where_the_reader_was(context, plain_address):
    here, there = open_page(context, plain_address), open_page(context, plain_address, "book/glossary.html")
    way_on = here.locator(".posenc-overview .posenc-start")
    expect(way_on).to_have_text("Start with chapter 11. Why order matters")
    keep(there, FREQUENCIES)
    expect(way_on).to_have_text("Continue where you were2. The formula")
    there.evaluate("store.save('place', '06-rotary', { section: 'Take-away', fragment: 'take-away' })")
    expect(way_on).to_have_text("Continue where you were6. RoPE: positions as rotations: Take-away")
    way_on.click()
    here.wait_for_url("**/06-rotary.html#take-away")


def test_the_page_that_the_certificate_had_leads_to_where_it_is_made(context, plain_address):
    for folder in ("", "zh/"):
        tab = context.new_page()
        tab.goto(f"{plain_address}/{folder}book/certificate.html#what-it-proves")
        tab.wait_for_url(f"**/{folder}book/progress.html#certificate")
        expect(tab.locator("#certificate .posenc-certificate-maker input")).to_be_in_viewport()


def test_each_exercise_of_the_page_leads_to_its_place_in_the_chapter(context, address):
    tab = open_page(context, address)
    opened(tab, "02-the-formula.longest_wavelength").locator("a").click()
    tab.wait_for_url("**/02-the-formula.html#exercise-longest-wavelength")
    expect(tab.locator("#exercise-longest-wavelength")).to_have_count(1)


def test_the_bar_counts_on_every_page_and_in_every_tab(context, address):
    chapter, page = open_page(context, address, "book/02-the-formula.html"), open_page(context, address)
    bar = chapter.locator(".posenc-progress-bar")
    total = len(wholes(each for each in all_exercises() if each.in_page))
    expect(bar).to_have_text(f"0 of {total} exercises passed")
    keep(page, FREQUENCIES)
    chapter.wait_for_function("document.querySelector('.posenc-progress-bar progress').value === 1")
    assert bar.inner_text() == f"1 of {total} exercises passed"
    keep(page, "06-rotary.turn_pair")  # the first step of two
    chapter.wait_for_function("document.querySelector('.posenc-progress-bar progress').value === 1.5")
    assert bar.inner_text() == f"1 of {total} exercises passed, plus one step"
    bar.click()
    chapter.wait_for_url("**/progress.html")


def test_the_list_and_its_links_are_there_without_scripts(newcomer, address):
    tab = newcomer(java_script_enabled=False).new_page()
    tab.goto(f"{address}/{PAGE}")
    assert opened(tab, FREQUENCIES).locator("a").inner_text() == "One frequency per pair"
    assert tab.locator("main noscript").inner_text().startswith("This page needs JavaScript")
    assert not tab.locator(".posenc-progress-bar").is_visible()


# Export, import, deletion.


def export(tab, to: Path) -> Path:
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Export my work").click()
    download.value.save_as(to)
    assert download.value.suggested_filename in tab.locator(".posenc-work .posenc-said").inner_text()
    return to


def take_in(tab, file: Path) -> str:
    """What the page says of a file that is imported."""
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name="Import a file").click()
    tab.evaluate("document.querySelector('.posenc-work .posenc-said').textContent = ''")
    chooser.value.set_files(file)
    tab.wait_for_function("document.querySelector('.posenc-work .posenc-said').textContent")
    return tab.locator(".posenc-work .posenc-said").inner_text()


def test_work_moves_to_another_browser_as_one_file(newcomer, context, address, tmp_path):
    here = open_page(context, address)
    keep(here, FREQUENCIES)
    keep(here, ENCODE, passed=False)
    file = export(here, tmp_path / "work.json")
    there = open_page(newcomer(viewport={"width": 1000, "height": 900}), address)
    assert take_in(there, file) == "2 entries of the file were imported."
    assert there.evaluate("store.all('exercise')") == here.evaluate("store.all('exercise')")
    assert opened(there, FREQUENCIES).locator(".posenc-state").inner_text() == "✓ Passed"


def test_an_older_export_never_replaces_newer_work(context, address, tmp_path):
    tab = open_page(context, address)
    keep(tab, FREQUENCIES, code="old", passed=False)
    file = export(tab, tmp_path / "old.json")
    newer = keep(tab, FREQUENCIES, code="new")
    assert (
        take_in(tab, file) == "0 entries of the file were imported. "
        "One entry stayed as it is, because yours is as new or newer."
    )
    assert kept(tab, FREQUENCIES) == newer


def test_what_was_passed_stays_passed_when_newer_work_comes_in(context, address, tmp_path):
    tab = open_page(context, address)
    keep(tab, FREQUENCIES, code="right")
    made = tab.evaluate("store.exportAll()")
    made["records"]["exercise"][FREQUENCIES] |= {"code": "later", "passed": False, "updated": "2999-01-01"}
    (tmp_path / "newer.json").write_text(json.dumps(made))
    take_in(tab, tmp_path / "newer.json")
    found = present(kept(tab, FREQUENCIES))
    assert (found["code"], found["passed"], found["answer"]) == ("later", True, "right")


def test_what_was_passed_elsewhere_counts_though_the_newer_work_is_here(context, address, tmp_path):
    tab = open_page(context, address)
    keep(tab, FREQUENCIES, code="played with", answer="right")
    file = export(tab, tmp_path / "passed.json")
    newer = keep(tab, FREQUENCIES, code="begun again", passed=False)
    assert take_in(tab, file) == "One entry of the file was imported."
    assert kept(tab, FREQUENCIES) == {**newer, "passed": True, "answer": "right"}


def test_code_written_here_stays_within_reach_when_a_newer_record_comes_in(context, plain_address, tmp_path):
    """A starter that nobody touched there replaces nothing; other code makes of it the former version."""
    here, _box, _editor, write = open_answer(context, plain_address)
    write("# mine")
    mine = present(kept(here, FREQUENCIES))
    here.close()
    tab = open_page(context, plain_address)
    made = tab.evaluate("store.exportAll()")
    for year, code in (("2998", mine["starter"]), ("2999", "theirs = 1")):
        newer = {"code": code, "attempts": 7, "updated": f"{year}-01-01"}
        made["records"]["exercise"][FREQUENCIES] = mine | newer
        (tmp_path / "newer.json").write_text(json.dumps(made))
        assert take_in(tab, tmp_path / "newer.json").startswith("One entry of the file was imported.")
        assert present(kept(tab, FREQUENCIES))["attempts"] == 7
        there, box, editor, _write = open_answer(context, plain_address)
        if code != mine["starter"]:
            expect(editor).to_have_text(code)
            box.get_by_role("button", name="Bring back my earlier version").click()
        expect(editor).to_contain_text("# mine")
        assert present(kept(there, FREQUENCIES))["code"] == mine["code"]
        assert there.complaints == []
        there.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "This file is damaged, or was not exported from this page. Nothing was changed."),
        ("[]", "This file was not exported from this page. Nothing was changed."),
        ('{"version": 1, "records": {}}', "This file was not exported from this page. Nothing was changed."),
        ('{"format": "posenc-progress", "version": 2}', "This file comes from a newer version of this site."),
        (
            '{"format": "posenc-progress", "version": 1, "records": 3}',
            "but it is damaged. Nothing was changed.",
        ),
    ],
)
def test_a_file_that_is_no_export_is_refused_with_the_reason(context, address, tmp_path, text, said):
    tab = open_page(context, address)
    saved = keep(tab, FREQUENCIES)
    (tmp_path / "file.json").write_text(text)
    assert said in take_in(tab, tmp_path / "file.json")
    assert tab.evaluate("store.all('exercise')") == {FREQUENCIES: saved}
    assert tab.complaints == []


def test_of_a_damaged_export_the_sound_entries_come_in_and_the_others_are_named(context, address, tmp_path):
    tab = open_page(context, address)
    sound = {**ANSWER, "updated": "2026-01-01T00:00:00.000Z"}
    records = {
        "exercise": {
            FREQUENCIES: sound,
            "no.date": ANSWER,
            "bad.date": {**sound, "updated": "yesterday"},
            "bad.code": {**sound, "code": 3},
            "bad.answer": {**sound, "answer": ["x"]},
            "bad.record": None,
        },
        "challenge": {"break:5": {"tries": 1, "updated": sound["updated"]}},
        "prediction": {"bad.said": {"right": True, "text": "", "updated": sound["updated"]}},
        "quiz": {"bad.due": {"due": "soon", "box": 1, "updated": sound["updated"]}},
        "diary": {"x": sound},
    }
    made = {"format": "posenc-progress", "version": 1, "records": records}
    (tmp_path / "file.json").write_text(json.dumps(made))
    assert take_in(tab, tmp_path / "file.json") == (
        "One entry of the file was imported. These entries of the file could not be read, and were left out: "
        "exercise no.date, exercise bad.date, exercise bad.code, exercise bad.answer, exercise bad.record, "
        "challenge break:5, prediction bad.said, quiz bad.due, diary."
    )
    assert tab.evaluate("store.all('exercise')") == {FREQUENCIES: sound}


def test_an_id_that_no_exercise_has_stops_no_page(context, plain_address, tmp_path):
    tab = open_page(context, plain_address)
    records = {"exercise": {"02-the-formula": {**ANSWER, "updated": "2026-01-01T00:00:00.000Z"}}}
    made = {"format": "posenc-progress", "version": 1, "records": records}
    (tmp_path / "file.json").write_text(json.dumps(made))
    assert take_in(tab, tmp_path / "file.json") == "One entry of the file was imported."
    landing = open_page(context, plain_address, "book/index.html")
    assert tab.complaints == landing.complaints == []


def test_deletion_asks_first(context, address):
    tab = open_page(context, address)
    keep(tab, FREQUENCIES)
    for button, left in (("Cancel", 1), ("Delete everything", 0)):
        tab.get_by_role("button", name="Delete my work").click()
        assert tab.evaluate("document.activeElement.textContent") == "Cancel"
        tab.get_by_role("button", name=button).click()
        assert tab.locator(".posenc-dialog").is_hidden()
        assert len(tab.evaluate("store.all('exercise')")) == left
    assert opened(tab, FREQUENCIES).locator(".posenc-state").inner_text() == "○ Open"
    assert tab.locator(".posenc-work .posenc-said").inner_text() == "Your work is deleted."


def test_nothing_leaves_the_machine(context, address, tmp_path):
    tab = open_page(context, address)
    tab.wait_for_load_state("networkidle")  # the page's own scripts
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    keep(tab, FREQUENCIES)
    take_in(tab, export(tab, tmp_path / "work.json"))
    assert [url for url in asked if not url.startswith("blob:")] == []


@pytest.mark.parametrize("page", [PAGE, "book/review.html"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_the_pages_without_sideways_scrolling(newcomer, address, page, theme):
    tab = open_page(newcomer(viewport={"width": 360, "height": 800}, color_scheme=theme), address, page)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 360
