"""Every source can be found: who, when, and under which DOI or arXiv id; every citation has its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it.token import Token
from pybtex.database import Entry, parse_file

from tests.present import present
from tools.claims import PARSER, ROOT, quiz

BOOK = ROOT / "book"
SOURCES: dict[str, Entry] = dict(parse_file(str(BOOK / "references.bib")).entries)
PAGES = [path for path in sorted(BOOK.rglob("*.md")) if "node_modules" not in path.parts]

DOI = re.compile(r"10\.\d{4,9}/[^\s{}]+")
ARXIV = re.compile(r"https://arxiv\.org/abs/(?P<year>\d\d)(?P<month>0[1-9]|1[0-2])\.\d{4,5}")
WITHOUT_ID = {"techreport", "online", "software"}  # what only its own page publishes
PROCEEDINGS = "https://papers.nips.cc/"
"""Whose papers have no doi, and need not have been on arXiv."""


def slip(entry: Entry) -> str | None:
    """What an entry lacks, or None."""
    fields = entry.fields
    if not entry.persons.get("author"):
        return "it has no author"
    if not fields.get("title"):
        return "it has no title"
    if not re.fullmatch(r"(19|20)\d\d", fields.get("year", "")):
        return "its year is not four digits"
    if "doi" in fields and not DOI.fullmatch(fields["doi"]):
        return "its doi is not of the form 10.1234/abc, without the address of a site"
    url = fields.get("url", "")
    arxiv = ARXIV.fullmatch(url)
    if "arxiv.org" in url and not arxiv:
        return "its arXiv address is not of the form https://arxiv.org/abs/1706.03762"
    if arxiv and not -1 <= int(fields["year"]) - (2000 + int(arxiv["year"])) <= 3:
        return "its year and that of its arXiv id are far apart"
    own_page = url.startswith("https://" if entry.type in WITHOUT_ID else PROCEEDINGS)
    if not (arxiv or "doi" in fields or own_page):
        return "it has neither a doi nor an arXiv address"
    return None


@pytest.mark.parametrize("key", SOURCES)
def test_a_source_can_be_found(key):
    assert slip(SOURCES[key]) is None, f"{key}: {slip(SOURCES[key])}"


def test_no_source_stands_twice():
    for name in ("doi", "url", "title"):
        counted = Counter(entry.fields[name].lower() for entry in SOURCES.values() if name in entry.fields)
        assert [value for value, times in counted.items() if times > 1] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(BOOK)))
def test_each_citation_has_its_source(page):
    assert [key for key in cited(page.read_text()) if key not in SOURCES] == []


def test_each_source_is_listed():
    listed = (BOOK / "references.md").read_text()
    assert re.search(r"```\{bibliography\}\n:all:\n```", listed)


def cited(text: str) -> Iterator[str]:
    """The keys that a page cites, those of its boxes and quizzes too."""
    for token in PARSER.parse(text):
        for child in token.children or []:
            if child.type == "myst_role" and child.meta["name"].startswith("cite"):
                yield from (key.strip() for key in child.content.split(","))
        if token.type in ("fence", "colon_fence"):
            yield from _cited_in_directive(token)


def _cited_in_directive(fence: Token) -> Iterator[str]:
    if fence.info.startswith("{quiz}"):
        for question in quiz.read_questions(fence.content):
            for text in (question.question, *(t for o in question.options for t in (o.answer, o.feedback))):
                yield from cited(text)
    elif fence.info.startswith("{") and not fence.info.startswith("{code-cell}"):
        yield from cited(fence.content)


GOOD = {
    "author": "Doe, Jane",
    "title": "A title",
    "year": "2021",
    "url": "https://arxiv.org/abs/2104.09864",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, None),
        ({"url": None, "doi": "10.18653/v1/N19-1423"}, None),
        ({"author": None}, "author"),
        ({"title": None}, "title"),
        ({"year": None}, "year"),
        ({"year": "21"}, "year"),
        ({"year": "2012"}, "far apart"),
        ({"url": None}, "neither"),
        ({"url": "https://example.org/paper.pdf"}, "neither"),
        ({"url": "https://arxiv.org/pdf/2104.09864"}, "arXiv address"),
        ({"url": "https://arxiv.org/abs/2113.09864"}, "arXiv address"),
        ({"doi": "https://doi.org/10.18653/v1/N19-1423"}, "doi"),
    ],
)
def test_a_slip_in_an_entry_is_seen(tmp_path: Path, change, said):
    fields = {name: value for name, value in (GOOD | change).items() if value}
    written = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    (tmp_path / "a.bib").write_text(f"@misc{{key,\n{written}\n}}\n")
    [entry] = parse_file(str(tmp_path / "a.bib")).entries.values()
    assert (slip(entry) is None) if said is None else said in present(slip(entry))


def test_citations_are_found_wherever_they_stand():
    text = "{cite}`a`\n\n```{note}\n- {cite:t}`b, c`\n```\n\n| x |\n|---|\n| {cite}`d` |\n\n`{cite}`\n"
    assert list(cited(text)) == ["a", "b", "c", "d"]
