"""What lies beside a submitted notebook, which nobody vouches for: other files, and when it was handed in."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

from posenc_course.grading.untrusted import visible
from posenc_course.translation import _

MAX_OTHER_BYTES = 64 * 2**20
"""All other files of a submission together, of which copies are kept beside the autograded notebook."""
MAX_OTHER_FILES = 200
MAX_DEPTH = 5
"""Folders in folders."""
MOST_NAME = 200
SHOWN_SUFFIXES = frozenset(
    {".csv", ".dat", ".gif", ".jpeg", ".jpg", ".json", ".log", ".md", ".npy", ".npz", ".png", ".py", ".txt"}
)
"""Of files that a browser shows as text or as a picture, or stores: what it runs is not among them."""
TIMESTAMP = "timestamp.txt"
FAR_OFF = timedelta(days=30)
"""Between the time that `timestamp.txt` states and the one when it was written: more is told."""

_STATED = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\d{0,3} ?(\S.{0,63})?", re.ASCII | re.DOTALL
)
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)
_ZONE = re.compile(r"[A-Za-z][\w+-]*(/[\w+-]+){0,2}", re.ASCII)


def handed_in_at(folder: Path) -> tuple[datetime | None, str | None]:
    """When a submission was handed in (UTC), from nbgrader's timestamp.txt; and what is odd about it."""
    path = folder / TIMESTAMP
    data = read_plain_file(path, 1000)
    if data is None:
        problem = _("timestamp.txt is not a plain file, or it is too long; it was ignored.")
        return None, problem if os.path.lexists(path) else None
    text = _decoded(data).strip()
    if not text:
        return None, _("timestamp.txt is empty; it was ignored.") if data else None
    found = _STATED.fullmatch(text)
    try:
        stated = datetime.fromisoformat(f"{found[1]}T{found[2]}") if found else None
        offset = _offset(found[3] or "UTC", stated) if found and stated else None
        when = stated - (offset or timedelta()) if stated else None
    except (ValueError, OverflowError):
        when = None
    if when is None:
        return None, _("timestamp.txt does not contain a date and time in nbgrader's format; it was ignored.")
    if offset is None:
        return when, _("timestamp.txt has an unknown time zone; its time was read as UTC.")
    return when, _doubt(when, path)


def _decoded(data: bytes) -> str:
    """As text, whatever editor saved it."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if data[1:2] == b"\0" or data[:1] == b"\0":
        return data.decode("utf-16-le" if data[1:2] == b"\0" else "utf-16-be", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _offset(zone: str, when: datetime) -> timedelta | None:
    """How far a zone is ahead of UTC; None where it is none that is known. No path is ever opened for it."""
    if zone.upper() in ("UTC", "GMT", "Z"):
        return timedelta()
    if found := _OFFSET.fullmatch(zone):
        ahead = timedelta(hours=int(found[2]), minutes=int(found[3]))
        return ahead if found[1] == "+" else -ahead
    if not _ZONE.fullmatch(zone):
        return None
    try:
        return when.replace(tzinfo=ZoneInfo(zone)).utcoffset()
    except (ValueError, OSError, LookupError):
        return None


def _doubt(when: datetime, path: Path) -> str | None:
    now = datetime.now(UTC).replace(tzinfo=None)
    if when > now + timedelta(days=1):
        return _("timestamp.txt says that this was handed in at {when}, which is in the future.").format(
            when=f"{when:%Y-%m-%d %H:%M} UTC"
        )
    # Some file systems keep times that no date has, as a learner's archive sets them.
    seconds = min(max(path.lstat().st_mtime, 0), datetime.max.replace(tzinfo=UTC).timestamp() - 1)
    written = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    if abs(written - when) > FAR_OFF:
        return _(
            "timestamp.txt says that this was handed in at {when}, but the file was written at {written}. "
            "Was it changed?"
        ).format(when=f"{when:%Y-%m-%d %H:%M} UTC", written=f"{written:%Y-%m-%d}")
    return None


def copy_other_files(source: Path | None, destination: Path) -> tuple[str, ...]:
    """Put what else was handed in beside the notebook, in the place of what lay there.

    No link is followed, and there is a limit to everything. A browser that is given one of these files shows
    it or stores it: whatever it might run gets a name under which it is text.

    Returns:
        A sentence for each thing that was not copied, or got another name.
    """
    remarks: list[str] = []
    _clear(destination, keep=f"{destination.name}.ipynb")
    if source is None:
        return ()
    left, number, as_text = MAX_OTHER_BYTES, 0, list[str]()
    for path in _other_files(source, remarks):
        name = path.relative_to(source)
        inside_one = f"{destination.name}.ipynb" == name.parts[0]  # a folder in the notebook's place
        if path.name.endswith((".ipynb", ".pyc")) or name == Path(TIMESTAMP) or inside_one:
            continue
        number += 1
        if number > MAX_OTHER_FILES:
            remarks.append(
                _("More than {most} other files were handed in; the rest was not copied.").format(
                    most=MAX_OTHER_FILES
                )
            )
            break
        data = read_plain_file(path, left)
        if data is None:
            remarks.append(
                _("{name} was not copied: it is a link, not a plain file, or too big.").format(
                    name=visible(str(name))
                )
            )
            continue
        left -= len(data)
        target = destination / name
        if path.suffix.lower() not in SHOWN_SUFFIXES:
            short = os.fsencode(path.name[:MOST_NAME])[:MOST_NAME].decode(errors="ignore")
            target = target.with_name(f"{short}.txt")
            as_text.append(visible(str(name), MOST_NAME))
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            remarks.append(_("{name} was not copied: there are two.").format(name=visible(str(name))))
    if as_text:
        remarks.append(
            _("{count} files were copied as text, so that no browser runs them: {names}").format(
                count=len(as_text), names=", ".join(as_text[:5])
            )
        )
    when, _problem = handed_in_at(source)
    if when is not None:
        # As nbgrader writes it; what a learner wrote there would be read by programs that trust it.
        (destination / TIMESTAMP).write_text(f"{when:%Y-%m-%d %H:%M:%S.%f} UTC")
    return tuple(remarks)


def _other_files(folder: Path, remarks: list[str], depth: int = 0) -> Iterator[Path]:
    """What lies in a folder and in those in it, in order of name, up to a depth and a number."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(islice(entries, MAX_OTHER_FILES * 2), key=lambda each: each.name)
    except OSError:
        return
    for each in found:
        if each.name in (".ipynb_checkpoints", "__pycache__"):
            continue
        if not _is_folder(each):
            yield Path(each)
        elif depth < MAX_DEPTH:
            yield from _other_files(Path(each), remarks, depth + 1)
        else:
            remarks.append(
                _("{name} was not copied: its folder is nested too deeply.").format(
                    name=visible(each.name, MOST_NAME)
                )
            )


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _clear(folder: Path, keep: str) -> None:
    """Make the folder, or empty it but for one file."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        elif each.name != keep:
            each.unlink()


def read_plain_file(path: Path, at_most: int) -> bytes | None:
    """The bytes of a plain file; None where there is none, for a link, a pipe, or one that is too big."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.EIO):
            raise
        return None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > at_most:
            return None
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read(facts.st_size)
    finally:
        os.close(handle)
