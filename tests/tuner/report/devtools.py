"""A page in a Chromium that goes on, driven by the protocol of its developer tools."""

import asyncio
import base64
import json
import subprocess
import time
import urllib.request
from pathlib import Path

from tests.tuner.report.browser import CHROMIUM, OPTIONS

HEAP = ["--js-flags=--expose-gc", "--enable-precise-memory-info"]
SECONDS = 60.0  # to wait for something


class Tab:
    """A window with one page; a context manager that ends the browser."""

    def __init__(self, folder: Path, address: str, width: int = 1280, dark: bool = False) -> None:
        self._folder, self._address, self._width, self._dark = folder, address, width, dark
        self._loop, self._number = asyncio.new_event_loop(), 0
        self.events: list[dict] = []

    def __enter__(self) -> "Tab":
        from tornado.websocket import websocket_connect

        profile = self._folder / "profile"
        self._process = subprocess.Popen(
            [
                CHROMIUM,
                *(option for option in OPTIONS if "host-resolver" not in option),
                *HEAP,
                f"--user-data-dir={profile}",
                "--remote-debugging-port=0",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        named = profile / "DevToolsActivePort"
        wait(lambda: named.exists() and "\n" in named.read_text())
        port = named.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            (page,) = [each for each in json.load(answer) if each["type"] == "page"]

        async def connected():
            return await websocket_connect(page["webSocketDebuggerUrl"], max_message_size=64 << 20)

        self._socket = self._loop.run_until_complete(connected())
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=self._width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = "dark" if self._dark else "light"
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.call("Page.navigate", url=self._address)
        wait(lambda: self.run("document.readyState") == "complete")
        return self

    def __exit__(self, *problem: object) -> None:
        async def closed():  # tornado asks for the loop that runs
            self._socket.close()

        self._loop.run_until_complete(closed())
        self._process.kill()
        self._process.wait()
        self._loop.close()

    def call(self, method: str, **parameters: object) -> dict:
        """Call a method of the protocol; events that come meanwhile are kept."""
        self._number += 1
        text = json.dumps({"id": self._number, "method": method, "params": parameters})
        return self._loop.run_until_complete(self._answer(text, self._number))

    async def _answer(self, text: str, number: int) -> dict:
        await self._socket.write_message(text)
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.read_message(), SECONDS))
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def run(self, expression: str) -> object:
        """Return the value of an expression of JavaScript; a promise is awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path: Path) -> None:
        """Write the whole page as a PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def asked(self) -> set[str]:
        """Return the addresses that the page asked for."""
        self.run("0")
        return {
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        }

    def said(self) -> list[dict]:
        """Return what the console says: errors, warnings and refusals of the policy."""
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event for event in self.events if event["method"] in kinds]


def wait(there, seconds: float = SECONDS) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end, "it did not become so"
        time.sleep(0.05)
