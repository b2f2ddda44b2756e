"""Serve the built book on this machine alone, with its Python for the cells that a browser cannot run.

One Jupyter Server does all of it: the site, the kernels, and JupyterLab for the notebooks of exercises. It
listens on 127.0.0.1, refuses a Host header that does not name this machine (DNS rebinding) and the pages of
other sites, and gives a kernel only to those who show its token, which is new at every start. A page of the
site reads the token from `_static/local-python.json`, which no other site can read.
"""

from __future__ import annotations

import argparse
import gzip
import mimetypes
import os
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from functools import cached_property
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.auth.identity import PasswordIdentityProvider
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.serverapp import ServerApp
from tornado.httputil import HTTPServerRequest
from tornado.web import HTTPError, RequestHandler, StaticFileHandler
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
HERE = "127.0.0.1"
JUPYTER = "/jupyter/"
MACHINE = "_static/local-python.json"
"""In a site that is only files it is empty: no Python is behind it."""
BY_DIGEST = "_static/pyodide/"
FOR_GOOD = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
"""A browser keeps it, and asks whether it has changed."""
TYPES = mimetypes.MimeTypes()  # of Python alone, and not of each machine
for ending, kind in {".js": "text/javascript", ".mjs": "text/javascript", ".woff2": "font/woff2"}.items():
    TYPES.add_type(kind, ending)
PACKED = {"application/json", "application/wasm", "image/svg+xml"}
IDLE = 30 * 60
"""Seconds after which a kernel ends whose page was closed without a word."""


class Quiet(JupyterHandler):
    """What a page of the site gets: nobody has to log in, and a refusal is one line."""

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code} {self._reason}\n")


class Site(Quiet, StaticFileHandler):
    """The files of the site, smaller where the browser unpacks them, and kept as long as they may be."""

    packed: Path  # a folder for what was made smaller

    def initialize(self, path: str, packed: str) -> None:  # type: ignore[override]
        StaticFileHandler.initialize(self, path, default_filename="index.html")
        self.packed = Path(packed)

    @allow_unauthenticated
    async def get(self, path: str, include_body: bool = True) -> None:
        await StaticFileHandler.get(self, path, include_body)

    @allow_unauthenticated
    async def head(self, path: str) -> None:
        await self.get(path, include_body=False)

    def validate_absolute_path(self, root: str, absolute_path: str) -> str | None:
        found = super().validate_absolute_path(root, absolute_path)
        if found is None:
            return None
        self.original = Path(found)
        kind = TYPES.guess_type(found)[0] or ""
        if kind.startswith("text/") or kind in PACKED:
            self.set_header("Vary", "Accept-Encoding")
            if "gzip" in self.request.headers.get("Accept-Encoding", ""):
                self.set_header("Content-Encoding", "gzip")
                return str(self._made_smaller())
        return found

    def _made_smaller(self) -> Path:
        """Once for each state of a file. Level 4: more would take longer than the way is."""
        made = self.packed / f"{state_of(self.original)}.gz"
        if not made.exists():
            part = made.with_suffix(".part")
            part.write_bytes(gzip.compress(self.original.read_bytes(), 4))
            part.rename(made)
        return made

    def get_content_size(self) -> int:
        return Path(str(self.absolute_path)).stat().st_size

    def compute_etag(self) -> str:
        """By the file's state, so that a site that is built again meanwhile is seen at once."""
        return f'"{state_of(self.original)}{self._headers.get("Content-Encoding", "")}"'

    def get_modified_time(self) -> None:
        """The tag says it, and better: two builds may fall in one second."""

    def get_content_type(self) -> str:
        kind = TYPES.guess_type(self.original)[0] or "application/octet-stream"
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def set_extra_headers(self, path: str) -> None:
        self.set_header("Cache-Control", FOR_GOOD if path.startswith(BY_DIGEST) else ASK_AGAIN)
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")


def state_of(file: Path) -> str:
    """Of a file in its present state."""
    about = file.stat()
    return f"{about.st_ino:x}-{about.st_mtime_ns:x}-{about.st_size:x}"


class Machine(Quiet):
    """What a page of this site, and nobody else, needs to reach the kernels."""

    @allow_unauthenticated
    def get(self) -> None:
        asked_by = self.request.headers.get(
            "Sec-Fetch-Site", "same-origin"
        )  # every browser since 2023 says it
        if asked_by != "same-origin" or not self.check_origin() or not is_ours(self.request):
            raise HTTPError(403)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        about = {"token": self.identity_provider.token, "api": f"{JUPYTER}api/", "lab": f"{JUPYTER}lab/tree/"}
        self.finish(about)


def is_ours(request: HTTPServerRequest) -> bool:
    """Whether a process of this user asks, where the system tells: a machine may have several users."""
    sockets = Path("/proc/net/tcp")
    if not sockets.exists():
        return True
    near = request.connection.stream.socket  # type: ignore[union-attr]
    ends = [_as_listed(near.getpeername()), _as_listed(near.getsockname())]
    for line in sockets.read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1:3] == ends:
            return int(fields[7]) == os.getuid()
    return False


def _as_listed(address: tuple[str, int]) -> str:
    return f"{int.from_bytes(socket.inet_aton(address[0]), sys.byteorder):08X}:{address[1]:04X}"


class OwnPages(PasswordIdentityProvider):
    """Where a request comes from counts even if it shows the token."""

    def should_check_origin(self, handler: RequestHandler) -> bool:
        return True


class BookServer(ServerApp):
    """Jupyter's own, with the site at its root. It heeds no settings that were made for another Jupyter."""

    def load_config_file(self, suppress_errors: bool = True) -> None:
        pass

    @cached_property
    def packed(self) -> tempfile.TemporaryDirectory[str]:
        return tempfile.TemporaryDirectory(prefix="posenc-packed-")

    def serve_site(self, site: Path) -> None:
        files = {"path": str(site), "packed": self.packed.name}
        elsewhere = JUPYTER.strip("/")
        rules = [(rf"/{MACHINE}", Machine), (rf"/(?!{elsewhere}/)(.*)", Site, files)]
        self.web_app.add_handlers(".*", rules)  # type: ignore[no-untyped-call]


def settings(port: int) -> Config:
    """Of the server, whatever its defaults may become."""
    found = Config()
    found.ServerApp = Config(
        ip=HERE,
        port=port,
        port_retries=0,
        base_url=JUPYTER,
        root_dir=str(ROOT / "exercises"),
        open_browser=False,
        answer_yes=True,  # Ctrl-C asks nothing
        allow_root=True,  # in a container, say
        allow_remote_access=False,
        allow_origin="",
        allow_origin_pat="",
        allow_credentials=False,
        disable_check_xsrf=False,
        allow_unauthenticated_access=False,
        local_hostnames=["localhost"],
        identity_provider_class=OwnPages,
        terminals_enabled=False,
        # The second is behind a button of every notebook that is shown: nbgrader's "Validate".
        jpserver_extensions={"jupyterlab": True, "nbgrader.server_extensions.validate_assignment": True},
    )
    found.OwnPages.token = secrets.token_hex(32)
    found.KernelManager.transport = "ipc"  # on a network port, other users of this machine could listen
    found.MappingKernelManager = Config(cull_idle_timeout=IDLE, cull_interval=60)
    found.Application.log_level = "ERROR"
    found.LabApp = Config(check_for_updates_class="jupyterlab.NeverCheckForUpdate", news_url=None)
    return found


def make(site: Path, port: int) -> BookServer:
    """The server, ready to be started."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models in the cells are tiny
    kept = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *([kept] if kept else [])]
    )  # cells read benchmarks/
    server: BookServer = BookServer.instance(config=settings(port))
    server.initialize(argv=[], find_extensions=False)
    server.serve_site(site)
    return server


def require_free(port: int, command: str) -> None:
    """End with one sentence where the port cannot be used; `command` is how one asks for another."""
    try:
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((HERE, port))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or "ports go up to 65535"
        other = port + 1 if port < 65535 else 8001
        sys.exit(f"error: port {port} cannot be used ({why}); choose another: {command} PORT={other}")


def serve(site: Path, port: int, lab: bool = False) -> None:
    """Serve the site, and Jupyter, until interrupted; with `lab`, show the exercises in JupyterLab."""
    require_free(port, "make lab" if lab else "make serve")
    server = make(site, port)
    what, address = "the book is", f"http://{HERE}:{port}"
    if lab:
        what, address = "the exercises are", f"{address}{JUPYTER}lab?token={server.identity_provider.token}"
        server.io_loop.add_callback(webbrowser.open, address)
    server.io_loop.add_callback(print, f"{what} at {address}  (Ctrl-C stops)", flush=True)  # when it listens
    # Without a terminal, Jupyter lets Ctrl-C break off an answer, whose threads Python would wait for.
    signal.signal(signal.SIGINT, lambda *_: server.stop(from_signal=True))
    server.start()


def main() -> None:
    """Open the exercises in JupyterLab, with the book if it was built."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=8888)
    options = parser.parse_args()
    serve(ROOT / "_build" / "html", options.port, lab=True)


if __name__ == "__main__":
    main()
