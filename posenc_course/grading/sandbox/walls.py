"""The outer walls: a bubblewrap command around the warm parent, and what may be seen from within.

To be seen: the interpreter and its standard library, the packages in `ALLOWED` with what they require, /usr
and the system's libraries. Not to be seen: the course, the library, any other package, homes, other
processes, any network.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import posenc_course
from posenc_course.grading.sandbox.borrowed import OURS
from posenc_course.translation import _, spoken

ALLOWED = (
    *("numpy", "torch", "scipy", "scikit-learn", "sympy", "joblib", "matplotlib"),
    *("ipython", "ipykernel", "matplotlib-inline"),
)
"""Distributions that learners' code may import beside Python's own modules: these and all that they require.
Whatever else is installed is not there; it may answer an exercise."""
WITHOUT = ("psutil",)
"""It reads /proc, which is not there; others, as joblib, do without it where they cannot import it."""

SYSTEM_FOLDERS = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")

LENT_USER_IDS = 65_535
FIRST_USER_ID = 0x70000000
"""Where a root user's sessions get their user ids from: a range that no account has."""

_COURSE = Path(posenc_course.__file__).parent
_SHARED = (
    "translation.py",
    "checking/plain.py",
    "checking/run.py",
    "grading/__init__.py",
    *(
        f"grading/sandbox/{name}.py"
        for name in ("__init__", "borrowed", "learner", "namespaces", "stand_in", "system_calls", "zygote")
    ),
    *(str(file.relative_to(_COURSE)) for file in _COURSE.glob("locale/*/LC_MESSAGES/*.mo")),
)
"""The few files of the course that are inside, where they are outside."""
_STAND_INS = (*(f"{package}/__init__.py" for package in OURS), "posenc_course/checking/__init__.py")
"""Files of course and library in whose place something else stands inside."""

_BOOT = (
    "import json, sys; order = json.loads(sys.argv[1]); "
    "from posenc_course.grading.sandbox.zygote import main; main(**order)"
)


class NoWalls(Exception):
    """Learners' code cannot be walled in here; the text says what to do."""


@contextlib.contextmanager
def warm_process(control: int, modules: list[str], *, unsafe: bool) -> Iterator[subprocess.Popen[bytes]]:
    """A started zygote that serves the socket `control`; it is ended on the way out.

    Raises:
        NoWalls: bubblewrap is missing or cannot work here, and `unsafe` is False.
    """
    with contextlib.ExitStack() as stack:
        if unsafe:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="posenc-unsafe-"))
            _copy_files(Path(folder))
            paths = [folder, *(str(outside) for outside, _ in _sites())]
            command = _python(control, modules, walls=False)
            process = _start(command, control, env=_environment(folder, paths))
        else:
            process = _start_walled(control, modules)
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield process


def lends_user_ids() -> bool:
    """Whether each session can have a user id of its own: only root may give them away."""
    return os.geteuid() == 0


def _start_walled(control: int, modules: list[str]) -> subprocess.Popen[bytes]:
    command = ["bwrap", *_walls(), "--", *_python(control, modules, walls=True)]
    if shutil.which("bwrap") is None:
        raise NoWalls(
            _(
                "bubblewrap (the command bwrap) was not found; learners' code cannot be walled in without "
                "it. Install it: on Debian and Ubuntu, apt install bubblewrap"
            )
        )
    if not lends_user_ids():
        return _start(command, control)
    map_ready, told = os.pipe(), os.pipe()
    options = ["--userns-block-fd", str(map_ready[0]), "--info-fd", str(told[1])]
    process = _start([command[0], *options, *command[1:]], control, map_ready[0], told[1])
    os.close(map_ready[0])
    os.close(told[1])
    with os.fdopen(told[0], "rb") as file:
        text = b""
        while b"}" not in text and (piece := file.read1(4096)):
            text += piece
    if text:
        _lend_user_ids(json.loads(text)["child-pid"])
    with contextlib.suppress(BrokenPipeError):  # It has ended; what it wrote says why.
        os.write(map_ready[1], b"\0")
    os.close(map_ready[1])
    return process


def _lend_user_ids(pid: int) -> None:
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{pid}/{name}").write_text(f"0 0 1\n1 {FIRST_USER_ID} {LENT_USER_IDS}\n")


def _start(
    command: list[str], *descriptors: int, env: dict[str, str] | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=env,
        # Ctrl-C is for the grader, which then ends its warm parent in good order.
        start_new_session=True,
    )


def _python(control: int, modules: list[str], *, walls: bool) -> list[str]:
    order = {"control_number": control, "modules": modules, "walls": walls}
    # No -I: processes that a session starts get these flags too, and find their packages by PYTHONPATH.
    return [os.path.realpath(sys.executable), "-P", "-S", "-B", "-c", _BOOT, json.dumps(order)]


def _walls() -> list[str]:
    options = ["--unshare-all", "--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"]
    options += ["--die-with-parent", "--hostname", "grading", "--clearenv"]
    paths = ["/library", *(inside for _, inside in _sites())]
    for name, value in _environment("/tmp", paths).items():
        options += ["--setenv", name, value]
    options += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/cell"]
    for folder in (Path(name) for name in SYSTEM_FOLDERS):
        if folder.is_symlink():
            options += ["--symlink", str(folder.readlink()), str(folder)]
    shown = _shown()
    for parent in sorted({parent for _outside, inside in shown for parent in Path(inside).parents}):
        # Else bubblewrap makes them for the zygote's eyes only.
        options += ["--perms", "0755", "--dir", str(parent)]
    for outside, inside in shown:
        options += ["--ro-bind", str(outside), inside]
    for hidden in _hidden():
        options += ["--tmpfs", hidden, "--remount-ro", hidden]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


def _shown() -> list[tuple[Path, str]]:
    """All that may be seen from within: where it is, and where it stands inside."""
    system = [Path(each) for each in (*SYSTEM_FOLDERS, *SYSTEM_FILES)]
    return [
        *((each, str(each)) for each in system if each.exists() and not each.is_symlink()),
        (Path(sys.base_prefix), sys.base_prefix),
        *_packages(),
        *((outside, f"/library/{inside}") for outside, inside in _files()),
    ]


def _copy_files(folder: Path) -> None:
    for outside, inside in _files():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(outside, folder / inside)


def _files() -> list[tuple[Path, str]]:
    """Files of the course: where they are, and where they stand inside."""
    stand_in = _COURSE / "grading" / "sandbox" / "stand_in.py"
    return [
        *((_COURSE / name, f"posenc_course/{name}") for name in _SHARED),
        *((stand_in, name) for name in _STAND_INS),
    ]


def _sites() -> list[tuple[Path, str]]:
    """Folders of installed packages: where they are, and where they stand inside."""
    folders = [Path(each) for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    return [(folder, f"/site/{number}") for number, folder in enumerate(folders) if folder.is_dir()]


def _packages() -> Iterator[tuple[Path, str]]:
    """Files and folders of the allowed packages: where they are, and where they stand inside."""
    inside = dict(_sites())
    for found in allowed_distributions():
        home = Path(str(found.locate_file("")))
        if home in inside:
            yield from ((home / name, f"{inside[home]}/{name}") for name in _entries(found, home))


def allowed_distributions() -> list[Distribution]:
    """Those of `ALLOWED` that are installed, with all that they require here."""
    found: dict[str, Distribution] = {}
    names = list(ALLOWED)
    while names:
        name = canonicalize_name(names.pop())
        if name in found or name in WITHOUT:
            continue
        with contextlib.suppress(PackageNotFoundError):
            found[name] = distribution(name)
            required = map(Requirement, found[name].requires or ())
            names += [
                each.name for each in required if not each.marker or each.marker.evaluate({"extra": ""})
            ]
    return list(found.values())


def _entries(found: Distribution, home: Path) -> list[str]:
    """What a distribution has put into its folder of packages."""
    if record := found.read_text("RECORD"):
        names = {re.split("[/,]", line, maxsplit=1)[0] for line in record.splitlines()}
    else:  # As Debian installs: a list of modules at best.
        modules = (found.read_text("top_level.txt") or found.name).split()
        names = {*modules, *(f"{module}.py" for module in modules)}
    ours_alone = (each for each in names if each not in ("..", "__pycache__") and not each.endswith(".pth"))
    return sorted(each for each in ours_alone if (home / each).exists())


def _hidden() -> list[str]:
    """Folders inside that must not show what they hold, as they stand inside."""
    roots = {Path(sys.base_prefix), *(Path(each) for each in SYSTEM_FOLDERS if not Path(each).is_symlink())}
    levels = ("", "lib*/", "local/lib*/")  # /usr/lib/python3, /usr/local/lib/python3.11, /lib/python3
    hidden = {
        folder
        for root, level, name in product(roots, levels, ("site-packages", "dist-packages"))
        for folder in root.glob(f"{level}python3*/{name}")
        if folder.is_dir() and not any(each.is_symlink() for each in (folder, *folder.parents))
    }
    # Conda's other environments, and the packages that it has unpacked.
    hidden |= {folder for name in ("envs", "pkgs") if (folder := Path(sys.base_prefix, name)).is_dir()}
    # A checkout of the course under a folder that is to be seen.
    checkout = _COURSE.parent
    if any(checkout.is_relative_to(seen) for seen in ("/usr", sys.base_prefix)) and checkout not in hidden:
        hidden.add(checkout)
    return sorted(map(str, hidden))


def _environment(home: str, paths: list[str]) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "HOME": home,
        "USER": "learner",
        "LOGNAME": "learner",
        "LANG": "C.UTF-8",
        "LANGUAGE": spoken(),
        "PATH": f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": home,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": home,
        "IPYTHONDIR": home,
        # One thread a submission: the cores are kept busy by many submissions.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
