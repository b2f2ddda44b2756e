"""The walls, from inside and from outside: real bubblewrap, real namespaces, real limits."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import posenc_lib
from posenc_lib.grading.grades import Limits, Verdict
from posenc_lib.grading.sandbox import walls
from posenc_lib.grading.sandbox.warm import Ended, WarmParent
from tests.grading.conftest import QUICK, ROOT, printed, tell

SMALL = replace(QUICK, output_bytes=10_000, file_bytes=2**20, processes=20)


def verdict_of(warm, *cells: str, limits: Limits = SMALL) -> Verdict:
    def run() -> None:
        with warm.open(limits) as session:
            for cell in cells:
                tell(session, cell, limits)

    with pytest.raises(Ended) as caught:
        run()
    return caught.value.verdict


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


# --- What is to be seen ----------------------------------------------------------------------------


def test_a_session_runs_cells_in_ipython_and_goes_on_after_an_error(inside):
    assert inside("x = 1", "1 / 0", "print(x + 1)") == "2"
    assert inside("1 / 0") == "ZeroDivisionError: division by zero"
    assert inside("!echo $((6 * 7))") == "42"
    assert inside("%%time\nprint('timed')").startswith("timed")
    assert inside("await __import__('asyncio').sleep(0)\nprint('awaited')") == "awaited"


def test_outputs_come_in_the_form_of_nbformat(warm):
    with warm.open(QUICK) as session:
        reply = tell(session, "import sys\nprint('a')\nprint('b')\nprint('c', file=sys.stderr)\n6 * 7")
        figure = tell(session, "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])")
    assert reply["outputs"] == [
        {"output_type": "stream", "name": "stdout", "text": "a\nb\n"},
        {"output_type": "stream", "name": "stderr", "text": "c\n"},
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "data": {"text/plain": "42"},
            "metadata": {},
        },
    ]
    assert "image/png" in figure["outputs"][-1]["data"]


def test_nobody_answers_input(inside):
    assert inside("input('name? ')").startswith("EOFError: nobody is there")


def test_nothing_of_the_course_is_to_be_seen(inside):
    hidden = [ROOT, Path(posenc_lib.__file__).parent, "/home", "/etc/passwd", "/sys", "/var", "/run", "/opt"]
    hidden += list(Path.home().glob(".*rc"))
    assert inside(f"import os\nprint([p for p in {[str(p) for p in hidden]} if os.path.exists(p)])") == "[]"


def test_no_reference_no_exercise_and_no_judge_can_be_imported(inside):
    found = inside(
        """
        import os, sys
        import posenc_lib, posenc_lib.exercises.ch02_the_formula as chapter
        from posenc_lib.added.sinusoidal import sinusoidal
        files = sorted(os.path.join(d, f) for d, _, fs in os.walk("/library") for f in fs)
        print(type(chapter.EXERCISES).__name__, type(sinusoidal).__name__, len(files))
        print([f for f in files if "exercises" in f or "judge" in f or "added" in f])
        """
    )
    assert found == "Borrowed Borrowed 11\n[]"


@pytest.mark.parametrize("name", ["nbgrader", "transformers", "rotary_embedding_torch", "x_transformers"])
def test_packages_that_hold_answers_are_hidden(inside, name):
    __import__(name)  # It is there outside.
    assert "True" in inside(
        f"import importlib.util as u\ns = u.find_spec('{name}')\nprint(not s or not s.origin)"
    )


def test_no_file_of_the_library_is_hidden_in_the_packages_either(inside):
    text = inside(
        """
        import pathlib
        homes = [pathlib.Path("/site"), pathlib.Path("/usr/lib/python3")]
        print([str(p) for home in homes for p in home.glob("*/posenc_lib/*")])
        """
    )
    assert text == "[]"


def test_a_name_of_the_library_is_refused_while_cells_run(inside):
    assert inside("import posenc_lib\nposenc_lib.sinusoidal(4, 4)").startswith("NotForAnswers")
    assert inside("from posenc_lib import *\nfrom posenc_lib import check\ncheck('x', 1)\nprint(check)")


# --- Walls -----------------------------------------------------------------------------------------


def test_the_environment_is_clean():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "xyzzy")
        with WarmParent() as parent, parent.open(QUICK) as session:
            text = printed(tell(session, "import os\nprint(dict(os.environ))"))
    assert "xyzzy" not in text
    assert "SECRET" not in text


def test_there_is_no_network(inside):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0posenc-test-of-walls")
        abstract.listen()
        text = inside(
            f"""
            import socket
            def attempt(kind, address):
                try:
                    socket.socket(kind).connect(address)
                    return "connected"
                except OSError as error:
                    return type(error).__name__
            print(attempt(socket.AF_INET, ("127.0.0.1", {server.getsockname()[1]})))
            print(attempt(socket.AF_UNIX, "\\0posenc-test-of-walls"))
            print([name for _, name in socket.if_nameindex()])
            """
        )
    assert "connected" not in text
    assert text.endswith("['lo']")


def test_parent_and_siblings_can_neither_be_seen_nor_signalled(warm):
    attack = """
    import os, signal
    hit = []
    for pid in [*range(2, 5000), -1]:
        try:
            os.kill(pid, signal.SIGKILL)
            hit.append(pid)
        except OSError:
            pass
    print(os.getpid(), os.getppid(), os.listdir("/proc"), hit)
    """
    with WarmParent() as other, other.open(QUICK) as sibling, warm.open(QUICK) as session:
        assert printed(tell(session, attack)) == "1 0 [] []"
        assert printed(tell(sibling, "print('alive')")) == "alive"


def test_scratch_is_private_and_empty_and_nothing_else_can_be_written(inside):
    listing = "import os\nprint(os.getcwd(), os.listdir('/tmp'), os.listdir('/dev/shm'))"
    write = "for f in ('/tmp/x', '/dev/shm/x'): open(f, 'w').write('secret')\nprint(open('/tmp/x').read())"
    assert inside(write) == "secret"
    assert inside(listing) == "/tmp [] []"
    tries = """
    import os
    def writes(folder):
        try:
            os.close(os.open(folder + "/.probe", os.O_CREAT | os.O_WRONLY))
            return True
        except OSError:
            return False
    print(sorted(d for d, _, _ in os.walk("/") if not d.startswith(("/usr/share", "/site")) and writes(d)))
    """
    assert inside(tries) == "['/dev/shm', '/tmp']"


def test_keys_of_the_kernel_do_not_reach_the_next_session(inside):
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        pytest.fail("write down this machine's system call numbers for keyrings here, and in namespaces.py")
    # As after a login: a keyring that every process of the session inherits.
    ctypes.CDLL(None).syscall(250, 1, None)
    add = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.syscall(248, b"user", b"posenc-probe", b"secret", 6, -3) > 0)
    """
    search = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    print(libc.syscall(250, 10, -3, b"user", b"posenc-probe", 0))
    """
    with WarmParent() as parent:
        inside(add, parent=parent)
        assert inside(search, parent=parent) == "-1"


def test_a_session_has_no_rights_and_cannot_get_any(warm):
    with warm.open(QUICK) as session:
        facts = status(session.pid)
        assert {facts[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert facts["NoNewPrivs"] == "1"
        probe = """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        mounted = libc.mount(b"x", b"/tmp", b"tmpfs", 0, None)
        print([libc.unshare(flag) for flag in (0x10000000, 0x00020000)], mounted)
        """
        assert printed(tell(session, probe)) == "[-1, -1] -1"
        assert "rc=1" in printed(tell(session, "!unshare -Ur id; echo rc=$?"))


def test_each_session_has_a_user_id_of_its_own(warm):
    if os.geteuid() != 0:
        pytest.skip(
            "only root can give user ids away; others have one, and part sessions by namespaces alone"
        )
    seen = set()
    for _ in range(3):
        with warm.open(QUICK) as session:
            seen.add(status(session.pid)["Uid"].split()[0])
            assert printed(tell(session, "import os\nprint(os.getuid(), os.getgid(), os.getgroups())")) == (
                "1000 1000 []"
            )
    assert len(seen) == 3
    assert min(map(int, seen)) > walls.FIRST_USER_ID - 1


def test_a_session_inherits_nothing_but_its_own_line(warm):
    with warm.open(QUICK) as session:
        tell(session, "1")
        ends = sorted(str(each.readlink()) for each in Path(f"/proc/{session.pid}/fd").iterdir())
        spaces = {
            name: Path(f"/proc/{session.pid}/ns/{name}").readlink() for name in ("user", "pid", "mnt", "net")
        }
        with WarmParent() as other, other.open(QUICK) as sibling:
            for name, space in spaces.items():
                assert space != Path(f"/proc/{sibling.pid}/ns/{name}").readlink()
    assert [end.partition(":")[0] for end in ends] == ["/dev/null", "/dev/null", "/dev/null", "socket"]


def test_what_outlives_its_cell_dies_with_the_session(warm):
    with warm.open(QUICK) as session:
        tell(session, "import subprocess, threading, time")
        tell(session, "threading.Thread(target=lambda: time.sleep(1000)).start()")
        tell(session, "_ = subprocess.Popen(['setsid', 'sleep', '1000'], start_new_session=True)")
        space = Path(f"/proc/{session.pid}/ns/pid").readlink()
        assert len(living_in(space)) > 1
    assert living_in(space) == []


def living_in(space: Path) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "ns/pid").readlink() == space:
                found.append(entry.name)
        except OSError:
            continue
    return found


# --- Limits ----------------------------------------------------------------------------------------


def test_wall_time(warm):
    assert (
        verdict_of(warm, "import time\ntime.sleep(60)", limits=replace(SMALL, wall_seconds=1))
        is Verdict.TIME_LIMIT
    )


def test_wall_time_ends_what_cannot_be_interrupted(warm):
    stubborn = (
        "import signal, time\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    )
    assert verdict_of(warm, stubborn, limits=replace(SMALL, wall_seconds=1)) is Verdict.TIME_LIMIT


def test_cpu_time(warm):
    assert verdict_of(warm, "while True: pass", limits=replace(SMALL, cpu_seconds=1)) is Verdict.TIME_LIMIT


def test_memory_of_one_process_is_an_exception_that_can_be_handled(inside):
    text = inside("import numpy as np\nx = np.ones(100_000_000)", "print('goes on')", limits=SMALL)
    assert text == "goes on"


BOMB = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(os.urandom(1024)) * 50_000
        time.sleep(30)
        os._exit(0)
while True:
    block = bytearray(os.urandom(1024)) * 50_000
    time.sleep(0.2)
    if os.waitpid(-1, os.WNOHANG)[0]:
        os._exit(9)
"""


def test_memory_of_all_processes_together(warm):
    if warm.cgroup.memory is None:
        pytest.skip("no control group for memory can be made here; the next test covers the watch")
    assert verdict_of(warm, BOMB) is Verdict.MEMORY_LIMIT


def test_memory_is_watched_where_no_control_group_can_be_made(monkeypatch):
    monkeypatch.setattr("posenc_lib.grading.sandbox.cgroup._own_group", lambda controller: None)
    with WarmParent() as parent:
        assert parent.cgroup.memory is None
        assert verdict_of(parent, BOMB) is Verdict.MEMORY_LIMIT


def test_output(warm):
    assert verdict_of(warm, "while True: print('x' * 100)") is Verdict.OUTPUT_LIMIT
    assert (
        verdict_of(warm, "try:\n  while True: print('x' * 100)\nexcept BaseException: pass")
        is Verdict.OUTPUT_LIMIT
    )


def test_what_is_shown_and_too_big_is_left_out(warm):
    with warm.open(SMALL) as session:
        reply = tell(session, "'x' * 1_000_000")
    assert reply["outputs"][0]["data"] == {"text/plain": "(left out: too big to keep)"}


def test_noise_on_the_file_descriptors_goes_nowhere(inside):
    text = inside(
        "import os\nfor _ in range(500): os.write(1, b'x' * 10_000), os.write(2, b'y' * 10_000)", "print(1)"
    )
    assert text == "1"


@pytest.mark.parametrize(
    "cell",
    [
        "import os\nos._exit(0)",
        "import os\nos.abort()",
        "import ctypes\nctypes.string_at(0)",
        "import os\nos.close(3)",
        "import resource, os\nos.kill(os.getpid(), 9)\nos._exit(3)",
    ],
)
def test_ending_the_process_is_a_crash(warm, cell):
    assert verdict_of(warm, cell) is Verdict.CRASHED


def test_leaving_by_exceptions_is_no_crash(inside):
    assert (
        inside("raise SystemExit", "raise KeyboardInterrupt", "exit()", "import sys; sys.exit(3)", "print(1)")
        == "1"
    )


@pytest.mark.parametrize(
    "noise", [b"junk\n", b"[1]\n", b'{"id": 1}\n', b"[" * 100_000 + b"\n", b"\xff\xfe\n"]
)
def test_writing_on_the_graders_line_is_tampering(warm, noise):
    assert verdict_of(warm, f"import os\nos.write(3, {noise!r})") is Verdict.TAMPERED


def test_an_endless_line_is_not_read(warm):
    cell = "import os\nwhile True: os.write(3, b'x' * 65536)"
    assert verdict_of(warm, cell) is Verdict.OUTPUT_LIMIT


def test_file_size_and_disk(inside):
    assert inside("open('big', 'wb').write(bytes(2**21))", limits=SMALL).startswith("OSError")
    fill = "for k in range(100): open(str(k), 'wb').write(bytes(2**20))"
    assert "No space left" in inside(fill, limits=SMALL)


FORKS = """
import os, time
made = 0
try:
    while made < 500:
        if os.fork() == 0:
            time.sleep(100)
        made += 1
except OSError as error:
    print(type(error).__name__, made < 25)
"""


def test_processes_and_threads(warm):
    with warm.open(SMALL) as session:
        assert printed(tell(session, FORKS)) == "BlockingIOError True"
        space = Path(f"/proc/{session.pid}/ns/pid").readlink()
    assert living_in(space) == []


def test_limits_cannot_be_raised(inside):
    cell = "import resource as r\nr.setrlimit(r.RLIMIT_NOFILE, (10_000, 10_000))"
    assert inside(cell).startswith("ValueError") or "PermissionError" in inside(cell)


def test_a_session_that_died_costs_the_next_one_nothing(warm, inside):
    assert verdict_of(warm, "import os\nos._exit(1)") is Verdict.CRASHED
    assert inside("print(1)") == "1"


# --- Where walls cannot stand ----------------------------------------------------------------------


def test_without_bubblewrap_it_refuses_and_says_what_to_do(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(walls.NoWalls, match="apt install bubblewrap"):
        WarmParent()


def test_a_bubblewrap_that_fails_is_quoted(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(walls.NoWalls, match="No permissions to create new namespace"):
        WarmParent()


def test_unsafe_has_limits_and_no_walls(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin-without-bwrap:/bin")
    with WarmParent(unsafe=True) as parent:
        with parent.open(SMALL) as session:
            assert printed(tell(session, "import posenc_lib\nprint(posenc_lib.sinusoidal)")).startswith(
                "<posenc_lib"
            )
            assert printed(tell(session, f"import os\nprint(os.path.exists({str(ROOT)!r}))")) == "True"
        assert verdict_of(parent, "import time\ntime.sleep(60)", limits=replace(SMALL, wall_seconds=1)) is (
            Verdict.TIME_LIMIT
        )


AS_NOBODY = """
set -e
mkdir "$1/python" "$1/project"
mount --bind {base} "$1/python"
mount --bind {root} "$1/project"
mount -t tmpfs -o mode=755 none {top}
mkdir -p {base} {root}
mount --bind "$1/python" {base}
mount --bind "$1/project" {root}
cd {root}
shift
exec setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent "$@"
"""


def test_it_works_for_an_ordinary_user_too(tmp_path):
    """The same walls, where nobody may give away user ids or make control groups."""
    if os.geteuid() != 0:
        pytest.skip("every other test of this file has just shown it")
    base = Path(sys.base_prefix)
    top = f"/{base.parts[1]}"
    if top == "/usr" or not shutil.which("setpriv"):
        pytest.skip("this interpreter can be reached by everybody: run these tests as another user instead")
    code = """
import os, time
from posenc_lib.grading.grades import Limits
from posenc_lib.grading.sandbox.warm import WarmParent, Ended
assert os.geteuid() == 65534
limits = Limits(wall_seconds=60, memory_bytes=192 * 2**20, processes=20)
def tell(session, cell):
    return session.ask({"cell": cell}, deadline=time.monotonic() + 60, most_bytes=2**24)
with WarmParent() as parent:
    assert parent.cgroup.memory is None
    with parent.open(limits) as session:
        reply = tell(session, "import os; print(os.getuid(), os.getpid(), os.listdir('/proc'))")
        assert reply["outputs"][0]["text"] == "1000 1 []\\n", reply
        folders = ["/", "/dev", "/cell", "/library", "/tmp"]
        reply = tell(session, f"print([os.access(d, os.W_OK) for d in {folders}])")
        assert reply["outputs"][0]["text"] == "[False, False, False, False, True]\\n", reply
        assert tell(session, FORKS)["outputs"][0]["text"] == "BlockingIOError True\\n"
    try:
        with parent.open(limits) as session:
            tell(session, BOMB)
    except Ended as ended:
        print(ended.verdict)
"""
    script = AS_NOBODY.format(base=base, root=ROOT, top=top)
    code = f"BOMB, FORKS = {BOMB!r}, {FORKS!r}\n{code}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", str(tmp_path), sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "memory limit", done.stderr
