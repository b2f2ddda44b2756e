"""`nbgrader collect` for an exchange that learners can write to in any way they like.

nbgrader's own collect takes the name on a submission for its author, follows links with the instructor's
rights, and stops for the whole class at the first folder that it cannot read. This one leaves such a folder
out, says why, and takes the learner's newest good submission.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns, parse_utc

# nbgrader writes both into each submission; without them no mark gets a date, and no feedback finds its way.
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
LONGEST_COPY = timedelta(minutes=15)
"""How long after its own timestamp a submission may still be written."""

LONGEST_TIME = 100
"""Bytes of a timestamp."""


class Refused(Exception):
    """Why a folder of the exchange is not collected."""


class SafeCollect(ExchangeCollect):
    """Collects what its learner owns, made of plain files; leaves out the rest and goes on."""

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"] is not None]

    def _path_to_record(self, path: str) -> dict[str, object]:
        """What is known of a submission; one that is refused belongs to nobody, and hides no other."""
        try:
            record = super()._path_to_record(path)
            self._inspect(Path(path), record)
        except Exception as error:  # whatever is wrong with one folder must not stop the class
            self.log.error("Left out %s: %s", path, error)
            return {"username": None, "filename": Path(path).name, "timestamp": datetime.min}
        return record

    def _inspect(self, path: Path, record: dict) -> None:
        """Refuse what cannot be collected as it stands."""
        folder = path.lstat()
        if not stat.S_ISDIR(folder.st_mode):
            raise Refused("it is no folder")
        if (owner := _account(folder.st_uid)) != record["username"]:
            raise Refused(f"it names {record['username']} as its author, but belongs to {owner}")
        files = [_plain_file(file, folder.st_uid) for file in _files(path)]
        if (size := sum(file.st_size for file in files)) > 1000 * self.coursedir.max_dir_size:
            raise Refused(f"it holds {size} bytes; {1000 * self.coursedir.max_dir_size} are allowed")
        for name in (TIMESTAMP, SECRET):
            if not (path / name).is_file():
                raise Refused(f"it has no {name}; a submission must come from nbgrader's own submit")
        if parse_utc(_time(path / TIMESTAMP)) != record["timestamp"]:
            raise Refused(f"its name and its {TIMESTAMP} tell different times")
        # The system sets this time at every change, and no learner can set it back.
        last = max(known.st_ctime for known in [folder, *files])
        changed = datetime.fromtimestamp(last, UTC).replace(tzinfo=None)
        if changed > record["timestamp"] + LONGEST_COPY:
            self.log.warning("%s says %s, but was changed at %s UTC", path, record["timestamp"], changed)

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy a submission without ever following a link, even one that was put there a moment ago."""
        try:
            _copy_plain(Path(src), Path(dest), self._ignored)
            parse_utc(_time(Path(dest, TIMESTAMP)))  # another file may have come in its place
        except Exception as error:
            shutil.rmtree(dest, ignore_errors=True)
            self.log.error("Could not collect %s: %s", src, error)
            return
        if self.coursedir.groupshared:
            self.set_perms(dest, fileperms=0o660, dirperms=0o2770)

    def _ignored(self, folder: str, names: list[str]) -> list[str]:
        return ignore_patterns(
            exclude=self.coursedir.ignore,
            include=self.coursedir.include,
            max_file_size=self.coursedir.max_file_size,
            log=self.log,
        )(folder, names)


def _account(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user id {uid}"


def _files(folder: Path) -> list[Path]:
    """Everything below a folder but folders; a folder that cannot be read raises."""

    def stop(error: OSError) -> None:
        raise error

    found: list[Path] = []
    for here, folders, files in os.walk(folder, onerror=stop):
        # os.walk counts a link to a folder among the folders
        found += [Path(here, name) for name in files]
        found += [Path(here, name) for name in folders if Path(here, name).is_symlink()]
    return found


def _time(path: Path) -> str:
    """What a timestamp says, and no more than a time is long: to read one takes the square of its length."""
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(opened, "rb") as file:
        data = file.read(LONGEST_TIME + 1)
    if len(data) > LONGEST_TIME:
        raise Refused(f"its {path.name} is longer than any time")
    return data.decode().strip()


def _plain_file(path: Path, owner: int) -> os.stat_result:
    """What the system knows of a file, once it is sure to be plain, readable and the learner's own."""
    known = path.lstat()
    _require_plain(known, owner, path.name)
    if not os.access(path, os.R_OK):
        raise Refused(f"{path.name} cannot be read")
    return known


def _require_plain(known: os.stat_result, owner: int, name: str) -> None:
    if not stat.S_ISREG(known.st_mode):
        raise Refused(f"{name} is a link or a special file; only plain files are collected")
    if known.st_uid != owner:
        raise Refused(f"{name} belongs to {_account(known.st_uid)}")


def _copy_plain(source: Path, target: Path, ignored) -> None:
    """Copy a tree of one owner's plain files. os.fwalk keeps each folder open: no link can take its place."""
    owner = source.lstat().st_uid
    for here, folders, files, descriptor in os.fwalk(source, follow_symlinks=False):
        skip = set(ignored(here, folders + files))
        folders[:] = [name for name in folders if name not in skip]
        copied = target / Path(here).relative_to(source)
        copied.mkdir(parents=True)
        for name in files:
            if name not in skip:
                _copy_file(name, descriptor, copied / name, owner)


def _copy_file(name: str, folder: int, target: Path, owner: int) -> None:
    # O_NONBLOCK: a pipe without a writer would wait for ever
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    with os.fdopen(opened, "rb") as source, target.open("xb") as copy:
        _require_plain(os.fstat(opened), owner, name)
        shutil.copyfileobj(source, copy)
