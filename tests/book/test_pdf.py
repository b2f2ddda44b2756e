"""The book on paper: one PDF with every chapter, its formulas drawn and its pages numbered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from book.chromium import ON_MAC
from tests.present import present

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
CHAPTERS = sorted((ROOT / "book").glob("[0-9][0-9]-*.md"))


@pytest.mark.skipif(ON_MAC.exists(), reason="there it is found without a PATH")
@pytest.mark.parametrize("named", [None, "/nowhere/chromium"], ids=["none", "named, and not there"])
def test_without_chromium_one_sentence_says_what_to_do(tmp_path, named):
    environment = {"PATH": "/nowhere"} | ({"CHROMIUM": named} if named else {})
    command = [sys.executable, "book/pdf.py", "--out", tmp_path / "book.pdf"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no Chromium was found; install it")
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def document(site, tmp_path_factory):
    root = site.parents[1]
    made = tmp_path_factory.mktemp("pdf") / "book.pdf"
    subprocess.run([sys.executable, "book/pdf.py", "--out", made], cwd=root, check=True)
    return PdfDocument(made)


def test_every_chapter_is_in_it_and_in_its_outline(document):
    wanted = [present(re.search(r"^# (.+)$", path.read_text(), re.MULTILINE))[1] for path in CHAPTERS]
    found = [entry.get_title() for entry in document.get_toc()]
    assert [title for title in wanted if title not in found] == []
    assert "Glossary" in found
    assert not {"Progress", "Playground"} & set(found)


@pytest.fixture(scope="module")
def texts(document):
    return [page.get_textpage().get_text_range() for page in document]


@pytest.mark.skipif(
    "POSENC_EVERY_EDITION" not in os.environ, reason="two minutes more; the weekly run sets it"
)
def test_the_chinese_book_is_chinese(site, tmp_path):
    made = tmp_path / "book.pdf"
    command = [sys.executable, "book/pdf.py", "--language", "zh_CN", "--out", made]
    subprocess.run(command, cwd=site.parents[1], check=True)
    document = PdfDocument(made)
    assert {"2. 公式", "术语表"} <= {entry.get_title() for entry in document.get_toc()}
    text = "".join(page.get_textpage().get_text_range() for page in document)
    assert len(re.findall("[\u4e00-\u9fff]", text)) > 80_000


def test_every_page_has_its_number(texts):
    for number, text in enumerate(texts, start=1):
        assert text.split()[-1] == str(number)


def test_formulas_are_drawn_and_nothing_waits_for_a_click(texts):
    text = "\n".join(texts)
    assert "\\omega" not in text
    assert "\\frac" not in text
    for only_on_screen in ("Show solution", "Hint 1", "Reset"):
        assert only_on_screen not in text
