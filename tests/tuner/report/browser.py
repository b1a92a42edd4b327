"""Pages in a headless Chromium: what they come to, what they say on the console, and what they ask
for."""

import html
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.tools import tool

CHROMIUM = tool("chromium", "chromium-browser", "google-chrome")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium; install the Debian package chromium"
)
OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--force-device-scale-factor=1",
]
SECONDS = 600


@dataclass(frozen=True)
class Seen:
    """What a probe returned, the lines of the console, and all addresses that were asked for by a
    page."""

    found: dict
    console: list[str]
    asked: list[str]


def open_page(page: Path, folder: Path, probe: str, width: int = 1280, dark: bool = False) -> Seen:
    """Load a copy of a page at a width, and run the body of a function that returns plain data.

    The page is in a frame of that width, for a window cannot be as narrow as a phone.
    """
    copy, outer = folder / "probed.html", folder / "outer.html"
    copy.write_text(
        page.read_text(encoding="utf-8").replace(
            "</body>",
            f"""<script>
addEventListener("load", () => parent.postMessage(JSON.stringify((() => {{ {probe} }})()), "*"));
</script></body>""",
        ),
        encoding="utf-8",
    )
    outer.write_text(
        f"""<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script>
addEventListener("message", event => {{
  const out = document.createElement("pre");
  out.id = "found"; out.textContent = event.data;
  document.body.append(out);
}});
</script><body><iframe src="probed.html"
 style="border: 0; width: {width}px; height: 900px"></iframe></body>"""
    )
    log = folder / "net.json"
    log.unlink(missing_ok=True)
    ran = subprocess.run(
        [
            CHROMIUM,
            *OPTIONS,
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={log}",
            "--window-size=1400,1000",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            "--virtual-time-budget=5000",
            "--dump-dom",
            outer.resolve().as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    (result,) = re.findall(r'<pre id="found">(.*?)</pre>', ran.stdout, re.DOTALL)
    console = [line for line in ran.stderr.splitlines() if ":CONSOLE" in line]
    return Seen(json.loads(html.unescape(result)), console, _asked(log))


def _asked(log: Path) -> list[str]:
    """Addresses of requests that a page started: those of the browser itself have no initiator."""
    text = log.read_text(encoding="utf-8").rstrip().rstrip(",")
    try:
        events = json.loads(text)["events"]
    except ValueError:  # the browser ended before the log did
        events = json.loads(text + "]}")["events"]
    found = []
    for event in events:
        told = event.get("params", {})
        if "url" in told and told.get("initiator") not in (None, "not an origin"):
            found.append(told["url"])
    return found
