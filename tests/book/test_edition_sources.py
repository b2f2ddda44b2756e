"""The sources of an edition: what is written anew, and what Sphinx has to read again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from book.catalogues import Coverage, compiled
from book.editions import forget_what_is_old, in_order, page_of_coverage, translated_page, write_sources
from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
CHINESE = "zh_CN"


@pytest.fixture
def small(tmp_path) -> Path:
    """A project of one page, with what it says in Chinese, and the stamp of an English build."""
    for name in ("_config.yml", "_toc.yml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "posenc_course" / "locale", tmp_path / "posenc_course" / "locale")
    for name in ("play", "site", "pictures"):
        to = tmp_path / "book" / "locale" / CHINESE / f"{name}.po"
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "book" / "locale" / CHINESE / f"{name}.po", to)
    shutil.copy(ROOT / "book" / "play.md", tmp_path / "book")
    (tmp_path / "_build").mkdir()
    (tmp_path / "_build" / "library.sha256").write_text("one")
    return tmp_path


def forgets(root: Path, tree: Path) -> bool:
    read = tree / "_build" / ".doctrees"
    read.mkdir(parents=True, exist_ok=True)
    forget_what_is_old(root, tree, CHINESE)
    return not read.exists()


def test_pages_are_read_again_where_what_extensions_put_into_them_is_another(small):
    tree = write_sources(small, CHINESE)
    assert forgets(small, tree), "of another build, perhaps"
    assert not forgets(small, tree)
    (small / "_build" / "library.sha256").write_text("two")
    assert forgets(small, tree)
    said = next((small / "posenc_course" / "locale" / CHINESE).glob("course.po"))
    said.write_text(said.read_text().replace("通过", "过关"))
    compiled(CHINESE, small)
    assert forgets(small, tree)
    assert not forgets(small, tree)


def test_a_page_keeps_its_date_until_it_changes_and_goes_with_its_source(small):
    page = write_sources(small, CHINESE) / "book" / "play.md"
    before = page.stat().st_mtime_ns
    write_sources(small, CHINESE)
    assert page.stat().st_mtime_ns == before
    (small / "book" / "play.md").unlink()
    write_sources(small, CHINESE)
    assert not page.exists()


def test_a_page_that_is_not_complete_says_so_below_its_title(small):
    catalogue = small / "book" / "locale" / CHINESE / "play.po"
    first, _, rest = catalogue.read_text().partition("\n\nmsgid ")
    kept = f"{first}\n\nmsgid {rest.partition(chr(10) * 2)[0]}\n"
    catalogue.write_text(kept)
    told = translated_page(small / "book" / "play.md", CHINESE, small, str)
    assert "passages of this page are not translated yet" in told
    assert told.index(":::{note}") < present(told.index("](")), "before the first link"


def test_a_page_of_docstrings_says_that_they_are_english_and_keeps_its_address():
    said, book = "described in English", ROOT / "book"
    told = translated_page(book / "reference" / "added.md", CHINESE, ROOT, str)
    _title, address, *_rest = told.splitlines()
    assert address.startswith("<!-- anchor: door-1-added-to-the-input ")
    assert said in told
    assert said not in translated_page(book / "play.md", CHINESE, ROOT, str)


def test_a_glossary_is_sorted_as_its_readers_look_for_words():
    glossary = "```{glossary}\n词元\ntoken\n  甲。\n\n偏置\nbias\n  乙。\n\nALiBi\n  丙。\n```\n"
    terms = [line for line in in_order(glossary, CHINESE).splitlines() if line in ("词元", "偏置", "ALiBi")]
    assert terms == ["ALiBi", "词元", "偏置"], "ciyuan before pianzhi"


def test_the_page_that_counts_adds_up():
    page = page_of_coverage([Coverage("book/a", 1, 1, 3), Coverage("book/b", 2, 0, 2)], str)
    assert "3 of 5 passages are translated." in page
    assert "| book/a | 1 | 1 | 3 |" in page
