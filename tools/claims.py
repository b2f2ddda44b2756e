"""No claim without its cell: the sentences of a chapter that state a number which nothing backs.

    python -m tools.claims [PAGE ...]

lists them, for the pages named or for all that state results. CONTRIBUTING.md tells authors the rule.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "book" / "_ext"))

import quiz as quiz  # noqa: E402

PARSER = create_md_parser(
    MdParserConfig(enable_extensions={"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"}),
    RendererHTML,
)
WITH_PROSE = {
    *("admonition", "attention", "caution", "chapter-card", "danger", "div", "dropdown", "error", "figure"),
    *("hint", "important", "live-figure", "margin", "note", "seealso", "side-trip", "sidebar", "tip"),
    *("topic", "two-orders", "warning"),
}
WITH_A_NAME = {"chapter-card", "div", "side-trip"}
"""Whose argument is a name, where those of others are titles."""
WITHOUT_PROSE = {
    "bibliography",
    "code-block",
    "exercise",
    "glossary",
    "predict",
    "raw",
    "toctree",
    "hero-picture",
    "lab",
    "named-mistake",
    "trained-here",
    "ways-in",
    "what-is-left",
    "your-sentence",
}
OPENING = "the opening"  # what stands before the first `##` announces, as Take-away repeats
BACKED_BY_WHOLE_PAGE = {OPENING, "Take-away"}


@dataclass(frozen=True)
class Place:
    """Where a piece of prose stands, as far as the rule cares."""

    section: str
    whole_page: bool = False
    quotes_are_exempt: bool = False
    given: frozenset[Decimal] = frozenset()


@dataclass(frozen=True)
class Claim:
    """A sentence that states numbers, each with the values that may be written so: 50% is 0.5 as well."""

    line: int
    sentence: str
    numbers: dict[str, set[Decimal]]
    place: Place
    cited: bool
    chapters: tuple[str, ...]  # that it links to


@dataclass(frozen=True)
class Finding:
    line: int
    problem: str
    where: str

    def __str__(self) -> str:
        return f"{self.line}: {self.problem}: {self.where}"


@dataclass
class Page:
    claims: list[Claim] = field(default_factory=list)
    asserted: dict[str, set[Decimal]] = field(default_factory=dict)  # by section
    slips: list[Finding] = field(default_factory=list)  # of the markup

    def everything_asserted(self) -> set[Decimal]:
        return set[Decimal]().union(*self.asserted.values())


def unbacked(path: Path) -> list[Finding]:
    """The sentences that state a number which nothing backs, and slips in the markup that ties the two."""
    page = read(path)
    findings = list(page.slips)
    for claim in page.claims:
        missing = [] if claim.cited else _missing(claim, page, path.parent)
        if missing:
            findings.append(Finding(claim.line, f"nothing backs {', '.join(missing)}", claim.sentence))
    return sorted(findings, key=lambda finding: finding.line)


def _missing(claim: Claim, page: Page, folder: Path) -> list[str]:
    whole = claim.place.whole_page or claim.place.section in BACKED_BY_WHOLE_PAGE
    known = page.everything_asserted() if whole else page.asserted.get(claim.place.section, set())
    for chapter in claim.chapters:
        if (folder / chapter).is_file():  # Sphinx tells of a dead link
            known = known | read(folder / chapter).everything_asserted()
    known = known | claim.place.given | EVERYDAY
    return [written for written, values in claim.numbers.items() if not values & known]


def read(path: Path) -> Page:
    reader = _Reader()
    reader.markdown(path.read_text(), line=1, place=Place(OPENING))
    return reader.page


# From Markdown to sentences.


class _Reader:
    def __init__(self) -> None:
        self.page = Page()
        self.section = OPENING

    def markdown(self, text: str, line: int, place: Place) -> None:
        self._blocks(PARSER.parse(text), line, place)

    def _blocks(self, tokens: list[Token], line: int, place: Place) -> None:
        """Read blocks of one level. `line` is the one that their text starts in, in the file."""
        comment: Token | None = None
        for block in _groups(tokens):
            here = replace(place, section=self.section)
            if comment:
                self._block_with_given(comment, block, line, here)
                comment = None
            elif _is_given(block[0]):
                comment = block[0]
            else:
                self._block(block, line, here)
        if comment:
            self._slip(line + _line(comment), "nothing follows this comment", "% given")

    def _block_with_given(self, comment: Token, block: list[Token], line: int, place: Place) -> None:
        given = {v for values in _numbers_of_text(_given_text(comment)).values() for v in values}
        before = len(self.page.claims)
        self._block(block, line, replace(place, given=place.given | given))
        stated = {
            v for claim in self.page.claims[before:] for values in claim.numbers.values() for v in values
        }
        for number in sorted(given - stated):
            self._slip(line + _line(comment), f"the block below does not state {number}", "% given")

    def _block(self, block: list[Token], line: int, place: Place) -> None:
        first = block[0]
        if first.type == "heading_open":
            if first.tag == "h2":
                self.section = block[1].content
        elif first.type in ("fence", "colon_fence"):
            self._fence(first, line + _line(first) + 1, place)
        elif first.type == "table_open":
            for row in _rows(block):
                self._sentence(_flat(row), line + _line(row[0]), place)
        elif first.type in ("math_block", "math_block_label", "amsmath"):
            self._sentence(Flat(MATH, (first.content,)), line + _line(first), place)
        elif first.type == "inline":
            self._sentences(_flat([first]), line + _line(first), place)
        else:
            self._blocks(block[1:-1], line, place)

    def _fence(self, fence: Token, line: int, place: Place) -> None:
        directive = re.fullmatch(r"\{([\w-]+)\}\s*(.*)", fence.info.strip())
        if not directive:
            return  # code to look at
        name, title = directive.groups()
        body, options = _after_options(fence.content)
        line += options
        if name == "code-cell":
            self.page.asserted.setdefault(self.section, set()).update(asserted_numbers(body))
        elif name == "quiz":
            self._quiz(body, line, replace(place, whole_page=True))
        elif name == "math":
            self._sentence(Flat(MATH, (body,)), line, place)
        elif name in WITH_PROSE:
            self.markdown(body, line, replace(place, quotes_are_exempt=title.startswith("Spot the error")))
        elif name not in WITHOUT_PROSE:
            self._slip(line, "tools/claims.py does not know whether this holds prose; tell it", f"{{{name}}}")

    def _quiz(self, body: str, line: int, place: Place) -> None:
        """Questions ask and wrong answers are wrong; right answers and all feedback state."""
        for question in quiz.read_questions(body):
            for option in question.options:
                stated = [option.answer] if option.right else []
                for text in [*stated, option.feedback]:
                    self.markdown(text, line + option.line, place)

    def _sentences(self, flat: Flat, line: int, place: Place) -> None:
        start = 0
        for end in [*(found.end() for found in SENTENCE_END.finditer(flat.text)), len(flat.text)]:
            self._sentence(flat[start:end], line + flat.text[:start].count("\n"), place)
            start = end

    def _sentence(self, flat: Flat, line: int, place: Place) -> None:
        text = flat.text
        if text.rstrip('"”)* \n').endswith("?"):
            return
        if place.quotes_are_exempt:
            text = QUOTED.sub("", text)
        if self.section in (OPENING, "Exercises"):
            text = MINUTES.sub("", text)
        numbers = _numbers_of_text(text)
        for formula in flat.held(MATH):
            numbers |= _numbers_of_formula(formula)
        if numbers:
            cited, chapters = bool(flat.held(CITED)), flat.held(CHAPTER)
            self.page.claims.append(Claim(line, flat.readable(), numbers, place, cited, chapters))

    def _slip(self, line: int, problem: str, where: str) -> None:
        self.page.slips.append(Finding(line, problem, where))


def _groups(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each outermost block."""
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _rows(table: list[Token]) -> Iterator[list[Token]]:
    """The cells of each row of the body, without the first: it names what the others are about."""
    heads = sum(token.type == "thead_close" for token in table)
    rows = [i for i, token in enumerate(table) if token.type == "tr_open"]
    for start, end in zip(rows[heads:], [*rows[heads + 1 :], len(table)], strict=True):
        cells = [token for token in table[start:end] if token.type == "inline"]
        if len(cells) > 1:
            yield cells[1:]


def _after_options(body: str) -> tuple[str, int]:
    """A directive's text without its options, and the number of lines that they take."""
    lines = body.splitlines()
    options = next((i for i, each in enumerate(lines) if not re.match(r":[\w-]+:", each)), len(lines))
    return "\n".join(lines[options:]), options


def _line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _is_given(token: Token) -> bool:
    return token.type == "myst_line_comment" and token.content.strip().startswith("given:")


def _given_text(comment: Token) -> str:
    return comment.content.strip().removeprefix("given:")


# A paragraph as flat text, in which one sign stands for each piece that is no text.

CODE, MATH, CITED, CHAPTER = "\ue000\ue001\ue002\ue003"
SIGN = re.compile(f"[{CODE}{MATH}{CITED}{CHAPTER}]")
SENTENCE_END = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<!\bal\.)(?:(?<=[.!?])|(?<=[.!?][\"”)*]))\s+")


@dataclass(frozen=True)
class Flat:
    text: str = ""
    pieces: tuple[str, ...] = ()  # one for each sign

    def __add__(self, other: Flat) -> Flat:
        return Flat(self.text + other.text, self.pieces + other.pieces)

    def __getitem__(self, span: slice) -> Flat:
        before, within = (len(SIGN.findall(part)) for part in (self.text[: span.start], self.text[span]))
        return Flat(self.text[span], self.pieces[before : before + within])

    def held(self, sign: str) -> tuple[str, ...]:
        signs = SIGN.findall(self.text)
        return tuple(piece for each, piece in zip(signs, self.pieces, strict=True) if each == sign)

    def readable(self) -> str:
        left = iter(self.pieces)
        return " ".join(SIGN.sub(lambda _: next(left), self.text).split())


def _flat(tokens: list[Token]) -> Flat:
    flat = Flat()
    for token in tokens:
        if token.type == "inline":
            flat += _flat(token.children or []) + Flat(" ")
        elif token.type == "text":
            flat += Flat(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            flat += Flat("\n")
        elif token.type.startswith("math_inline"):
            flat += Flat(MATH, (token.content,))
        elif token.type == "myst_role":
            flat += Flat(CITED if token.meta["name"].startswith("cite") else CODE, (token.content,))
        elif token.type == "link_open":
            target = str(token.attrs["href"]).partition("#")[0]
            if re.fullmatch(r"([0-9]{2}-[a-z0-9-]+|measured|slips)\.md", target):
                flat += Flat(CHAPTER, (target,))
            elif target.startswith(("https://", "http://")):
                flat += Flat(CITED, (target,))
        elif token.type == "code_inline":
            flat += Flat(CODE, (token.content,))
    return flat


# Numbers.

EVERYDAY = {Decimal(0), Decimal(1), Decimal(2)}
WITH_DIGITS_AND_NO_NUMBER = re.compile(
    r"\b\d+(?:\.\d+){2,}"  # a version: 5.23.0
    r"|(?<!\d)[^\W\d]+-?\d[\w.]*\b"  # a name: float32, GPT-2
    r"|\b(?:Llama|NumPy|Python|PyTorch) \d+(?:\.\d+)*\b"
    r"|\b(?:appendix|chapter|door|equation|error|figure|goal|item|line|section|step|table|way)s?"
    r" \d\d?(?:\.\d+)*(?:(?:,| and| or| to) \d\d?(?:\.\d+)*)*\b"
    r"|\b(?:in|since|until) 20[12]\d\b",  # a year
    re.IGNORECASE,
)
MINUTES = re.compile(
    r"\b\d+ (?:to \d+ )?minutes\b|\b\d+ more with the side\b|\babout \d+ for the\b"
)  # test_front_matter.py compares them with the exercises' own
QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
NUMBER = re.compile(
    r"(?<![\w.])(?P<power>10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?<![\w.])(?P<plain>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?)(?P<percent>\s?%)?"
)
UP = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")

# A formula states what stands alone behind a relation, and any decimal fraction. `d = 512` sets a number.
RELATION = re.compile(r"=|<|>|\\(?:approx|simeq|sim|leq?|geq?|lt|gt|ll|gg)(?![a-z])")
ALONE = re.compile(r"[\s&-]*(?P<number>\d+(?:\.\d+)?|10\^\{?-?\d+\}?)\s*(?P<percent>\\%)?\s*(?:[.,;]|\\|$)")
SYMBOL = re.compile(r"[\s(]*\\?[A-Za-z]+(?:_\{?\\?[A-Za-z]+(?:\{[A-Za-z ]+\})?\}?)?\s*")
FRACTION = re.compile(r"\d+\.\d+")


def _numbers_of_text(text: str) -> dict[str, set[Decimal]]:
    numbers = {}
    for found in NUMBER.finditer(WITH_DIGITS_AND_NO_NUMBER.sub("", text)):
        if found["power"]:
            values = {Decimal(10) ** int(found["power"][2:].translate(UP))}
        else:
            values = _with_percent(Decimal(found["plain"].replace(",", "")), found["percent"])
        numbers[found[0].strip()] = values
    return numbers


def _numbers_of_formula(formula: str) -> dict[str, set[Decimal]]:
    formula = formula.replace("{,}", "")
    numbers = {written: {Decimal(written)} for written in FRACTION.findall(formula)}
    left = 0
    for relation in RELATION.finditer(formula):
        found = ALONE.match(formula, relation.end())
        sets_it = relation[0] == "=" and SYMBOL.fullmatch(formula, left, relation.start())
        if found and not sets_it:
            written = found["number"]
            power = re.fullmatch(r"10\^\{?(-?\d+)\}?", written)
            value = Decimal(10) ** int(power[1]) if power else Decimal(written)
            numbers[written] = _with_percent(value, found["percent"])
        left = relation.end()
    alone = ALONE.fullmatch(formula)
    if alone and "^" not in alone["number"]:
        numbers[alone["number"]] = _with_percent(Decimal(alone["number"]), alone["percent"])
    return numbers


def _with_percent(value: Decimal, percent: str | None) -> set[Decimal]:
    return {value, value / 100} if percent else {value}


# What a cell asserts.


def asserted_numbers(code: str) -> set[Decimal]:
    """The literals of a cell's assertions, of the loops around them, and of plain data that they name.

    An assertion is an `assert`, or a call of an `assert_...` such as NumPy's.
    """
    tree = ast.parse(TransformerManager().transform_cell(code))
    data = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_data(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    numbers: set[Decimal] = set()
    for node in _assertions(tree):
        named = [data[each.id] for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in data]
        for part in (node, *named):
            numbers |= _literals(part)
    return numbers


def _assertions(tree: ast.AST) -> Iterator[ast.AST]:
    """The assertions, and what the loops around them go over."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and _name(node.func).startswith("assert_"):
            yield node
        else:
            inner = list(_assertions(node))
            yield from inner
            if inner and isinstance(node, ast.For):
                yield node.iter


def _name(function: ast.expr) -> str:
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.BinOp)
ARITHMETIC = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)


def _is_data(node: ast.AST) -> bool:
    return all(
        isinstance(each, (*PLAIN, ast.operator, ast.unaryop, ast.expr_context)) for each in ast.walk(node)
    )


def _literals(tree: ast.AST) -> set[Decimal]:
    """The numbers written in it: 60_611, "0.9999", and sums of such as 10**6 and 1/100."""
    numbers = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, int | float) and not isinstance(node.value, bool):
                numbers.add(abs(Decimal(repr(node.value))))
            elif isinstance(node.value, str) and re.fullmatch(r"\d+(\.\d+)?", node.value):
                numbers.add(Decimal(node.value))
        elif isinstance(node, ast.BinOp) and all(isinstance(each, ARITHMETIC) for each in ast.walk(node)):
            numbers |= _computed(node)
    return numbers


def _computed(node: ast.BinOp) -> set[Decimal]:
    try:
        value = eval(compile(ast.Expression(node), "a cell", "eval"), {"__builtins__": {}})
    except ArithmeticError:
        return set()
    return {abs(Decimal(repr(value)))} if isinstance(value, int | float) else set()


def chapters() -> list[Path]:
    return sorted((ROOT / "book").glob("[0-9][0-9]-*.md"))


def pages() -> list[Path]:
    """The chapters, and the other pages that state results."""
    others = (ROOT / "book" / f"{name}.md" for name in ("index", "claims", "slips", "measured", "self-check"))
    return [*chapters(), *(path for path in others if path.is_file())]


def main(names: list[str]) -> int:
    found = False
    for path in [Path(name) for name in names] or pages():
        for finding in unbacked(path):
            print(f"{path}:{finding}")
            found = True
    return int(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
