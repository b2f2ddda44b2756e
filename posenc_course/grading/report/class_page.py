"""The report on a class as a page, and its picture as a file. Neither names a student."""

from __future__ import annotations

from html import escape

from posenc_course.colours import GREY, INKS, PAPERS
from posenc_course.figures.picture import Picture
from posenc_course.grading.faults import CourseError
from posenc_course.grading.report.class_report import ClassReport, histogram
from posenc_course.grading.report.class_text import exercise_table, headline, mistake_table, no_mistake
from posenc_course.grading.report.pictures import marks_spread, mistakes_made
from posenc_course.translation import _, spoken

_PAGE = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_STYLE = f"""
:root {{ color-scheme: light dark; }}
body {{ max-width: 60rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: {INKS["light"]}; background: {PAPERS["light"]}; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .9rem; }}
th, td {{ padding: .3rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid {GREY}66; }}
figure {{ margin: 1rem 0; }}
@media (prefers-color-scheme: dark) {{ body {{ color: {INKS["dark"]}; background: {PAPERS["dark"]}; }} }}
"""
_SVG_STYLE = (
    f"svg{{color:{INKS['light']};background:{PAPERS['light']}}}"
    f"@media(prefers-color-scheme:dark){{svg{{color:{INKS['dark']};background:{PAPERS['dark']}}}}}"
)


def as_page(report: ClassReport) -> str:
    """The report as an HTML page that needs no other file. It names no student."""
    title = _("{assignment}: how the class did").format(assignment=report.assignment)
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(line)}</p>" for line in headline(report))]
    if report.graded:
        parts += [_heading(_("Points")), f"<figure>{_marks_picture(report).svg}</figure>"]
    parts += [_heading(_("Exercises")), _html_table(*exercise_table(report)), _heading(_("Named mistakes"))]
    if report.mistakes:
        parts += [f"<figure>{_picture(report).svg}</figure>", _html_table(*mistake_table(report))]
    else:
        parts.append(f"<p>{escape(no_mistake())}</p>")
    language = spoken().replace("_", "-")
    return _PAGE.format(language=language, title=escape(title), style=_STYLE, body="\n".join(parts))


def _heading(words: str) -> str:
    return f"<h2>{escape(words)}</h2>"


def as_svg(report: ClassReport) -> str:
    """The picture of the mistakes as a file of its own, on a ground of its own, light or dark.

    Raises:
        CourseError: there is no named mistake to draw.
    """
    if not report.mistakes:
        raise CourseError(_("no submission makes a mistake that has a name: there is nothing to draw"))
    opening, rest = _picture(report).svg.split(">", 1)
    return f"{opening}><style>{_SVG_STYLE}</style>{rest}\n"


def _picture(report: ClassReport) -> Picture:
    rows = [(each.function, each.name, each.count) for each in report.mistakes]
    return mistakes_made(rows, submissions=report.exercises[0].submissions)


def _marks_picture(report: ClassReport) -> Picture:
    return marks_spread(*histogram(report), of=report.max_points)


def _html_table(header: list[str], rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
