"""Nothing that a learner wrote runs where others read it: our pages, nbgrader's, Formgrader, JupyterLab."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from playwright.sync_api import Browser, Dialog, Page, Request

from posenc_course.grading.handed_back.safe_html import WORD_JOINER, inert
from tests.grading.class_fixtures import CHAPTER, Class, new_class

pytestmark = pytest.mark.slow

ELSEWHERE = "http://elsewhere.invalid"
HIT = f"top.hit=1;window.hit=1;new Image().src='{ELSEWHERE}/hit'"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SVG = f"<svg xmlns='http://www.w3.org/2000/svg'><script>{HIT}</script><circle r='9' onload=\"{HIT}\"/></svg>"

AT_ONCE = {
    "script": f"<script>{HIT}</script>",
    "upper case": f"<SCRIPT >{HIT}</SCRIPT\n>",
    "in a paragraph": f"text <script>{HIT}</script> text",
    "from elsewhere": f"<script src={ELSEWHERE}/x.js></script>",
    "module": f"<script type=module>{HIT}</script>",
    "picture": f'<img src=x onerror="{HIT}">',
    "slashes": f'<img/src=x/onerror="{HIT}">',
    "line breaks": f'<img\nsrc=x\nonerror="{HIT}">',
    "unclosed": f'<img src=x onerror="{HIT}" ',
    "svg": f'<svg onload="{HIT}">',
    "svg animation": f'<svg><animate onbegin="{HIT}" attributeName=x dur=1s>',
    "body": f'<body onload="{HIT}">',
    "details": f'<details open ontoggle="{HIT}"><summary>x</summary></details>',
    "iframe": f"<iframe srcdoc=\"<script>{HIT}</script>\"></iframe>",
    "iframe of javascript": f'<iframe src="javascript:{HIT}"></iframe>',
    "object": f'<object data="data:text/html,<script>{HIT}</script>"></object>',
    "embed": f'<embed src="javascript:{HIT}">',
    "video": f'<video><source onerror="{HIT}"></video>',
    "audio": f'<audio src=x onerror="{HIT}"></audio>',
    "focus": f'<input autofocus onfocus="{HIT}">',
    "marquee": f'<marquee onstart="{HIT}">x</marquee>',
    "style": f"<style>@import '{ELSEWHERE}/x.css';</style><p style=\"background:url({ELSEWHERE}/y)\">x</p>",
    "stylesheet": f'<link rel=stylesheet href="{ELSEWHERE}/x.css">',
    "refresh": f'<meta http-equiv=refresh content="0;url={ELSEWHERE}">',
    "base": f'<base href="{ELSEWHERE}/">',
    "comment": f"<!--> <img src=x onerror=\"{HIT}\"> -->",
    "declaration": f"<?xml <img src=x onerror=\"{HIT}\"> ?>",
    "cdata": f"<![CDATA[<img src=x onerror=\"{HIT}\">]]>",
    "noscript": f'<noscript><p title="</noscript><img src=x onerror=\'{HIT}\'>">',
    "textarea": f"</textarea></pre></div></body><script>{HIT}</script>",
    "math": f"$<img src=x onerror=\"{HIT}\">$ $$</script><script>{HIT}</script>$$",
    "mathml": f'<math><mtext></form><form><mglyph><style></math><img src onerror="{HIT}">',
    "tex": r"$\href{javascript:hit=1}{x} \style{x}{y} \cssId{\"><img src=x onerror=hit=1>}{z} \require{a}$",
    "mermaid": f'```mermaid\n<img src=x onerror="{HIT}">\n```',
    "fence": f'```"><img/src=x/onerror="{HIT}">\nx\n```',
    "code": f'`</code><img src=x onerror="{HIT}">`',
    "heading": f'# <img src=x onerror="{HIT}">',
    "table": f'| <img src=x onerror="{HIT}"> | b |\n|---|---|\n| 1 | 2 |',
    "title": f"[x](https://x.invalid '\"><img src=x onerror=\"{HIT}\">')",
    "remote picture": f"![p]({ELSEWHERE}/p.png) ![q][r] ![r]\n\n[r]: {ELSEWHERE}/r.png",
    "remote picture in a link": f"[![p]({ELSEWHERE}/p.png)]({ELSEWHERE})",
    "missing attachment": "![x](attachment:none.png)",
    "attached svg": "![x](attachment:x.svg)",
    "attached text": "![x](attachment:x.png)",
    "harmless tags": f'<b onmouseover="{HIT}">x</b> <details open=1 ontoggle="{HIT}">x</details>',
}  # fmt: skip
ON_CLICK = {
    "link": f"[x](javascript:{HIT})",
    "upper case": "[x](JaVaScRiPt:hit=1)",
    "entities": "[x](java&#115;cript:hit=1) [y](javascript&colon;hit=1) [z](java&Tab;script&NewLine;:hit=1)",
    "reference": "[x][r]\n\n[r]: javascript:hit=1",
    "reference on the next line": "[x][s]\n\n[s]:\n  javascript:hit=1",
    "angle brackets": "[x](<javascript:hit=1>) <javascript:hit=1>",
    "data": f"[x](data:text/html,<script>{HIT}</script>)",
    "vbscript": "[x](vbscript:hit)",
    "anchor": '<a href="javascript:hit=1">x</a>',
    "form": '<form action="javascript:hit=1"><button>x</button></form>',
}
PRINTS = r"""
from IPython.display import display
print('<script>hit=1</script> \x1b[31m<img src=x onerror="hit=1">\x1b[0m')
forms = {
    "text/html": '<img src=x onerror="hit=1">',
    "image/svg+xml": "<svg onload=hit=1>",
    "text/markdown": "<script>hit=1</script>",
    "application/javascript": "hit=1",
    "text/latex": r"$\href{javascript:hit=1}{x}$<img src=x onerror=hit=1>",
    "text/plain": "<img src=x onerror=hit=1>",
}
for form, text in forms.items():
    display({form: text}, raw=True)
raise ValueError('<img src=x onerror="hit=1">')
"""
WRONG = 'def frequencies(dim):\n    raise ValueError("<img src=x onerror=hit=1>" * 3)'
HONEST = """## My thoughts

**bold**, *leaning*, ~~gone~~, `x < y` and `a<b`, a [link](https://example.org/a?b=1&c=2).

- one
- two

| a | b |
|---|---|
| 1 | 2 |

With $e^{i\\theta} < 2$ it turns: ![image.png](attachment:my%20image.png)

<details><summary>Hint 1</summary>Fold out.</details>

```python
if a<b: print("&")
```
"""


def hostile(work: Class) -> nbformat.NotebookNode:
    notebook = work.solved(frequencies=WRONG)
    attached = {
        "x.svg": {"image/svg+xml": SVG},
        "x.png": {"image/png": f'"><img src=x onerror="{HIT}">', "text/html": f"<script>{HIT}</script>"},
    }
    for source in (*AT_ONCE.values(), *ON_CLICK.values()):
        cell = new_markdown_cell(source)
        if "attachment:x" in source:
            cell.attachments = attached
        notebook.cells.append(cell)
    notebook.cells += [
        new_raw_cell(AT_ONCE["script"], metadata={"raw_mimetype": "text/html"}),
        new_raw_cell(AT_ONCE["picture"]),
        new_code_cell(PRINTS),
        new_code_cell(
            f"%%javascript\n{HIT}", metadata={"magics_language": "javascript", "tags": ["<script>"]}
        ),
    ]
    notebook.metadata.title = f"</title><script>{HIT}</script>"
    notebook.metadata.kernelspec.display_name = f"<script>{HIT}</script>"
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"x": "</script><script>hit=1"}}
    return notebook


@pytest.fixture(scope="module")
def work(released, tmp_path_factory) -> Class:
    one = new_class(released, tmp_path_factory.mktemp("class"))
    one.hand_in("mallory", hostile(one))
    beside = one.submitted("mallory").parent
    for name in ("page.html", "page.HTM", "picture.svg", "page.xhtml", "page.xml", "plan"):
        (beside / name).write_text(SVG if "svg" in name else f"<script>{HIT}</script>")
    (beside / "data.csv").write_text("1,2")
    honest = one.solved()
    honest.cells.append(new_markdown_cell(HONEST, attachments={"my image.png": {"image/png": PIXEL}}))
    one.hand_in("ada", honest)
    one.posenc("grade", CHAPTER)
    return one


@contextlib.contextmanager
def watched(browser: Browser, allowed: str = "data:") -> Iterator[Page]:
    """A page that asks nobody but `allowed` for anything, and runs nothing of what a learner wrote."""
    context = browser.new_context()
    context.set_default_timeout(180_000)
    page = context.new_page()
    asked: list[Request] = []
    said: list[str] = []
    context.on("request", lambda request: asked.append(request))

    def hear(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    context.on("dialog", hear)
    yield page
    page.wait_for_timeout(500)
    assert not page.evaluate("window.hit")
    assert not said
    # What the policy stopped was not asked for; but nothing of a learner's gets as far as that.
    others = [each for each in asked if not each.url.startswith((allowed, "data:", "about:"))]
    assert not [each.url for each in others if each.failure != "csp" or ELSEWHERE in each.url]
    context.close()


def click_everything(page: Page) -> None:
    """Links of the text that lead to no other page."""
    for target in page.eval_on_selector_all("#notebook a[href]", "all => all.map(each => each.href)"):
        assert target.startswith(("http", "mailto:", "file:")), target


def open_feedback(work: Class, browser: Browser, student: str) -> str:
    path = work.root / "course" / "feedback" / student / CHAPTER / f"{CHAPTER}.html"
    with watched(browser, path.as_uri()) as page:
        page.goto(path.as_uri())
        click_everything(page)
        assert page.locator("#toc").count() == 1
        return page.inner_text("body")


HAVE_THEIR_EFFECT = ("script", "picture", "svg", "details", "heading")


def test_without_care_these_texts_do_run(browser):
    """What the other tests rely on: the same cells, in nbconvert's own page, have their effect."""
    hits = []
    with contextlib.closing(browser.new_context(offline=True)) as context:
        context.set_default_timeout(180_000)
        page = context.new_page()
        for name in ("script", "picture", "svg", "details", "heading", "mermaid", "tex"):
            notebook = nbformat.v4.new_notebook(cells=[new_markdown_cell(AT_ONCE[name])])
            page.goto("about:blank")  # a new window, which no text before has touched
            page.set_content(HTMLExporter(template_name="basic").from_notebook_node(notebook)[0])
            if name in HAVE_THEIR_EFFECT:
                page.wait_for_function("window.hit")
            else:
                page.wait_for_timeout(200)
            if page.evaluate("window.hit"):
                hits.append(name)
    assert tuple(hits[:5]) == HAVE_THEIR_EFFECT


def test_pages_of_posenc_grade(work, browser):
    text = open_feedback(work, browser, "mallory")
    assert "<script>" in text  # it is read
    assert f"{ELSEWHERE}/p.png" in text


def test_an_honest_text_reads_well(work, browser):
    path = work.root / "course" / "feedback" / "ada" / CHAPTER / f"{CHAPTER}.html"
    with watched(browser, path.as_uri()) as page:
        page.goto(path.as_uri())
        assert page.get_by_role("heading", name="My thoughts").count() == 1
        assert page.locator("strong", has_text="bold").count() == 1
        assert page.locator("code", has_text="a<b").first.inner_text() == "a<b"
        assert page.get_by_role("cell", name="2", exact=True).count() == 1
        assert page.locator("a[href='https://example.org/a?b=1&c=2']").count() == 1
        picture = page.locator("img[alt='image.png']")
        assert picture.evaluate("each => each.naturalWidth") == 1
        hint = page.locator("details", has_text="Fold out").last
        hint.locator("summary").click()
        assert hint.evaluate("each => each.open")
        assert "10000^{-2i" in page.inner_text("body") or page.locator("math").count() > 3


def test_any_renderer_finds_nothing_to_run(work, browser, tmp_path):
    """nbconvert's own page of the autograded notebook, which cares for nothing and has no policy."""
    notebook = work.autograded("mallory")
    for template in ("basic", "classic", "lab"):
        page = HTMLExporter(template_name=template).from_notebook_node(notebook)[0]
        path = tmp_path / f"{template}.html"
        path.write_text(page)
        context = browser.new_context()
        asked: list[str] = []
        context.on("request", lambda request, asked=asked: asked.append(request.url))
        tab = context.new_page()
        tab.route(lambda url: "cdnjs" in url or "unpkg" in url, lambda route: route.abort())
        tab.goto(path.as_uri())
        click_everything(tab)
        assert not tab.evaluate("window.hit")
        assert not [each for each in asked if "elsewhere" in each or "hit" in each]
        context.close()


def test_nbgraders_own_pages_and_formgrader(work, browser):
    """As the instructor's pages say: autograde, generate_feedback, Formgrader; and a mark is given there."""
    work.nbgrader("autograde", CHAPTER, "--student", "mallory", "--force")
    work.nbgrader("generate_feedback", CHAPTER, "--force")
    assert "<script>" in open_feedback(work, browser, "mallory")
    open_feedback(work, browser, "ada")
    folder = work.root / "course" / "autograded" / "mallory" / CHAPTER
    copied = sorted(each.name for each in folder.iterdir())
    assert copied == sorted(
        [f"{CHAPTER}.ipynb", "data.csv", "page.HTM.txt", "page.html.txt", "page.xhtml.txt", "page.xml.txt",
         "picture.svg.txt", "plan.txt"]
    )  # fmt: skip
    with work.gradebook() as gradebook:
        [of_mallory] = gradebook.find_submission(CHAPTER, "mallory").notebooks
        submission = of_mallory.id
    with jupyter(work) as address:
        with watched(browser, address) as page:
            page.goto(f"{address}/login?token=t&next=/api")
            page.goto(f"{address}/formgrader/submissions/{submission}/")
            page.wait_for_selector("input.score[placeholder]")  # the marks are there
            click_everything(page)
            assert "<script>" in page.inner_text("#notebook")
            # Formgrader itself works under the policy.
            page.locator(".name-hidden.glyphicon").click()
            assert page.locator("a.name-shown").inner_text().strip() == "mallory"
            score = page.locator("input.score").first
            score.fill("1.25")
            with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
                score.press("Tab")
            assert saved.value.ok
            for name in copied:
                answer = page.request.get(f"{address}/formgrader/submissions/{submission}/{name}")
                assert answer.ok
                assert answer.headers["content-type"].partition(";")[0] in (
                    "text/plain",
                    "text/csv",
                    "application/octet-stream",
                )
                assert answer.headers["x-content-type-options"] == "nosniff"
        with watched(browser, address) as page:
            page.goto(f"{address}/lab/tree/course/autograded/mallory/{CHAPTER}/{CHAPTER}.ipynb?token=t")
            page.wait_for_selector(".jp-MarkdownOutput")
    with work.gradebook() as gradebook:
        [of_mallory] = gradebook.find_submission(CHAPTER, "mallory").notebooks
        assert 1.25 in [grade.manual_score for grade in of_mallory.grades]


@contextlib.contextmanager
def jupyter(work: Class) -> Iterator[str]:
    """A Jupyter server in the course's folder, with JupyterLab and Formgrader, as an instructor starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}",
         "--ServerApp.port_retries=0", "--IdentityProvider.token=t", "--LabApp.news_url=None",
         "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
        cwd=work.root, env=os.environ | {"JUPYTER_CONFIG_DIR": str(work.root / ".jupyter")},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _attempt in range(3000):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}/api?token=t", timeout=5).close()
                break
            time.sleep(0.1)
        yield address
    finally:
        server.kill()  # Told to end, it would wait for its kernels, which end with it.
        server.wait()


@pytest.mark.parametrize("source", [*AT_ONCE.values(), *ON_CLICK.values(), HONEST])
def test_inert_again_is_the_same_as_once(source):
    once = inert(source)
    assert inert(once) == once


@pytest.mark.parametrize(
    "text",
    [r"$\mmlToken{mi}[href='javascript:x']{y}$", r"$\bbox[background:url(http://elsewhere.invalid/y)]{x}$"],
)
def test_formulas_make_no_links_and_load_nothing(text):
    assert inert(text) == text.replace("\\", "\\" + WORD_JOINER)
