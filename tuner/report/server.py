"""A server of one page on 127.0.0.1: it answers two addresses, and refuses everything else.

No part of a request becomes the name of a file. Names of foreign hosts are refused, so that a page
of another site cannot read this one under a name that it points here."""

import asyncio
import base64
import hashlib
import json
import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import TypeVar

from games.streams import InputError
from tuner.io.interrupt import interrupts
from tuner.report.live import LivePage

try:
    from tornado.httpserver import HTTPServer
    from tornado.iostream import StreamClosedError
    from tornado.netutil import bind_sockets
    from tornado.web import Application, HTTPError, RequestHandler
except ImportError:
    raise InputError("watch: tornado is not installed; pip install 'evaltune[watch]'") from None

Made = TypeVar("Made")
HOST = "127.0.0.1"
PAGE, STATE = "/", "/now"
HEADER, BODY = 16 << 10, 1 << 10  # bytes of a request at most
SECONDS = 10.0  # that a client has for a request, and a connection without one stays
LOOK_SECONDS = 0.5  # between two looks whether Ctrl-C was pressed
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; script-src '{}'"
)
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


class Watched(RequestHandler):
    """Answers for the page and for the present state of the run."""

    page: LivePage
    maker: ThreadPoolExecutor  # of one thread: whatever is made, is made there
    own: tuple[str, ...]  # names with the port that a request may be for

    def initialize(self, page: LivePage, maker: ThreadPoolExecutor, own: tuple[str, ...]) -> None:
        self.page, self.maker, self.own = page, maker, own

    def set_default_headers(self) -> None:
        self.clear_header("Server")
        for name, value in HEADERS.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        """Refuse requests that our pages do not make."""
        request, headers = self.request, self.request.headers
        if len(headers.get_list("Host")) != 1 or headers["Host"].lower() not in self.own:
            raise HTTPError(421)
        if request.method not in ("GET", "HEAD"):
            raise HTTPError(405)
        if request.uri not in (PAGE, STATE):
            raise HTTPError(404)
        if "Origin" in headers and headers["Origin"] not in [f"http://{name}" for name in self.own]:
            raise HTTPError(403)
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise HTTPError(403)
        if request.body or "Upgrade" in headers or "Range" in headers:
            raise HTTPError(400)

    async def get(self) -> None:
        """Answer; a question whose answer is the one that the client has, in short."""
        if self.request.uri == PAGE:
            text = await self._made(self.page.page)
            for script in SCRIPT.findall(text):
                digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
                self.set_header("Content-Security-Policy", POLICY.format(f"sha256-{digest}"))
            await self._sent(text)
        else:
            answer = await self._made(self.page.now)
            self.set_header("Content-Type", "application/json; charset=utf-8")
            self.set_header("X-Wait", str(answer.wait))
            await self._sent(json.dumps(asdict(answer)))

    async def _sent(self, text: str) -> None:
        """Answer with a text; a client that does not read it is let go."""
        try:
            await asyncio.wait_for(self.finish(text), SECONDS)
        except (asyncio.TimeoutError, StreamClosedError):
            self.request.connection.stream.close()  # type: ignore[union-attr]

    head = get

    async def _made(self, make: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self.maker, make)

    def write_error(self, status_code: int, **more: object) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        if status_code == 405:
            self.set_header("Allow", "GET, HEAD")
        self.finish(f"{status_code} {self._reason}\n")


def serve(page: LivePage, port: int, ready: Callable[[str], None]) -> None:
    """Serve a page until Ctrl-C; `ready` is told the address. InputError for a port that is not
    available."""
    for name in ("tornado.access", "tornado.general", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    async def forever() -> None:
        try:
            sockets = bind_sockets(port, HOST)
        except OSError as problem:
            raise InputError(
                f"--port {port}: {problem.strerror}; choose another, or 0 for any that is free"
            ) from None
        bound = sockets[0].getsockname()[1]
        own = tuple(f"{name}:{bound}" for name in (HOST, "localhost"))
        with ThreadPoolExecutor(1) as maker, interrupts() as interrupted:
            wanted = {"page": page, "maker": maker, "own": own}
            application = Application([(r".*", Watched, wanted)])
            server = HTTPServer(
                application,
                max_header_size=HEADER,
                max_body_size=BODY,
                idle_connection_timeout=SECONDS,
                body_timeout=SECONDS,
            )
            server.add_sockets(sockets)
            ready(f"http://{HOST}:{bound}/")
            while not interrupted.is_set():
                await asyncio.sleep(LOOK_SECONDS)
            server.stop()
            await server.close_all_connections()

    asyncio.run(forever())
