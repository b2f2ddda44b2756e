"""What can go wrong outside of posenc, as one sentence that says what happened and what to do."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from posenc_course.translation import _, joined

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


class CourseError(Exception):
    """The course is not as grading needs it; the message says what to do."""


@contextmanager
def told(state: Path, db_url: str) -> Iterator[None]:
    """CourseError where the disk, the journal in `state` or the gradebook at `db_url` fails.

    Of the databases, SQLite's own errors come from the journal, SQLAlchemy's from the gradebook.
    """
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except sqlite3.Error as error:
        raise CourseError(_of_journal(error, state)) from error
    except (SQLAlchemyError, ModuleNotFoundError) as error:
        raise CourseError(_of_gradebook(error, db_url)) from error
    except OSError as error:
        raise CourseError(of_disk(error)) from error


def kept() -> str:
    """What holds whatever went wrong."""
    return _("Every grade so far is kept; run the command again to continue")


def is_disk_full(error: BaseException) -> bool:
    """Whether this, or what it was made of, says that there is no space left."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return "disk is full" in str(error)


def of_disk(error: OSError) -> str:
    """What to do where a file or folder cannot be read or written."""
    where = f"{error.filename}: " if error.filename is not None else ""
    what = f"{where}{error.strerror or error}"
    if is_disk_full(error):
        told = _("the disk is full ({what}). Free some space.")
    elif error.errno == errno.EROFS:
        told = _("nothing can be written there ({what}). Allow it, or work in a copy of the course.")
    elif error.errno in (errno.EACCES, errno.EPERM):
        told = _(
            "you may not read or write this ({what}). Run the command as the user whom the course belongs "
            "to, or have the rights changed."
        )
    elif error.errno in (errno.ENOTDIR, errno.EISDIR, errno.EEXIST):
        told = _("this is in the way ({what}). Move it to another place.")
    else:
        told = _("the machine refused it ({what}).")
    return joined(told.format(what=what), kept())


def _of_journal(error: sqlite3.Error, state: Path) -> str:
    path, text = state / "journal.db", str(error)
    if is_disk_full(error):
        return joined(_("the disk of {folder} is full. Free some space.").format(folder=state), kept())
    if "locked" in text:
        told = _("another program has locked the journal ({path}). Wait for it, or end it.")
        return joined(told.format(path=path), kept())
    if "readonly" in text or "unable to open" in text:
        told = _(
            "the journal {path} cannot be opened or written ({text}). Make it and its folder writable, or "
            "work in a copy of the course."
        )
        return joined(told.format(path=path, text=text), kept())
    return _(
        "the journal {path} is damaged, or was written by another version of posenc ({text}). "
        "Restore a copy of it, or move it to another place and run `posenc grade` for each assignment: "
        "every submission is then graded again, on the same inputs. Marks that you gave by hand stay"
    ).format(path=path, text=text)


def _of_gradebook(error: Exception, db_url: str) -> str:
    where, text = shown_url(db_url), str(getattr(error, "orig", None) or error).strip()
    if isinstance(error, ImportError):
        package = "'posenc_course[grading]'" if error.name == "psycopg2" else _("it")
        return _(
            "the gradebook {where} needs a program that is not installed ({text}): pip install {package}"
        ).format(where=where, text=text, package=package)
    if is_disk_full(error):
        told = _("the disk of the gradebook {where} is full. Free some space.")
    elif "locked" in text:
        told = _("another program has locked the gradebook ({where}). Wait for it, or end it.")
    elif "readonly" in text or "read-only" in text or "unable to open" in text:
        told = _(
            "the gradebook {where} cannot be opened or written ({text}). Make the file and its folder "
            "writable."
        )
    elif any(sign in text for sign in ("no such", "has no column", "does not exist")):
        return _(
            "the gradebook {where} was made by another version of nbgrader, or is another database ({text}). "
            "Keep a copy of it, and run: nbgrader db upgrade"
        ).format(where=where, text=text)
    elif any(sign in text for sign in ("not a database", "malformed", "disk I/O", "file is encrypted")):
        return _(
            "the gradebook {where} is damaged ({text}). Restore a copy of it. If there is none, move it to "
            "another place, and run `make exercises`, and `posenc grade ASSIGNMENT --again` for each "
            "assignment: the judge's marks come back, those that you gave by hand do not"
        ).format(where=where, text=text)
    else:
        told = _("the gradebook {where} cannot be used ({text}). Is the address right, and its server up?")
    return joined(told.format(where=where, text=text), kept())


def not_installed(error: ImportError) -> str:
    """Which extra brings what is missing."""
    torch = (error.name or "").partition(".")[0] in ("torch", "array_api_compat")
    what = "posenc_lib[torch]" if torch else "posenc_course[grading]"
    told = _("this needs more than is installed ({error}): pip install '{what}'")
    return told.format(error=error, what=what)


def shown_url(url: str) -> str:
    """A database's address without its password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return _("(no address of a database)")
