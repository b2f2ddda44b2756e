"""Phrases that sound translated do not come back to a page that has been read aloud, nor to a program.

A page is held once it is in `READ_ALOUD`. Only prose is looked at: no code, formulas, addresses or ids, and
nothing in quotation marks. Of programs, the texts that they show: messages, errors, labels, alt texts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.claims import QUOTED, ROOT
from tools.prose import prose

READ_ALOUD = (
    "book/index.md",
    "book/01-why-order-matters.md",
    "book/02-the-formula.md",
    "book/03-relative-position.md",
    "book/04-extrapolation.md",
    "book/05-pitfalls.md",
    "book/06-rotary.md",
    "book/07-alibi-and-biases.md",
    "book/08-long-context.md",
    "book/09-beyond-text.md",
    "book/10-position-from-content.md",
    "book/capstone.md",
    "book/claims.md",
    "book/lab.md",
    "book/measured.md",
    "book/play.md",
    "book/playground.md",
    "book/train-live.md",
    "book/challenges.md",
    "book/review.md",
    "book/progress.md",
    "book/self-check.md",
    "book/notation.md",
    "book/slips.md",
    "README.md",
    "SECURITY.md",
    "posenc_course/README.md",
    "book/glossary.md",
    "book/reading-paths.md",
    "book/instructors/certificates.md",
    "book/instructors/collect.md",
    "book/instructors/exchange.md",
    "book/instructors/export.md",
    "book/instructors/feedback.md",
    "book/instructors/grade.md",
    "book/instructors/index.md",
    "book/instructors/jupyterhub.md",
    "book/instructors/late-work.md",
    "book/instructors/own-exercises.md",
    "book/instructors/privacy.md",
    "book/instructors/regrade.md",
    "book/instructors/release.md",
    "book/instructors/set-up.md",
    "book/instructors/rubric.md",
    "book/instructors/teaching.md",
    "book/reference/added.md",
    "book/reference/attention.md",
    "book/reference/biased.md",
    "book/reference/catalogue.md",
    "book/reference/checking.md",
    "book/reference/checkpoints.md",
    "book/reference/comparison.md",
    "book/reference/index.md",
    "book/reference/nn.md",
    "book/reference/recipes.md",
    "book/reference/rotated.md",
    "book/reference/speed.md",
    "book/reference/start.md",
    "posenc_lib/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)

PROGRAMS = ("posenc_lib/**/*.py", "posenc_course/**/*.py", "book/web/src/words-*.js")
MARKUP = re.compile(r"<|\d(?:r?em|px)\b|\\")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class Phrase:
    """A pattern, what to write in its place, and a sentence that has it."""

    pattern: str
    better: str
    heard: str


NOUNS = "array|boolean|dict|file|function|grid|image|integer|number|part|rule|table|text|truth value|window"
COUNTS = "five|six|seven|eight|ten|twelve|twenty|thirty|forty|fifty|hundred|thousand"

PHRASES = (
    Phrase(r"(?<![\w.])\.\d", "a zero before the point: 0.35", "It saves .35 nats."),
    Phrase(
        r"(?<!there )\b(?:is|are|was|were) (?-i:none)\b",
        "is not one, is not for you; we found no ...",
        "A buffer is none.",
    ),
    Phrase(r"\btold from none\b", "may be nothing", "What is left is not told from none."),
    Phrase(r"\bby lot\b", "at random", "Its vectors are drawn by lot."),
    Phrase(
        rf"(?<!there )\b(?:is|are|was|were) no (?:{NOUNS})s?\b(?! at all)",
        "is not a, is not an, are not",
        "A string is no number.",
    ),
    Phrase(r"\bof today\b", "today's", "The models of today rotate."),
    Phrase(rf"\bsome (?:\d|{COUNTS})", "about 4", "Its largest score is some 4."),
    Phrase(
        r"\bst(?:ands?|ood) (?:at|on|before|behind|beside)\b", "is at, comes before", "A key stands at 3."
    ),
    Phrase(r"\bin the place of\b", "instead of, in place of", "It is in the place of a cause."),
    Phrase(r"\bleave (?:it|them|\w+=) away\b", "leave it out", "The key is unread; leave it away."),
    Phrase(
        r"[:;] [\w ]+ (?:are|is|was) asked for\.",
        "but ... was expected",
        "This is text: numbers are asked for.",
    ),
    Phrase(r"\bone (?:a|each per) (?:case|core|token)\b", "one per core", "There is one a core."),
    Phrase(r"\bnothing of (?!the (?:kind|sort)\b)", "none of, nothing from", "It knows nothing of the rise."),
    Phrase(r"\b(?:at|for|in|of|with) all that\b", "everything that", "The mean of all that came before."),
    Phrase(r"\banew\b", "again, from scratch", "It learns each row anew."),
    Phrase(r"\bwhoever\b", "anyone who, if you", "Whoever serves such a model decides first."),
    Phrase(r"\bat home\b", "at its trained length", "It is ahead at home."),
    Phrase(r"\bhangs? on\b", "depends on", "What lies between them hangs on the offset."),
    Phrase(r"\bso and so many\b", "a fixed number of", "A state has so and so many numbers."),
    Phrase(r"\bmend(?:s|ed|ing)?\b(?! a conversion)", "fix, repair", "A longer training mends it."),
    Phrase(r"\ban own\b", "its own, of its own", "Each layer has an own table."),
    Phrase(r"\bin how far\b", "how far, to what extent", "We ask in how far it helps."),
    Phrase(r"\bthan a half\b", "than half", "It gets less than a half."),
    Phrase(r"\bup to chance\b", "a matter of chance", "Where it points is up to chance."),
    Phrase(r"\bit is all one\b", "it makes no difference", "To a dot product it is all one."),
    Phrase(
        r"\b(?:is|are) to be (?:seen|had|heard|found|told)\b",
        "you can see, there is",
        "Little is to be seen.",
    ),
    Phrase(r"\bwithout(?=[.;:])", "without it", "It says what goes wrong without."),
    Phrase(
        r"\bbetter than somebody who guesses\b",
        "better than guessing",
        "It names letters better than somebody who guesses.",
    ),
    Phrase(
        r"\bso it (?:is|would be) (?:where|with|if)\b",
        "that is what happens where",
        "So it is where sines come first.",
    ),
    Phrase(r"\bwhat (?:else )?(?:may|can|must) one\b", "what can you", "What may one throw away?"),
    Phrase(r"\bwhich of them is it that\b", "which of the two does", "Which of them is it that holds?"),
    Phrase(r"\bbears? (?:long|the)\b", "does it no harm", "It bears long texts."),
    Phrase(r"\bshall\b", "should, will", "A model shall not care where a cat sits."),
    Phrase(r"\bfor want of\b", "because there is no", "It broke down, for want of memory."),
    Phrase(r"\bhave changed places\b", "are swapped", "Rows and columns have changed places."),
    Phrase(r"\bforetells?\b", "predict", "It foretells the next token."),
)


def spoken(text: str) -> Iterator[tuple[int, str]]:
    """The prose of a page with its lines, without what it quotes."""
    for line, piece in prose(re.sub(r"(?m)^:{4,}.*$", "", text)):
        yield line, QUOTED.sub("", " ".join(piece.split()))


def shown(program: Path) -> Iterator[tuple[int, str]]:
    """The texts of a program: strings of three words or more that are no docstrings, markup or patterns."""
    texts = _in_python if program.suffix == ".py" else _in_javascript
    for line, text in texts(program.read_text()):
        if len(text.split()) > 2 and not MARKUP.search(text):
            yield line, PLACEHOLDER.sub("0", re.sub("`[^`]*`", "", " ".join(text.split())))


def _in_python(code: str) -> Iterator[tuple[int, str]]:
    """A value in an f-string is a pair of braces; an expression on a line of its own is a docstring."""
    told: list[ast.AST] = [ast.parse(code)]
    while told:
        node = told.pop()
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            told += ast.iter_child_nodes(node)


def _in_javascript(code: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(code.splitlines(), 1):
        for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', line):
            yield number, found[1]


def accents(pieces: Iterable[tuple[int, str]]) -> list[str]:
    """Each phrase that is better said otherwise, with its line and the better form."""
    return [
        f"{line}: {found[0]!r}: write {phrase.better!r}"
        for line, piece in pieces
        for phrase in PHRASES
        for found in re.finditer(phrase.pattern, piece, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", READ_ALOUD)
def test_a_page_that_was_read_aloud_has_no_accent(page: str):
    found = accents(spoken((ROOT / page).read_text()))
    assert not found, "\n".join(found)


def test_what_a_program_says_has_no_accent():
    programs = [each for pattern in PROGRAMS for each in sorted(ROOT.glob(pattern))]
    found = [
        f"{program.relative_to(ROOT)}:{accent}" for program in programs for accent in accents(shown(program))
    ]
    assert not found, "\n".join(found)


def test_of_a_program_the_texts_that_it_shows_are_heard(tmp_path: Path):
    python, javascript = tmp_path / "a.py", tmp_path / "words-a.js"
    python.write_text(
        '"""It is drawn by lot."""\nx = 1  # it is drawn by lot\n'
        'raise ValueError(f"row {x} is drawn " "by lot")\ny = _("No text is by lot")\n'
    )
    javascript.write_text('export const words = {\n  a: _("It is drawn by lot."), // by lot\n};\n')
    assert [each.partition(":")[0] for each in accents(shown(python))] == ["4", "3"]
    assert [each.partition(":")[0] for each in accents(shown(javascript))] == ["2"]


def test_a_page_is_listed_once_and_is_there():
    assert len(set(READ_ALOUD)) == len(READ_ALOUD)
    assert [page for page in READ_ALOUD if not Path(ROOT / page).is_file()] == []


@pytest.mark.parametrize("phrase", PHRASES, ids=lambda phrase: phrase.heard)
def test_each_phrase_is_heard(phrase: Phrase):
    """In a sentence, and in a quiz, a box, a table and a list."""
    [found] = accents(spoken(phrase.heard))
    assert phrase.better in found
    for page in (
        f"::::{{div}} a-class\n{phrase.heard}\n::::",
        f"```{{predict}} a-box\n{phrase.heard}\n\n- [x] Yes.\n- [ ] No.\n```",
        f"```{{admonition}} A title\n:class: dropdown\n{phrase.heard}\n```",
        f"| a | b |\n|---|---|\n| c | {phrase.heard} |",
        f"- **{phrase.heard}**",
        phrase.heard.replace(" ", "\n"),
    ):
        assert len(accents(spoken(page))) == 1, page


@pytest.mark.parametrize(
    "text",
    [
        "`x = .5`",
        "$x = .5$",
        "```python\nx = .5  # drawn by lot\n```",
        "```{code-cell} ipython3\nx = .5\n```",
        "[a page](drawn-by-lot.md#whoever-reads)",
        'Somebody writes: "the models of today". Somebody else writes “.5”.',
        "% drawn by lot",
        "It is 0.5, and version 1.2.3 has none. There is none.",
        "It says nothing of the kind.",
    ],
)
def test_what_is_no_accent_is_not_heard(text: str):
    assert accents(spoken(text)) == []
