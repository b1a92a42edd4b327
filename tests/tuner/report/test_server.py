"""`tuner watch` answers two addresses of its own page, and refuses whatever else is asked."""

import contextlib
import json
import re
import socket
import time

import pytest

from tests.commands.support import refused, tuner
from tests.tuner.report.support import match_run
from tests.tuner.report.watched import Watch

NAME = b"127.0.0.1:PORT"
OWN = b"Host: " + NAME + b"\r\n"
END = b"\r\n"


def get(target: bytes = b"/", more: bytes = OWN, method: bytes = b"GET") -> bytes:
    return method + b" " + target + b" HTTP/1.1\r\n" + more + b"Connection: close\r\n" + END


SOCKET = b"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
CHUNKED = OWN + b"Transfer-Encoding: chunked\r\n"
# what is sent, and the status of the answer; None: closed without one
HOSTILE = {
    "another host": (get(more=b"Host: evil.example\r\n"), 421),
    "another host with our port": (get(more=b"Host: evil.example:PORT\r\n"), 421),
    "our address as a part of a name": (get(more=b"Host: 127.0.0.1.evil.example:PORT\r\n"), 421),
    "our name without a port": (get(more=b"Host: 127.0.0.1\r\n"), 421),
    "another port": (get(more=b"Host: 127.0.0.1:1\r\n"), 421),
    "a name of all addresses": (get(more=b"Host: 0.0.0.0:PORT\r\n"), 421),
    "a number for the address": (get(more=b"Host: 2130706433:PORT\r\n"), 421),
    "a host with a user": (get(more=b"Host: me@127.0.0.1:PORT\r\n"), 400),
    "an empty host": (get(more=b"Host: \r\n"), 421),
    "no host": (get(more=b""), 400),
    "two hosts": (get(more=OWN + b"Host: evil.example\r\n"), 400),
    "no host in HTTP 1.0": (b"GET / HTTP/1.0\r\n\r\n", 421),
    "POST": (get(method=b"POST", more=OWN + b"Content-Length: 0\r\n"), 405),
    "POST with a body": (get(method=b"POST", more=OWN + b"Content-Length: 2\r\n") + b"{}", 405),
    "PUT": (get(method=b"PUT", more=OWN + b"Content-Length: 1\r\n") + b"x", 405),
    "PATCH": (get(method=b"PATCH", more=OWN + b"Content-Length: 0\r\n"), 405),
    "DELETE": (get(method=b"DELETE"), 405),
    "OPTIONS": (get(method=b"OPTIONS"), 405),
    "TRACE": (get(method=b"TRACE"), 405),
    "CONNECT": (get(b"evil.example:80", method=b"CONNECT"), 405),
    "a method of nobody": (get(method=b"BREW"), 405),
    "a file of the folder": (get(b"/config.yaml"), 404),
    "a file above": (get(b"/../config.yaml"), 404),
    "a file far above": (get(b"/../../../../../../etc/passwd"), 404),
    "dots in escapes": (get(b"/%2e%2e/%2e%2e/etc/passwd"), 404),
    "dots in double escapes": (get(b"/%252e%252e/etc/passwd"), 404),
    "backslashes": (get(b"/..\\..\\etc\\passwd"), 404),
    "an absolute file": (get(b"//etc/passwd"), 404),
    "a file URL": (get(b"file:///etc/passwd"), 404),
    "a proxy's request": (get(b"http://evil.example/"), 404),
    "a zero byte in escapes": (get(b"/%00"), 404),
    "a page with a query": (get(b"/?folder=/etc"), 404),
    "what there is, in escapes": (get(b"/%6eow"), 404),
    "what there is, with a slash": (get(b"/now/"), 404),
    "odd UTF-8": (get(b"/\xc0\xae\xc0\xae/"), 404),
    "a star": (get(b"*"), 404),
    "an upgrade to a socket": (get(more=OWN + SOCKET), 400),
    "a socket from elsewhere": (get(more=OWN + SOCKET + b"Origin: http://evil.example\r\n"), 403),
    "an origin": (get(b"/now", OWN + b"Origin: http://evil.example\r\n"), 403),
    "no origin at all": (get(b"/now", OWN + b"Origin: null\r\n"), 403),
    "our origin without TLS's s": (get(b"/now", OWN + b"Origin: https://" + NAME + END), 403),
    "a page of another site": (get(b"/now", OWN + b"Sec-Fetch-Site: cross-site\r\n"), 403),
    "another port's page": (get(b"/now", OWN + b"Sec-Fetch-Site: same-site\r\n"), 403),
    "a part of the page": (get(more=OWN + b"Range: bytes=0-1\r\n"), 400),
    "a body of a GET": (get(more=OWN + b"Content-Length: 3\r\n") + b"abc", 400),
    "a body of chunks": (get(more=CHUNKED) + b"3\r\nabc\r\n0\r\n\r\n", 400),
    "a giant body": (get(more=OWN + b"Content-Length: 99999999999\r\n") + b"x", 400),
    "a negative length": (get(more=OWN + b"Content-Length: -1\r\n"), 400),
    "two lengths": (get(more=OWN + b"Content-Length: 1\r\nContent-Length: 2\r\n") + b"xx", 400),
    "a chunk of a giant size": (get(more=CHUNKED) + b"ffffffffff\r\nabc", 400),
    "giant headers": (get(more=OWN + b"A: " + b"x" * 100_000 + END), None),
    "many headers": (get(more=OWN + b"A: x\r\n" * 20_000), None),
    "a giant address": (get(b"/" + b"x" * 100_000), None),
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "HTTP 2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "HTTP 0.9": (b"GET /\r\n\r\n", 400),
    "a header without a colon": (get(more=OWN + b"nonsense\r\n"), 400),
    "a line end in a header": (get(more=OWN + b"A: b\x00c\r\n"), 400),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return match_run(tmp_path_factory.mktemp("watch") / "match", [(1, 0), (-1, 1), (1, 1)] * 10)


@pytest.fixture(scope="module")
def watch(folder):
    with Watch(folder) as started:
        yield started


def test_there_are_fifty_hostile_requests():
    assert len(HOSTILE) >= 50


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_is_refused(watch, name):
    request, status = HOSTILE[name]
    answer = watch.send(request.replace(b"PORT", str(watch.port).encode()))
    if status is None:
        assert answer == b""
    else:
        assert answer.split(b"\r\n")[0].split()[1] == str(status).encode()
    assert b"section" not in answer and b"root:" not in answer
    assert watch.get()[0] == 200


@pytest.mark.long
def test_slow_requests_are_closed(watch):
    with socket.create_connection(("127.0.0.1", watch.port), 60) as slow:
        slow.sendall(b"GET / HT")
        begun = time.monotonic()
        assert slow.recv(1) == b""  # within the time for a request, not that of the socket
        assert time.monotonic() - begun < 50
    assert watch.get()[0] == 200


@pytest.mark.long
def test_who_reads_nothing_is_let_go(folder, tmp_path):
    """An answer that does not fit into the buffers of the connection."""
    gone = tmp_path / "gone"
    before = f"""
import pathlib
import tuner.report.server as server
server.SECONDS = 1.0
server.LivePage.page = lambda page: 'x' * (16 << 20)
sent = server.Watched._sent
async def noted(handler, text):
    await sent(handler, text)
    pathlib.Path({str(gone)!r}).touch()
server.Watched._sent = noted
"""
    with Watch(folder, before=before) as slow:
        with socket.create_connection(("127.0.0.1", slow.port), 60.0) as stream:
            stream.sendall(get().replace(b"PORT", str(slow.port).encode()))
            while not gone.exists():
                assert slow.process.poll() is None
                time.sleep(0.05)
            answer = 0
            with contextlib.suppress(ConnectionError):
                while piece := stream.recv(1 << 20):
                    answer += len(piece)
        assert answer < 16 << 20


def test_the_page_and_its_state_are_answered(watch, folder):
    status, head, body = watch.get()
    assert status == 200 and "frame-ancestors 'none'" in head and "connect-src 'self'" in head
    assert re.search(r"script-src 'sha256-[\w+/=]+'\r\n", head + "\r\n") and "Server:" not in head
    assert body.count('<section id="now"') == 1 and '<section id="match' in body
    status, head, body = watch.get("/now")
    state = json.loads(body)
    assert status == 200 and state["wait"] == 10 and state["html"].startswith("<section id=")
    (tag,) = re.findall(r"Etag: (.*)", head)
    assert watch.get("/now", If_None_Match=tag.strip())[::2] == (304, "")
    assert watch.get("/now", Origin=watch.address.rstrip("/"))[0] == 200
    assert watch.get("/", Host=f"LOCALHOST:{watch.port}")[0] == 200


def test_it_listens_on_this_machine_alone(watch):
    others = socket.gethostbyname_ex(socket.gethostname())[2]
    for address in [other for other in others if not other.startswith("127.")]:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, watch.port), 10)


def test_nothing_in_the_folder_is_changed(watch, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    watch.get()
    watch.get("/now")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.long
def test_two_watch_one_run_and_ctrl_c_ends_with_success(watch, folder):
    with Watch(folder) as other:
        assert other.port != watch.port and other.get()[0] == watch.get()[0] == 200
        assert other.end() == (0, "")


def test_a_port_that_is_taken_and_a_folder_without_a_run_are_errors(watch, folder, tmp_path):
    ran = tuner("watch", folder, "--port", watch.port)
    assert (ran.status, ran.err.count("\n")) == (2, 1) and f"--port {watch.port}" in ran.err
    for place in (tmp_path, tmp_path / "none"):
        ran = tuner("watch", place, "--port", 0)
        assert (ran.status, ran.err.count("\n")) == (2, 1) and str(place) in ran.err


@pytest.mark.long
def test_without_tornado_the_extra_is_named(monkeypatch, folder):
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "tornado"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tornado", None)
    monkeypatch.delitem(sys.modules, "tuner.report.server", raising=False)
    assert "evaltune[watch]" in refused("watch", folder)
