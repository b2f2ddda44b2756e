"""The walls, from inside and from outside: real bubblewrap, real namespaces, real limits."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import posenc_course
import posenc_lib
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox import system_calls, walls
from posenc_course.grading.sandbox.cgroup import Cgroup
from posenc_course.grading.sandbox.learner import THERE
from posenc_course.grading.sandbox.warm import Ended, WarmParent, ran_out_of_time
from posenc_course.grading.verdicts import Verdict
from tests.grading.conftest import QUICK, ROOT, printed, tell

SMALL = replace(QUICK, output_bytes=10_000, file_bytes=2**20, processes=20)


def verdict_of(warm, *cells: str, limits: Limits = SMALL, witness: Cgroup | None = None) -> Verdict:
    def run() -> None:
        with warm.open(limits) as session:
            if witness is not None:
                witness.add(session.pid)
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
    assert inside("input('name? ')").startswith("EOFError: nobody can answer input()")


def test_nothing_of_the_course_is_to_be_seen(inside):
    hidden = [
        ROOT,
        Path(posenc_lib.__file__).parent,
        Path(posenc_course.__file__).parent,
        "/home",
        "/etc/passwd",
        "/sys",
        "/var",
        "/run",
        "/opt",
    ]
    hidden += list(Path.home().glob(".*rc"))
    assert inside(f"import os\nprint([p for p in {[str(p) for p in hidden]} if os.path.exists(p)])") == "[]"


def test_no_reference_no_exercise_and_no_judge_can_be_imported(inside):
    found = inside(
        """
        import os, sys
        import posenc_lib, posenc_course.exercises.ch02_the_formula as chapter
        from posenc_lib.added.sinusoidal import sinusoidal
        files = sorted(os.path.join(d, f) for d, _, fs in os.walk("/library") for f in fs)
        files = [f for f in files if not f.endswith(".mo")]
        print(type(chapter.EXERCISES).__name__, type(sinusoidal).__name__, len(files))
        print([f for f in files if "exercises" in f or "judge" in f or "added" in f])
        """
    )
    assert found == "Borrowed Borrowed 14\n[]"


@pytest.mark.parametrize(
    "name",
    [
        *("nbgrader", "transformers", "rotary_embedding_torch", "x_transformers", "timm", "diffusers"),
        *("positional_encodings", "torch_einops_utils", "jax", "psutil"),
    ],
)
def test_packages_that_may_hold_answers_are_not_there(inside, name):
    assert importlib.util.find_spec(name)  # It is there outside.
    assert inside(f"import {name}") == f"ModuleNotFoundError: No module named '{name}'. {THERE}"


def test_of_all_packages_only_the_allowed_ones_are_there(inside):
    """Whatever is installed: a package that nobody thought of answers nothing."""
    text = inside("import os\nprint(*sorted(each for each in os.listdir('/site/0') if '.' not in each))")
    there = set(text.split())
    assert {"numpy", "torch", "scipy", "sklearn", "sympy", "joblib", "matplotlib", "IPython", "PIL"} <= there
    allowed = {each.name.lower().replace("_", "-") for each in walls.allowed_distributions()}
    for package, distributions in packages_distributions().items():
        if package in there:
            assert allowed.intersection(each.lower().replace("_", "-") for each in distributions), package
    assert not {"transformers", "nbgrader", "einops", "tqdm", "posenc_lib", "posenc_course"} & there


def test_the_folders_of_the_systems_own_packages_are_empty(inside):
    show = """
    import glob, os, sys
    roots = ["/usr", "/usr/local", sys.base_prefix]
    found = [f for r in roots for f in glob.glob(f"{r}/lib*/python3*/*-packages")]
    print(len(found) > 0, [each for folder in found for each in os.listdir(folder)])
    """
    assert inside(show) == "True []"


def test_a_package_that_is_installed_later_is_not_there(monkeypatch, tmp_path):
    """As torchtune would be: in a folder of packages, unknown to everybody."""
    folder = tmp_path / "site-packages"
    (folder / "torchtune").mkdir(parents=True)
    (folder / "torchtune" / "__init__.py").write_text("answer = 42")
    monkeypatch.syspath_prepend(folder)
    assert importlib.util.find_spec("torchtune")
    with WarmParent() as parent, parent.open(QUICK) as session:
        text = printed(tell(session, "import torchtune"))
    assert text.startswith("ModuleNotFoundError: No module named 'torchtune'")


def test_what_is_there_and_what_is_not_is_said_in_plain_words(inside):
    names = ["numpy", "torch", "scipy", "sklearn", "sympy", "joblib", "matplotlib", "IPython", "ipykernel"]
    assert (
        inside(f"import importlib.util as u\nprint(all(u.find_spec(name).origin for name in {names}))")
        == "True"
    )
    spawned = "import multiprocessing as m\nwith m.get_context('spawn').Pool(1) as p: print(p.map(abs, [-1]))"
    assert inside(spawned) == "[1]"  # Python that is started anew finds what it needs, too.
    assert inside("import pandas") == f"ModuleNotFoundError: No module named 'pandas'. {THERE}"


def test_teachers_are_told_the_limits(inside):
    limits, told = Limits(), (ROOT / "book" / "instructors" / "grade.md").read_text()
    files = inside("import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE)[0])")
    size = limits.file_bytes // 2**20
    assert f"{limits.processes} of them at once, {files} open files each, and {size} MiB a file" in told


def test_condas_other_environments_are_hidden(tmp_path, monkeypatch):
    """Where the Python beneath is conda's own, they lie in its folder, which is to be seen."""
    for name in ("envs", "pkgs"):
        (tmp_path / name / "other" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    assert {str(tmp_path / "envs"), str(tmp_path / "pkgs")} <= set(walls._hidden())


def test_no_file_of_the_library_is_hidden_in_the_packages_either(inside):
    text = inside(
        """
        import pathlib
        homes = [pathlib.Path("/site"), pathlib.Path("/usr/lib/python3")]
        print([str(p) for home in homes for p in home.glob("*/posenc_*/*.py")])
        """
    )
    assert text == "[]"


def test_a_name_of_the_library_is_refused_while_cells_run(inside):
    assert inside("import posenc_lib\nposenc_lib.sinusoidal(4, 4)").startswith("NotForAnswers")
    for package in ("posenc_lib", "posenc_course"):
        text = inside(f"from {package} import *\nfrom {package} import check\ncheck('x', 1)\nprint(check)")
        assert text.startswith("<function check")


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
            """
        )
    assert text == "OSError\nConnectionRefusedError"


def test_a_session_can_make_no_system_call_that_learners_do_not_need(inside):
    """Each with arguments that work, or fail in another way, where nothing forbids the call."""
    if platform.machine() != "x86_64":
        pytest.skip("the numbers are those of x86_64; test_system_calls.py has the others'")
    text = inside(
        """
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        def fails(number, *arguments):
            ctypes.set_errno(0)
            got = libc.syscall(number, *arguments)
            return errno.errorcode.get(ctypes.get_errno()) if got == -1 else got
        room, path = ctypes.create_string_buffer(256), ctypes.create_string_buffer(b"/tmp")
        print({name: code for name, code in {
            "io_uring_setup": fails(425, 8, room),
            "bpf": fails(321, 0, room, 120),
            "perf_event_open": fails(298, room, 0, -1, -1, 0),
            "unshare": fails(272, 0x10000000),
            "setns": fails(308, 0, 0),
            "clone": fails(56, 0x10000000 | 17, 0, 0, 0, 0),
            "mount": fails(165, path, path, b"tmpfs", 0, 0),
            "pivot_root": fails(155, path, path),
            "fsopen": fails(430, b"tmpfs", 0),
            "chroot": fails(161, path),
            "ptrace": fails(101, 0, 0, 0, 0),
            "process_vm_readv": fails(310, os.getpid(), room, 0, room, 0, 0),
            "keyctl": fails(250, 0, -3, 0),
            "add_key": fails(248, b"user", b"x", b"x", 1, -3),
            "userfaultfd": fails(323, 1),
            "memfd_create": fails(319, b"x", 0),
            "memfd_secret": fails(447, 0),
            "name_to_handle_at": fails(303, -100, path, room, room, 0),
            "inotify_init1": fails(294, 0),
            "seccomp": fails(317, 0, 0, 0),
            "settimeofday": fails(164, 0, 0),
            "quotactl": fails(179, 0, 0, 0, 0),
            "swapon": fails(167, path, 0),
            "init_module": fails(175, room, 1, b""),
            "kexec_load": fails(246, 0, 0, 0, 0),
            "personality": fails(135, 0x40000),
        }.items() if code != "EPERM"})
        absent = {"clone3": (435, room, 64), "shmget": (29, 0, 4096, 0o1666), "vmsplice": (278, 0, 0)}
        print({name: code for name, call in absent.items() if (code := fails(*call)) != "ENOSYS"})
        print(fails(16, 0, 0x5412, b"x"), fails(157, 22, 0))
        """
    )
    assert text == "{}\n{}\nENOTTY EPERM"


def test_no_socket_leads_out_of_the_session(inside):
    """Those for the host of a virtual machine ignore namespaces of networks."""
    text = inside(
        """
        import errno, socket
        named = {getattr(socket, name) for name in dir(socket) if name.startswith("AF_")} - {socket.AF_UNIX}
        opened = []
        for family in {*named, *range(2, 60)}:
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
                for make in (socket.socket, socket.socketpair):
                    try:
                        opened.append((make(family, kind), family))
                    except OSError as error:
                        assert error.errno == errno.EAFNOSUPPORT
        print(len(named) > 20, opened)
        """
    )
    assert text == "True []"


def test_no_file_can_be_locked_for_those_outside(inside):
    """A lock belongs to the file, wherever it is seen from."""
    text = inside(
        """
        import fcntl, os, struct, sys
        kept, locks = open(os.__file__), struct.pack("hhqqi", 0, 0, 0, 0, 0)
        for attempt in (
            lambda: fcntl.flock(kept, fcntl.LOCK_SH),
            lambda: fcntl.lockf(kept, fcntl.LOCK_SH),
            lambda: fcntl.fcntl(kept, fcntl.F_OFD_SETLK, locks),
            lambda: fcntl.fcntl(kept, fcntl.F_SETLEASE, fcntl.F_RDLCK),
            lambda: fcntl.fcntl(kept, fcntl.F_NOTIFY, fcntl.DN_ACCESS),
        ):
            try:
                attempt()
                print("locked")
            except OSError as error:
                print(error.strerror)
        """
    )
    assert text.splitlines() == ["Function not implemented"] * 5


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


def test_the_kernel_keeps_no_keys_for_a_session(inside):
    if platform.machine() != "x86_64":
        pytest.skip("the numbers of system calls are those of x86_64; test_system_calls.py has the others'")
    # As after a login: a keyring that every process of the session inherits.
    ctypes.CDLL(None).syscall(250, 1, None)
    cell = """
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    print([libc.syscall(248, b"user", b"posenc-probe", b"secret", 6, ring) for ring in (-3, -4, -5)])
    print([libc.syscall(250, order, -3, b"user", b"posenc-probe", 0) for order in (0, 1, 10, 11)])
    """
    with WarmParent() as parent:
        assert inside(cell, parent=parent) == "[-1, -1, -1]\n[-1, -1, -1, -1]"


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


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        ({"signal": 9, "cpu": 29.9}, Verdict.TIME_LIMIT),  # as measured, ended by the kernel at 31 of its own
        ({"signal": 24, "cpu": 29.5}, Verdict.TIME_LIMIT),
        ({"signal": 0, "cpu": 30.2}, Verdict.TIME_LIMIT),
        ({"signal": 9, "cpu": 3.0}, Verdict.CRASHED),
        ({"signal": 0, "cpu": 29.9}, Verdict.CRASHED),
        ({"signal": 11, "cpu": 29.9}, Verdict.CRASHED),
    ],
)
def test_a_session_ended_at_its_limit_ran_out_of_time_though_less_was_measured(report, verdict):
    assert ran_out_of_time(report, Limits(cpu_seconds=30)) == (verdict is Verdict.TIME_LIMIT)


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
    monkeypatch.setattr("posenc_course.grading.sandbox.cgroup._own_group", lambda controller: None)
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


# --- Memory where no control group can be made -----------------------------------------------------

HOARD = """
import contextlib, ctypes, mmap, os, socket, subprocess, sys, threading, time
MIB = 2**20
kept = []
def in_children(work, number=15):
    for _ in range(number):
        time.sleep(0.1)
        if os.fork() == 0:
            with contextlib.suppress(OSError):
                work()
            time.sleep(60)
            os._exit(0)
def filled(line):
    line.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            line.send(bytes(65536))
def pairs():
    while True:
        kept.extend(socket.socketpair())
        for line in kept[-2:]:
            filled(line)
        time.sleep(0.02)
"""

WAYS_TO_HOARD = {
    "files": """
        for folder in ("/tmp", "/dev/shm"):
            for number in range(10):
                with contextlib.suppress(OSError):
                    open(f"{folder}/{number}", "wb").write(bytes(12 * MIB))
                time.sleep(0.05)
    """,
    "files without a name": """
        for folder in ("/tmp", "/dev/shm"):
            with contextlib.suppress(OSError):
                while True:
                    kept.append(os.open(folder, os.O_TMPFILE | os.O_RDWR))
                    os.write(kept[-1], bytes(4 * MIB))
                    time.sleep(0.01)
    """,
    "a file that was mapped": """
        for folder in ("/tmp", "/dev/shm"):
            for number in range(5):
                with contextlib.suppress(OSError), open(f"{folder}/{number}", "w+b") as file:
                    file.truncate(16 * MIB)
                    mapped = mmap.mmap(file.fileno(), 0)
                    for at in range(0, 12 * MIB, 4096): mapped[at] = 1
                    time.sleep(0.05)
                    del mapped
    """,
    "children": "in_children(lambda: kept.append(bytearray(os.urandom(1024)) * (50 * 1024)))",
    "other programs": """
        code = "x = bytearray(b'x') * 40_000_000; input()"
        for _ in range(15):
            time.sleep(0.1)
            kept.append(subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE))
    """,
    "tables of pages": """
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        start = libc.mmap(None, ctypes.c_size_t(512 * 1024 * MIB), 1, 0x22 | 0x4000, -1, ctypes.c_long(0))
        for step in range(120_000):
            ctypes.string_at(start + step * 2 * MIB, 1)
            if step % 1000 == 0: time.sleep(0.01)
    """,
    "sockets": "in_children(pairs)",
    "connections that nobody accepts": """
        def unaccepted():
            for number in range(100):
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(f"/tmp/{os.getpid()}-{number}")
                listener.listen(4096)
                kept.append(listener)
                for _ in range(4096):
                    with socket.socket(socket.AF_UNIX) as line:
                        line.connect(listener.getsockname())
                        filled(line)
                    time.sleep(0.001)
        unaccepted()
    """,
    "datagrams": """
        for number in range(200):
            receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            receiver.bind(f"/tmp/{number}")
            kept.append(receiver)
            for _ in range(12):
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line, contextlib.suppress(OSError):
                    line.setblocking(False)
                    line.sendto(bytes(200_000), receiver.getsockname())
            time.sleep(0.01)
    """,
    "sockets on their way": """
        def sent_along():
            a, b = socket.socketpair()
            kept.extend((a, b))
            while True:
                c, d = socket.socketpair()
                filled(c), filled(d), time.sleep(0.02)
                socket.send_fds(a, [b"x"], [c.fileno(), d.fileno()])
                c.close(), d.close()
        in_children(sent_along)
        in_children(pairs, 5)
    """,
}
CLOSED = {
    "memory with a name": ("os.memfd_create('x')", "PermissionError: [Errno 1] Operation not permitted"),
    "shared memory in no file": ("mmap.mmap(-1, MIB)", "OSError: [Errno 12] Cannot allocate memory"),
    "shared memory of a device": (
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), MIB)",
        "OSError: [Errno 19] No such device",
    ),
    "terminals": ("os.openpty()", "FileNotFoundError: [Errno 2] No such file or directory"),
    "a bigger buffer": (
        "socket.socket(socket.AF_UNIX).setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MIB)",
        "OSError: [Errno 92] Protocol not available",
    ),
    "a bigger pipe": (
        "import fcntl; fcntl.fcntl(os.pipe()[0], 1031, MIB)",
        "OSError: [Errno 38] Function not implemented",
    ),
}
TIGHT = replace(QUICK, memory_bytes=96 * 2**20, processes=20)


@pytest.fixture(scope="module")
def unwatched():
    """A warm parent that cannot make a control group."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("posenc_course.grading.sandbox.cgroup._own_group", lambda controller: None)
        parent = WarmParent()
    with parent:
        assert parent.cgroup.memory is None
        yield parent


@pytest.fixture
def witness():
    """A control group without a limit, which only looks on; None where none can be made."""
    group = Cgroup()
    yield group if group.memory is not None else None
    group.close()


def most_held(group: Cgroup) -> int:
    names = ("memory.max_usage_in_bytes", "memory.peak")
    assert group.memory is not None
    return next(int((group.memory / name).read_text()) for name in names if (group.memory / name).exists())


@pytest.mark.parametrize("way", WAYS_TO_HOARD)
def test_no_memory_hides_where_no_control_group_counts_it(unwatched, witness, way):
    cells = (HOARD, WAYS_TO_HOARD[way], "time.sleep(20)")
    assert verdict_of(unwatched, *cells, limits=TIGHT, witness=witness) is Verdict.MEMORY_LIMIT
    if witness is not None:
        # Each asks for five times what is allowed, and more; it grows on while the watch takes its time.
        assert most_held(witness) < 3 * TIGHT.memory_bytes


def test_pipes_hold_no_more_than_the_kernel_allows_one_user(unwatched, witness):
    cell = """
    def pipes():
        while True:
            kept.append(os.pipe())
            os.set_blocking(kept[-1][1], False)
            with contextlib.suppress(BlockingIOError):
                while True: os.write(kept[-1][1], bytes(65536))
    in_children(pipes)
    time.sleep(2)
    print("held")
    """
    with unwatched.open(TIGHT) as session:
        if witness is not None:
            witness.add(session.pid)
        tell(session, HOARD, TIGHT)
        assert printed(tell(session, cell, TIGHT)) == "held"
    if witness is not None:
        assert most_held(witness) < 2 * TIGHT.memory_bytes


def test_what_would_hold_memory_that_cannot_be_counted_is_closed(inside):
    done = inside(
        HOARD,
        f"""
        for cell in {[cell for cell, _ in CLOSED.values()]}:
            try:
                exec(cell)
                print("done")
            except OSError as error:
                print(f"{{type(error).__name__}}: {{error}}")
        """,
    )
    assert dict(zip(CLOSED, done.splitlines(), strict=True)) == {
        name: error for name, (_, error) in CLOSED.items()
    }


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


def test_where_the_kernel_takes_no_filter_it_refuses_and_says_so():
    """As in a container that forbids it: here by a filter that forbids filters."""
    code = f"""
import errno
from posenc_course.grading.sandbox.system_calls import calls, load
from posenc_course.grading.sandbox.warm import NoWalls, WarmParent
prctl = calls("prctl 157 167", {platform.machine()!r})["prctl"]
load([
    (0x20, 0, 0, 0), (0x15, 0, 3, prctl), (0x20, 0, 0, 16), (0x15, 0, 1, 22),
    (0x06, 0, 0, 0x50000 | errno.EINVAL), (0x06, 0, 0, 0x7FFF0000),
])
try:
    WarmParent()
except NoWalls as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("learners' code cannot be walled in here."), done.stderr
    assert done.stdout.endswith("system calls cannot be filtered here: seccomp: Invalid argument\n")
    assert "Traceback" not in done.stdout


def test_a_kind_of_machine_without_a_list_is_refused(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert system_calls.why_not_shut() == "there is no list of them for riscv64, only for x86_64, aarch64"


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
from posenc_course.grading.limits import Limits
from posenc_course.grading.sandbox.warm import WarmParent, Ended
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
