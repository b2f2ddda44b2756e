"""Collecting from an exchange that learners write to as they like: real folders, nbgrader's gradebook."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

pytestmark = pytest.mark.slow  # nbgrader is slow to load

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "jupyterhub"
ME = getpass.getuser()
NOTEBOOK = "01.ipynb"


@pytest.fixture(scope="module")
def safe_collect():
    sys.path.insert(0, str(DEPLOY))
    try:
        import safe_collect

        yield safe_collect.SafeCollect
    finally:
        sys.path.remove(str(DEPLOY))


@pytest.fixture(scope="module")
def gradebook(tmp_path_factory) -> str:
    """nbgrader's database, empty: collecting asks it for the due date."""
    url = f"sqlite:///{tmp_path_factory.mktemp('course') / 'gradebook.db'}"
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader calls alembic by name
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        Gradebook(url, "course").close()
    return url


class Exchange:
    """An exchange with one assignment, and the course folder that it is collected into."""

    def __init__(self, root: Path, collector: type, gradebook: str):
        self.collector = collector
        self.inbound = root / "exchange" / "course" / "inbound"
        self.inbound.mkdir(parents=True)
        (root / "exchange").chmod(0o777)
        self.config = Config()
        self.config.Exchange.root = str(root / "exchange")
        self.config.CourseDirectory.root = str(root)
        self.config.CourseDirectory.db_url = gradebook
        self.config.CourseDirectory.course_id = "course"
        self.config.CourseDirectory.assignment_id = "01"
        self.submitted = root / "submitted"

    def submit(self, text: str, student: str = ME, second: int = 0, name: str = "x") -> Path:
        """A submission as nbgrader's submit leaves it."""
        stamp = f"{datetime.now(UTC):%Y-%m-%d %H:%M}:{second:02}.000000 UTC"
        folder = self.inbound / f"{student}+01+{stamp}+{name}"
        folder.mkdir()
        (folder / NOTEBOOK).write_text(text)
        (folder / "timestamp.txt").write_text(stamp)
        (folder / "submission_secret.txt").write_text("a secret")
        return folder

    def collect(self, **settings: object) -> dict[str, str]:
        """Each student's notebook, after `nbgrader collect --update`."""
        self.config.CourseDirectory.update(settings)
        coursedir = CourseDirectory(config=self.config)
        collector = self.collector(
            coursedir=coursedir, authenticator=Authenticator(config=self.config), config=self.config
        )
        collector.update = True
        collector.start()
        return {path.parents[1].name: path.read_text() for path in self.submitted.glob(f"*/01/{NOTEBOOK}")}


@pytest.fixture
def exchange(tmp_path, safe_collect, gradebook):
    return Exchange(tmp_path, safe_collect, gradebook)


def test_the_newest_submission_is_collected_whole(exchange):
    exchange.submit("old", second=1)
    new = exchange.submit("new", second=2)
    (new / "pictures").mkdir()
    (new / "pictures" / "one.svg").write_text("<svg/>")
    assert exchange.collect() == {ME: "new"}
    copied = exchange.submitted / ME / "01"
    assert (copied / "pictures" / "one.svg").read_text() == "<svg/>"
    assert (copied / "submission_secret.txt").read_text() == "a secret"


def test_a_later_submission_replaces_what_was_collected(exchange):
    exchange.submit("old", second=1)
    exchange.collect()
    exchange.submit("new", second=2)
    assert exchange.collect() == {ME: "new"}


def test_with_before_duedate_the_last_work_in_time_is_collected(exchange, gradebook):
    """As the page on the exchange says; without it, the later work takes its place."""
    exchange.submit("in time", second=1)
    late = exchange.submit("late", second=3)
    stamp = (late / "timestamp.txt").read_text().removesuffix(" UTC")
    with Gradebook(gradebook, "course") as kept:
        kept.update_or_create_assignment("01", duedate=datetime.fromisoformat(stamp) - timedelta(seconds=1))
    try:
        assert exchange.collect() == {ME: "late"}
        shutil.rmtree(exchange.submitted)
        exchange.config.ExchangeCollect.before_duedate = True
        assert exchange.collect() == {ME: "in time"}
    finally:
        with Gradebook(gradebook, "course") as kept:
            kept.remove_assignment("01")


def test_what_nbgrader_ignores_stays_behind(exchange):
    folder = exchange.submit("work")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / NOTEBOOK).write_text("a checkpoint")
    exchange.collect()
    assert not (exchange.submitted / ME / "01" / ".ipynb_checkpoints").exists()


def _another_name(exchange, tmp_path):
    exchange.submit("forged", student="somebody-else", second=59)


def _link_in_place_of_the_notebook(exchange, tmp_path):
    (tmp_path / "gradebook.txt").write_text("everybody's marks")
    folder = exchange.submit("", second=59)
    (folder / NOTEBOOK).unlink()
    (folder / NOTEBOOK).symlink_to(tmp_path / "gradebook.txt")


def _link_to_a_folder(exchange, tmp_path):
    (exchange.submit("linked", second=59) / "all").symlink_to(tmp_path)


def _link_in_place_of_the_submission(exchange, tmp_path):
    folder = exchange.submit("linked", second=59)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")


def _pipe(exchange, tmp_path):
    os.mkfifo(exchange.submit("with a pipe", second=59) / "pipe")


def _no_time(exchange, tmp_path):
    (exchange.inbound / f"{ME}+01+tomorrow, perhaps+x").mkdir()


def _two_times(exchange, tmp_path):
    (exchange.submit("early", second=59) / "timestamp.txt").write_text("2001-01-01 00:00:00.000000 UTC")


def _no_timestamp(exchange, tmp_path):
    (exchange.submit("without", second=59) / "timestamp.txt").unlink()


def _no_secret(exchange, tmp_path):
    (exchange.submit("without", second=59) / "submission_secret.txt").unlink()


def _too_big(exchange, tmp_path):
    with (exchange.submit("huge", second=59) / "data.bin").open("wb") as file:
        file.truncate(200_000_000)  # sparse: it takes no room


def _no_folder(exchange, tmp_path):
    (exchange.inbound / f"{ME}+01+2099-01-01 00:00:00 UTC+x").write_text("a file")


HOSTILE = [
    (_another_name, "it names somebody-else as its author, but belongs to"),
    (_link_in_place_of_the_notebook, f"{NOTEBOOK} is a link"),
    (_link_to_a_folder, "all is a link"),
    (_link_in_place_of_the_submission, "it is no folder"),
    (_pipe, "pipe is a link or a special file"),
    (_no_time, "Left out"),
    (_two_times, "tell different times"),
    (_no_timestamp, "it has no timestamp.txt"),
    (_no_secret, "it has no submission_secret.txt"),
    (_too_big, "100000000 are allowed"),
    (_no_folder, "it is no folder"),
]


@pytest.mark.parametrize(("spoil", "reason"), HOSTILE, ids=[spoil.__name__[1:] for spoil, _ in HOSTILE])
def test_a_bad_folder_is_left_out_with_its_reason_and_hides_no_good_one(
    exchange, tmp_path, caplog, spoil, reason
):
    exchange.submit("honest", second=1)
    spoil(exchange, tmp_path)
    assert exchange.collect() == {ME: "honest"}
    assert reason in caplog.text


def test_a_link_put_in_place_after_the_inspection_is_not_followed(exchange, tmp_path, monkeypatch, caplog):
    folder = exchange.submit("work")
    (tmp_path / "gradebook.txt").write_text("everybody's marks")
    inspect = exchange.collector._inspect

    def inspect_then_swap(self, path, record):
        inspect(self, path, record)
        (folder / NOTEBOOK).unlink()
        (folder / NOTEBOOK).symlink_to(tmp_path / "gradebook.txt")

    monkeypatch.setattr(exchange.collector, "_inspect", inspect_then_swap)
    assert exchange.collect() == {}
    assert "Could not collect" in caplog.text


def test_work_changed_long_after_its_timestamp_is_reported(exchange, caplog):
    folder = exchange.submit("work")
    stamp = "2001-01-01 00:00:00.000000 UTC"
    (folder / "timestamp.txt").write_text(stamp)
    folder.rename(exchange.inbound / f"{ME}+01+{stamp}+x")
    assert exchange.collect() == {ME: "work"}
    assert "says 2001-01-01 00:00:00, but was changed at" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user, which only root can")
def test_a_file_of_another_user_is_not_collected(exchange, caplog):
    exchange.submit("honest", second=1)
    os.chown(exchange.submit("not mine", second=59) / NOTEBOOK, 65534, -1)
    assert exchange.collect() == {ME: "honest"}
    assert f"{NOTEBOOK} belongs to nobody" in caplog.text


def test_a_group_that_teaches_together_can_write_what_was_collected(exchange):
    exchange.submit("work")
    exchange.collect(groupshared=True)
    assert (exchange.submitted / ME / "01" / NOTEBOOK).stat().st_mode & 0o777 == 0o660


@pytest.mark.parametrize("page", ["jupyterhub.md", "exchange.md"])
def test_a_page_hides_what_git_keeps_of_the_answers_and_releases_in_one_language(page):
    """Whoever may read `.git` may read the answers; and the texts that are released are English."""
    told = (DEPLOY.parents[1] / "book" / "instructors" / page).read_text()
    assert "chmod 700 solutions .git book/locale/*/solutions" in told
    [line] = [line for line in told.splitlines() if "-m posenc_course.grading.release" in line]
    assert line.startswith("POSENC_LANGUAGE=en ")


def test_a_timestamp_that_was_changed_after_its_inspection_is_not_kept(exchange, caplog, monkeypatch):
    """The next collect would read it, and stop there for the whole class."""
    new = exchange.submit("new", second=2)
    copy = exchange.collector.do_copy

    def changed_before_it_is_copied(self, src, dest, log=None):
        (new / "timestamp.txt").write_text("1" * 10_000)
        copy(self, src, dest, log)

    monkeypatch.setattr(exchange.collector, "do_copy", changed_before_it_is_copied)
    assert exchange.collect() == {}
    assert "timestamp.txt is longer than any time" in caplog.text


def test_a_timestamp_that_takes_days_to_read_is_left_out(exchange, caplog):
    """Its digits would be read as one number, which takes a time that grows as their square."""
    old = exchange.submit("old", second=1)
    (exchange.submit("new", second=2) / "timestamp.txt").write_text("1" * 200_000)
    assert old
    assert exchange.collect() == {ME: "old"}
    assert "timestamp.txt is longer than any time" in caplog.text
