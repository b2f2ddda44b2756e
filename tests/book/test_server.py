"""The server of `make serve`: files as a browser wants them, and a Python that no other site can reach."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from tests.present import present

ROOT = Path(__file__).resolve().parents[2]
KERNELS = "/jupyter/api/kernels"
MACHINE = "/_static/local-python.json"
FOLDER = "/_static/pyodide/0123456789ab"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def hears_ctrl_c() -> None:
    """In a new process: what was started in the background has its parent's deaf ear for Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def running(site: Path):
    """The server of a folder, in a process of its own."""
    port = free_port()
    code = f"from pathlib import Path; from book.server import serve; serve(Path({str(site)!r}), {port})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=hears_ctrl_c
    )
    try:
        assert f"http://127.0.0.1:{port}" in present(process.stdout).readline()
        yield Server(port, process)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


class Server:
    def __init__(self, port: int, process: subprocess.Popen[str]):
        self.port, self.process = port, process

    def ask(self, path: str, method: str = "GET", **headers: str):
        """The answer: status, headers, body. In names of headers, _ is written for -."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    @property
    def token(self) -> str:
        return json.loads(self.ask(MACHINE)[2])["token"]

    @property
    def shown(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"}

    def channels(self, kernel: str, query: str, **headers: str):
        address = f"ws://127.0.0.1:{self.port}{KERNELS}/{kernel}/channels{query}"
        return websocket_connect(HTTPRequest(address, headers=headers))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / FOLDER[1:]).mkdir(parents=True)
    (folder / "index.html").write_text("<p>the book</p>" * 100)
    (folder / "page.js").write_text("export const x = 1;\n" * 100)
    (folder / FOLDER[1:] / "core.wasm").write_bytes(b"\0asm" * 1000)
    (folder / FOLDER[1:] / "library.whl").write_bytes(bytes(range(256)))
    (folder / MACHINE[1:]).write_text("{}\n")
    (folder.parent / "secret.txt").write_text("secret")
    return folder


@pytest.fixture(scope="module")
def server(site):
    with running(site) as found:
        yield found


# --- Files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        (f"{FOLDER}/core.wasm", "application/wasm"),
        (f"{FOLDER}/library.whl", "application/octet-stream"),
    ],
)
def test_a_file_has_its_type_and_is_smaller_for_who_unpacks_it(server, site, path, kind):
    status, headers, body = server.ask(path)
    file = site / (path[1:] or "index.html")
    assert (status, headers["Content-Type"], body) == (200, kind, file.read_bytes())
    assert headers["Content-Encoding"] is None
    status, headers, body = server.ask(path, Accept_Encoding="br, gzip")
    if file.suffix == ".whl":
        assert headers["Content-Encoding"] is None
    else:
        assert (headers["Content-Encoding"], headers["Vary"]) == ("gzip", "Accept-Encoding")
        assert len(body) == int(headers["Content-Length"]) < file.stat().st_size / 2
        body = gzip.decompress(body)
    assert body == file.read_bytes()


def test_what_is_named_by_its_digest_is_kept_and_all_else_is_asked_for_again(server, site):
    assert "immutable" in server.ask(f"{FOLDER}/core.wasm")[1]["Cache-Control"]
    assert server.ask("/page.js?v=1234")[1]["Cache-Control"] == "no-cache"
    for packed in ({}, {"Accept_Encoding": "gzip"}):
        tag = server.ask("/page.js", **packed)[1]["Etag"]
        assert server.ask("/page.js", If_None_Match=tag, **packed)[0] == 304
    (site / "page.js").write_text("export const x = 2;\n" * 100)  # as when the book is built again meanwhile
    status, _headers, body = server.ask("/page.js", Accept_Encoding="gzip", If_None_Match=tag)
    assert status == 200
    assert b"x = 2" in gzip.decompress(body)


@pytest.mark.parametrize(
    ("asked", "status", "body"),
    [
        ("bytes=2-5", 206, bytes([2, 3, 4, 5])),
        ("bytes=-2", 206, bytes([254, 255])),
        ("bytes=300-", 416, b""),
    ],
)
def test_a_part_of_a_file_can_be_asked_for(server, asked, status, body):
    found = server.ask(f"{FOLDER}/library.whl", Range=asked)
    assert (found[0], found[2]) == (status, body)


def test_what_is_not_there_or_not_of_the_site_is_refused(server):
    assert server.ask("/nothing.html")[0] == 404
    for path in ("/../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd"):
        status, _headers, body = server.ask(path)
        assert status in (403, 404), path
        assert b"secret" not in body


def test_it_listens_on_this_machine_alone(server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as looking:
        try:
            looking.connect(("192.0.2.1", 9))  # sends nothing: which address would be ours?
            address = looking.getsockname()[0]
        except OSError:
            pytest.skip("this machine has no other address")
    if address.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((address, server.port), timeout=5)


# --- Its Python ---------------------------------------------------------------------------------------

FOREIGN = [
    {"Host": "evil.example:{port}"},  # DNS rebinding: a name of theirs that leads here
    {"Host": "evil.example"},
    {"Host": "192.0.2.1:{port}"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "null"},
]
ids = [" ".join(each.values()) for each in FOREIGN]


def of(headers: dict[str, str], server: Server) -> dict[str, str]:
    return {name: value.format(port=server.port) for name, value in headers.items()}


@pytest.mark.parametrize("headers", FOREIGN, ids=ids)
def test_the_token_is_given_to_no_other_site(server, headers):
    status, _headers, body = server.ask(MACHINE, **of(headers, server))
    assert status == 403
    assert server.token.encode() not in body


@pytest.mark.parametrize("whose", ["cross-site", "same-site", "none"])
def test_the_token_is_given_to_a_page_of_this_site_alone(server, whose):
    assert server.ask(MACHINE, Sec_Fetch_Site=whose)[0] == 403
    status, headers, _body = server.ask(MACHINE, Sec_Fetch_Site="same-origin")
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert headers["Access-Control-Allow-Origin"] is None


@pytest.mark.skipif(os.name != "posix" or not Path("/proc/net/tcp").exists(), reason="Linux tells whose")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be someone else")
def test_the_token_is_given_to_no_other_user_of_this_machine(server):
    code = (
        "import encodings.idna, http.client, os; os.setuid(65534); "
        f"c = http.client.HTTPConnection('127.0.0.1', {server.port}); "
        f"c.request('GET', {MACHINE!r}); print(c.getresponse().status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "403\n"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "token 0"}, {"Authorization": "token "}])
def test_without_the_token_there_is_no_kernel(server, headers):
    assert server.ask(KERNELS, **headers)[0] == 403
    assert server.ask(KERNELS, "POST", **headers)[0] == 403
    assert server.ask("/jupyter/lab", **headers)[0] in (302, 403)  # to where the token is asked for
    assert json.loads(server.ask(KERNELS, **server.shown)[2]) == []


@pytest.mark.parametrize("headers", FOREIGN, ids=ids)
def test_even_with_the_token_no_other_site_gets_a_kernel(server, headers):
    assert server.ask(KERNELS, "POST", **of(headers, server), **server.shown)[0] in (403, 404)
    assert json.loads(server.ask(KERNELS, **server.shown)[2]) == []


@pytest.fixture
def kernel(server):
    found = json.loads(server.ask(KERNELS, "POST", **server.shown)[2])["id"]
    yield found
    server.ask(f"{KERNELS}/{found}", "DELETE", **server.shown)


def test_a_kernel_that_runs_is_reached_with_the_token_and_from_this_site_alone(server, kernel):
    own, query = f"http://127.0.0.1:{server.port}", f"?token={server.token}"

    async def talk():
        refused = [("", {"Origin": own}), ("?token=0", {"Origin": own})]
        refused += [(query, of(headers, server)) for headers in FOREIGN]
        for asked, headers in refused:
            with pytest.raises(HTTPClientError, match="403"):
                await server.channels(kernel, asked, **headers)
        socket = await server.channels(kernel, query, Origin=own)
        header = {
            "msg_id": "1",
            "msg_type": "execute_request",
            "username": "",
            "session": "1",
            "version": "5.3",
        }
        content = {"code": "print(6 * 7)", "silent": False, "store_history": False, "allow_stdin": False}
        message = {
            "channel": "shell",
            "header": header,
            "parent_header": {},
            "metadata": {},
            "content": content,
        }
        await socket.write_message(json.dumps(message))
        while True:
            said = json.loads(await socket.read_message())
            if said["msg_type"] == "stream":
                socket.close()
                return said["content"]["text"]

    with ThreadPoolExecutor(1) as apart:  # a browser of another test may run a loop in this thread
        assert apart.submit(lambda: asyncio.run(asyncio.wait_for(talk(), 120))).result() == "42\n"


def children(process: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_kernels_end_with_the_server(site, how):
    with running(site) as server:
        server.ask(KERNELS, "POST", **server.shown)
        [kernel] = children(server.process.pid)
        server.process.send_signal(how)
        server.process.wait(60)
        end = time.monotonic() + 30
        while Path(f"/proc/{kernel}").exists() and time.monotonic() < end:
            time.sleep(0.1)
        assert not Path(f"/proc/{kernel}").exists()


def test_a_new_server_has_a_new_token(site, server):
    with running(site) as another:
        assert re.fullmatch("[0-9a-f]{64}", another.token)
        assert another.token != server.token


def test_make_lab_opens_the_exercises_without_a_path_to_type():
    # A make above this one (these tests are run by make) would have this one tell which folders it enters.
    recipe = subprocess.run(
        ["make", "-n", "--no-print-directory", "lab"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert recipe.splitlines()[-1].split()[1:] == ["book/server.py"]
    command = [sys.executable, "book/server.py", "--port", str(free_port())]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"BROWSER": "true"},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    try:
        address = present(re.search(r"http://\S+", present(process.stdout).readline()))[0]
        server = Server(int(address.split(":")[2].partition("/")[0]), process)
        assert server.ask(address[address.index("/jupyter") :])[0] == 200
        listed = json.loads(server.ask("/jupyter/api/contents", **server.shown)[2])["content"]
        assert {"02-the-formula", "capstone"} <= {each["name"] for each in listed}
        # What the button "Validate" of each notebook asks first.
        assert server.ask("/jupyter/nbgrader_version?version=0.9.6", **server.shown)[0] == 200
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
