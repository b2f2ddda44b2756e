"""The outer walls: a bubblewrap command around the warm parent, and what may be seen from within.

To be seen: the interpreter and its standard library, the packages installed beside the course, /usr and the
system's libraries. Not to be seen: the course, the library, packages that hold answers, homes, other
processes, any network.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import posenc_lib

HIDDEN_PACKAGES = (
    "posenc_lib",
    "nbgrader",
    "transformers",
    "rotary_embedding_torch",
    "x_transformers",
    "timm",
    "diffusers",
    "positional_encodings",
    "psutil",
)
"""Packages whose code answers an exercise, that know where grades are kept, or that read /proc, which is not
there: others, as joblib, do without such a package where they cannot import it."""

SYSTEM_FOLDERS = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")

LENT_USER_IDS = 65_535
FIRST_USER_ID = 0x70000000
"""Where a root user's sessions get their user ids from: a range that no account has."""

_LIBRARY = Path(posenc_lib.__file__).parent
_SHARED = (
    "checking/messages.py",
    "checking/plain.py",
    "checking/run.py",
    "grading/__init__.py",
    *(
        f"grading/sandbox/{name}.py"
        for name in ("__init__", "borrowed", "learner", "namespaces", "stand_in", "system_calls", "zygote")
    ),
    *(str(file.relative_to(_LIBRARY)) for file in _LIBRARY.glob("locale/*/LC_MESSAGES/*.mo")),
)
"""The few files of the library that are inside, where they are outside."""
_STAND_INS = ("__init__.py", "checking/__init__.py")
"""Files of the library in whose place something else stands inside."""

_BOOT = (
    "import json, sys; order = json.loads(sys.argv[1]); "
    "from posenc_lib.grading.sandbox.zygote import main; main(**order)"
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
            "bubblewrap (the command bwrap) was not found; learners' code cannot be walled in without it. "
            "Install it: on Debian and Ubuntu, apt install bubblewrap"
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
    for parent in sorted({parent for _, inside in shown for parent in Path(inside).parents}):
        # Else bubblewrap makes them for the zygote's eyes only.
        options += ["--perms", "0755", "--dir", str(parent)]
    for outside, inside in shown:
        options += ["--ro-bind", str(outside), inside]
    stand_in = str(_LIBRARY / "grading" / "sandbox" / "hidden.py")
    for hidden in _hidden():
        options += ["--tmpfs", hidden, "--ro-bind", stand_in, f"{hidden}/__init__.py", "--remount-ro", hidden]
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]


def _shown() -> list[tuple[Path, str]]:
    """All that may be seen from within: where it is, and where it stands inside."""
    system = [Path(each) for each in (*SYSTEM_FOLDERS, *SYSTEM_FILES)]
    return [
        *((each, str(each)) for each in system if each.exists() and not each.is_symlink()),
        (Path(sys.base_prefix), sys.base_prefix),
        *_sites(),
        *((outside, f"/library/{inside}") for outside, inside in _files()),
    ]


def _copy_files(folder: Path) -> None:
    for outside, inside in _files():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(outside, folder / inside)


def _files() -> list[tuple[Path, str]]:
    """Files of the library: where they are, and where they stand inside."""
    stand_in = _LIBRARY / "grading" / "sandbox" / "stand_in.py"
    return [
        *((_LIBRARY / name, f"posenc_lib/{name}") for name in _SHARED),
        *((stand_in, f"posenc_lib/{name}") for name in _STAND_INS),
    ]


def _sites() -> list[tuple[Path, str]]:
    """Folders of installed packages: where they are, and where they stand inside."""
    folders = [Path(each) for each in sys.path if Path(each).name in ("site-packages", "dist-packages")]
    return [(folder, f"/site/{number}") for number, folder in enumerate(folders) if folder.is_dir()]


def _hidden() -> list[str]:
    """Folders inside that must not show what they hold, as they stand inside."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    homes = [
        *_sites(),
        *(
            (folder, str(folder))
            for folder in (
                Path(sys.base_prefix) / "lib" / version / "site-packages",
                Path("/usr/lib/python3/dist-packages"),
                Path("/usr/local/lib") / version / "dist-packages",
            )
        ),
    ]
    hidden = [
        f"{inside}/{name}"
        for outside, inside in homes
        for name in HIDDEN_PACKAGES
        if (outside / name).is_dir()
    ]
    # A checkout of the course under a folder that is to be seen.
    root = _LIBRARY.parent
    if any(root.is_relative_to(seen) for seen in ("/usr", sys.base_prefix)) and root not in [
        s for s, _ in homes
    ]:
        hidden.append(str(root))
    return hidden


def _environment(home: str, paths: list[str]) -> dict[str, str]:
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "HOME": home,
        "USER": "learner",
        "LOGNAME": "learner",
        "LANG": "C.UTF-8",
        "LANGUAGE": os.environ.get("LANGUAGE", ""),
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
