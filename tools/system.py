"""Programs of the system that the checks need: find each, or install it where that is ours to do.

python -m tools.system
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from book.chromium import find as chromium


def bubblewrap() -> str | None:
    """Path of bwrap."""
    return shutil.which("bwrap")


def postgresql() -> str | None:
    """The folder of initdb and pg_ctl; Debian keeps them off the PATH."""
    if found := shutil.which("initdb"):
        return str(Path(found).resolve().parent)
    versions = list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return str(max(versions, key=lambda each: float(each.parents[1].name)).parent) if versions else None


def compiler() -> str | None:
    """Path of the C++ compiler that PyTorch takes."""
    return shutil.which(os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++"))


def chinese_face() -> str | None:
    """The first face with Chinese signs that the system's list of faces has; macOS has its own."""
    if sys.platform == "darwin":
        return "PingFang SC"
    if not (listing := shutil.which("fc-list")):
        return None
    listed = subprocess.run([listing, ":lang=zh-cn", "family"], capture_output=True, text=True).stdout
    return next(iter(listed.splitlines()), None)


def firefox() -> str | None:
    """Path of Firefox; Debian's is the one with long support. A snap reads no profile that tests make."""
    found = shutil.which("firefox-esr") or shutil.which("firefox")
    return None if found is None or "/snap" in str(Path(found).resolve()) else found


def webkit() -> str | None:
    """Path of WebKitGTK's small browser, where its driver and a screen for it are there too."""
    found = [
        *Path("/usr").glob("lib*/webkit*gtk-*/MiniBrowser"),
        *Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser"),
    ]
    return str(max(found)) if found and shutil.which("WebKitWebDriver") and shutil.which("Xvfb") else None


@dataclass(frozen=True)
class Program:
    name: str
    purpose: str
    find: Callable[[], str | None]
    debian: tuple[str, ...]
    elsewhere: str


PROGRAMS = (
    Program(
        "Chromium",
        "the site is tested in a real browser",
        chromium,
        ("chromium-headless-shell", "fonts-dejavu-core"),
        "Fedora: dnf install chromium; macOS: brew install --cask google-chrome; else name it in CHROMIUM",
    ),
    Program(
        "Firefox",
        "the site is tested in other engines, too",
        firefox,
        ("firefox-esr",),
        "Fedora: dnf install firefox",
    ),
    Program(
        "WebKitGTK",
        "the site is tested in Safari's engine, too",
        webkit,
        ("webkit2gtk-driver", "xvfb"),
        "Fedora: dnf install webkitgtk6.0 xorg-x11-server-Xvfb",
    ),
    Program(
        "a Chinese face",
        "the Chinese pages are looked at, and printed",
        chinese_face,
        ("fontconfig", "fonts-noto-cjk"),
        "Fedora: dnf install google-noto-sans-cjk-fonts; else any that fc-list :lang=zh-cn names",
    ),
    Program(
        "bubblewrap",
        "learners' code runs behind its walls",
        bubblewrap,
        ("bubblewrap",),
        "Fedora: dnf install bubblewrap; it is for Linux alone",
    ),
    Program(
        "PostgreSQL",
        "the gradebook is tested in a real server",
        postgresql,
        ("postgresql",),
        "Fedora: dnf install postgresql-server; macOS: brew install postgresql; else put initdb on the PATH",
    ),
    Program(
        "a C++ compiler",
        "the library is tested under torch.compile, too",
        compiler,
        ("g++",),
        "Fedora: dnf install gcc-c++; macOS: xcode-select --install; else name it in CXX",
    ),
)


def missing() -> list[Program]:
    """What is not there. Bubblewrap exists on Linux alone, and there alone other engines are looked at."""
    on_linux = {bubblewrap, firefox, webkit}
    here = [each for each in PROGRAMS if each.find not in on_linux or sys.platform == "linux"]
    return [each for each in here if each.find() is None]


def install(programs: list[Program]) -> None:
    """Install Debian's packages as root; elsewhere say how to get them, and exit."""
    apt = shutil.which("apt-get")
    if not apt or os.geteuid() != 0:
        sys.exit("\n".join(map(_help, programs)))
    packages = [package for each in programs for package in each.debian]
    print(f"installing {', '.join(each.name for each in programs)} (once)", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        [apt, "-qq", "update"],
        [apt, "-qq", "-y", "install", "--no-install-recommends", *packages],
    ):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit(f"error: {' '.join(command)} failed; its message is above")


def _help(program: Program) -> str:
    return (
        f"error: {program.name} was not found, and {program.purpose}.\n"
        f"  Debian, Ubuntu: sudo apt install {' '.join(program.debian)}\n"
        f"  {program.elsewhere}"
    )


if __name__ == "__main__":
    if needed := missing():
        install(needed)
    if needed := missing():
        sys.exit("\n".join(map(_help, needed)))
