"""A `tuner watch` of tests: its process, and requests of bytes."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.commands.support import HEARING, PATIENCE

pytest.importorskip("tornado", reason="no tornado; pip install '.[test]'")
COMMAND = "from tuner.cli import main; raise SystemExit(main())"
# answers at once, however many questions come
UNPACED = (
    "import tuner.report.live as live;"
    "live.REPORT_LEAST = live.NOW_LEAST = 0; live.REPORT_SHARE = live.NOW_SHARE = 1e9;"
)


class Watch:
    """A process that serves a page; a context manager that ends it by Ctrl-C."""

    def __init__(self, folder: Path, *more: object, before: str = "") -> None:
        self.process = subprocess.Popen(
            [
                *HEARING,
                "-c",
                before + COMMAND,
                "watch",
                folder,
                *map(str, more or ("--port", 0)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, self.process.stderr.read()
        self.address, self.port = found[0], int(found[1])

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *problem: object) -> None:
        self.end()

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit status, and what was said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said

    def send(self, request: bytes, seconds: float = 60.0) -> bytes:
        """Send bytes on a connection of their own; return what is answered until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as stream:
            try:
                stream.sendall(request)
                answer = b""
                while piece := stream.recv(1 << 16):
                    answer += piece
            except ConnectionError:  # it was closed before all was sent
                pass
        return answer

    def get(self, path: str = "/", **headers: str) -> tuple[int, str, str]:
        """Return status, headers and body of an honest request."""
        own = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in own.items())
        head, _, body = (
            self.send(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode()).decode().partition("\r\n\r\n")
        )
        return int(head.split()[1]), head, body

    def memory(self) -> float:
        """Return the megabytes of the process."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
