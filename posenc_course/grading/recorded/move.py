"""`posenc move`: the whole gradebook in another database, as nbgrader's own tables have it."""

from __future__ import annotations

from nbgrader.api import Base, Gradebook
from sqlalchemy import Connection, create_engine, func, insert, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from posenc_course.grading.course import Course
from posenc_course.grading.faults import CourseError, shown_url, told
from posenc_course.translation import N_, _

BATCH = 1000
"""Rows that are held at once."""
COUNTED = {
    "student": N_("learners"),
    "assignment": N_("assignments"),
    "submitted_assignment": N_("submissions"),
    "grade": N_("grades"),
    "comment": N_("comments"),
}
"""Tables of nbgrader's, and what they hold, as an instructor says it."""


def move(course: Course, url: str) -> dict[str, int]:
    """Copy all that the course's gradebook holds to an empty database; the old one stays as it is.

    Everything goes along: names and addresses, due dates, extensions, grades, manual marks, extra credit and
    comments. All or nothing.

    Returns:
        How many rows of each table of `COUNTED` the new gradebook holds.

    Raises:
        CourseError: one of the two cannot be used, they are the same, or the new one is not empty.
    """
    _require_another(course.db_url, url)
    with told(course.state, course.db_url), course.lock():
        # nbgrader makes the tables where there are none, and refuses those of another version.
        Gradebook(course.db_url, course.course_id).close()
        old = create_engine(course.db_url)
        with old.connect() as source:
            if not _held(source):
                empty = _("the gradebook {url} is empty, so nothing was moved")
                raise CourseError(empty.format(url=shown_url(course.db_url)))
        with told(course.state, url):
            Gradebook(url, course.course_id).close()
            new = create_engine(url)
            try:
                with old.connect() as source, new.begin() as target:
                    _require_empty(target, url)
                    return _copied(source, target)
            finally:
                old.dispose()
                new.dispose()


def _require_another(old: str, new: str) -> None:
    try:
        same = make_url(old) == make_url(new)
    except ArgumentError as error:
        raise CourseError(
            _(
                "{url} is not the address of a database. It looks like "
                "postgresql+psycopg2://grader@host/gradebook"
            ).format(url=new)
        ) from error
    if same:
        raise CourseError(
            _(
                "the course's gradebook is already in {url}. If POSENC_DB_URL is set, unset it first: the "
                "gradebook is moved from where it is now"
            ).format(url=shown_url(new))
        )


def _require_empty(target: Connection, url: str) -> None:
    if held := _held(target):
        raise CourseError(
            _(
                "the gradebook {url} already holds {what}, and nothing is overwritten. Give an empty database"
            ).format(url=shown_url(url), what=_(" and ").join(map(_, held)))
        )


def _held(gradebook: Connection) -> list[str]:
    """What there is any of."""
    tables = Base.metadata.tables
    return [
        what
        for table, what in COUNTED.items()
        if gradebook.scalar(select(func.count()).select_from(tables[table]))
    ]


def _copied(source: Connection, target: Connection) -> dict[str, int]:
    counts = {}
    for table in Base.metadata.sorted_tables:
        if table.name == "course":  # nbgrader has made the same row.
            target.execute(table.delete())
        rows = source.execution_options(yield_per=BATCH).execute(select(table)).mappings()
        for batch in rows.partitions():
            target.execute(insert(table), [dict(row) for row in batch])
        counts[table.name] = target.scalar(select(func.count()).select_from(table)) or 0
        if counts[table.name] != source.scalar(select(func.count()).select_from(table)):
            lost = _("not all of {table} arrived, so nothing was moved; run the command again")
            raise CourseError(lost.format(table=table.name))
    return {what: counts[name] for name, what in COUNTED.items()}
