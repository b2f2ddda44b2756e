"""A real hub with real users of this machine: made for the tests, and taken away again."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import requests
import websocket

from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py"
LEARNERS, INSTRUCTORS = "posenc-learners", "posenc-teachers"
PASSWORD = "only for this test"


def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


def free_port() -> int:
    """The first of three ports, as the hub's configuration lays them out, that nobody uses now."""
    for port in range(18000, 19000, 7):
        with socket.socket() as a, socket.socket() as b, socket.socket() as c:
            try:
                for each, number in ((a, port), (b, port + 1), (c, port + 81)):
                    each.bind(("127.0.0.1", number))
            except OSError:
                continue
            return port
    raise RuntimeError("no free ports between 18000 and 19000")


def wait(what: str, condition: Callable[[], bool], seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.1)


# ---- Users and a Python for them ------------------------------------------------------------------


def works_for_others(python: Path | str) -> bool:
    """Whether a user without rights can run this Python with this project in it."""
    try:
        done = subprocess.run(
            [str(python), "-c", "import jupyterhub, posenc_course"],
            user="nobody",
            cwd="/",
            env={},
            capture_output=True,
        )
    except PermissionError:
        return False
    return done.returncode == 0


def python_for_all(folder: Path) -> Path | None:
    """A Python that every user can run: this one or, where that lies in root's home, the system's.

    The second is a virtual environment of the same version, which shares all packages with this one.
    """
    if works_for_others(sys.executable):
        return Path(sys.executable)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if (system := shutil.which(version, path="/usr/local/bin:/usr/bin")) is None:
        return None
    ours, twin = Path(sys.prefix), folder / "python"
    (twin / "bin").mkdir(parents=True)
    (twin / "pyvenv.cfg").write_text(f"home = {Path(system).parent}\n")
    for shared in ("lib", "share", "etc"):
        (twin / shared).symlink_to(ours / shared)
    (twin / "bin" / "python").symlink_to(system)
    for command in ("alembic", "nbgrader", "jupyter"):
        script = (ours / "bin" / command).read_text().split("\n", maxsplit=1)[1]
        (twin / "bin" / command).write_text(f"#!{twin}/bin/python\n{script}")
        (twin / "bin" / command).chmod(0o755)
    python = twin / "bin" / "python"
    return python if works_for_others(python) else None


def remove_user(name: str) -> None:
    try:
        uid = pwd.getpwnam(name).pw_uid
    except KeyError:
        return
    for process in psutil.process_iter(["uids"]):
        if process.info["uids"] and process.info["uids"].real == uid:
            process.kill()
            process.wait(10)
    run("userdel", name)


@contextmanager
def accounts(folder: Path, groups: dict[str, str]) -> Iterator[None]:
    """Users of the system, each in the group that `groups` names; what a killed run left goes first."""

    def clear() -> None:
        for name in groups:
            remove_user(name)
        for group in (LEARNERS, INSTRUCTORS):
            subprocess.run(["groupdel", group], capture_output=True)

    clear()
    try:
        for group in (LEARNERS, INSTRUCTORS):
            run("groupadd", group)
        for name, group in groups.items():
            home = folder / "home" / name
            home.parent.mkdir(exist_ok=True)
            run("useradd", "--create-home", "--home-dir", home, "--shell", "/bin/bash", "-G", group, name)
            run("chpasswd", input=f"{name}:{PASSWORD}\n")
        yield
    finally:
        clear()


# ---- The hub and those who use it -----------------------------------------------------------------


@contextmanager
def hub(folder: Path, python: Path) -> Iterator[str]:
    """The address of a running hub with the project's configuration."""
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "POSENC_EXCHANGE": str(folder / "exchange"),
        "POSENC_HUB_STATE": str(folder / "state"),
        "POSENC_RUNTIME": str(folder / "run"),
        "POSENC_LEARNERS": LEARNERS,
        "POSENC_INSTRUCTORS": INSTRUCTORS,
        "POSENC_HUB_PORT": str(port),
    }
    log = folder / "hub.log"
    # Unlike a hub in service, this one takes the users' servers along when it ends.
    command = [str(python), "-m", "jupyterhub", "-f", str(CONFIG), "--JupyterHub.cleanup_servers=True"]
    with log.open("w") as output:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=output)
    address = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert process.poll() is None, f"the hub ended:\n{log.read_text()[-5000:]}"
        try:
            return requests.get(f"{address}/hub/health", timeout=5).ok
        except (requests.ConnectionError, requests.Timeout):
            return False

    try:
        wait("the hub starts", ready)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


class User:
    """Somebody who logged in with a password, with a browser's cookies and then a token of their own."""

    def __init__(self, hub: str, name: str, password: str = PASSWORD):
        self.hub, self.name = hub, name
        browser = requests.Session()
        browser.get(f"{hub}/hub/login").raise_for_status()
        form = {"username": name, "password": password, "_xsrf": browser.cookies.get("_xsrf", path="/hub/")}
        self.login = browser.post(f"{hub}/hub/login", data=form, allow_redirects=False)
        self.logged_in = self.login.status_code == 302
        if self.logged_in:
            made = browser.post(
                f"{hub}/hub/api/users/{name}/tokens",
                headers={
                    "X-XSRFToken": present(browser.cookies.get("_xsrf", path="/hub/")),
                    "Referer": f"{hub}/hub/",
                },
                json={"note": "the test"},
            )
            made.raise_for_status()
            self.token = {"Authorization": f"token {made.json()['token']}"}

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """Ask this user's own server, or with a path from `/` on, anything of the hub."""
        url = self.hub + (path if path.startswith("/") else f"/user/{self.name}/{path}")
        return requests.request(method, url, headers=self.token, timeout=180, **options)

    def ask(self, method: str, path: str, **options: object):
        """As `request`; gives the JSON of the answer, and raises where there is none."""
        answer = self.request(method, path, **options)
        assert answer.ok, f"{method} {path}: {answer.status_code}\n{answer.text[-3000:]}"
        return answer.json()

    def start_server(self) -> None:
        """Ask for it, and wait until it answers."""
        assert self.request("POST", f"/hub/api/users/{self.name}/server").status_code in (201, 202)

        def ready() -> bool:
            servers = self.ask("GET", f"/hub/api/users/{self.name}")["servers"]
            return bool(servers) and servers[""]["ready"]

        wait(f"the server of {self.name} starts", ready)

    def python(self, code: str) -> str:
        """What `code` prints in a kernel of this user's server."""
        kernel = self.ask("POST", "api/kernels", json={"name": "python3"})["id"]
        socket = websocket.create_connection(
            f"{self.hub}/user/{self.name}/api/kernels/{kernel}/channels".replace("http", "ws", 1),
            header=self.token,
            timeout=180,
        )
        try:
            return _run_in_kernel(socket, code)
        finally:
            socket.close()
            self.request("DELETE", f"api/kernels/{kernel}")

    def shell(self, command: str, folder: str = "~") -> str:
        """What a command prints that this user types into a terminal; it must succeed."""
        return self.python(
            "import os, subprocess\n"
            f"done = subprocess.run({command!r}, shell=True, text=True, cwd=os.path.expanduser({folder!r}),\n"
            "                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)\n"
            "print(done.stdout)\n"
            "assert done.returncode == 0, done.stdout[-3000:]\n"
        )


def _run_in_kernel(socket: websocket.WebSocket, code: str) -> str:
    request: dict[str, Any] = {
        "header": {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "username": "",
            "session": uuid.uuid4().hex,
            "version": "5.3",
        },
        "parent_header": {},
        "metadata": {},
        "content": {"code": code, "silent": False, "allow_stdin": False},
        "channel": "shell",
    }
    socket.send(json.dumps(request))
    printed, replied, idle = "", False, False
    while not (replied and idle):
        message = json.loads(socket.recv())
        if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
            continue
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "stream":
            printed += content["text"]
        elif kind == "error":
            raise AssertionError(f"{printed}\n{content['ename']}: {content['evalue']}")
        replied = replied or kind == "execute_reply"
        idle = idle or (kind == "status" and content["execution_state"] == "idle")
    return printed
